/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Heaps of jemalloc 5.3, read from outside, whatever it is linked into and named.
 *
 * jemalloc has a radix tree from pages to descriptions of extents, in the variables of the object
 * that it is part of:
 *
 *     tree[address >> 30] ─► leaf[address >> 12] ─► extent: its address, size, state
 *
 * It is found by what proves itself: an extent that the tree leads to says that address of itself.
 */
#ifndef LEAKTIDE_TRACER_JEMALLOC_HEAP_H
#define LEAKTIDE_TRACER_JEMALLOC_HEAP_H

#include <stdbool.h>
#include <stdint.h>

#include "mappings.h"
#include "process_memory.h"

enum { JEMALLOC_LEAF_WORDS = 512, JEMALLOC_TREE_BYTES = 1 << 21 };

struct jemalloc {
    struct process_memory *memory; /* for its own structures; another one than for its heaps */
    uint64_t tree;
    uint64_t words[JEMALLOC_LEAF_WORDS]; /* of a leaf, from first_page on */
    uint64_t first_page;                 /* UINT64_MAX: none is read */
};

/*
 * Looks in [start, end), the variables of an object, for a tree that knows a page of one of the
 * mappings. False: there is none. jemalloc borrows the memory.
 */
bool jemalloc_find(struct jemalloc *jemalloc, struct process_memory *memory,
                   const struct mappings *mappings, uint64_t start, uint64_t end);

/* An extent, or memory for jemalloc itself. */
struct jemalloc_extent {
    uint64_t size_bytes; /* whole pages; 0: nothing is known at this address */
    uint64_t free_bytes; /* of blocks, where it has small ones; all, where it is kept for later */
    uint64_t block_count;
    bool is_own;
};

/* address: of a page; end: of its mapping. */
struct jemalloc_extent jemalloc_extent_at(struct jemalloc *jemalloc, uint64_t address,
                                          uint64_t end);

#endif
