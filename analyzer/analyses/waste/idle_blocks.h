/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Blocks that are there without being used, by site and by way of waste. docs/inefficient.md has
 * the definitions.
 */
#ifndef LEAKTIDE_ANALYSES_IDLE_BLOCKS_H
#define LEAKTIDE_ANALYSES_IDLE_BLOCKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analysis.h"
#include "origins.h"

enum waste_kind {
    WASTE_EARLY,     /* allocated before it is used */
    WASTE_LATE,      /* freed after it is used */
    WASTE_IDLE,      /* not used for long, in between */
    WASTE_UNUSED,    /* never used */
    WASTE_REDUNDANT, /* another block of its size was there, and no longer used */
    WASTE_KINDS
};

/* Between two uses, in operators or kernels, before it counts as idle. */
enum { IDLE_POSITIONS_LEAST = 10, REUSE_BLOCKS_MOST = 1 << 20 };

struct waste {
    uint64_t count, size_bytes; /* blocks, and their sizes together */
    unsigned __int128 byte_ns;  /* size times the time of no use */
    uint64_t peak_bytes;        /* wasted so when their ledger was highest */
    uint64_t longest_ns;
    /* The one that wastes most. */
    unsigned __int128 worst_byte_ns;
    uint64_t worst_address, worst_size_bytes, worst_from_ns, worst_to_ns;
};

struct idle_blocks {
    struct origins origins;
    struct waste *wastes;  /* origin * WASTE_KINDS + kind */
    bool has_reuse;        /* redundant blocks were looked for */
    uint64_t missed_count; /* accesses of no block */
};

static inline const struct waste *waste_of(const struct idle_blocks *idle, size_t origin,
                                           enum waste_kind kind)
{
    return &idle->wastes[origin * WASTE_KINDS + (size_t)kind];
}

/* Needs accesses. MT_NO_MEMORY, or as lives_read(); release in any case. */
enum mt_result idle_blocks_read(const struct question *question, struct idle_blocks *idle,
                                struct mt_error *error);
void idle_blocks_release(struct idle_blocks *idle);

#endif
