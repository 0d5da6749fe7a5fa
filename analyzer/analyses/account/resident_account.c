/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where is the resident memory of a process? Its account, part by part, up to the last byte; what
 * has a name; and what its cgroup is charged.
 */
#include <inttypes.h>
#include <stdlib.h>

#include "account_analyses.h"
#include "labels.h"
#include "resident_growth.h"
#include "sentence.h"

enum { PARTS_SAID = 3, LIMIT_IS_NEAR = 80 };

static const uint64_t worth_least_bytes = UINT64_C(32) << 20;

/* Of one process: all accounts, and those that are shown. Where one with heaps that are split comes
 * near a rough one, it stands for it. */
struct resident {
    uint16_t process;
    bool is_only; /* nobody asks which process it is */
    const struct memory_account *all, *first, *highest, *newest;
    size_t count;
    const struct memory_account *at_exit; /* NULL: not known */
};

/* whole: one with split heaps; NULL: there is none. */
static const struct memory_account *shown_of(const struct memory_account *asked,
                                             const struct memory_account *whole)
{
    return whole && memory_account_stands_for(whole, asked) ? whole : asked;
}

static bool is_higher(const struct memory_account *account, const struct memory_account *than)
{
    return !than ||
           account->figures[ACCOUNT_FIGURE_RESIDENT] > than->figures[ACCOUNT_FIGURE_RESIDENT];
}

static void choose_shown(struct resident *resident)
{
    const struct memory_account *all = resident->all, *highest = NULL, *highest_whole = NULL,
                                *first_whole = NULL, *newest_whole = NULL;

    for (size_t i = 0; i < resident->count; i++) {
        if (is_higher(&all[i], highest))
            highest = &all[i];
        if (memory_account_is_rough(&all[i]))
            continue;
        if (!first_whole)
            first_whole = &all[i];
        newest_whole = &all[i];
        if (is_higher(&all[i], highest_whole))
            highest_whole = &all[i];
    }
    resident->first = shown_of(&all[0], first_whole);
    resident->highest = shown_of(highest, highest_whole);
    resident->newest = shown_of(&all[resident->count - 1], newest_whole);
}

static bool resident_of(const struct question *question, uint16_t process,
                        struct resident *resident)
{
    const struct memory_accounts *accounts = tally_accounts(question->tally);
    size_t first = memory_accounts_of(accounts, process, &resident->count);

    resident->all = &accounts->rows[first];
    resident->at_exit = memory_accounts_at_exit(accounts, process);
    if (!resident->count && resident->at_exit) { /* it did not run long */
        resident->all = resident->at_exit;
        resident->count = 1;
    }
    if (!resident->count)
        return false;
    resident->process = process;
    choose_shown(resident);
    return true;
}

static uint64_t whole_of(const struct memory_account *account)
{
    return account->figures[ACCOUNT_FIGURE_RESIDENT];
}

/* --- parts --------------------------------------------------------------------------------- */

static void add_part(const struct question *question, struct report *report,
                     struct report_table *table, const struct resident *resident,
                     const struct field *part, const uint64_t bytes[4])
{
    const struct field fields[] = {
        *part,
        {"resident_bytes", "resident", value_bytes(bytes[2])},
        {"share_percent", "share",
         value_number(VALUE_PERCENT, percent_of(bytes[2], whole_of(resident->newest)))},
        {"first_bytes", resident->count > 1 ? "at first" : NULL, value_bytes(bytes[0])},
        {"highest_bytes", resident->count > 1 ? "at its highest" : NULL, value_bytes(bytes[1])},
        {"exit_bytes", resident->at_exit ? "at its exit" : NULL,
         resident->at_exit ? value_bytes(bytes[3]) : value_none()},
        {"process", resident->is_only ? NULL : "process",
         value_text(label_process(question, report_arena(report), resident->process))},
    };

    report_row(report, table, fields, sizeof(fields) / sizeof(fields[0]));
}

static void add_parts(const struct question *question, struct report *report,
                      struct report_table *table, const struct resident *resident)
{
    const uint64_t whole[] = {whole_of(resident->first), whole_of(resident->highest),
                              whole_of(resident->newest),
                              resident->at_exit ? whole_of(resident->at_exit) : 0};

    add_part(question, report, table, resident,
             &(struct field){"part", "part", value_word("resident")}, whole);
    for (int part = 0; part < ACCOUNT_PART_COUNT; part++) {
        const uint64_t bytes[] = {memory_account_part(resident->first, part),
                                  memory_account_part(resident->highest, part),
                                  memory_account_part(resident->newest, part),
                                  resident->at_exit ? memory_account_part(resident->at_exit, part)
                                                    : 0};

        if (bytes[0] || bytes[1] || bytes[2] || bytes[3])
            add_part(question, report, table, resident,
                     &(struct field){"part", "part", value_word(account_part_name(part))}, bytes);
    }
}

/* --- names --------------------------------------------------------------------------------- */

static void add_name(const struct question *question, struct report *report,
                     struct report_table *table, const struct resident *resident,
                     const struct memory_row *row)
{
    const struct field fields[] = {
        {"name", "name", value_name(question, row->name)},
        {"part", "part", value_word(account_part_name(row->part))},
        {"resident_bytes", "resident", value_bytes(row->resident_bytes)},
        {"proportional_bytes", "proportional", value_bytes(row->proportional_bytes)},
        {"mapped_by", "also mapped by", value_name(question, row->mapped_by)},
        {"process", resident->is_only ? NULL : "process",
         value_text(label_process(question, report_arena(report), resident->process))},
    };

    report_row(report, table, fields, sizeof(fields) / sizeof(fields[0]));
}

static int row_compare(const void *left, const void *right)
{
    const struct memory_row *a = *(const struct memory_row *const *)left;
    const struct memory_row *b = *(const struct memory_row *const *)right;

    if (a->resident_bytes != b->resident_bytes)
        return a->resident_bytes > b->resident_bytes ? -1 : 1;
    return (a > b) - (a < b);
}

static void add_names(const struct question *question, struct report *report,
                      struct report_table *table, const struct resident *resident)
{
    const struct memory_account *account = resident->newest;
    const struct memory_row **order = malloc((account->row_count + 1) * sizeof(*order));
    size_t count = 0, shown;

    for (size_t i = 0; order && i < account->row_count; i++)
        if (account->rows[i].name && account->rows[i].resident_bytes)
            order[count++] = &account->rows[i];
    if (order)
        qsort(order, count, sizeof(*order), row_compare);
    shown = rows_shown(question, count);
    for (size_t i = 0; i < shown; i++)
        add_name(question, report, table, resident, order[i]);
    if (shown < count)
        report_table_remark(report, table, "... and %zu more names of %s.", count - shown,
                            label_process(question, report_arena(report), resident->process));
    free(order);
}

/* --- beside the parts ---------------------------------------------------------------------- */

/* Of the newest account; 0 of a process that was looked at without a recording. */
static uint64_t before_end_ns(const struct question *question, const struct resident *resident)
{
    const struct model_process *process =
        model_process_at(tally_model(question->tally), resident->process);

    return process->end_ns > resident->newest->time_ns ? process->end_ns - resident->newest->time_ns
                                                       : 0;
}

/* A recording has several. */
static void say_when(struct report *report, struct report_table *table,
                     const struct resident *resident, uint64_t before_ns)
{
    const uint64_t *figures = resident->newest->figures;
    struct arena *texts = report_arena(report);

    if (resident->count < 2)
        return;
    if (figures[ACCOUNT_FIGURE_STEP])
        report_table_remark(report, table,
                            "The newest account is of the end of step %" PRIu64
                            ", %s late, and %s before the end of what was recorded.",
                            figures[ACCOUNT_FIGURE_STEP],
                            label_duration(texts, figures[ACCOUNT_FIGURE_LATE_NS]),
                            label_duration(texts, before_ns));
    else
        report_table_remark(report, table,
                            "The newest account was taken %s before the end of what was recorded.",
                            label_duration(texts, before_ns));
}

static void add_figures(const struct question *question, struct report *report,
                        struct report_table *table, const struct resident *resident)
{
    const uint64_t *figures = resident->newest->figures;
    const struct field fields[] = {
        {"process", "process",
         value_text(label_process(question, report_arena(report), resident->process))},
        {"resident_bytes", "resident", value_bytes(figures[ACCOUNT_FIGURE_RESIDENT])},
        {"recorder_bytes", figures[ACCOUNT_FIGURE_RECORDER] ? "of the recorder, beside it" : NULL,
         value_bytes(figures[ACCOUNT_FIGURE_RECORDER])},
        {"proportional_bytes", "proportional", value_bytes(figures[ACCOUNT_FIGURE_PROPORTIONAL])},
        {"swapped_bytes", "swapped out", value_bytes(figures[ACCOUNT_FIGURE_SWAPPED])},
        {"huge_bytes", "in huge pages", value_bytes(figures[ACCOUNT_FIGURE_HUGE])},
        {"trim_bytes", "malloc_trim gives back", value_bytes(figures[ACCOUNT_FIGURE_TRIM])},
        {"spare_bytes", figures[ACCOUNT_FIGURE_SPARE] ? "its allocator could give back" : NULL,
         value_bytes(figures[ACCOUNT_FIGURE_SPARE])},
        {"cached_bytes", "in malloc's caches", value_bytes(figures[ACCOUNT_FIGURE_CACHED])},
        {"arena_count", "arenas", value_count(figures[ACCOUNT_FIGURE_ARENAS])},
        {"block_count", "blocks", value_count(figures[ACCOUNT_FIGURE_BLOCK_COUNT])},
        {"thread_count", "threads", value_count(figures[ACCOUNT_FIGURE_THREADS])},
        {"mapping_count", NULL, value_count(figures[ACCOUNT_FIGURE_MAPPINGS])},
        {"python_object_count", NULL, value_count(figures[ACCOUNT_FIGURE_OBJECT_COUNT])},
        {"account_count", NULL, value_count(resident->count)},
        {"cost_ns", NULL, value_number(VALUE_DURATION_NS, figures[ACCOUNT_FIGURE_COST_NS])},
        {"before_end_ns", NULL, value_number(VALUE_DURATION_NS, before_end_ns(question, resident))},
        {"step", NULL, value_count(figures[ACCOUNT_FIGURE_STEP])},
        {"late_ns", NULL, value_number(VALUE_DURATION_NS, figures[ACCOUNT_FIGURE_LATE_NS])},
    };

    report_row(report, table, fields, sizeof(fields) / sizeof(fields[0]));
    say_when(report, table, resident, before_end_ns(question, resident));
}

static void note_doubts(struct report *report, uint64_t doubts)
{
    static const struct {
        enum account_doubt doubt;
        const char *sentence;
    } sentences[] = {
        {ACCOUNT_NO_MEMORY_READ, "account: the process's memory may not be read, so heaps are not "
                                 "split into blocks and what malloc keeps"},
        {ACCOUNT_HEAP_ODD, "account: a heap is not laid out as malloc of glibc 2.31 to 2.41 does, "
                           "or changes too fast, and is not split"},
        {ACCOUNT_FASTBINS_UNREAD, "account: freed blocks that wait in fast bins count as in use"},
        {ACCOUNT_SCAN_ENDED, "account: not every page of large mappings was looked at: blocks of "
                             "malloc there count as mapped without a file"},
        {ACCOUNT_IS_ROUGH, "account: heaps and plain mappings were not looked into: the recording "
                           "is too short for what that costs"},
        {ACCOUNT_LESS, "account: the process became smaller while it was looked at"},
        {ACCOUNT_MORE, "account: the process became larger while it was looked at"},
    };

    for (size_t i = 0; i < sizeof(sentences) / sizeof(sentences[0]); i++)
        if (doubts & sentences[i].doubt)
            report_note(report, 0, translated(sentences[i].sentence));
}

/* --- the cgroup ---------------------------------------------------------------------------- */

/* What the kernel can take back without asking anybody, but for what is to be written first. */
static uint64_t reclaimable_bytes(const uint64_t *cgroup)
{
    static const enum account_cgroup_figure parts[] = {
        ACCOUNT_CGROUP_ACTIVE_FILE, ACCOUNT_CGROUP_INACTIVE_FILE, ACCOUNT_CGROUP_SLAB_RECLAIMABLE};
    uint64_t dirty = cgroup[ACCOUNT_CGROUP_DIRTY], sum = 0;

    for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++)
        sum += cgroup[parts[i]] != UINT64_MAX ? cgroup[parts[i]] : 0;
    return dirty != UINT64_MAX && dirty < sum ? sum - dirty : sum;
}

static void add_cgroup_row(struct report *report, struct report_table *table, const char *path,
                           const char *key, const char *title, struct value value)
{
    const struct field fields[] = {
        {"what", "of the cgroup", value_text(title)},
        {"amount", "", value},
        {"key", NULL, value_word(key)},
        {"cgroup", NULL, value_text(path)},
    };

    report_row(report, table, fields, sizeof(fields) / sizeof(fields[0]));
}

static void add_cgroup(const struct question *question, struct report *report,
                       struct report_table *table, const struct memory_account *account)
{
    const char *path = model_text_at(question->model, account->cgroup_path);

    for (int i = 0; i < ACCOUNT_CGROUP_COUNT; i++) {
        bool is_count = i == ACCOUNT_CGROUP_OOM_KILLS || i == ACCOUNT_CGROUP_PROCESSES;
        uint64_t number = account->cgroup[i];

        if (number != UINT64_MAX)
            add_cgroup_row(report, table, path, account_cgroup_key(i),
                           translated(account_cgroup_title(i)),
                           is_count ? value_count(number) : value_bytes(number));
    }
    add_cgroup_row(report, table, path, "reclaimable",
                   translated("the kernel can take back by itself"),
                   value_bytes(reclaimable_bytes(account->cgroup)));
    report_table_remark(report, table, "Its path is %s, of version %d.", path,
                        account->cgroup_version);
}

/* Near its limit, the kernel ends a process of it when it cannot take enough back. */
static void say_limit(const struct question *question, struct report *report,
                      const struct memory_account *account)
{
    struct arena *texts = report_arena(report);
    uint64_t current = account->cgroup[ACCOUNT_CGROUP_CURRENT];
    uint64_t limit = account->cgroup[ACCOUNT_CGROUP_LIMIT];

    if (current == UINT64_MAX || limit == UINT64_MAX || percent_of(current, limit) < LIMIT_IS_NEAR)
        return;
    report_verdict(report, RANK_RESIDENT,
                   "The cgroup %s is charged %s of its limit of %s (%u %%); the kernel can take "
                   "back %s by itself.",
                   model_text_at(question->model, account->cgroup_path), label_size(texts, current),
                   label_size(texts, limit), percent_of(current, limit),
                   label_size(texts, reclaimable_bytes(account->cgroup)));
}

/* Processes of one cgroup have one row each. */
static bool is_first_of_cgroup(const struct resident *residents, size_t index)
{
    const struct memory_account *account = residents[index].newest;

    for (size_t i = 0; i < index; i++)
        if (residents[i].newest->cgroup_version == account->cgroup_version &&
            residents[i].newest->cgroup_path == account->cgroup_path)
            return false;
    return account->cgroup_version != 0;
}

/* --- what is said -------------------------------------------------------------------------- */

struct part_size {
    enum account_part part;
    uint64_t bytes;
};

static int size_compare(const void *left, const void *right)
{
    const struct part_size *a = left, *b = right;

    if (a->bytes != b->bytes)
        return a->bytes > b->bytes ? -1 : 1;
    return (a->part > b->part) - (a->part < b->part);
}

/* "99.3 MiB (49 %) kept free by malloc, 91.5 MiB (45 %) blocks of malloc" */
static const char *largest_parts(struct report *report, struct part_size *parts, uint64_t whole)
{
    struct arena *texts = report_arena(report);
    const char *words = "";

    qsort(parts, ACCOUNT_PART_COUNT, sizeof(*parts), size_compare);
    for (int i = 0; i < PARTS_SAID && parts[i].bytes; i++)
        words = report_text(report, "%s%s%s (%u %%) %s", words, i ? ", " : "",
                            label_size(texts, parts[i].bytes), percent_of(parts[i].bytes, whole),
                            translated(account_part_name(parts[i].part)));
    return words;
}

static void say_process(const struct question *question, struct report *report,
                        const struct resident *resident)
{
    struct arena *texts = report_arena(report);
    const struct memory_account *account = resident->newest;
    uint64_t trim = account->figures[ACCOUNT_FIGURE_TRIM];
    uint64_t spare = account->figures[ACCOUNT_FIGURE_SPARE];
    struct part_size parts[ACCOUNT_PART_COUNT];

    for (int i = 0; i < ACCOUNT_PART_COUNT; i++)
        parts[i] = (struct part_size){i, memory_account_part(account, i)};
    report_verdict(
        report, RANK_RESIDENT, "%s has %s resident: %s.%s%s",
        label_process(question, texts, resident->process), label_size(texts, whole_of(account)),
        largest_parts(report, parts, whole_of(account)),
        trim >= whole_of(account) / 20
            ? report_text(report, " malloc_trim(0) would give back %s.", label_size(texts, trim))
            : "",
        spare >= whole_of(account) / 20
            ? report_text(report, " Its allocator could give back %s.", label_size(texts, spare))
            : "");
}

/* --- together ------------------------------------------------------------------------------ */

/* One that another program replaced, or that has ended, has no part in what comes later. */
static bool runs_at(const struct question *question, uint16_t index, uint64_t time_ns)
{
    const struct model_process *process = model_process_at(tally_model(question->tally), index);

    return !process->end_ns || (process->start_ns <= time_ns && time_ns <= process->end_ns);
}

/* The newest one up to then, or the first. */
static const struct memory_account *account_at(const struct resident *resident, uint64_t time_ns)
{
    size_t low = 0, high = resident->count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (resident->all[middle].time_ns <= time_ns)
            low = middle + 1;
        else
            high = middle;
    }
    return &resident->all[low ? low - 1 : 0];
}

/* How much the processes had that ran then. */
static uint64_t bytes_at(const struct question *question, const struct resident *residents,
                         size_t count, uint64_t time_ns, size_t *running)
{
    uint64_t sum = 0;

    *running = 0;
    for (size_t i = 0; i < count; i++) {
        if (!runs_at(question, residents[i].process, time_ns))
            continue;
        ++*running;
        sum += account_at(&residents[i], time_ns)->figures[ACCOUNT_FIGURE_PROPORTIONAL];
    }
    return sum;
}

/* The moment when they had most, of those when one of them had most, or was looked at last. */
static uint64_t highest_moment(const struct question *question, const struct resident *residents,
                               size_t count)
{
    uint64_t found_ns = 0, most = 0;
    size_t running;

    for (size_t i = 0; i < 2 * count; i++) {
        const struct resident *resident = &residents[i / 2];
        uint64_t time_ns = i % 2 ? resident->newest->time_ns : resident->highest->time_ns;
        uint64_t bytes = bytes_at(question, residents, count, time_ns, &running);

        if (bytes <= most)
            continue;
        most = bytes;
        found_ns = time_ns;
    }
    return found_ns;
}

/* Shared pages count once for all, as far as these are the processes that share them. */
static void say_together(const struct question *question, struct report *report,
                         const struct resident *residents, size_t count)
{
    struct report_table *table = report_table(
        report, "resident_together", "All of them, pages that they share counted once", NULL);
    uint64_t time_ns = highest_moment(question, residents, count);
    struct part_size parts[ACCOUNT_PART_COUNT];
    size_t running;
    uint64_t whole = bytes_at(question, residents, count, time_ns, &running);

    if (running < 2)
        return;
    for (int i = 0; i < ACCOUNT_PART_COUNT; i++)
        parts[i] = (struct part_size){i, 0};
    for (size_t i = 0; i < count; i++) {
        const struct memory_account *account = account_at(&residents[i], time_ns);

        for (size_t k = 0;
             runs_at(question, residents[i].process, time_ns) && k < account->row_count; k++)
            parts[account->rows[k].part].bytes += account->rows[k].proportional_bytes;
    }
    report_verdict(report, RANK_RESIDENT, "The %zu processes have %s together: %s.", running,
                   label_size(report_arena(report), whole), largest_parts(report, parts, whole));
    for (int i = 0; i < ACCOUNT_PART_COUNT && parts[i].bytes; i++) {
        const struct field fields[] = {
            {"part", "part", value_word(account_part_name(parts[i].part))},
            {"proportional_bytes", "proportional", value_bytes(parts[i].bytes)},
            {"share_percent", "share",
             value_number(VALUE_PERCENT, percent_of(parts[i].bytes, whole))},
        };

        report_row(report, table, fields, sizeof(fields) / sizeof(fields[0]));
    }
}

/* --- all of it ----------------------------------------------------------------------------- */

/* What grows comes before what is. */
static void say_growth(const struct question *question, struct report *report,
                       const struct resident *residents, size_t count)
{
    struct report_table *table =
        report_table(report, "resident_growth", "What grew of the resident memory", NULL);
    size_t most = 0;

    for (size_t i = 0; i < count; i++) {
        resident_growth_say(question, report, table, residents[i].all, residents[i].count);
        if (residents[i].count > residents[most].count)
            most = i;
    }
    if (count)
        cgroup_growth_say(question, report, table, residents[most].all, residents[most].count);
    process_growth_say(question, report, table);
}

static struct resident *residents_find(const struct question *question, size_t *count)
{
    size_t process_count = model_process_count(question->model);
    struct resident *residents = calloc(process_count + 1, sizeof(*residents));

    *count = 0;
    for (size_t i = 0; residents && i < process_count; i++)
        *count += resident_of(question, (uint16_t)i, &residents[*count]);
    if (residents && *count == 1)
        residents->is_only = true;
    return residents;
}

static void add_tables(const struct question *question, struct report *report,
                       const struct resident *residents, size_t count)
{
    struct report_table *parts = report_table(report, "resident", "Where the resident memory is",
                                              "No account was taken of a process.");
    struct report_table *names = report_table(report, "resident_names", "Largest by name", NULL);
    struct report_table *figures =
        report_table(report, "resident_figures", "Beside the parts", NULL);
    struct report_table *cgroups =
        report_table(report, "cgroup", "What the cgroup is charged", NULL);

    for (size_t i = 0; i < count; i++) {
        add_parts(question, report, parts, &residents[i]);
        add_names(question, report, names, &residents[i]);
        add_figures(question, report, figures, &residents[i]);
        if (is_first_of_cgroup(residents, i))
            add_cgroup(question, report, cgroups, residents[i].newest);
    }
}

void analyse_resident(const struct question *question, struct report *report)
{
    size_t count;
    struct resident *residents = residents_find(question, &count);
    uint64_t doubts = 0;

    if (!residents) {
        report_note(report, 0, "account: not enough memory");
        return;
    }
    if (!count) {
        report_verdict(report, RANK_RESIDENT,
                       "There is no account of a process's memory in this recording.");
        report_outcome(report, REPORT_NO_DATA);
    }
    report_fact(report, "source_kind", NULL, value_text(question->source_kind));
    say_growth(question, report, residents, count);
    for (size_t i = 0; i < count; i++) {
        say_process(question, report, &residents[i]);
        if (is_first_of_cgroup(residents, i))
            say_limit(question, report, residents[i].newest);
        doubts |= residents[i].newest->figures[ACCOUNT_FIGURE_DOUBTS];
    }
    if (count > 1)
        say_together(question, report, residents, count);
    add_tables(question, report, residents, count);
    note_doubts(report, doubts);
    free(residents);
}

/* Memory that no list of blocks shows, and much of it. */
static bool is_worth_a_sentence(const struct resident *resident)
{
    static const enum account_part parts[] = {ACCOUNT_KEPT,   ACCOUNT_HEAP,  ACCOUNT_PYTHON_KEPT,
                                              ACCOUNT_SHARED, ACCOUNT_FILES, ACCOUNT_STACKS};
    uint64_t sum = 0;

    for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++)
        sum += memory_account_part(resident->newest, parts[i]);
    return sum >= worth_least_bytes && sum >= whole_of(resident->newest) / 4;
}

void analyse_resident_in_short(const struct question *question, struct report *report)
{
    size_t count, largest = 0;
    struct resident *residents = residents_find(question, &count);
    struct report_table *table;

    if (!residents || !count) {
        free(residents);
        return;
    }
    say_growth(question, report, residents, count);
    for (size_t i = 1; i < count; i++)
        if (whole_of(residents[i].newest) > whole_of(residents[largest].newest))
            largest = i;
    if (is_worth_a_sentence(&residents[largest]))
        say_process(question, report, &residents[largest]);
    table = report_table(report, "resident", "Where the resident memory is", NULL);
    for (size_t i = 0; i < rows_shown(question, count); i++)
        add_parts(question, report, table, &residents[i]);
    free(residents);
}
