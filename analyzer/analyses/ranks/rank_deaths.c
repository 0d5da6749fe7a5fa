/* SPDX-License-Identifier: Apache-2.0 */
#include "rank_deaths.h"

#include <stdlib.h>
#include <string.h>

#include "rank_compare.h"

struct end {
    uint64_t end_ns; /* since 1970 */
    const struct rank *rank;
};

static bool is_dead(const struct summary *summary, const struct rank *rank)
{
    size_t row = rank->row;

    return rank->number != RANK_NONE && summary_number(summary, COLUMN_ranks_is_complete, row) &&
           strcmp(summary_text_at(summary, COLUMN_ranks_source_kind, row), RANK_TELLS_ENDS) == 0 &&
           summary_bytes(summary, COLUMN_ranks_start_realtime_ns, row) &&
           (!summary_has(summary, COLUMN_ranks_exit_status, row) ||
            summary_number(summary, COLUMN_ranks_exit_status, row));
}

static int end_compare(const void *left, const void *right)
{
    const struct end *a = left, *b = right;

    if (a->end_ns != b->end_ns)
        return a->end_ns < b->end_ns ? -1 : 1;
    return (a->rank > b->rank) - (a->rank < b->rank);
}

static size_t list_ends(const struct rank_set *set, struct end *ends)
{
    const struct summary *summary = &set->summary;
    size_t count = 0;

    for (size_t i = 0; i < set->count; i++) {
        const struct rank *rank = &set->ranks[i];

        if (is_dead(summary, rank))
            ends[count++] =
                (struct end){summary_bytes(summary, COLUMN_ranks_start_realtime_ns, rank->row) +
                                 summary_bytes(summary, COLUMN_ranks_duration_ns, rank->row),
                             rank};
    }
    if (count)
        qsort(ends, count, sizeof(*ends), end_compare);
    return count;
}

static bool has_a_status(const struct rank_set *set)
{
    for (size_t i = 0; i < set->count; i++)
        if (summary_has(&set->summary, COLUMN_ranks_exit_status, set->ranks[i].row))
            return true;
    return false;
}

/* Longer than it took all others to end. */
static bool is_alone(const struct end *ends, size_t count)
{
    uint64_t alone_ns = count > 1 ? ends[1].end_ns - ends[0].end_ns : 0;

    return alone_ns >= RANK_DEATH_LEAST_NS && alone_ns >= ends[count - 1].end_ns - ends[1].end_ns;
}

/* spare: room for all ranks. */
static void put_peaks(const struct rank_set *set, uint64_t *spare, struct rank_death *death)
{
    size_t count = 0;

    if (death->first->ledger == SIZE_MAX || set->compared_count < 2)
        return;
    for (size_t i = 0; i < set->count; i++)
        if (set->ranks[i].ledger != SIZE_MAX && set->ranks[i].group == death->first->group)
            spare[count++] =
                summary_bytes(&set->summary, COLUMN_ledgers_peak_bytes, set->ranks[i].ledger);
    death->peak_bytes =
        summary_bytes(&set->summary, COLUMN_ledgers_peak_bytes, death->first->ledger);
    death->peers_bytes = rank_median(spare, count);
}

static void find_first(const struct rank_set *set, struct end *ends, uint64_t *spare,
                       struct rank_death *death)
{
    size_t count = list_ends(set, ends);

    if (!count || set->count < 2 || (!has_a_status(set) && !is_alone(ends, count)))
        return;
    death->first = ends[0].rank;
    death->dead_count = count;
    if (count > 1) {
        death->next = ends[1].rank;
        death->next_after_ns = ends[1].end_ns - ends[0].end_ns;
    }
    put_peaks(set, spare, death);
}

bool rank_find_death(const struct rank_set *set, struct rank_death *out)
{
    struct end *ends = calloc(set->count + 1, sizeof(*ends));
    uint64_t *spare = calloc(set->count + 1, sizeof(*spare));
    bool is_done = ends && spare;

    *out = (struct rank_death){.first = NULL};
    if (is_done)
        find_first(set, ends, spare, out);
    free(ends);
    free(spare);
    return is_done;
}
