/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The blocks that matter, one by one, and the rest of them as sums.
 *
 * Of any number of blocks the largest stay, among equals the longer lived, then the older; the
 * others are added up by group, size class and stretch of time. So every byte is in one of the two,
 * and memory does not grow with blocks.
 */
#ifndef LEAKTIDE_ANALYSES_KEPT_BLOCKS_H
#define LEAKTIDE_ANALYSES_KEPT_BLOCKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "hash_index.h"
#include "lives.h"

/* What the blocks of one group and size class, born or freed in one stretch of time, add up to. */
struct rest_row {
    uint32_t stretch, group;
    uint32_t size_class; /* sizes from 2^size_class bytes to twice that; 0: also 0 bytes */
    uint64_t born_bytes, born_count;
    uint64_t freed_bytes, freed_count;
};

struct kept_limits {
    uint64_t start_ns, end_ns;
    size_t block_most;
    size_t rest_most; /* rows; stretches get longer when there are more */
};

struct kept_blocks {
    struct kept_limits limits;
    /* Up to twice as many as are wanted, in no order; after kept_finish() as many, by birth. */
    struct life *blocks;
    size_t count;
    bool has_least;
    struct life least;     /* that a block has to beat to be kept */
    struct rest_row *rest; /* by stretch after kept_finish() */
    size_t rest_count, rest_capacity;
    struct hash_index rest_index;
    uint64_t stretch_ns;
    uint64_t rest_bytes, rest_block_count; /* allocated in all */
    uint64_t rest_size_most;               /* the largest block of the rest */
};

bool kept_init(struct kept_blocks *kept, const struct kept_limits *limits);
/* A life that is over, or goes on when its process ends. False when there is no memory. */
bool kept_put(struct kept_blocks *kept, const struct life *life);
/* After the last. False when there is no memory. */
bool kept_finish(struct kept_blocks *kept);
void kept_release(struct kept_blocks *kept);

#endif
