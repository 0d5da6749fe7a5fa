/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A process that grows: by which part, whether that is a leak, and what to do.
 */
#include "resident_growth.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "labels.h"
#include "resident_rise.h"
#include "sentence.h"
#include "thresholds.h"
#include "trend.h"

/* What no list of blocks can say, and is a leak, is as important as one that they say. */
static int rank_of(const struct resident_cause *cause)
{
    return cause && cause->is_leak && cause->part != ACCOUNT_BLOCKS ? RANK_LEAKS : RANK_RESIDENT;
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

/* By the begin of the name of what grew most of a part. */
static const struct {
    const char *begin;
    struct resident_cause cause;
} keepers[] = {
    {ACCOUNT_NAME_JEMALLOC,
     {ACCOUNT_KEPT, false, "kept by malloc", "freed, and kept by jemalloc: no leak",
      "set dirty_decay_ms and muzzy_decay_ms lower in MALLOC_CONF, or call "
      "mallctl(\"arena.4096.purge\", NULL, NULL, NULL, 0) at a quiet moment"}},
    {ACCOUNT_NAME_TCMALLOC,
     {ACCOUNT_KEPT, false, "kept by malloc", "freed, and kept by tcmalloc: no leak",
      "call MallocExtension_ReleaseFreeMemory() at a quiet moment, or set TCMALLOC_RELEASE_RATE "
      "higher"}},
    {ACCOUNT_NAME_MIMALLOC,
     {ACCOUNT_KEPT, false, "kept by malloc", "freed, and kept by mimalloc: no leak",
      "set MIMALLOC_DECOMMIT_DELAY=0 (from 2.1 on MIMALLOC_PURGE_DELAY=0), so that free pages are "
      "given back at once"}},
    {ACCOUNT_NAME_V8_OBJECTS,
     {ACCOUNT_ANONYMOUS, true, "javascript objects",
      "objects of JavaScript that are in use, or were not collected yet",
      "compare two heap snapshots: node --heapsnapshot-signal=SIGUSR2 writes one at each signal"}},
    {ACCOUNT_NAME_V8_KEPT,
     {ACCOUNT_ANONYMOUS, false, "kept by v8", "kept free by V8 for its heap: no leak",
      "set --max-old-space-size and --max-semi-space-size lower"}},
};

/* Who keeps it decides what to do. */
static const struct resident_cause *cause_of(const struct question *question,
                                             const struct resident_part *grown)
{
    size_t count;
    uint32_t name =
        !grown->is_rough ? grown_name(grown->base, grown->newest, grown->part, &count) : 0;
    const char *words = name ? model_text_at(question->model, name) : "";

    for (size_t i = 0; i < sizeof(keepers) / sizeof(keepers[0]); i++)
        if (keepers[i].cause.part == grown->part &&
            strncmp(words, keepers[i].begin, strlen(keepers[i].begin)) == 0)
            return &keepers[i].cause;
    return resident_cause_of(grown);
}

/* The pool of what such a part is mapped by; POOL_OTHER: none. */
static enum pool_id pool_of(enum account_part part)
{
    switch (part) {
    case ACCOUNT_SHARED:
        return POOL_SHARED_MEMORY;
    case ACCOUNT_FILES:
        return POOL_MAPPED_FILE;
    case ACCOUNT_ANONYMOUS:
        return POOL_MMAP;
    default:
        return POOL_OTHER;
    }
}

/* Who mapped most of what is left of that part, where that explains at least half of its growth.
 * Nobody for other parts. */
static struct who mapped_by(const struct question *question, const struct resident_part *grown)
{
    const struct tally *tally = question->tally;
    enum pool_id pool = pool_of(grown->part);
    uint64_t most_bytes = grown->bytes / 2;
    struct who who = {0};

    for (size_t i = 1; pool != POOL_OTHER && i < tally_group_count(tally); i++) {
        const struct group *group = tally_group_at(tally, i);
        const struct group_detail *detail = tally_detail_at(tally, i);

        if (detail->process != grown->newest->process || group->live_bytes < most_bytes ||
            model_pool_at(question->model, detail->pool)->id != pool)
            continue;
        most_bytes = group->live_bytes;
        who = (struct who){detail->site, detail->operator_text, detail->owner_text, 0};
    }
    return who;
}

/* ", mapped by read (loader.c:7)" */
static const char *mapped_words(const struct question *question, struct report *report,
                                const struct resident_part *grown)
{
    struct who who = mapped_by(question, grown);

    return who_is_known(who) ? report_text(report, ", mapped by %s",
                                           label_who(question, report_arena(report), who))
                             : "";
}

enum { PINS_BYTES_LEAST = 1 << 20, PINS_SHARE_LEAST = 4 };

/* Who holds back much of what malloc keeps, as far as it was looked for; NULL: nobody. */
static const struct memory_pins *pins_of(const struct question *question,
                                         const struct resident_part *grown)
{
    const struct memory_pins *pins = &grown->newest->pins;

    if (grown->part != ACCOUNT_KEPT || !pins->group || pins->bytes < PINS_BYTES_LEAST ||
        pins->bytes < pins->all_bytes / PINS_SHARE_LEAST ||
        pins->group >= tally_group_count(question->tally))
        return NULL;
    return pins;
}

static struct who pinned_by(const struct question *question, const struct memory_pins *pins)
{
    const struct group_detail *detail = tally_detail_at(question->tally, pins->group);

    return (struct who){detail->site, detail->operator_text, detail->owner_text, 0};
}

/* ", and 18.3 MiB are held back on the pages of 4,800 blocks of read (loader.c:7) that stay". */
static const char *pinned_words(const struct question *question, struct report *report,
                                const struct resident_part *grown)
{
    const struct memory_pins *pins = pins_of(question, grown);

    if (!pins)
        return "";
    return report_text(report,
                       ", and %s are held back on the pages of %" PRIu64 " blocks of %s that stay",
                       label_size(report_arena(report), pins->bytes), pins->block_count,
                       label_who(question, report_arena(report), pinned_by(question, pins)));
}

/* ", most of it /dev/shm/a (deleted)"; ", with 312 threads instead of 12" */
static const char *more_words(const struct question *question, struct report *report,
                              const struct resident_part *grown)
{
    size_t count = 0;
    uint32_t name = grown_name(grown->base, grown->newest, grown->part, &count);

    if (grown->part == ACCOUNT_STACKS)
        return report_text(report, ", with %" PRIu64 " threads instead of %" PRIu64,
                           grown->newest->figures[ACCOUNT_FIGURE_THREADS],
                           grown->base->figures[ACCOUNT_FIGURE_THREADS]);
    if (grown->part == ACCOUNT_KEPT && grown->newest->figures[ACCOUNT_FIGURE_TRIM])
        return report_text(
            report, ", of which malloc_trim(0) would give back %s",
            label_size(report_arena(report), grown->newest->figures[ACCOUNT_FIGURE_TRIM]));
    if (grown->part == ACCOUNT_KEPT && grown->newest->figures[ACCOUNT_FIGURE_SPARE])
        return report_text(
            report, ", of which its allocator could give back %s",
            label_size(report_arena(report), grown->newest->figures[ACCOUNT_FIGURE_SPARE]));
    if (!name || grown->part == ACCOUNT_BLOCKS ||
        (grown->part == ACCOUNT_ANONYMOUS && /* the cause says it */
         cause_of(question, grown) != resident_cause_of(grown)))
        return "";
    if (count > 1)
        return report_text(report, ", most of it %s and %zu others like it",
                           model_text_at(question->model, name), count - 1);
    return report_text(report, ", %s", model_text_at(question->model, name));
}

static void add_row(const struct question *question, struct report *report,
                    struct report_table *table, const struct resident_part *grown,
                    const struct resident_cause *cause)
{
    size_t count;
    uint32_t name = grown_name(grown->base, grown->newest, grown->part, &count);
    struct who who = mapped_by(question, grown);
    const struct memory_pins *pins = pins_of(question, grown);
    const struct field fields[] = {
        {"cause", "what grew", value_word(cause ? cause->name : account_part_name(grown->part))},
        {"growth_bytes", "by", value_bytes(grown->bytes)},
        {"share_percent", "share",
         value_number(VALUE_PERCENT, percent_of(grown->bytes, grown->whole_bytes))},
        /* Nobody looked into a heap that was not split. */
        {"is_leak", "leak",
         grown->is_rough ? value_none() : value_number(VALUE_FLAG, cause && cause->is_leak)},
        {"duration_ns", "in",
         value_number(VALUE_DURATION_NS, grown->newest->time_ns - grown->base->time_ns)},
        {"name", "most of it", value_name(question, name)},
        {"site", "mapped by",
         who_is_known(who) ? value_who(question, report_arena(report), who) : value_none()},
        {"held_back_bytes", NULL, pins ? value_bytes(pins->bytes) : value_none()},
        {"held_back_by", NULL,
         pins ? value_who(question, report_arena(report), pinned_by(question, pins))
              : value_none()},
        {"process", "of",
         value_text(label_process(question, report_arena(report), grown->newest->process))},
        {"what_to_do", "what to do", value_text(cause ? translated(cause->what_to_do) : "-")},
    };

    report_row(report, table, fields, sizeof(fields) / sizeof(fields[0]));
}

void resident_growth_say(const struct question *question, struct report *report,
                         struct report_table *table, const struct memory_account *accounts,
                         size_t count)
{
    struct arena *texts = report_arena(report);
    size_t base = resident_rise_base(texts, accounts, count, resident_bytes_of), part_count;
    struct resident_part parts[RESIDENT_PARTS_MOST];
    const struct resident_cause *cause;

    if (base == count)
        return;
    part_count = resident_rise_parts(accounts, count, base, parts);
    for (size_t i = 0; i < part_count; i++)
        add_row(question, report, table, &parts[i], cause_of(question, &parts[i]));
    if (!part_count)
        return;
    cause = cause_of(question, &parts[0]);
    report_verdict(
        report, rank_of(cause), "%s grew by %s in %s: %s (%u %%) is %s%s%s%s.%s%s%s",
        label_process(question, texts, parts[0].newest->process),
        label_size(texts, parts[0].whole_bytes),
        label_duration(texts, accounts[count - 1].time_ns - accounts[base].time_ns),
        label_size(texts, parts[0].bytes), percent_of(parts[0].bytes, parts[0].whole_bytes),
        cause ? translated(cause->meaning) : account_part_name(parts[0].part),
        more_words(question, report, &parts[0]), mapped_words(question, report, &parts[0]),
        pinned_words(question, report, &parts[0]), cause ? translated(" To do: ") : "",
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
    return risen_bytes(known(account, ACCOUNT_CGROUP_SHARED), known(account, ACCOUNT_CGROUP_FILE));
}

static const struct resident_cause cgroup_causes[] = {
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
                       struct report_table *table, const struct resident_part *grown,
                       const struct resident_cause *cause)
{
    struct arena *texts = report_arena(report);
    struct resident_part of_cgroup = *grown;

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
    size_t at = resident_rise_base(report_arena(report), accounts, count, charged);
    const struct memory_account *base, *newest;
    uint64_t whole, cache, shared;

    if (at == count)
        return;
    base = &accounts[at];
    newest = &accounts[count - 1];
    whole = charged(newest) - charged(base);
    cache = risen_bytes(cache_of(base), cache_of(newest));
    shared = risen_bytes(known(base, ACCOUNT_CGROUP_SHARED), known(newest, ACCOUNT_CGROUP_SHARED));
    shared = risen_bytes(risen_bytes(memory_account_part(base, ACCOUNT_SHARED),
                                     memory_account_part(newest, ACCOUNT_SHARED)),
                         shared);
    if (cache >= whole / 2)
        say_cgroup(question, report, table,
                   &(struct resident_part){base, newest, ACCOUNT_FILES, cache, whole, false},
                   &cgroup_causes[0]);
    else if (shared >= whole / 2)
        say_cgroup(question, report, table,
                   &(struct resident_part){base, newest, ACCOUNT_SHARED, shared, whole, false},
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
    static const struct resident_cause cause = {
        ACCOUNT_PART_COUNT, true, "more processes", "more and more processes",
        "end the workers that have done their work, and wait for them"};
    const struct memory_account before = {.time_ns = 0};
    struct memory_account after = {.time_ns = 0};
    struct crowd crowd;
    uint64_t grown;

    if (model_process_count(question->model) < PROCESSES_LEAST)
        return;
    crowd_count(question, &crowd);
    grown = risen_bytes(crowd.bytes[MOMENTS_BEFORE], crowd.bytes[MOMENTS - 1]);
    if (crowd.counts[MOMENTS - 1] < crowd.counts[MOMENTS_BEFORE] + PROCESSES_LEAST ||
        grown < GROWN_BYTES_MIN ||
        trend_of(crowd.counts + MOMENTS_BEFORE, MOMENTS - MOMENTS_BEFORE).rise_chance >= CHANCE_MAX)
        return;
    after.time_ns =
        (crowd.end_ns - crowd.begin_ns) / (MOMENTS + 1) * (MOMENTS - 1 - MOMENTS_BEFORE);
    add_row(question, report, table,
            &(struct resident_part){&before, &after, ACCOUNT_PART_COUNT, grown, grown, false},
            &cause);
    report_verdict(report, rank_of(&cause),
                   "There are %s: %" PRIu64 " instead of %" PRIu64 ", with %s more. To do: %s.",
                   translated(cause.meaning), crowd.counts[MOMENTS - 1],
                   crowd.counts[MOMENTS_BEFORE], label_size(report_arena(report), grown),
                   translated(cause.what_to_do));
}
