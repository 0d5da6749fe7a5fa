/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Values are kept where they are not 0: entries of (measure, group, rank), put together by measure.
 * So memory grows with what was recorded, also where each rank has sites of its own.
 */
#include "rank_compare.h"

#include <stdlib.h>
#include <string.h>

#include "list.h"
#include "sentence.h"

struct entry {
    uint64_t value;
    uint32_t measure, group, rank;
};

struct measure {
    enum rank_measure_kind kind;
    const char *name; /* of a site or counter; else NULL */
    size_t entry_count;
};

struct comparison {
    struct rank_set *set;
    struct entry *entries;
    size_t entry_count, entry_capacity;
    struct measure *measures;
    size_t measure_count, measure_capacity;
    uint32_t *measure_of_name[RANK_MEASURE_COUNT]; /* by number of text: measure + 1 */
    struct rank_difference *differences;
    size_t difference_count, difference_capacity;
    size_t *group_sizes;
    uint64_t *spare;
    bool has_failed;
};

uint64_t rank_difference_bytes(const struct rank_difference *difference)
{
    return difference->value > difference->median ? difference->value - difference->median
                                                  : difference->median - difference->value;
}

/* --- what is compared ------------------------------------------------------------------------- */

static uint32_t add_measure(struct comparison *comparison, enum rank_measure_kind kind,
                            const char *name)
{
    if (!list_has_room(&comparison->measures, &comparison->measure_capacity,
                       comparison->measure_count, sizeof(*comparison->measures))) {
        comparison->has_failed = true;
        return 0;
    }
    comparison->measures[comparison->measure_count] = (struct measure){kind, name, 0};
    return (uint32_t)comparison->measure_count++;
}

static void add_value(struct comparison *comparison, uint32_t measure, const struct rank *rank,
                      uint64_t value)
{
    if (comparison->has_failed ||
        !list_has_room(&comparison->entries, &comparison->entry_capacity, comparison->entry_count,
                       sizeof(*comparison->entries))) {
        comparison->has_failed = true;
        return;
    }
    comparison->entries[comparison->entry_count++] = (struct entry){
        value, measure, (uint32_t)rank->group, (uint32_t)(rank - comparison->set->ranks)};
    comparison->measures[measure].entry_count++;
}

/* --- which rows ------------------------------------------------------------------------------- */

static bool always(const struct summary *summary, const struct rank *rank, size_t row)
{
    (void)summary;
    (void)rank;
    (void)row;
    return true;
}

static bool is_large_site(const struct summary *summary, const struct rank *rank, size_t row)
{
    return summary_number(summary, COLUMN_sites_pool, row) ==
               summary_number(summary, COLUMN_ledgers_pool, rank->ledger) &&
           summary_number(summary, COLUMN_sites_device, row) ==
               summary_number(summary, COLUMN_ledgers_device, rank->ledger) &&
           summary_bytes(summary, COLUMN_sites_peak_bytes, row) >=
               summary_bytes(summary, COLUMN_ledgers_seen_peak_bytes, rank->ledger) /
                   RANK_SITE_SHARE;
}

/* Not of pools that are compared themselves. */
static bool is_of_driver(const struct summary *summary, const struct rank *rank, size_t row)
{
    (void)rank;
    return summary_has(summary, COLUMN_modules_device, row) &&
           strncmp(summary_text_at(summary, COLUMN_modules_counter, row), "module ", 7) == 0;
}

enum { MORE = false, BOTH = true };

const struct rank_measure rank_measures[RANK_MEASURE_COUNT] = {
#define RANK_MEASURE(name, word, least, which, table, column, name_column, counts, counts_sql)     \
    {#name,                                                                                        \
     word,                                                                                         \
     RANK_##least,                                                                                 \
     which,                                                                                        \
     SUMMARY_##table,                                                                              \
     COLUMN_##table##_##column,                                                                    \
     COLUMN_##table##_##name_column,                                                               \
     counts,                                                                                       \
     counts_sql},
#include "rank_rules.def"
};

/* --- their values ----------------------------------------------------------------------------- */

static void measure_ledgers(struct comparison *comparison, enum rank_measure_kind kind)
{
    const struct rank_set *set = comparison->set;
    uint32_t measure = add_measure(comparison, kind, NULL);

    for (size_t i = 0; i < set->count; i++)
        if (set->ranks[i].ledger != SIZE_MAX)
            add_value(
                comparison, measure, &set->ranks[i],
                summary_bytes(&set->summary, rank_measures[kind].column, set->ranks[i].ledger));
}

/* By name: ids need the same build. */
static uint32_t measure_of(struct comparison *comparison, enum rank_measure_kind kind, int64_t name)
{
    uint32_t *known = &comparison->measure_of_name[kind][name];

    if (!*known)
        *known = add_measure(comparison, kind, summary_text(&comparison->set->summary, name)) + 1;
    return *known - 1;
}

static void measure_names(struct comparison *comparison, enum rank_measure_kind kind)
{
    const struct rank_measure *how = &rank_measures[kind];
    const struct summary *summary = &comparison->set->summary;

    for (size_t row = 0; row < summary_rows(summary, how->table); row++) {
        const struct rank *rank = rank_set_owner(comparison->set, how->table, row);

        if (rank && rank->ledger != SIZE_MAX && how->counts(summary, rank, row))
            add_value(comparison,
                      measure_of(comparison, kind, summary_number(summary, how->name_column, row)),
                      rank, summary_bytes(summary, how->column, row));
    }
}

static void measure_all(struct comparison *comparison)
{
    for (size_t kind = 0; kind < RANK_MEASURE_COUNT; kind++)
        if (rank_measures[kind].table == SUMMARY_ledgers)
            measure_ledgers(comparison, (enum rank_measure_kind)kind);
        else if (kind != RANK_MEASURE_SITE || !comparison->set->mixes_stages)
            measure_names(comparison, (enum rank_measure_kind)kind);
}

/* --- medians ---------------------------------------------------------------------------------- */

/* Each turn leaves the part in which the value is: Hoare's selection. */
uint64_t rank_median(uint64_t *values, size_t count)
{
    ptrdiff_t wanted = (ptrdiff_t)(count - 1) / 2, low = 0, high = (ptrdiff_t)count - 1;

    while (low < high) {
        uint64_t pivot = values[low + (high - low) / 2];
        ptrdiff_t i = low, j = high;

        while (i <= j) {
            while (values[i] < pivot)
                i++;
            while (values[j] > pivot)
                j--;
            if (i <= j) {
                uint64_t value = values[i];

                values[i++] = values[j];
                values[j--] = value;
            }
        }
        if (wanted <= j)
            high = j;
        else if (wanted >= i)
            low = i;
        else
            break;
    }
    return values[wanted];
}

static uint64_t gap_of(uint64_t value, uint64_t median)
{
    return value > median ? value - median : median - value;
}

/* The median distance from the median, of values of which `zeros` are 0 and not there. */
static uint64_t spread_of(struct comparison *comparison, const struct entry *entries, size_t count,
                          size_t zeros, uint64_t median)
{
    for (size_t i = 0; i < count; i++)
        comparison->spare[i] = gap_of(entries[i].value, median);
    for (size_t i = 0; i < zeros; i++)
        comparison->spare[count + i] = median;
    return rank_median(comparison->spare, count + zeros);
}

static bool is_different(enum rank_measure_kind kind, uint64_t value, uint64_t median)
{
    uint64_t gap = gap_of(value, median);

    if (!rank_measures[kind].counts_less && value < median)
        return false;
    return gap >= rank_measures[kind].least && gap > median / RANK_SHARE;
}

static void add_difference(struct comparison *comparison, const struct measure *measure,
                           const struct entry *entry, uint64_t median)
{
    if (!list_has_room(&comparison->differences, &comparison->difference_capacity,
                       comparison->difference_count, sizeof(*comparison->differences))) {
        comparison->has_failed = true;
        return;
    }
    comparison->differences[comparison->difference_count++] = (struct rank_difference){
        measure->kind, measure->name, &comparison->set->ranks[entry->rank], entry->value, median};
}

/* Entries of one measure in one group; who has none has 0. */
static void compare_group(struct comparison *comparison, const struct measure *measure,
                          const struct entry *entries, size_t count)
{
    size_t peers = comparison->group_sizes[entries->group];
    size_t zeros = peers - count, middle = (peers - 1) / 2;
    uint64_t median = 0, spread = UINT64_MAX;

    if (middle >= zeros) {
        for (size_t i = 0; i < count; i++)
            comparison->spare[i] = entries[i].value;
        for (size_t i = 0; i < zeros; i++)
            comparison->spare[count + i] = 0;
        median = rank_median(comparison->spare, peers);
    }
    for (size_t i = 0; i < count; i++) {
        if (!is_different(measure->kind, entries[i].value, median))
            continue;
        if (spread == UINT64_MAX)
            spread = peers < RANK_SPREAD_PEERS_LEAST
                         ? 0
                         : spread_of(comparison, entries, count, zeros, median);
        if (gap_of(entries[i].value, median) / RANK_SPREAD_TIMES >= spread)
            add_difference(comparison, measure, &entries[i], median);
    }
}

static int entry_compare(const void *left, const void *right)
{
    const struct entry *a = left, *b = right;

    if (a->group != b->group)
        return a->group < b->group ? -1 : 1;
    return (a->rank > b->rank) - (a->rank < b->rank);
}

/* Sites of one name, of one rank, are one. */
static size_t join_same(struct entry *entries, size_t count)
{
    size_t kept = 0;

    for (size_t i = 0; i < count; i++)
        if (kept && entries[kept - 1].rank == entries[i].rank)
            entries[kept - 1].value += entries[i].value;
        else
            entries[kept++] = entries[i];
    return kept;
}

static void compare_measure(struct comparison *comparison, const struct measure *measure,
                            struct entry *entries, size_t count)
{
    qsort(entries, count, sizeof(*entries), entry_compare);
    count = join_same(entries, count);
    for (size_t first = 0, end; first < count; first = end) {
        for (end = first; end < count && entries[end].group == entries[first].group;)
            end++;
        compare_group(comparison, measure, entries + first, end - first);
    }
}

/* --- all measures ----------------------------------------------------------------------------- */

/* Entries into the order of their measures. */
static bool sort_entries(struct comparison *comparison)
{
    struct entry *sorted = calloc(comparison->entry_count + 1, sizeof(*sorted));
    size_t *places = calloc(comparison->measure_count + 1, sizeof(*places));
    bool is_sorted = sorted && places;

    for (size_t i = 0; is_sorted && i < comparison->measure_count; i++)
        places[i + 1] = places[i] + comparison->measures[i].entry_count;
    for (size_t i = 0; is_sorted && i < comparison->entry_count; i++)
        sorted[places[comparison->entries[i].measure]++] = comparison->entries[i];
    free(places);
    if (!is_sorted) {
        free(sorted);
        return false;
    }
    free(comparison->entries);
    comparison->entries = sorted;
    return true;
}

static void compare_all(struct comparison *comparison)
{
    struct entry *entries;

    if (!sort_entries(comparison)) {
        comparison->has_failed = true;
        return;
    }
    entries = comparison->entries;
    for (size_t i = 0; i < comparison->measure_count; i++) {
        compare_measure(comparison, &comparison->measures[i], entries,
                        comparison->measures[i].entry_count);
        entries += comparison->measures[i].entry_count;
    }
}

static int difference_compare(const void *left, const void *right)
{
    const struct rank_difference *a = left, *b = right;
    bool is_peak_a = a->kind == RANK_MEASURE_PEAK, is_peak_b = b->kind == RANK_MEASURE_PEAK;
    uint64_t gap_a = rank_difference_bytes(a), gap_b = rank_difference_bytes(b);

    if (is_peak_a != is_peak_b)
        return is_peak_a ? -1 : 1;
    if (gap_a != gap_b)
        return gap_a > gap_b ? -1 : 1;
    if (a->rank != b->rank)
        return a->rank < b->rank ? -1 : 1;
    if (a->kind != b->kind)
        return a->kind < b->kind ? -1 : 1;
    return a->name && b->name ? strcmp(a->name, b->name) : 0;
}

static bool comparison_init(struct comparison *comparison, struct rank_set *set)
{
    size_t texts = set->summary.texts.count + 1;

    *comparison = (struct comparison){
        .set = set,
        .group_sizes = calloc(set->group_count + 1, sizeof(size_t)),
        .spare = calloc(set->count + 1, sizeof(uint64_t)),
    };
    if (!comparison->group_sizes || !comparison->spare)
        return false;
    for (size_t i = 0; i < RANK_MEASURE_COUNT; i++) {
        comparison->measure_of_name[i] = calloc(texts, sizeof(uint32_t));
        if (!comparison->measure_of_name[i])
            return false;
    }
    for (size_t i = 0; i < set->count; i++)
        comparison->group_sizes[set->ranks[i].group] += set->ranks[i].ledger != SIZE_MAX;
    return true;
}

static void comparison_release(struct comparison *comparison)
{
    free(comparison->entries);
    free(comparison->measures);
    for (size_t i = 0; i < RANK_MEASURE_COUNT; i++)
        free(comparison->measure_of_name[i]);
    free(comparison->differences);
    free(comparison->group_sizes);
    free(comparison->spare);
}

bool rank_compare(struct rank_set *set, struct rank_difference **out, size_t *count)
{
    struct comparison comparison;
    bool is_done = comparison_init(&comparison, set);

    *out = NULL;
    *count = 0;
    if (is_done) {
        measure_all(&comparison);
        if (!comparison.has_failed)
            compare_all(&comparison);
        is_done = !comparison.has_failed;
    }
    if (is_done && comparison.difference_count) {
        size_t size_bytes = comparison.difference_count * sizeof(**out);

        qsort(comparison.differences, comparison.difference_count, sizeof(**out),
              difference_compare);
        *out = arena_alloc(&set->arena, size_bytes);
        is_done = *out != NULL;
        if (is_done) {
            memcpy(*out, comparison.differences, size_bytes);
            *count = comparison.difference_count;
        }
    }
    comparison_release(&comparison);
    return is_done;
}

/* --- since when ------------------------------------------------------------------------------- */

/* The step of this number is mostly the one at the same place. */
static const struct rank_step *step_of(const struct rank *rank, size_t hint, int64_t number)
{
    size_t low = 0, high = rank->step_count;

    if (hint < rank->step_count && rank->steps[hint].number == number)
        return &rank->steps[hint];
    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (rank->steps[middle].number < number)
            low = middle + 1;
        else
            high = middle;
    }
    return low < rank->step_count && rank->steps[low].number == number ? &rank->steps[low] : NULL;
}

const struct rank_step *rank_first_differing(struct rank_set *set, const struct rank *rank)
{
    uint64_t *values = arena_alloc(&set->arena, (set->count + 1) * sizeof(*values));

    for (size_t i = 0; values && i < rank->step_count; i++) {
        uint64_t here = rank->steps[i].end_bytes;
        size_t filled = 0;

        for (size_t r = 0; r < set->count; r++) {
            const struct rank *peer = &set->ranks[r];
            const struct rank_step *step =
                peer->group == rank->group ? step_of(peer, i, rank->steps[i].number) : NULL;

            if (step)
                values[filled++] = step->end_bytes;
        }
        if (filled > 1 && is_different(RANK_MEASURE_PEAK, here, rank_median(values, filled)))
            return &rank->steps[i];
    }
    return NULL;
}
