/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What overdue.h says of all stacks of one origin together, whether they leak or not: for those who
 * have another opinion of the origin and want to compare.
 */
#ifndef LEAKTIDE_ANALYSES_SURVIVOR_GROUND_H
#define LEAKTIDE_ANALYSES_SURVIVOR_GROUND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "overdue.h"

struct survivor_ground {
    uint64_t name; /* equal for stacks of one origin */
    uint16_t ledger;
    bool is_active;        /* a stack allocates to the end */
    bool has_survivors;    /* a stack leaks */
    bool has_stopped;      /* a stack made enough to be judged, and none to the end */
    uint64_t gone_bytes;   /* left, but not for good: garbage, the newest, or of what stopped */
    uint64_t unsure_bytes; /* left by stacks that made too few blocks, or whose blocks live long */
};

/* Of one stack, without its name. */
struct survivor_ground survivor_ground_of(uint16_t ledger, bool has_survivors,
                                          const struct overdue *overdue);
/* false: what it would be joined with, or nothing at all, says the same. */
bool survivor_ground_tells(const struct survivor_ground *ground);
/* Rows of one origin become one. How many there are then; in order for survivor_ground_find(). */
size_t survivor_grounds_join(struct survivor_ground *rows, size_t count);
/* NULL: no stack of that origin was seen. */
const struct survivor_ground *survivor_ground_find(const struct survivor_ground *rows, size_t count,
                                                   uint16_t ledger, uint64_t name);
/* It was seen well enough to say that nothing stays for good. */
bool survivor_ground_denies(const struct survivor_ground *ground);

#endif
