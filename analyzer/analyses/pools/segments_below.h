/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The segments of a pool where its source does not tell them: what pools from below handed out, or
 * mapped, and blocks of the pool lay in.
 *
 *   acl      | 20 MiB        |    distance 0: nearest, so this is the segment
 *   hal      | 20 MiB        |    distance 1: the same addresses once more
 *   pta        | a |   | b |      what makes it one of this pool
 *
 * Invariant: a byte of addresses is in one segment at most, however many layers have it.
 */
#ifndef LEAKTIDE_ANALYSES_SEGMENTS_BELOW_H
#define LEAKTIDE_ANALYSES_SEGMENTS_BELOW_H

#include <stdbool.h>
#include <stddef.h>

#include "lives.h"
#include "range_set.h"
#include "tally.h"

/* How a ledger is below a pool's. */
struct layer {
    bool is_below, is_mapping;
    uint8_t distance; /* pools between the two */
};

struct layer layer_below(const struct tally *tally, const struct ledger *lower,
                         const struct ledger *upper);

/* A segment, perhaps. Of mappings, those side by side are one. */
struct candidate {
    struct range range;
    struct layer layer;
};

/* Of one moment. All zeros: none yet. */
struct candidates {
    struct candidate *rows;
    size_t count, capacity;
};

/* False without memory, as for those that follow. */
bool candidates_add(struct candidates *candidates, struct layer layer, const struct life *life);
void candidates_release(struct candidates *candidates);

/* The nearest of those that have addresses in common, joined where mappings go on, by address. */
bool candidates_choose(struct candidates *candidates);

/* Where blocks of the pool lay since the segments there were handed out. */
bool touched_add(struct range_set *touched, const struct life *block);
/* Whether any lay in what ends here; forgets them, as the addresses may come again. */
bool touched_take(struct range_set *touched, const struct life *segment, bool *was_touched);

#endif
