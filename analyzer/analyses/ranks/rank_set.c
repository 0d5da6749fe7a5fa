/* SPDX-License-Identifier: Apache-2.0 */
#include "rank_set.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "list.h"
#include "sentence.h"

/* --- rows and their ranks --------------------------------------------------------------------- */

/* What sentences are made of. */
static const enum summary_column needed[] = {
    COLUMN_ranks_process_key,
    COLUMN_ranks_name,
    COLUMN_ranks_rank,
    COLUMN_ranks_world_size,
    COLUMN_ranks_host,
    COLUMN_ranks_tp,
    COLUMN_ranks_pp,
    COLUMN_ranks_dp,
    COLUMN_ranks_ep,
    COLUMN_ranks_start_realtime_ns,
    COLUMN_ranks_step_count,
    COLUMN_ranks_is_complete,
    COLUMN_ranks_duration_ns,
    COLUMN_ranks_source_kind,
    COLUMN_ranks_exit_status,
    COLUMN_ranks_kernel_kill_count,
    COLUMN_ledgers_process_key,
    COLUMN_ledgers_pool,
    COLUMN_ledgers_device,
    COLUMN_ledgers_name,
    COLUMN_ledgers_is_memory,
    COLUMN_ledgers_peak_bytes,
    COLUMN_ledgers_seen_peak_bytes,
    COLUMN_ledgers_outside_peak_bytes,
    COLUMN_ledgers_reserved_peak_bytes,
    COLUMN_ledgers_end_bytes,
    COLUMN_ledgers_growth_bytes_per_step,
    COLUMN_sites_process_key,
    COLUMN_sites_pool,
    COLUMN_sites_device,
    COLUMN_sites_site,
    COLUMN_sites_peak_bytes,
    COLUMN_steps_process_key,
    COLUMN_steps_pool,
    COLUMN_steps_device,
    COLUMN_steps_step,
    COLUMN_steps_end_bytes,
    COLUMN_modules_process_key,
    COLUMN_modules_device,
    COLUMN_modules_counter,
    COLUMN_modules_high_bytes,
    COLUMN_ranks_judged_count,
    COLUMN_ranks_unjudged,
    COLUMN_failures_process_key,
    COLUMN_failures_pool,
    COLUMN_failures_device,
    COLUMN_failures_time_ns,
    COLUMN_failures_realtime_ns,
    COLUMN_failures_step,
    COLUMN_failures_size_bytes,
    COLUMN_failures_live_bytes,
    COLUMN_findings_process_key,
    COLUMN_findings_kind,
    COLUMN_findings_pool,
    COLUMN_findings_site,
    COLUMN_findings_growth_bytes_per_step,
    COLUMN_findings_bytes,
    COLUMN_findings_first_step,
};

void rank_set_init(struct rank_set *set, bool are_summaries)
{
    *set = (struct rank_set){.are_summaries = are_summaries};
    summary_init(&set->summary);
    arena_init(&set->arena);
    if (!are_summaries)
        return;
    memset(set->summary.is_left_out, true, sizeof(set->summary.is_left_out));
    for (size_t i = 0; i < sizeof(needed) / sizeof(needed[0]); i++)
        set->summary.is_left_out[needed[i]] = false;
}

void rank_set_want(struct rank_set *set, const enum summary_column *columns, size_t count)
{
    for (size_t i = 0; i < count; i++)
        set->summary.is_left_out[columns[i]] = false;
}

void rank_set_release(struct rank_set *set)
{
    for (size_t i = 0; i < SUMMARY_TABLE_COUNT; i++)
        free(set->owners[i]);
    free(set->row_of_key);
    free(set->index_of_row);
    free(set->ranks);
    free(set->steps);
    summary_release(&set->summary);
    arena_release(&set->arena);
}

static enum summary_column key_column(enum summary_table table)
{
    static const enum summary_column keys[SUMMARY_TABLE_COUNT] = {
#define SUMMARY_TABLE(table, meaning) [SUMMARY_##table] = COLUMN_##table##_process_key,
#include "summary_tables.def"
    };

    return keys[table];
}

/* A key that is known is of a process that was read before. */
static void take_ranks(struct rank_set *set)
{
    const struct summary *summary = &set->summary;

    for (size_t row = set->taken_rows[SUMMARY_ranks]; row < summary_rows(summary, SUMMARY_ranks);
         row++) {
        size_t key = (size_t)summary_number(summary, COLUMN_ranks_process_key, row);

        if (!list_reach(&set->row_of_key, &set->row_of_key_capacity, key, sizeof(uint32_t))) {
            set->summary.has_failed = true;
            return;
        }
        if (!set->row_of_key[key]) {
            set->row_of_key[key] = (uint32_t)row + 1;
            continue;
        }
        set->twice_row = set->twice_count++ ? set->twice_row : row;
    }
}

static void take_table(struct rank_set *set, enum summary_table table, size_t first_rank_row)
{
    const struct summary *summary = &set->summary;
    enum summary_column column = key_column(table);
    size_t count = summary_rows(summary, table);

    if (summary->is_left_out[column] || !count)
        return;
    if (!list_reach(&set->owners[table], &set->owner_capacity[table], count - 1,
                    sizeof(uint32_t))) {
        set->summary.has_failed = true;
        return;
    }
    for (size_t row = set->taken_rows[table]; row < count; row++) {
        size_t key = (size_t)summary_number(summary, column, row);
        uint32_t owner = key < set->row_of_key_capacity ? set->row_of_key[key] : 0;

        set->owners[table][row] = owner > first_rank_row ? owner : 0;
    }
}

void rank_set_take(struct rank_set *set)
{
    size_t first_rank_row = set->taken_rows[SUMMARY_ranks];

    take_ranks(set);
    for (size_t i = 0; i < SUMMARY_TABLE_COUNT; i++)
        take_table(set, (enum summary_table)i, first_rank_row);
    memcpy(set->taken_rows, set->summary.row_counts, sizeof(set->taken_rows));
}

const struct rank *rank_set_owner(const struct rank_set *set, enum summary_table table, size_t row)
{
    uint32_t owner = set->owners[table][row];
    uint32_t index = owner ? set->index_of_row[owner - 1] : 0;

    return index ? &set->ranks[index - 1] : NULL;
}

/* --- who counts ------------------------------------------------------------------------------- */

static int by_number(const void *left, const void *right)
{
    const struct rank *a = left, *b = right;

    if (a->number != b->number)
        return (a->number > b->number) - (a->number < b->number);
    return (a->row > b->row) - (a->row < b->row);
}

static int64_t number_of(const struct summary *summary, size_t row)
{
    int64_t number = summary_number(summary, COLUMN_ranks_rank, row);

    return summary_has(summary, COLUMN_ranks_rank, row) && number >= 0 && number < INT32_MAX
               ? number
               : RANK_NONE;
}

static void list_ranks(struct rank_set *set)
{
    const struct summary *summary = &set->summary;

    for (size_t row = 0; row < summary_rows(summary, SUMMARY_ranks); row++) {
        if (!set->owners[SUMMARY_ranks][row])
            continue;
        if (set->owners[SUMMARY_ranks][row] != row + 1)
            continue; /* twice in one folder */
        set->ranks[set->count++] = (struct rank){
            .row = row,
            .number = number_of(summary, row),
            .ledger = SIZE_MAX,
        };
    }
    if (set->count)
        qsort(set->ranks, set->count, sizeof(*set->ranks), by_number);
}

static int64_t start_of(const struct rank_set *set, const struct rank *rank)
{
    return summary_number(&set->summary, COLUMN_ranks_start_realtime_ns, rank->row);
}

/* Of blocks, without what other pools took from there. */
static uint64_t own_peak(const struct summary *summary, size_t row)
{
    return summary_bytes(summary,
                         summary_has(summary, COLUMN_ledgers_outside_peak_bytes, row)
                             ? COLUMN_ledgers_outside_peak_bytes
                             : COLUMN_ledgers_seen_peak_bytes,
                         row);
}

/* What the ledgers of each process held at their peaks: of devices, where any was recorded. */
static bool find_held(struct rank_set *set)
{
    const struct summary *summary = &set->summary;
    bool has_devices = false;

    for (size_t row = 0; row < summary_rows(summary, SUMMARY_ledgers); row++)
        has_devices = has_devices || summary_has(summary, COLUMN_ledgers_device, row);
    set->held_bytes = arena_alloc(&set->arena, (summary_rows(summary, SUMMARY_ranks) + 1) *
                                                   sizeof(*set->held_bytes));
    for (size_t row = 0; set->held_bytes && row < summary_rows(summary, SUMMARY_ledgers); row++) {
        uint32_t owner = set->owners[SUMMARY_ledgers][row];

        if (owner && summary_number(summary, COLUMN_ledgers_is_memory, row) &&
            summary_has(summary, COLUMN_ledgers_device, row) == has_devices)
            set->held_bytes[owner - 1] += own_peak(summary, row);
    }
    return set->held_bytes != NULL;
}

/* In a recording, only of processes that are known to be different ones. */
static bool is_twice(const struct rank_set *set, const struct rank *rank, const struct rank *before)
{
    return rank->number != RANK_NONE && rank->number == before->number &&
           (set->are_summaries || (start_of(set, rank) && start_of(set, before)));
}

/* Of processes with the number of one rank, the newest of those that hold half as much as the
 * largest. Helpers that it started, as one that loads data, hold less; where others do, the job was
 * started again. */
static const struct rank *the_rank(const struct rank_set *set, const struct rank *ranks,
                                   size_t count)
{
    const struct rank *found = NULL;
    uint64_t most = 0;

    for (size_t i = 0; i < count; i++)
        most = set->held_bytes[ranks[i].row] > most ? set->held_bytes[ranks[i].row] : most;
    for (size_t i = 0; i < count; i++)
        if (set->held_bytes[ranks[i].row] >= most / 2 &&
            (!found || start_of(set, &ranks[i]) > start_of(set, found)))
            found = &ranks[i];
    return found;
}

static void drop_twice(struct rank_set *set)
{
    size_t kept = 0;

    for (size_t first = 0, end; first < set->count; first = end) {
        for (end = first + 1;
             end < set->count && is_twice(set, &set->ranks[end], &set->ranks[first]);)
            end++;
        set->ranks[kept++] = *the_rank(set, &set->ranks[first], end - first);
    }
    set->count = kept;
}

/* Where some have a number, who has none is a launcher or a helper. */
static void drop_unnumbered(struct rank_set *set)
{
    size_t numbered = 0, kept = 0;

    for (size_t i = 0; i < set->count; i++)
        numbered += set->ranks[i].number != RANK_NONE;
    if (numbered < 2)
        return;
    for (size_t i = 0; i < set->count; i++)
        if (set->ranks[i].number != RANK_NONE)
            set->ranks[kept++] = set->ranks[i];
    set->count = kept;
}

/* --- what is compared ------------------------------------------------------------------------- */

static bool is_comparable(const struct rank_set *set, size_t row)
{
    const struct summary *summary = &set->summary;

    return rank_set_owner(set, SUMMARY_ledgers, row) &&
           summary_number(summary, COLUMN_ledgers_is_memory, row) && own_peak(summary, row) > 0 &&
           summary_has(summary, COLUMN_ledgers_device, row) == set->has_devices;
}

/* The pool whose ledgers hold most, over all ranks; -1: none. */
static int64_t widest_pool(struct rank_set *set)
{
    const struct summary *summary = &set->summary;
    size_t count = summary_rows(summary, SUMMARY_ledgers);
    uint64_t *sums = arena_alloc(&set->arena, (summary->texts.count + 1) * sizeof(*sums));
    int64_t widest = -1;

    for (size_t row = 0; sums && row < count; row++)
        if (is_comparable(set, row))
            sums[summary_number(summary, COLUMN_ledgers_pool, row)] += own_peak(summary, row);
    for (size_t row = 0; sums && row < count; row++) {
        int64_t pool = summary_number(summary, COLUMN_ledgers_pool, row);

        if (is_comparable(set, row) && (widest < 0 || sums[pool] > sums[widest]))
            widest = pool;
    }
    return widest;
}

static void find_ledgers(struct rank_set *set)
{
    const struct summary *summary = &set->summary;
    int64_t pool;

    set->has_devices = true;
    pool = widest_pool(set);
    if (pool < 0) {
        set->has_devices = false;
        pool = widest_pool(set);
    }
    set->pool = pool >= 0 ? summary_text(summary, pool) : "";
    for (size_t row = 0; pool >= 0 && row < summary_rows(summary, SUMMARY_ledgers); row++) {
        struct rank *rank;

        if (!is_comparable(set, row) || summary_number(summary, COLUMN_ledgers_pool, row) != pool)
            continue;
        rank = &set->ranks[rank_set_owner(set, SUMMARY_ledgers, row) - set->ranks];
        if (rank->ledger == SIZE_MAX || own_peak(summary, row) > own_peak(summary, rank->ledger))
            rank->ledger = row;
    }
    for (size_t i = 0; i < set->count; i++)
        set->compared_count += set->ranks[i].ledger != SIZE_MAX;
}

/* --- steps ------------------------------------------------------------------------------------ */

static int step_compare(const void *left, const void *right)
{
    const struct rank_step *a = left, *b = right;

    return (a->number > b->number) - (a->number < b->number);
}

/* Of the ledger that is compared; NULL: of another one. */
static struct rank *rank_of_step(struct rank_set *set, size_t row)
{
    const struct summary *summary = &set->summary;
    const struct rank *rank = rank_set_owner(set, SUMMARY_steps, row);

    if (!rank || rank->ledger == SIZE_MAX ||
        summary_number(summary, COLUMN_steps_pool, row) !=
            summary_number(summary, COLUMN_ledgers_pool, rank->ledger) ||
        summary_has(summary, COLUMN_steps_device, row) !=
            summary_has(summary, COLUMN_ledgers_device, rank->ledger) ||
        summary_number(summary, COLUMN_steps_device, row) !=
            summary_number(summary, COLUMN_ledgers_device, rank->ledger))
        return NULL;
    return &set->ranks[rank - set->ranks];
}

static bool list_steps(struct rank_set *set)
{
    const struct summary *summary = &set->summary;
    size_t count = summary_rows(summary, SUMMARY_steps), used = 0;

    set->steps = calloc(count + 1, sizeof(*set->steps));
    if (!set->steps)
        return false;
    for (size_t row = 0; row < count; row++) {
        struct rank *rank = rank_of_step(set, row);

        if (rank)
            rank->step_count++;
    }
    for (size_t i = 0; i < set->count; i++) {
        set->ranks[i].steps = set->steps + used;
        used += set->ranks[i].step_count;
        set->ranks[i].step_count = 0;
    }
    for (size_t row = 0; row < count; row++) {
        struct rank *rank = rank_of_step(set, row);

        if (rank)
            set->steps[(size_t)(rank->steps - set->steps) + rank->step_count++] =
                (struct rank_step){summary_number(summary, COLUMN_steps_step, row),
                                   summary_bytes(summary, COLUMN_steps_end_bytes, row)};
    }
    for (size_t i = 0; i < set->count; i++)
        if (set->ranks[i].step_count)
            qsort(set->steps + (set->ranks[i].steps - set->steps), set->ranks[i].step_count,
                  sizeof(*set->steps), step_compare);
    return true;
}

/* --- peers ------------------------------------------------------------------------------------ */

int64_t rank_place(const struct rank_set *set, enum summary_column column, const struct rank *rank)
{
    return summary_has(&set->summary, column, rank->row)
               ? summary_number(&set->summary, column, rank->row)
               : RANK_NONE;
}

/* Groups by what the columns say; false: one has too few to compare with. */
static bool group_by(struct rank_set *set, bool by_expert)
{
    size_t *first = arena_alloc(&set->arena, (set->count + 1) * sizeof(*first));
    size_t *sizes = arena_alloc(&set->arena, (set->count + 1) * sizeof(*sizes));

    set->group_count = 0;
    for (size_t i = 0; first && sizes && i < set->count; i++) {
        struct rank *rank = &set->ranks[i];
        size_t group = 0;

        while (group < set->group_count &&
               (rank_place(set, COLUMN_ranks_pp, rank) !=
                    rank_place(set, COLUMN_ranks_pp, &set->ranks[first[group]]) ||
                (by_expert && rank_place(set, COLUMN_ranks_ep, rank) !=
                                  rank_place(set, COLUMN_ranks_ep, &set->ranks[first[group]]))))
            group++;
        if (group == set->group_count)
            first[set->group_count++] = i;
        rank->group = group;
        sizes[group] += rank->ledger != SIZE_MAX;
    }
    for (size_t i = 0; sizes && i < set->group_count; i++)
        if (sizes[i] && sizes[i] < RANK_PEERS_LEAST)
            return false;
    return first && sizes && set->group_count > 1;
}

static void find_groups(struct rank_set *set)
{
    set->has_stages = group_by(set, true) || group_by(set, false);
    set->mixes_stages = !set->has_stages && set->group_count > 1;
    if (set->has_stages)
        return;
    set->group_count = 1;
    for (size_t i = 0; i < set->count; i++)
        set->ranks[i].group = 0;
}

/* --- all of it -------------------------------------------------------------------------------- */

static bool index_ranks(struct rank_set *set)
{
    if (!list_reach(&set->index_of_row, &set->index_of_row_capacity,
                    summary_rows(&set->summary, SUMMARY_ranks), sizeof(uint32_t)))
        return false;
    for (size_t i = 0; i < set->count; i++)
        set->index_of_row[set->ranks[i].row] = (uint32_t)i + 1;
    return true;
}

bool rank_set_finish(struct rank_set *set)
{
    set->ranks = calloc(summary_rows(&set->summary, SUMMARY_ranks) + 1, sizeof(*set->ranks));
    if (!set->ranks || set->summary.has_failed)
        return false;
    list_ranks(set);
    if (!find_held(set))
        return false;
    drop_twice(set);
    drop_unnumbered(set);
    if (!index_ranks(set))
        return false;
    for (size_t i = 1; i < set->count; i++)
        set->has_hosts = set->has_hosts ||
                         summary_number(&set->summary, COLUMN_ranks_host, set->ranks[i].row) !=
                             summary_number(&set->summary, COLUMN_ranks_host, set->ranks[0].row);
    find_ledgers(set);
    find_groups(set);
    if (!list_steps(set) || set->arena.has_failed)
        return false;
    if (MT_ASSERTS)
        rank_set_check(set);
    return true;
}

/* --- what must be true ------------------------------------------------------------------------ */

static void rank_check(const struct rank_set *set, size_t index)
{
    const struct rank *rank = &set->ranks[index];

    MT_ASSERT(rank->row < summary_rows(&set->summary, SUMMARY_ranks));
    MT_ASSERT(set->index_of_row[rank->row] == index + 1);
    MT_ASSERT(rank->number >= RANK_NONE);
    MT_ASSERT(!index || set->ranks[index - 1].number <= rank->number);
    MT_ASSERT(rank->group < set->group_count);
    MT_ASSERT(rank->ledger == SIZE_MAX || is_comparable(set, rank->ledger));
    MT_ASSERT(rank->ledger == SIZE_MAX ||
              rank_set_owner(set, SUMMARY_ledgers, rank->ledger) == rank);
    MT_ASSERT(rank->steps && rank->steps >= set->steps);
    for (size_t i = 1; i < rank->step_count; i++)
        MT_ASSERT(rank->steps[i - 1].number <= rank->steps[i].number);
}

void rank_set_check(const struct rank_set *set)
{
    size_t compared = 0;

    MT_ASSERT(set->count <= summary_rows(&set->summary, SUMMARY_ranks));
    MT_ASSERT(set->compared_count <= set->count);
    MT_ASSERT(set->pool);
    MT_ASSERT(*set->pool || !set->compared_count);
    for (size_t i = 0; i < set->count; i++) {
        rank_check(set, i);
        compared += set->ranks[i].ledger != SIZE_MAX;
    }
    MT_ASSERT(compared == set->compared_count);
    for (size_t i = 0; i < SUMMARY_TABLE_COUNT; i++)
        MT_ASSERT(set->taken_rows[i] == set->summary.row_counts[i]);
}

const char *rank_label(const struct rank_set *set, struct arena *arena, const struct rank *rank)
{
    const char *name = summary_text_at(&set->summary, COLUMN_ranks_name, rank->row);
    const char *host = summary_text_at(&set->summary, COLUMN_ranks_host, rank->row);

    if (rank->number != RANK_NONE)
        name = arena_format(arena, "rank %" PRId64, rank->number);
    return *host && set->has_hosts ? sentence(arena, "%s on %s", name, host) : name;
}
