/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a set of ranks has beside single ranks that differ: leaks and on how many ranks, hosts,
 * pipeline stages, who was refused memory first, who ended early, who is not there.
 */
#ifndef LEAKTIDE_ANALYSES_RANK_FINDINGS_H
#define LEAKTIDE_ANALYSES_RANK_FINDINGS_H

#include "rank_compare.h"

/* One site of one pool, on all ranks where it leaks. */
struct rank_leak {
    const char *pool, *site;
    bool is_compared; /* the pool in which ranks are compared */
    size_t rank_count;
    const struct rank *first; /* where it began; of those that began together, the lowest */
    int64_t first_step;       /* -1: not known */
    uint64_t growth;          /* per step, the median of the ranks that tell it; 0: none does */
    uint64_t bytes;           /* the most on one rank */
};

/* Of the pool that is compared first, then by bytes over all ranks. In the arena of the set. */
bool rank_find_leaks(const struct rank_set *set, struct arena *arena, struct rank_leak **out,
                     size_t *count);

/* A host whose ranks nearly all peak away from their peers, in one direction, and more so than
 * hosts do by chance. */
struct rank_host {
    const char *name;
    size_t rank_count, differing_count;
    bool is_more;
    uint64_t median_gap;
};

/* In the arena; false without memory. */
bool rank_find_hosts(const struct rank_set *set, struct arena *arena, struct rank_host **out,
                     size_t *count);
/* NULL: the rank is on none of these. */
const struct rank_host *rank_host_of(const struct rank_set *set, const struct rank_host *hosts,
                                     size_t host_count, const struct rank *rank);

/* Pipeline stages whose peaks differ. */
struct rank_stages {
    size_t count; /* of stages; 0: not known, or balanced */
    int64_t highest_stage;
    uint64_t highest_bytes, mean_bytes; /* medians over the ranks of a stage */
};

struct rank_stages rank_find_stages(const struct rank_set *set, struct arena *arena);

/* Requests that were refused. */
struct rank_failures {
    size_t rank_count;        /* with one; 0: nobody was refused */
    const struct rank *first; /* the earliest */
    size_t row;               /* of the table of failures */
    bool has_next;
    const struct rank *next;
    uint64_t next_after_ns;
    bool has_others;          /* that were refused nothing */
    unsigned nearest_percent; /* their highest peak, of what the first one held */
};

struct rank_failures rank_find_failures(const struct rank_set *set);

/* Ended many steps before its peers. */
struct rank_stop {
    const struct rank *rank;
    uint64_t steps, median_steps;
};

/* All but one, about which more is known; NULL: all. */
bool rank_find_stops(const struct rank_set *set, struct arena *arena, const struct rank *but,
                     struct rank_stop **out, size_t *count);

/* Numbers of ranks that no summary is about, of the size of the job, or of the highest number. */
struct rank_gaps {
    uint64_t world_size; /* 0: not known */
    size_t count;
    int64_t first[8];
};

struct rank_gaps rank_find_gaps(const struct rank_set *set);

#endif
