/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Many ranks: which one differs from the others, and in what.
 *
 * All are compared in the pool that holds most. What is compared: the peak, the growth per step,
 * what each site held at the peak, and the highest of each counter of the driver; each against the
 * median of all ranks. A difference counts from a twentieth of the median and 1 MiB on.
 */
#define _GNU_SOURCE /* qsort_r */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "arena.h"
#include "growth.h"
#include "hash.h"
#include "hash_index.h"
#include "labels.h"
#include "plain_analyses.h"
#include "pool_counter.h"
#include "sentence.h"
#include "table.h"

enum { SHARE = 20, LEAST_BYTES = 1 << 20, SITE_SHARE = 100, NO_LEDGER = -1 };

struct step_end {
    uint64_t number, bytes;
};

struct rank {
    uint16_t process;
    int32_t ledger;        /* of the compared pool, the one with the highest peak; or NO_LEDGER */
    struct step_end *ends; /* of its steps */
    const struct step_end **by_number;
    size_t end_count;
};

/* One thing that is compared: a value of each rank. */
struct measure {
    const char *kind; /* "peak", "growth per step", "site", "counter" */
    const char *name;
    uint64_t *values; /* by rank */
};

struct comparison {
    const struct question *question;
    struct report *report;
    struct arena arena;
    struct rank *ranks;
    size_t rank_count;
    struct table measures;
    struct hash_index index;
};

struct difference {
    const struct measure *measure;
    size_t rank;
    uint64_t value, median;
};

static uint64_t gap_of(const struct difference *difference)
{
    return difference->value > difference->median ? difference->value - difference->median
                                                  : difference->median - difference->value;
}

/* --- who is compared ------------------------------------------------------------------------ */

static bool is_of_device(const struct ledger *ledger)
{
    return ledger->kind == LEDGER_MEMORY && ledger->device >= 0 && ledger->peak_bytes;
}

/* The pool whose ledgers hold most, over all processes. */
static bool widest_pool(const struct tally *tally, uint16_t *pool)
{
    uint64_t most = 0;

    for (size_t i = 0; i < tally_ledger_count(tally); i++) {
        const struct ledger *ledger = tally_ledger_at(tally, i);
        uint64_t sum = 0;

        for (size_t j = 0; is_of_device(ledger) && j < tally_ledger_count(tally); j++) {
            const struct ledger *other = tally_ledger_at(tally, j);

            sum += is_of_device(other) && other->pool == ledger->pool ? other->peak_bytes : 0;
        }
        if (sum > most) {
            most = sum;
            *pool = ledger->pool;
        }
    }
    return most > 0;
}

static int32_t ledger_of(const struct tally *tally, uint16_t process, uint16_t pool)
{
    int32_t best = NO_LEDGER;

    for (size_t i = 0; i < tally_ledger_count(tally); i++) {
        const struct ledger *ledger = tally_ledger_at(tally, i);

        if (ledger->process == process && ledger->pool == pool && is_of_device(ledger) &&
            (best == NO_LEDGER ||
             ledger->peak_bytes > tally_ledger_at(tally, (size_t)best)->peak_bytes))
            best = (int32_t)i;
    }
    return best;
}

static void find_ranks(struct comparison *comparison)
{
    const struct tally *tally = comparison->question->tally;
    size_t count = model_process_count(comparison->question->model);
    uint16_t pool;

    comparison->ranks = arena_alloc(&comparison->arena, (count + 1) * sizeof(struct rank));
    if (!comparison->ranks || !widest_pool(tally, &pool))
        return;
    for (size_t i = 0; i < count; i++) {
        int32_t ledger = ledger_of(tally, (uint16_t)i, pool);

        if (ledger != NO_LEDGER)
            comparison->ranks[comparison->rank_count++] =
                (struct rank){.process = (uint16_t)i, .ledger = ledger};
    }
}

/* --- what is compared ----------------------------------------------------------------------- */

/* NULL when there is no memory: the measure is left out. */
static uint64_t *value_for(struct comparison *comparison, const char *kind, const char *name,
                           size_t rank)
{
    uint64_t hash = hash_pair(hash_bytes(name, strlen(name)), (uint64_t)(unsigned char)*kind);
    size_t probe = 0;
    uint32_t found;
    struct measure *measure;

    while (hash_index_next(&comparison->index, hash, &probe, &found)) {
        measure = table_at(&comparison->measures, found);
        if (strcmp(measure->kind, kind) == 0 && strcmp(measure->name, name) == 0)
            return &measure->values[rank];
    }
    found = (uint32_t)comparison->measures.count;
    measure = table_add(&comparison->measures);
    if (!measure)
        return NULL;
    *measure = (struct measure){
        kind, name,
        arena_alloc(&comparison->arena, comparison->rank_count * sizeof(*measure->values))};
    if (!measure->values || !hash_index_add(&comparison->index, hash, found)) {
        comparison->measures.count--;
        return NULL;
    }
    memset(measure->values, 0, comparison->rank_count * sizeof(*measure->values));
    return &measure->values[rank];
}

static void add_value(struct comparison *comparison, const char *kind, const char *name,
                      size_t rank, uint64_t bytes)
{
    uint64_t *value = value_for(comparison, kind, name, rank);

    if (value)
        *value += bytes;
}

/* What the ledger of the rank held when the step ended; NULL: it did not. */
static const struct step_row *end_row(const struct tally *tally, const struct rank *rank,
                                      uint32_t index)
{
    const struct step *step = tally_step_of(tally, rank->process, index);

    return step ? tally_step_row_of(tally, step, (uint16_t)rank->ledger) : NULL;
}

/* Of the last judged step end against the first. */
static uint64_t growth_per_step(const struct question *question, const struct rank *rank)
{
    const struct tally *tally = question->tally;
    uint32_t step_count = tally_process_at(tally, rank->process).step_count;
    const struct step_row *first = NULL, *last = NULL;
    uint32_t first_index = 0, last_index = 0;

    for (uint32_t index = growth_steps_of(question, rank->process).warm_up + 1; index <= step_count;
         index++) {
        const struct step_row *row = end_row(tally, rank, index);

        if (!row)
            continue;
        first_index = first ? first_index : index;
        first = first ? first : row;
        last = row;
        last_index = index;
    }
    return last_index > first_index && last->end_bytes > first->end_bytes
               ? (last->end_bytes - first->end_bytes) / (last_index - first_index)
               : 0;
}

static void measure_ledgers(struct comparison *comparison)
{
    for (size_t i = 0; i < comparison->rank_count; i++) {
        const struct rank *rank = &comparison->ranks[i];

        add_value(comparison, "peak", "peak", i,
                  whole_peak_of(comparison->question, (uint16_t)rank->ledger).bytes);
        add_value(comparison, translated("growth per step"), translated("growth per step"), i,
                  growth_per_step(comparison->question, rank));
    }
}

static size_t rank_of_ledger(const struct comparison *comparison, uint16_t ledger)
{
    size_t i = 0;

    while (i < comparison->rank_count && comparison->ranks[i].ledger != ledger)
        i++;
    return i;
}

/* Sites that hold at least a hundredth of the peak, by name: numbers differ between processes. */
static void measure_sites(struct comparison *comparison)
{
    const struct question *question = comparison->question;
    struct origins origins;

    if (!origins_init(&origins, question, ORIGINS_BY_SITE))
        return;
    for (size_t i = 0; i < origins.count; i++) {
        const struct origin *origin = &origins.rows[i];
        size_t rank = rank_of_ledger(comparison, origin->ledger);
        uint64_t bytes;

        if (rank == comparison->rank_count)
            continue;
        bytes = origin_at_peak(question->tally, origin).bytes;
        if (bytes >= tally_ledger_at(question->tally, origin->ledger)->peak_bytes / SITE_SHARE)
            add_value(comparison, "site",
                      label_who(question, report_arena(comparison->report), origin->who), rank,
                      bytes);
    }
    origins_release(&origins);
}

/* Of the driver, not of pools that are compared themselves. */
static void measure_counters(struct comparison *comparison)
{
    const struct question *question = comparison->question;

    for (size_t i = 0; i < tally_sample_count(question->tally); i++) {
        const struct sample_row *row = tally_sample_at(question->tally, i);
        const char *name = model_text_at(question->model, row->counter);
        size_t rank = 0;

        while (rank < comparison->rank_count && comparison->ranks[rank].process != row->process)
            rank++;
        if (rank < comparison->rank_count && strncmp(name, "module ", 7) == 0 &&
            model_place_at(question->model, row->place).device >= 0)
            add_value(comparison, "module", name, rank, row->high_bytes);
    }
}

/* --- steps, side by side --------------------------------------------------------------------- */

static int end_compare(const void *left, const void *right)
{
    const struct step_end *a = *(const struct step_end *const *)left;
    const struct step_end *b = *(const struct step_end *const *)right;

    if (a->number != b->number)
        return a->number < b->number ? -1 : 1;
    return (a > b) - (a < b);
}

static void list_ends(struct comparison *comparison, struct rank *rank)
{
    const struct tally *tally = comparison->question->tally;
    uint32_t step_count = tally_process_at(tally, rank->process).step_count;

    rank->ends = arena_alloc(&comparison->arena, ((size_t)step_count + 1) * sizeof(*rank->ends));
    rank->by_number =
        arena_alloc(&comparison->arena, ((size_t)step_count + 1) * sizeof(*rank->by_number));
    for (uint32_t index = 1; rank->ends && rank->by_number && index <= step_count; index++) {
        const struct step_row *row = end_row(tally, rank, index);
        struct step_end *end = &rank->ends[rank->end_count];

        if (!row)
            continue;
        *end =
            (struct step_end){tally_step_of(tally, rank->process, index)->number, row->end_bytes};
        rank->by_number[rank->end_count++] = end;
    }
    if (rank->end_count)
        qsort(rank->by_number, rank->end_count, sizeof(*rank->by_number), end_compare);
}

/* The step of this number is mostly the one at the same place. */
static const struct step_end *end_of(const struct rank *rank, size_t hint, uint64_t number)
{
    size_t low = 0, high = rank->end_count;

    if (hint < rank->end_count && rank->ends[hint].number == number)
        return &rank->ends[hint];
    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (rank->by_number[middle]->number < number)
            low = middle + 1;
        else
            high = middle;
    }
    return low < rank->end_count && rank->by_number[low]->number == number ? rank->by_number[low]
                                                                           : NULL;
}

static uint64_t median_of(const uint64_t *values, size_t count, uint64_t *spare);

/* The first step at whose end this rank held more than a twentieth and 1 MiB away from the median
 * of all that did this step. NULL: none. */
static const struct step_end *first_differing(struct comparison *comparison, size_t which)
{
    size_t count = comparison->rank_count;
    uint64_t *values = arena_alloc(&comparison->arena, 2 * count * sizeof(*values));
    const struct rank *rank = &comparison->ranks[which];

    for (size_t i = 0; values && i < rank->end_count; i++) {
        uint64_t here = rank->ends[i].bytes, median, gap;
        size_t filled = 0;

        for (size_t r = 0; r < count; r++) {
            const struct step_end *end = end_of(&comparison->ranks[r], i, rank->ends[i].number);

            if (end)
                values[filled++] = end->bytes;
        }
        median = median_of(values, filled, values + count);
        gap = here > median ? here - median : median - here;
        if (filled > 1 && gap >= LEAST_BYTES && gap > median / SHARE)
            return &rank->ends[i];
    }
    return NULL;
}

/* --- what differs --------------------------------------------------------------------------- */

static int number_compare(const void *left, const void *right)
{
    uint64_t a = *(const uint64_t *)left, b = *(const uint64_t *)right;

    return (a > b) - (a < b);
}

/* Of an even number of ranks the lower one of the middle two: a value that a rank has. */
static uint64_t median_of(const uint64_t *values, size_t count, uint64_t *spare)
{
    memcpy(spare, values, count * sizeof(*spare));
    qsort(spare, count, sizeof(*spare), number_compare);
    return spare[(count - 1) / 2];
}

/* What a site lacks shows at the site that has it instead, so only more counts there. */
static bool is_different(const struct difference *difference)
{
    bool is_growth = difference->measure->kind[0] == 'g';
    uint64_t gap = gap_of(difference);

    if (difference->measure->kind[0] != 'p' && difference->value < difference->median)
        return false;
    return gap >= (is_growth ? 1024 : LEAST_BYTES) && gap > difference->median / SHARE;
}

static int difference_compare(const void *left, const void *right)
{
    const struct difference *a = left, *b = right;

    if (a->measure->kind != b->measure->kind) {
        bool is_peak_a = a->measure->kind[0] == 'p', is_peak_b = b->measure->kind[0] == 'p';

        if (is_peak_a != is_peak_b)
            return is_peak_a ? -1 : 1;
    }
    if (gap_of(a) != gap_of(b))
        return gap_of(a) > gap_of(b) ? -1 : 1;
    return a->rank < b->rank ? -1 : a->rank > b->rank;
}

static struct difference *find_differences(struct comparison *comparison, size_t *count)
{
    size_t most = comparison->measures.count * comparison->rank_count;
    struct difference *rows = arena_alloc(&comparison->arena, (most + 1) * sizeof(*rows));
    uint64_t *spare = arena_alloc(&comparison->arena, comparison->rank_count * sizeof(*spare));

    *count = 0;
    for (size_t i = 0; rows && spare && i < comparison->measures.count; i++) {
        const struct measure *measure = table_at(&comparison->measures, i);
        uint64_t median = median_of(measure->values, comparison->rank_count, spare);

        for (size_t r = 0; r < comparison->rank_count; r++) {
            rows[*count] = (struct difference){measure, r, measure->values[r], median};
            *count += is_different(&rows[*count]);
        }
    }
    if (rows && spare)
        qsort(rows, *count, sizeof(*rows), difference_compare);
    return rows;
}

static const char *rank_label(const struct comparison *comparison, size_t rank)
{
    return label_process(comparison->question, report_arena(comparison->report),
                         comparison->ranks[rank].process);
}

/* Among many ranks, what a reader looks for first. */
static void remark_spread(struct comparison *comparison, struct report_table *table)
{
    struct report *report = comparison->report;
    size_t count = comparison->rank_count;
    const uint64_t *peaks = value_for(comparison, "peak", "peak", 0);
    uint64_t *sorted = arena_alloc(&comparison->arena, count * sizeof(*sorted));
    uint64_t median;

    if (!peaks || !sorted || count < 3)
        return;
    median = median_of(peaks, count, sorted);
    report_table_remark(report, table, "Peaks from %s to %s, median %s.",
                        label_size(report_arena(report), sorted[0]),
                        label_size(report_arena(report), sorted[count - 1]),
                        label_size(report_arena(report), median));
}

/* What is asked for even where no rank differs. All ranks, however many: it is one row for each. */
static void add_ranks(struct comparison *comparison)
{
    const struct question *question = comparison->question;
    struct report_table *table =
        report_table(comparison->report, "ranks", "Ranks side by side", NULL);

    for (size_t i = 0; i < comparison->rank_count; i++) {
        uint16_t index = (uint16_t)comparison->ranks[i].ledger;
        const struct ledger *ledger = tally_ledger_at(question->tally, index);
        bool has_steps = tally_process_at(question->tally, ledger->process).ended_step_count > 1;
        const struct field fields[] = {
            {"process", "rank", value_text(rank_label(comparison, i))},
            {"ledger", "ledger",
             value_text(label_ledger(question, report_arena(comparison->report), index))},
            {"peak_bytes", "peak", value_bytes(whole_peak_of(question, index).bytes)},
            {"reserved_peak_bytes", "reserved",
             ledger->has_reserved ? value_bytes(ledger->reserved_peak_bytes) : value_none()},
            {"end_bytes", "at the end", value_bytes(whole_end_of(question, index))},
            {"growth_bytes_per_step", "growth per step",
             has_steps ? value_bytes(growth_per_step(question, &comparison->ranks[i]))
                       : value_none()},
        };

        report_row(comparison->report, table, fields, sizeof(fields) / sizeof(fields[0]));
    }
    remark_spread(comparison, table);
}

static void add_differences(struct comparison *comparison, const struct difference *rows,
                            size_t count)
{
    struct report_table *table =
        report_table(comparison->report, "rank_differences", "Ranks that differ from the median",
                     "No rank differs.");
    size_t shown = rows_shown(comparison->question, count);

    for (size_t i = 0; i < shown; i++) {
        const struct measure *measure = rows[i].measure;
        bool is_named = strcmp(measure->kind, measure->name) != 0;
        const struct field fields[] = {
            {"process", "rank", value_text(rank_label(comparison, rows[i].rank))},
            {"measure", "what", value_word(measure->kind)},
            {"name", "of", is_named ? value_text(measure->name) : value_none()},
            {"value_bytes", "here", value_bytes(rows[i].value)},
            {"median_bytes", "median", value_bytes(rows[i].median)},
            {"difference_bytes", "difference",
             value_change(VALUE_BYTES_CHANGE, (int64_t)(rows[i].value - rows[i].median))},
        };

        report_row(comparison->report, table, fields, sizeof(fields) / sizeof(fields[0]));
    }
    if (shown < count)
        report_table_remark(comparison->report, table, "... and %zu more.", count - shown);
}

/* The largest difference of this kind of the rank, or NULL. */
static const struct difference *largest_of(const struct difference *rows, size_t count,
                                           const char *kind, size_t rank)
{
    for (size_t i = 0; i < count; i++)
        if (rows[i].rank == rank && strcmp(rows[i].measure->kind, kind) == 0)
            return &rows[i];
    return NULL;
}

static void say_verdict(struct comparison *comparison, const struct difference *rows, size_t count)
{
    struct report *report = comparison->report;
    struct arena *texts = report_arena(report);
    const struct difference *site;
    const struct step_end *since;

    if (!count) {
        report_verdict(report, RANK_MODULES, "%zu ranks, and none differs from the others.",
                       comparison->rank_count);
        return;
    }
    for (size_t i = 0; i < comparison->rank_count; i++)
        list_ends(comparison, &comparison->ranks[i]);
    since = first_differing(comparison, rows[0].rank);
    site = largest_of(rows, count, "site", rows[0].rank);
    report_verdict(
        report, RANK_MODULES, "%s differs from %s: %s %s%s%s, median %s%s%s.",
        rank_label(comparison, rows[0].rank),
        label_counted(texts, comparison->rank_count - 1, "other rank"), rows[0].measure->kind,
        strcmp(rows[0].measure->kind, rows[0].measure->name) ? rows[0].measure->name : "",
        strcmp(rows[0].measure->kind, rows[0].measure->name) ? " " : "",
        label_size(texts, rows[0].value), label_size(texts, rows[0].median),
        site && site != &rows[0] ? report_text(report, "; most of it at %s, %s more",
                                               site->measure->name, label_size(texts, gap_of(site)))
                                 : "",
        since ? report_text(report, "; since the end of step %" PRIu64, since->number) : "");
}

/* --- who uses a device ---------------------------------------------------------------------- */

static bool uses_device(const struct question *question, uint16_t process, int32_t device)
{
    for (size_t i = 0; i < tally_ledger_count(question->tally); i++) {
        const struct ledger *ledger = tally_ledger_at(question->tally, i);

        if (ledger->process == process && ledger->device == device && is_of_device(ledger))
            return true;
    }
    return false;
}

static void note_shared_devices(const struct comparison *comparison)
{
    const struct question *question = comparison->question;
    enum { devices_most = 64 };

    for (int32_t device = 0; device < devices_most; device++) {
        size_t users = 0;

        for (size_t i = 0; i < comparison->rank_count; i++)
            users += uses_device(question, comparison->ranks[i].process, device);
        if (users > 1)
            report_note(comparison->report, users,
                        report_text(comparison->report,
                                    "processes hold memory of device %" PRId32 " at some time",
                                    device));
    }
}

void analyse_ranks(const struct question *question, struct report *report)
{
    struct comparison comparison = {.question = question, .report = report};
    struct difference *rows;
    size_t count;

    arena_init(&comparison.arena);
    table_init(&comparison.measures, &comparison.arena, sizeof(struct measure));
    hash_index_init(&comparison.index);
    find_ranks(&comparison);
    if (comparison.rank_count > 1) {
        measure_ledgers(&comparison);
        measure_sites(&comparison);
        measure_counters(&comparison);
        rows = find_differences(&comparison, &count);
        if (rows) {
            say_verdict(&comparison, rows, count);
            add_ranks(&comparison);
            add_differences(&comparison, rows, count);
        }
        note_shared_devices(&comparison);
    }
    hash_index_release(&comparison.index);
    arena_release(&comparison.arena);
}

/* Of `leaktide ranks` alone: one process has nobody to differ from. */
void analyse_ranks_verdict(const struct question *question, struct report *report)
{
    if (model_process_count(question->model) > 1)
        return;
    report_verdict(report, RANK_MODULES, "Only one process was recorded: nothing to compare.");
    report_outcome(report, REPORT_NO_DATA);
}

/* In a report of everything: programs that merely run beside each other are not compared. */
void analyse_known_ranks(const struct question *question, struct report *report)
{
    struct model *model = tally_model(question->tally);
    size_t known = 0;

    for (size_t i = 0; i < model_process_count(model); i++)
        known += model_process_at(model, (uint16_t)i)->rank >= 0;
    if (known > 1)
        analyse_ranks(question, report);
}
