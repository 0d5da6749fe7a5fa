/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Blocks that were given an owner or a module of the model while they were alive
 * (EVENT_BLOCK_OWNER, EVENT_BLOCK_NN_MODULE): all of their owners, and the first module.
 *
 * A block is known by the number of its alloc: events count from 1 in the order of reading.
 */
#ifndef LEAKTIDE_MODEL_OWNED_BLOCKS_H
#define LEAKTIDE_MODEL_OWNED_BLOCKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "hash_index.h"
#include "model.h"

enum { OWNED_NAMES_MAX = 8 };

/* Its names: that from its alloc first, if it has one. */
struct owned_block {
    uint64_t alloc;                  /* number of the event */
    uint32_t owner;                  /* text: all of them; 0: none, or they are not settled */
    uint32_t nn_module;              /* text; 0: none */
    uint32_t names[OWNED_NAMES_MAX]; /* texts */
    uint32_t name_count;
};

/* All zeros at first. */
struct owned_blocks {
    struct owned_block *rows; /* in the order of the allocs once they are settled */
    size_t count, capacity;
    struct hash_index index; /* by alloc; until they are settled */
    bool has_failed;         /* no memory */
};

void owned_blocks_release(struct owned_blocks *blocks);
/* owner: a text; first: what the block was called when it was allocated; 0: nothing. */
void owned_blocks_name(struct owned_blocks *blocks, uint64_t alloc, uint32_t first, uint32_t owner);
void owned_blocks_place(struct owned_blocks *blocks, uint64_t alloc, uint32_t nn_module);
/* After the last name, while nobody else fills the model: "model@weight". */
void owned_blocks_settle(struct owned_blocks *blocks, struct model *model);
/* Of settled ones: asserts that they are in order and have names or a module. */
void owned_blocks_check(const struct owned_blocks *blocks);

#endif
