/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a rank has more or less of than its peers.
 *
 * Compared are the peak, the growth per step, what each site held at the peak, and the highest of
 * each counter of the driver; each against the median of the peers. A difference counts from a
 * twentieth of the median and 1 MiB on, and, of eight peers and more, from eight times the median
 * distance from the median on: where all scatter, none stands out.
 */
#ifndef LEAKTIDE_ANALYSES_RANK_COMPARE_H
#define LEAKTIDE_ANALYSES_RANK_COMPARE_H

#include "rank_set.h"

enum rank_measure_kind {
#define RANK_MEASURE(name, word, least, which, table, column, name_column, counts, counts_sql)     \
    RANK_MEASURE_##name,
#include "rank_rules.def"
    RANK_MEASURE_COUNT
};

/* A row of rank_rules.def. */
struct rank_measure {
    const char *name, *word;
    uint64_t least;
    bool counts_less;
    enum summary_table table;
    enum summary_column column, name_column;
    bool (*counts)(const struct summary *summary, const struct rank *rank, size_t row);
    const char *counts_sql;
};

extern const struct rank_measure rank_measures[RANK_MEASURE_COUNT];

struct rank_difference {
    enum rank_measure_kind kind;
    const char *name; /* of a site or counter; else NULL */
    const struct rank *rank;
    uint64_t value, median;
};

uint64_t rank_difference_bytes(const struct rank_difference *difference);

/* Peaks first, then by size. In the arena of the set; false without memory. */
bool rank_compare(struct rank_set *set, struct rank_difference **out, size_t *count);

/*
 * The first step at whose end this rank held more than these limits away from the median of the
 * peers that did the step. NULL: none, or no memory.
 */
const struct rank_step *rank_first_differing(struct rank_set *set, const struct rank *rank);

/* Of an even number the lower one of the middle two: a value that is there. Reorders. count > 0. */
uint64_t rank_median(uint64_t *values, size_t count);

#endif
