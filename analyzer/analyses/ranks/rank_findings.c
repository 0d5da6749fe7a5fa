/* SPDX-License-Identifier: Apache-2.0 */
#include "rank_findings.h"

#include <stdlib.h>
#include <string.h>

#include "labels.h"

/* --- leaks ------------------------------------------------------------------------------------ */

/* A leak of one rank. */
struct leak_row {
    int64_t pool, site, first_step;
    uint64_t growth, bytes;
    const struct rank *rank;
};

static int leak_row_compare(const void *left, const void *right)
{
    const struct leak_row *a = left, *b = right;

    if (a->pool != b->pool)
        return a->pool < b->pool ? -1 : 1;
    if (a->site != b->site)
        return a->site < b->site ? -1 : 1;
    return (a->rank > b->rank) - (a->rank < b->rank);
}

static size_t list_leaks(const struct rank_set *set, struct leak_row *rows)
{
    const struct summary *summary = &set->summary;
    size_t count = 0;

    for (size_t row = 0; row < summary_rows(summary, SUMMARY_findings); row++) {
        const struct rank *rank = rank_set_owner(set, SUMMARY_findings, row);

        if (!rank || strcmp(summary_text_at(summary, COLUMN_findings_kind, row), "leak") != 0)
            continue;
        rows[count++] = (struct leak_row){
            .pool = summary_number(summary, COLUMN_findings_pool, row),
            .site = summary_number(summary, COLUMN_findings_site, row),
            .first_step = summary_has(summary, COLUMN_findings_first_step, row)
                              ? summary_number(summary, COLUMN_findings_first_step, row)
                              : -1,
            .growth = summary_bytes(summary, COLUMN_findings_growth_bytes_per_step, row),
            .bytes = summary_bytes(summary, COLUMN_findings_bytes, row),
            .rank = rank,
        };
    }
    if (count)
        qsort(rows, count, sizeof(*rows), leak_row_compare);
    return count;
}

/* Rows of one site; growths has room for as many. */
static struct rank_leak join_leaks(const struct rank_set *set, const struct leak_row *rows,
                                   size_t count, uint64_t *growths)
{
    struct rank_leak leak = {
        .pool = summary_text(&set->summary, rows[0].pool),
        .site = summary_text(&set->summary, rows[0].site),
        .first = rows[0].rank,
        .first_step = rows[0].first_step,
    };
    size_t grown = 0;

    leak.is_compared = strcmp(leak.pool, set->pool) == 0;
    for (size_t i = 0; i < count; i++) {
        leak.rank_count += i == 0 || rows[i].rank != rows[i - 1].rank;
        leak.bytes = rows[i].bytes > leak.bytes ? rows[i].bytes : leak.bytes;
        if (rows[i].growth)
            growths[grown++] = rows[i].growth;
        if (rows[i].first_step >= 0 &&
            (leak.first_step < 0 || rows[i].first_step < leak.first_step)) {
            leak.first_step = rows[i].first_step;
            leak.first = rows[i].rank;
        }
    }
    leak.growth = grown ? rank_median(growths, grown) : 0;
    return leak;
}

/* A pool's own leak before that of what lies below it; the largest over all ranks first. */
static int leak_compare(const void *left, const void *right)
{
    const struct rank_leak *a = left, *b = right;
    uint64_t size_a = a->bytes * a->rank_count, size_b = b->bytes * b->rank_count;
    int by_site = strcmp(a->site, b->site);

    if (a->is_compared != b->is_compared)
        return a->is_compared ? -1 : 1;
    if (size_a != size_b)
        return size_a > size_b ? -1 : 1;
    return by_site ? by_site : strcmp(a->pool, b->pool);
}

bool rank_find_leaks(const struct rank_set *set, struct arena *arena, struct rank_leak **out,
                     size_t *count)
{
    size_t most = summary_rows(&set->summary, SUMMARY_findings) + 1;
    struct leak_row *rows = calloc(most, sizeof(*rows));
    uint64_t *growths = calloc(most, sizeof(*growths));
    size_t row_count;
    bool is_done;

    *count = 0;
    *out = NULL;
    is_done = rows && growths;
    row_count = is_done ? list_leaks(set, rows) : 0;
    if (row_count) {
        *out = arena_alloc(arena, row_count * sizeof(**out));
        is_done = *out != NULL;
    }
    for (size_t first = 0, end; is_done && first < row_count; first = end) {
        for (end = first; end < row_count && rows[end].pool == rows[first].pool &&
                          rows[end].site == rows[first].site;)
            end++;
        (*out)[(*count)++] = join_leaks(set, rows + first, end - first, growths);
    }
    if (*count)
        qsort(*out, *count, sizeof(**out), leak_compare);
    free(rows);
    free(growths);
    return is_done;
}

/* --- hosts ------------------------------------------------------------------------------------ */

/* Ranks of the hosts, host after host, with how far each is from the median of its peers. */
struct host_rank {
    int64_t host, gap;
    uint64_t median; /* of the peers */
};

static int host_rank_compare(const void *left, const void *right)
{
    const struct host_rank *a = left, *b = right;

    if (a->host != b->host)
        return a->host < b->host ? -1 : 1;
    return (a->gap > b->gap) - (a->gap < b->gap);
}

static uint64_t peak_of(const struct rank_set *set, const struct rank *rank)
{
    return summary_bytes(&set->summary, COLUMN_ledgers_peak_bytes, rank->ledger);
}

/* Medians of the peaks, by group; spare has room for all ranks. */
static void find_medians(const struct rank_set *set, uint64_t *medians, uint64_t *spare)
{
    for (size_t group = 0; group < set->group_count; group++) {
        size_t count = 0;

        for (size_t i = 0; i < set->count; i++)
            if (set->ranks[i].group == group && set->ranks[i].ledger != SIZE_MAX)
                spare[count++] = peak_of(set, &set->ranks[i]);
        medians[group] = count ? rank_median(spare, count) : 0;
    }
}

static size_t list_host_ranks(const struct rank_set *set, const uint64_t *medians,
                              struct host_rank *rows)
{
    size_t count = 0;

    for (size_t i = 0; i < set->count; i++) {
        const struct rank *rank = &set->ranks[i];

        if (rank->ledger == SIZE_MAX || !summary_has(&set->summary, COLUMN_ranks_host, rank->row))
            continue;
        rows[count++] = (struct host_rank){
            summary_number(&set->summary, COLUMN_ranks_host, rank->row),
            (int64_t)(peak_of(set, rank) - medians[rank->group]),
            medians[rank->group],
        };
    }
    if (count)
        qsort(rows, count, sizeof(*rows), host_rank_compare);
    return count;
}

static bool is_far(const struct host_rank *row, bool is_more)
{
    uint64_t gap = row->gap < 0 ? (uint64_t)-row->gap : (uint64_t)row->gap;

    return (row->gap > 0) == is_more && gap >= RANK_LEAST_BYTES &&
           gap > row->median / RANK_HOST_SHARE;
}

/* What the ranks of one host have in common; rows by gap. */
static struct rank_host host_of(const struct rank_set *set, const struct host_rank *rows,
                                size_t count)
{
    int64_t middle = rows[(count - 1) / 2].gap;
    struct rank_host host = {
        .name = summary_text(&set->summary, rows->host),
        .rank_count = count,
        .is_more = middle > 0,
        .median_gap = middle < 0 ? (uint64_t)-middle : (uint64_t)middle,
    };

    for (size_t i = 0; i < count; i++)
        host.differing_count += is_far(&rows[i], host.is_more);
    return host;
}

/* Most hosts are as far from their medians as chance has it; spare has room for all hosts. */
static uint64_t chance_of_hosts(const struct rank_host *hosts, size_t count, uint64_t *spare)
{
    for (size_t i = 0; i < count; i++)
        spare[i] = hosts[i].median_gap;
    return rank_median(spare, count);
}

/* The one that is furthest off first. */
static int host_compare(const void *left, const void *right)
{
    const struct rank_host *a = left, *b = right;

    if (a->median_gap != b->median_gap)
        return a->median_gap > b->median_gap ? -1 : 1;
    return strcmp(a->name, b->name);
}

static size_t find_hosts(const struct rank_set *set, struct host_rank *rows, uint64_t *medians,
                         uint64_t *spare, struct rank_host *hosts)
{
    size_t count = 0, kept = 0, row_count;
    uint64_t chance;

    find_medians(set, medians, spare);
    row_count = list_host_ranks(set, medians, rows);
    for (size_t first = 0, end; first < row_count; first = end) {
        for (end = first; end < row_count && rows[end].host == rows[first].host;)
            end++;
        hosts[count++] = host_of(set, rows + first, end - first);
    }
    if (count < RANK_HOSTS_LEAST)
        return 0;
    chance = chance_of_hosts(hosts, count, spare);
    for (size_t i = 0; i < count; i++)
        if (hosts[i].rank_count > 1 && hosts[i].median_gap / RANK_HOST_SPREADS >= chance &&
            hosts[i].differing_count * 100 >= hosts[i].rank_count * RANK_HOST_PERCENT)
            hosts[kept++] = hosts[i];
    if (kept)
        qsort(hosts, kept, sizeof(*hosts), host_compare);
    return kept;
}

bool rank_find_hosts(const struct rank_set *set, struct arena *arena, struct rank_host **out,
                     size_t *count)
{
    struct host_rank *rows = calloc(set->count + 1, sizeof(*rows));
    uint64_t *medians = calloc(set->group_count + 1, sizeof(*medians));
    uint64_t *spare = calloc(set->count + 1, sizeof(*spare));
    bool is_done = rows && medians && spare;

    *count = 0;
    *out = arena_alloc(arena, (set->count + 1) * sizeof(**out));
    if (is_done && *out)
        *count = find_hosts(set, rows, medians, spare, *out);
    free(rows);
    free(medians);
    free(spare);
    return is_done && *out;
}

const struct rank_host *rank_host_of(const struct rank_set *set, const struct rank_host *hosts,
                                     size_t host_count, const struct rank *rank)
{
    const char *host = summary_text_at(&set->summary, COLUMN_ranks_host, rank->row);

    for (size_t i = 0; i < host_count; i++)
        if (strcmp(hosts[i].name, host) == 0)
            return &hosts[i];
    return NULL;
}

/* --- stages ----------------------------------------------------------------------------------- */

/* The median peak of the ranks of a stage; 0: it has none. */
static uint64_t stage_peak(const struct rank_set *set, int64_t stage, uint64_t *spare)
{
    size_t count = 0;

    for (size_t i = 0; i < set->count; i++)
        if (set->ranks[i].ledger != SIZE_MAX &&
            rank_place(set, COLUMN_ranks_pp, &set->ranks[i]) == stage)
            spare[count++] =
                summary_bytes(&set->summary, COLUMN_ledgers_peak_bytes, set->ranks[i].ledger);
    return count ? rank_median(spare, count) : 0;
}

struct rank_stages rank_find_stages(const struct rank_set *set, struct arena *arena)
{
    uint64_t *spare = arena_alloc(arena, (set->count + 1) * sizeof(*spare));
    struct rank_stages stages = {0};
    uint64_t sum = 0;
    int64_t last = -1;

    for (size_t i = 0; i < set->count; i++) {
        int64_t stage = rank_place(set, COLUMN_ranks_pp, &set->ranks[i]);

        last = stage > last ? stage : last;
    }
    for (int64_t stage = 0; spare && last < (int64_t)set->count && stage <= last; stage++) {
        uint64_t peak = stage_peak(set, stage, spare);

        stages.count += peak != 0;
        sum += peak;
        if (peak > stages.highest_bytes) {
            stages.highest_bytes = peak;
            stages.highest_stage = stage;
        }
    }
    if (stages.count < 2)
        return (struct rank_stages){0};
    stages.mean_bytes = sum / stages.count;
    if (stages.highest_bytes - stages.mean_bytes <= stages.highest_bytes / RANK_STAGE_SHARE ||
        stages.highest_bytes - stages.mean_bytes < RANK_LEAST_BYTES)
        return (struct rank_stages){0};
    return stages;
}

/* --- refused requests ------------------------------------------------------------------------- */

/* Since 1970 where that is known, else since the start of the rank's run. */
static uint64_t failure_time(const struct rank_set *set, size_t row)
{
    uint64_t realtime_ns = summary_bytes(&set->summary, COLUMN_failures_realtime_ns, row);

    return realtime_ns ? realtime_ns : summary_bytes(&set->summary, COLUMN_failures_time_ns, row);
}

/* What a rank held that was refused nothing, at most, of what the first one held then. */
static void find_nearest(const struct rank_set *set, const bool *is_refused,
                         struct rank_failures *failures)
{
    uint64_t held = summary_bytes(&set->summary, COLUMN_failures_live_bytes, failures->row);

    for (size_t i = 0; i < set->count; i++) {
        const struct rank *rank = &set->ranks[i];
        unsigned percent;

        if (is_refused[i] || rank->ledger == SIZE_MAX)
            continue;
        percent =
            percent_of(summary_bytes(&set->summary, COLUMN_ledgers_peak_bytes, rank->ledger), held);
        failures->has_others = true;
        failures->nearest_percent =
            percent > failures->nearest_percent ? percent : failures->nearest_percent;
    }
}

static void find_next(const struct rank_set *set, struct rank_failures *failures)
{
    const struct summary *summary = &set->summary;
    uint64_t first_ns = failure_time(set, failures->row), next_ns = UINT64_MAX;

    for (size_t row = 0; row < summary_rows(summary, SUMMARY_failures); row++) {
        const struct rank *rank = rank_set_owner(set, SUMMARY_failures, row);

        if (!rank || rank == failures->first || failure_time(set, row) >= next_ns)
            continue;
        next_ns = failure_time(set, row);
        failures->next = rank;
    }
    failures->has_next = failures->next != NULL;
    failures->next_after_ns = failures->has_next ? next_ns - first_ns : 0;
}

struct rank_failures rank_find_failures(const struct rank_set *set)
{
    const struct summary *summary = &set->summary;
    struct rank_failures failures = {0};
    bool *is_refused = calloc(set->count + 1, sizeof(*is_refused));

    for (size_t row = 0; is_refused && row < summary_rows(summary, SUMMARY_failures); row++) {
        const struct rank *rank = rank_set_owner(set, SUMMARY_failures, row);

        if (!rank)
            continue;
        failures.rank_count += !is_refused[rank - set->ranks];
        is_refused[rank - set->ranks] = true;
        if (!failures.first || failure_time(set, row) < failure_time(set, failures.row) ||
            (failure_time(set, row) == failure_time(set, failures.row) && rank < failures.first)) {
            failures.first = rank;
            failures.row = row;
        }
    }
    if (failures.first) {
        find_next(set, &failures);
        find_nearest(set, is_refused, &failures);
    }
    free(is_refused);
    return failures;
}

/* --- who ended early, who is not there ----------------------------------------------------------
 */

bool rank_find_stops(const struct rank_set *set, struct arena *arena, const struct rank *but,
                     struct rank_stop **out, size_t *count)
{
    uint64_t *steps = arena_alloc(arena, (set->count + 1) * sizeof(*steps));
    uint64_t median;

    *out = arena_alloc(arena, (set->count + 1) * sizeof(**out));
    *count = 0;
    if (!*out || !steps)
        return false;
    if (set->count < RANK_PEERS_LEAST)
        return true;
    for (size_t i = 0; i < set->count; i++)
        steps[i] = summary_bytes(&set->summary, COLUMN_ranks_step_count, set->ranks[i].row);
    median = rank_median(steps, set->count);
    for (size_t i = 0; i < set->count; i++) {
        uint64_t own = summary_bytes(&set->summary, COLUMN_ranks_step_count, set->ranks[i].row);

        if (&set->ranks[i] != but && own && own + RANK_STOP_LEAST <= median &&
            median - own > median / RANK_STOP_SHARE)
            (*out)[(*count)++] = (struct rank_stop){&set->ranks[i], own, median};
    }
    return true;
}

/* Numbers from *expected on that are below `end`. */
static void add_gap(struct rank_gaps *gaps, int64_t expected, int64_t end)
{
    enum { most = sizeof(gaps->first) / sizeof(gaps->first[0]) };

    for (int64_t number = expected;
         number < end && gaps->count + (size_t)(number - expected) < most; number++)
        gaps->first[gaps->count + (size_t)(number - expected)] = number;
    gaps->count += end > expected ? (size_t)(end - expected) : 0;
}

struct rank_gaps rank_find_gaps(const struct rank_set *set)
{
    struct rank_gaps gaps = {0};
    int64_t expected = 0;

    for (size_t i = 0; i < set->count; i++) {
        uint64_t size = summary_bytes(&set->summary, COLUMN_ranks_world_size, set->ranks[i].row);

        gaps.world_size = size > gaps.world_size ? size : gaps.world_size;
        if (set->ranks[i].number == RANK_NONE)
            continue;
        add_gap(&gaps, expected, set->ranks[i].number);
        expected = set->ranks[i].number + 1;
    }
    if (expected)
        add_gap(&gaps, expected, (int64_t)gaps.world_size);
    return gaps;
}
