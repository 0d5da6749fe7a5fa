/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Blocks that are alive while rows are written: their numbers, and what an analysis knows of them.
 */
#ifndef LEAKTIDE_DUMP_BLOCKS_H
#define LEAKTIDE_DUMP_BLOCKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "live_set.h"
#include "memscope_writer.h"

struct dump_block {
    uint64_t source_id; /* allocation id of the source's row */
    uint64_t id;        /* of the row that is written */
    uint64_t address, size_bytes, time_ns;
    const char *type; /* "PTA"; borrowed from the source */
    uint32_t step;    /* in which it was taken; 0: before the first */
    int32_t device;
    bool is_alive;
};

struct dump_blocks {
    struct dump_block *rows;
    size_t count, capacity;
    uint32_t *free_rows;
    size_t free_count;
    struct live_set index; /* source id -> row */
};

bool dump_blocks_init(struct dump_blocks *blocks);
void dump_blocks_release(struct dump_blocks *blocks);

/* NULL when there is no memory. */
struct dump_block *dump_blocks_add(struct dump_blocks *blocks, const struct dump_block *block);
/* NULL when it is not known. */
struct dump_block *dump_blocks_find(struct dump_blocks *blocks, uint64_t source_id);
void dump_blocks_remove(struct dump_blocks *blocks, struct dump_block *block);

/* The most recent, or the largest, first; at most `most`. Returns how many. */
enum dump_order { DUMP_BY_TIME, DUMP_BY_SIZE };
size_t dump_blocks_top(const struct dump_blocks *blocks, enum dump_order order,
                       const struct dump_block **top, size_t most);

#endif
