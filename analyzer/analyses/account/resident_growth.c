/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A process that grows: by which part, whether that is a leak, and what to do.
 *
 * The first quarter of the accounts is the start of the program, and not judged. From there on the
 * resident bytes must rise, by the test of trend.h, and still rise in the last third.
 */
#include "resident_growth.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "labels.h"
#include "leaktide/invariant.h"
#include "sentence.h"
#include "text_builder.h"
#include "trend.h"

enum { JUDGED_LEAST = 5, PARTS_SHOWN_PERCENT = 10, SHARE_LEAST = 20, STILL_PARTS = 6 };

static const uint64_t growth_least_bytes = UINT64_C(8) << 20;
static const double chance_most = 0.01;

/* What the growth of a part means; `is_leak`: somebody does not give back what they could. */
static const struct cause {
    enum account_part part;
    bool is_leak;
    const char *name, *meaning, *what_to_do;
} causes[] = {
    {ACCOUNT_BLOCKS, true, "blocks", "blocks that are not freed",
     "leaktide leaks says which lines keep them"},
    {ACCOUNT_KEPT, false, "kept by malloc", "freed, and kept by malloc: no leak",
     "call malloc_trim(0) at a quiet moment, set MALLOC_ARENA_MAX=2 where arenas are many, or try "
     "jemalloc"},
    {ACCOUNT_HEAP, true, "heap not split", "in a heap that is not malloc's of glibc",
     "ask that allocator for its own statistics"},
    {ACCOUNT_PYTHON_OBJECTS, true, "python objects", "small objects of Python that are not freed",
     "record with --device=cpu --call-stack=python; leaktide leaks says which lines keep them"},
    {ACCOUNT_PYTHON_KEPT, false, "kept by python", "pools of Python that few objects pin: no leak",
     "make what lives long before what is many and lives short"},
    {ACCOUNT_ANONYMOUS, true, "anonymous mappings", "mapped without a file and not unmapped",
     "record with --device=cpu: leaktide leaks says who maps it"},
    {ACCOUNT_SHARED, true, "shared memory", "shared memory that is not given back",
     "unmap it and unlink its name where it is made; files of tmpfs stay until then"},
    {ACCOUNT_FILES, false, "mapped files",
     "files that stay mapped: the kernel can take the pages "
     "back, but not the mappings",
     "unmap what is not read any more"},
    {ACCOUNT_STACKS, true, "stacks of threads", "stacks of threads that do not end",
     "end or reuse the threads; join or detach those that have ended"},
};

/* Rough accounts say no more of these than their sum. */
static const enum account_part heap_parts[] = {
    ACCOUNT_BLOCKS,      ACCOUNT_KEPT,           ACCOUNT_MALLOC_OWN, ACCOUNT_HEAP,
    ACCOUNT_PYTHON_KEPT, ACCOUNT_PYTHON_OBJECTS, ACCOUNT_ANONYMOUS};
enum { HEAP_PARTS = sizeof(heap_parts) / sizeof(heap_parts[0]) };

static const struct cause rough_cause = {
    ACCOUNT_HEAP, true, "heap or plain mappings",
    "in heaps or mappings without a file; the recording is too short to look into them",
    "record longer, or look at once: leaktide account PID"};

static const struct cause *cause_of(enum account_part part)
{
    for (size_t i = 0; i < sizeof(causes) / sizeof(causes[0]); i++)
        if (causes[i].part == part)
            return &causes[i];
    return NULL;
}

/* "2.10 min" */
static const char *label_duration(struct arena *arena, uint64_t ns)
{
    struct text_builder text;

    text_init(&text);
    text_add_duration(&text, ns);
    return text_keep(&text, arena);
}

/* What no list of blocks can say, and is a leak, is as important as one that they say. */
static int rank_of(const struct cause *cause)
{
    return cause && cause->is_leak && cause->part != ACCOUNT_BLOCKS ? RANK_LEAKS : RANK_RESIDENT;
}

static uint64_t risen(uint64_t before, uint64_t after)
{
    return after > before ? after - before : 0;
}

/* --- does it grow? ------------------------------------------------------------------------- */

/* numbers: one for each account. Returns the index of the base, or count where nothing grew. */
static size_t growth_base(const uint64_t *numbers, size_t count)
{
    size_t base = count / 4, judged = count - base;
    uint64_t grown, late;

    if (judged < JUDGED_LEAST || numbers[count - 1] <= numbers[base])
        return count;
    grown = numbers[count - 1] - numbers[base];
    late = numbers[count - 1 - judged / 3];
    if (grown < growth_least_bytes || grown < numbers[base] / SHARE_LEAST ||
        numbers[count - 1] <= late || numbers[count - 1] - late < grown / STILL_PARTS)
        return count;
    if (judged > TREND_MAX) {
        numbers += judged - TREND_MAX;
        judged = TREND_MAX;
    }
    return trend_of(numbers + base, judged).rise_chance < chance_most ? base : count;
}

/* An arena without memory has failed: whoever writes the answer says so. */
static size_t base_of(struct arena *arena, const struct memory_account *accounts, size_t count,
                      uint64_t (*number)(const struct memory_account *account))
{
    uint64_t *numbers = arena_alloc(arena, (count + 1) * sizeof(*numbers));

    if (!numbers)
        return count;
    for (size_t i = 0; i < count; i++)
        numbers[i] = number(&accounts[i]);
    return growth_base(numbers, count);
}

static uint64_t resident_of(const struct memory_account *account)
{
    return account->figures[ACCOUNT_FIGURE_RESIDENT];
}

/* --- by which part, and which name --------------------------------------------------------- */

static uint64_t named_bytes(const struct memory_account *account, enum account_part part,
                            uint32_t name)
{
    uint64_t sum = 0;

    for (size_t i = 0; i < account->row_count; i++)
        if (account->rows[i].part == part && account->rows[i].name == name)
            sum += account->rows[i].resident_bytes;
    return sum;
}

/* The name that grew most, and how many did; 0: none has a name. */
static uint32_t grown_name(const struct memory_account *base, const struct memory_account *newest,
                           enum account_part part, size_t *count)
{
    uint32_t name = 0;
    uint64_t most = 0;

    *count = 0;
    for (size_t i = 0; i < newest->row_count; i++) {
        const struct memory_row *row = &newest->rows[i];
        uint64_t before =
            row->part == part && row->name ? named_bytes(base, part, row->name) : UINT64_MAX;

        if (row->part != part || !row->name || row->resident_bytes <= before)
            continue;
        ++*count;
        if (row->resident_bytes - before > most) {
            most = row->resident_bytes - before;
            name = row->name;
        }
    }
    return name;
}

struct grown {
    const struct memory_account *base, *newest;
    enum account_part part;
    uint64_t bytes, whole_bytes;
    bool is_rough; /* which part of a heap is not known */
};

/* ", most of it /dev/shm/a (deleted)"; ", with 312 threads instead of 12" */
static const char *more_words(const struct question *question, struct report *report,
                              const struct grown *grown)
{
    size_t count = 0;
    uint32_t name = grown_name(grown->base, grown->newest, grown->part, &count);

    if (grown->part == ACCOUNT_STACKS)
        return report_text(report, ", with %" PRIu64 " threads instead of %" PRIu64,
                           grown->newest->figures[ACCOUNT_FIGURE_THREADS],
                           grown->base->figures[ACCOUNT_FIGURE_THREADS]);
    if (grown->part == ACCOUNT_KEPT)
        return report_text(
            report, ", of which malloc_trim(0) would give back %s",
            label_size(report_arena(report), grown->newest->figures[ACCOUNT_FIGURE_TRIM]));
    if (!name || grown->part == ACCOUNT_BLOCKS)
        return "";
    if (count > 1)
        return report_text(report, ", most of it %s and %zu others like it",
                           model_text_at(question->model, name), count - 1);
    return report_text(report, ", %s", model_text_at(question->model, name));
}

static void add_row(const struct question *question, struct report *report,
                    struct report_table *table, const struct grown *grown,
                    const struct cause *cause)
{
    size_t count;
    uint32_t name = grown_name(grown->base, grown->newest, grown->part, &count);
    const struct field fields[] = {
        {"cause", "what grew", value_word(cause ? cause->name : account_part_name(grown->part))},
        {"growth_bytes", "by", value_bytes(grown->bytes)},
        {"share_percent", "share",
         value_number(VALUE_PERCENT, percent_of(grown->bytes, grown->whole_bytes))},
        {"is_leak", "leak", value_number(VALUE_FLAG, cause && cause->is_leak)},
        {"duration_ns", "in",
         value_number(VALUE_DURATION_NS, grown->newest->time_ns - grown->base->time_ns)},
        {"name", "most of it", value_name(question, name)},
        {"process", "of",
         value_text(label_process(question, report_arena(report), grown->newest->process))},
        {"what_to_do", "what to do", value_text(cause ? translated(cause->what_to_do) : "-")},
    };

    report_row(report, table, fields, sizeof(fields) / sizeof(fields[0]));
}

static int grown_compare(const void *left, const void *right)
{
    const struct grown *a = left, *b = right;

    if (a->bytes != b->bytes)
        return a->bytes > b->bytes ? -1 : 1;
    return (a->part > b->part) - (a->part < b->part);
}

static bool is_of_heap(enum account_part part)
{
    for (size_t i = 0; i < HEAP_PARTS; i++)
        if (heap_parts[i] == part)
            return true;
    return false;
}

static uint64_t heap_bytes(const struct memory_account *account)
{
    uint64_t sum = 0;

    for (size_t i = 0; i < HEAP_PARTS; i++)
        sum += memory_account_part(account, heap_parts[i]);
    return sum;
}

/* The first and the last account that are not rough; false: there are no two. */
static bool whole_accounts(const struct memory_account *accounts, size_t count, struct grown *grown)
{
    grown->base = grown->newest = NULL;
    for (size_t i = 0; i < count; i++) {
        if (memory_account_is_rough(&accounts[i]))
            continue;
        if (!grown->base)
            grown->base = &accounts[i];
        grown->newest = &accounts[i];
    }
    return grown->base != grown->newest;
}

/* Growth of heaps, by the shares that their parts had in it where both were looked into. */
static size_t split_heap(const struct memory_account *accounts, size_t count,
                         const struct grown *heap, struct grown *parts)
{
    struct grown wholes = *heap;
    uint64_t sum = 0, grown[HEAP_PARTS];
    size_t part_count = 0;

    if (!whole_accounts(accounts, count, &wholes) ||
        heap_bytes(wholes.newest) < heap_bytes(wholes.base) + growth_least_bytes / 4)
        return 0;
    for (size_t i = 0; i < HEAP_PARTS; i++) {
        grown[i] = risen(memory_account_part(wholes.base, heap_parts[i]),
                         memory_account_part(wholes.newest, heap_parts[i]));
        sum += grown[i];
    }
    for (size_t i = 0; i < HEAP_PARTS; i++) {
        if (percent_of(grown[i], sum) < PARTS_SHOWN_PERCENT)
            continue;
        parts[part_count] = wholes;
        parts[part_count].part = heap_parts[i];
        parts[part_count++].bytes = (uint64_t)((unsigned __int128)heap->bytes * grown[i] / sum);
    }
    return part_count;
}

static size_t grown_parts(const struct memory_account *accounts, size_t count, size_t base_index,
                          struct grown *parts)
{
    const struct memory_account *base = &accounts[base_index], *newest = &accounts[count - 1];
    bool is_rough = memory_account_is_rough(base) || memory_account_is_rough(newest);
    uint64_t whole = resident_of(newest) - resident_of(base);
    size_t part_count = 0;

    MT_ASSERT(resident_of(base) < resident_of(newest));
    for (int part = 0; part < ACCOUNT_PART_COUNT; part++) {
        uint64_t bytes = risen(memory_account_part(base, part), memory_account_part(newest, part));

        if (is_rough && is_of_heap(part))
            bytes = part == ACCOUNT_HEAP ? risen(heap_bytes(base), heap_bytes(newest)) : 0;
        if (percent_of(bytes, whole) < PARTS_SHOWN_PERCENT)
            continue;
        parts[part_count] = (struct grown){base, newest, part, bytes, whole, false};
        if (is_rough && part == ACCOUNT_HEAP) {
            const struct grown heap = parts[part_count];
            size_t split = split_heap(accounts, count, &heap, &parts[part_count]);

            parts[part_count].is_rough = !split;
            part_count += split ? split - 1 : 0;
        }
        part_count++;
    }
    qsort(parts, part_count, sizeof(*parts), grown_compare);
    return part_count;
}

void resident_growth_say(const struct question *question, struct report *report,
                         struct report_table *table, const struct memory_account *accounts,
                         size_t count)
{
    struct arena *texts = report_arena(report);
    size_t base = base_of(texts, accounts, count, resident_of), part_count;
    struct grown parts[ACCOUNT_PART_COUNT + HEAP_PARTS];
    const struct cause *cause;

    if (base == count)
        return;
    part_count = grown_parts(accounts, count, base, parts);
    for (size_t i = 0; i < part_count; i++)
        add_row(question, report, table, &parts[i],
                parts[i].is_rough ? &rough_cause : cause_of(parts[i].part));
    if (!part_count)
        return;
    cause = parts[0].is_rough ? &rough_cause : cause_of(parts[0].part);
    report_verdict(report, rank_of(cause), "%s grew by %s in %s: %s (%u %%) is %s%s.%s%s%s",
                   label_process(question, texts, parts[0].newest->process),
                   label_size(texts, parts[0].whole_bytes),
                   label_duration(texts, accounts[count - 1].time_ns - accounts[base].time_ns),
                   label_size(texts, parts[0].bytes),
                   percent_of(parts[0].bytes, parts[0].whole_bytes),
                   cause ? translated(cause->meaning) : account_part_name(parts[0].part),
                   more_words(question, report, &parts[0]), cause ? " To do: " : "",
                   cause ? translated(cause->what_to_do) : "", cause ? "." : "");
}

/* --- the cgroup ---------------------------------------------------------------------------- */

static uint64_t charged(const struct memory_account *account)
{
    uint64_t current = account->cgroup[ACCOUNT_CGROUP_CURRENT];

    return account->cgroup_version && current != UINT64_MAX ? current : 0;
}

static uint64_t known(const struct memory_account *account, enum account_cgroup_figure figure)
{
    return account->cgroup[figure] != UINT64_MAX ? account->cgroup[figure] : 0;
}

static uint64_t cache_of(const struct memory_account *account)
{
    return risen(known(account, ACCOUNT_CGROUP_SHARED), known(account, ACCOUNT_CGROUP_FILE));
}

static const struct cause cgroup_causes[] = {
    {ACCOUNT_PART_COUNT, false, "page cache",
     "page cache, which the kernel takes back when it is needed: no leak",
     "nothing, or read files once with O_DIRECT or POSIX_FADV_DONTNEED"},
    {ACCOUNT_PART_COUNT, true, "shared memory of the cgroup",
     "shared memory or tmpfs that this process does not map: its names are not unlinked",
     "unlink what is left in /dev/shm; ls -l /dev/shm names it"},
    {ACCOUNT_PART_COUNT, false, "shared memory of the cgroup",
     "shared memory or tmpfs of other processes of the cgroup, or that nobody maps",
     "look at the others, too, with leaktide account, and at ls -l /dev/shm"},
};

static void say_cgroup(const struct question *question, struct report *report,
                       struct report_table *table, const struct grown *grown,
                       const struct cause *cause)
{
    struct arena *texts = report_arena(report);
    struct grown of_cgroup = *grown;

    of_cgroup.part = ACCOUNT_PART_COUNT; /* no row of the process has it */
    add_row(question, report, table, &of_cgroup, cause);
    report_verdict(report, rank_of(cause),
                   "The cgroup grew by %s in %s: %s (%u %%) is %s. To do: %s.",
                   label_size(texts, grown->whole_bytes),
                   label_duration(texts, grown->newest->time_ns - grown->base->time_ns),
                   label_size(texts, grown->bytes), percent_of(grown->bytes, grown->whole_bytes),
                   translated(cause->meaning), translated(cause->what_to_do));
}

/* Processes of the cgroup that are not recorded; the launcher and its consumer are two. */
static bool has_others(const struct question *question, const struct memory_account *account)
{
    return known(account, ACCOUNT_CGROUP_PROCESSES) > model_process_count(question->model) + 2;
}

void cgroup_growth_say(const struct question *question, struct report *report,
                       struct report_table *table, const struct memory_account *accounts,
                       size_t count)
{
    size_t at = base_of(report_arena(report), accounts, count, charged);
    const struct memory_account *base, *newest;
    uint64_t whole, cache, shared;

    if (at == count)
        return;
    base = &accounts[at];
    newest = &accounts[count - 1];
    whole = charged(newest) - charged(base);
    cache = risen(cache_of(base), cache_of(newest));
    shared = risen(known(base, ACCOUNT_CGROUP_SHARED), known(newest, ACCOUNT_CGROUP_SHARED));
    shared = risen(risen(memory_account_part(base, ACCOUNT_SHARED),
                         memory_account_part(newest, ACCOUNT_SHARED)),
                   shared);
    if (cache >= whole / 2)
        say_cgroup(question, report, table,
                   &(struct grown){base, newest, ACCOUNT_FILES, cache, whole, false},
                   &cgroup_causes[0]);
    else if (shared >= whole / 2)
        say_cgroup(question, report, table,
                   &(struct grown){base, newest, ACCOUNT_SHARED, shared, whole, false},
                   &cgroup_causes[has_others(question, newest) ? 2 : 1]);
}

/* --- more processes ------------------------------------------------------------------------ */

enum { MOMENTS = 16, MOMENTS_BEFORE = 4, PROCESSES_LEAST = 3 };

/* Of all processes, by their starts and ends. */
struct crowd {
    uint64_t begin_ns, end_ns;
    uint64_t counts[MOMENTS], bytes[MOMENTS]; /* that ran then */
};

/* By its newest account; else, whole pages that it shares included, as it was sampled. */
static uint64_t size_of(const struct question *question, uint16_t process)
{
    const struct memory_accounts *accounts = tally_accounts(question->tally);
    size_t count, first = memory_accounts_of(accounts, process, &count);

    if (count)
        return accounts->rows[first + count - 1].figures[ACCOUNT_FIGURE_PROPORTIONAL];
    for (size_t i = 0; i < tally_sample_count(question->tally); i++) {
        const struct sample_row *row = tally_sample_at(question->tally, i);

        if (row->process == process &&
            strcmp(model_text_at(question->model, row->counter), "process resident") == 0)
            return row->last_bytes;
    }
    return 0;
}

static void crowd_add(const struct question *question, struct crowd *crowd, uint16_t index)
{
    const struct model_process *process = model_process_at(tally_model(question->tally), index);
    uint64_t bytes = size_of(question, index);

    for (uint64_t i = 0; i < MOMENTS; i++) {
        uint64_t time_ns =
            crowd->begin_ns + (crowd->end_ns - crowd->begin_ns) / (MOMENTS + 1) * (i + 1);

        if (process->start_ns > time_ns || process->end_ns < time_ns)
            continue;
        crowd->counts[i]++;
        crowd->bytes[i] += bytes;
    }
}

static void crowd_count(const struct question *question, struct crowd *crowd)
{
    size_t count = model_process_count(question->model);

    *crowd = (struct crowd){.begin_ns = UINT64_MAX};
    for (size_t i = 0; i < count; i++) {
        const struct model_process *process =
            model_process_at(tally_model(question->tally), (uint16_t)i);

        if (process->start_ns < crowd->begin_ns)
            crowd->begin_ns = process->start_ns;
        if (process->end_ns > crowd->end_ns)
            crowd->end_ns = process->end_ns;
    }
    for (size_t i = 0; i < count; i++)
        crowd_add(question, crowd, (uint16_t)i);
}

void process_growth_say(const struct question *question, struct report *report,
                        struct report_table *table)
{
    static const struct cause cause = {
        ACCOUNT_PART_COUNT, true, "more processes", "more and more processes",
        "end the workers that have done their work, and wait for them"};
    const struct memory_account before = {.time_ns = 0};
    struct memory_account after = {.time_ns = 0};
    struct crowd crowd;
    uint64_t grown;

    if (model_process_count(question->model) < PROCESSES_LEAST)
        return;
    crowd_count(question, &crowd);
    grown = risen(crowd.bytes[MOMENTS_BEFORE], crowd.bytes[MOMENTS - 1]);
    if (crowd.counts[MOMENTS - 1] < crowd.counts[MOMENTS_BEFORE] + PROCESSES_LEAST ||
        grown < growth_least_bytes ||
        trend_of(crowd.counts + MOMENTS_BEFORE, MOMENTS - MOMENTS_BEFORE).rise_chance >=
            chance_most)
        return;
    after.time_ns =
        (crowd.end_ns - crowd.begin_ns) / (MOMENTS + 1) * (MOMENTS - 1 - MOMENTS_BEFORE);
    add_row(question, report, table,
            &(struct grown){&before, &after, ACCOUNT_PART_COUNT, grown, grown, false}, &cause);
    report_verdict(report, rank_of(&cause),
                   "There are %s: %" PRIu64 " instead of %" PRIu64 ", with %s more. To do: %s.",
                   translated(cause.meaning), crowd.counts[MOMENTS - 1],
                   crowd.counts[MOMENTS_BEFORE], label_size(report_arena(report), grown),
                   translated(cause.what_to_do));
}
