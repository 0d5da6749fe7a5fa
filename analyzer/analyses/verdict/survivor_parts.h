/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Through which stacks the blocks came that stay: one line of a program allocates through many, and
 * most of them free what they make.
 */
#ifndef LEAKTIDE_ANALYSES_SURVIVOR_PARTS_H
#define LEAKTIDE_ANALYSES_SURVIVOR_PARTS_H

#include "growth.h"

enum { SURVIVOR_PARTS_MOST = 3 };

/* Stacks of one shape: symbols_shape_of(). */
struct survivor_part {
    struct who who;        /* of the heaviest of them */
    uint64_t bytes, count; /* overdue; of one growing block, alive when the last step ended */
    uint64_t made_count;   /* of all blocks, freed or not */
};

struct survivor_parts {
    struct survivor_part rows[SURVIVOR_PARTS_MOST]; /* heaviest first */
    size_t count;
    uint64_t bytes;      /* of all parts, also those that are not shown */
    uint64_t made_count; /* by stacks that left survivors */
};

/* Without memory, or without survivors: the origin itself, as one part. */
struct survivor_parts survivor_parts_of(const struct question *question, const struct judged *row);

#endif
