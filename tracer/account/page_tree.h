/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A radix tree of an allocator, in the variables of the object that it is part of, which leads from
 * pages to descriptions of extents:
 *
 *     tree[address >> leaf_shift] ─► leaf[page within it] ─► extent: its address, size, state
 *
 * It is found by what proves itself: an extent that the tree leads to says that address of itself.
 */
#ifndef LEAKTIDE_TRACER_PAGE_TREE_H
#define LEAKTIDE_TRACER_PAGE_TREE_H

#include <stdbool.h>
#include <stdint.h>

#include "mappings.h"
#include "process_memory.h"

enum { PAGE_TREE_WORDS = 512 };

struct page_tree_shape {
    unsigned page_shift; /* of the allocator's pages */
    unsigned leaf_shift; /* so much of an address one leaf knows */
    uint64_t leaf_align;
    /* Does the extent that a leaf's word leads to say that it begins at this page? */
    bool (*is_proved)(struct process_memory *memory, uint64_t word, uint64_t address);
};

struct page_tree {
    const struct page_tree_shape *shape;
    struct process_memory
        *memory; /* borrowed; for its structures: another one than for its heaps */
    uint64_t tree;
    uint64_t words[PAGE_TREE_WORDS]; /* of a leaf, from first_page on */
    uint64_t first_page;             /* UINT64_MAX / 2: none is read */
};

/* The bytes of the tree itself: no object with less variables has one. */
uint64_t page_tree_bytes(const struct page_tree_shape *shape);

/* Looks in [start, end), the variables of an object, for a tree that knows a page of one of the
 * mappings. False: there is none. */
bool page_tree_find(struct page_tree *tree, const struct page_tree_shape *shape,
                    struct process_memory *memory, const struct mappings *mappings, uint64_t start,
                    uint64_t end);

/* What the leaf has for the page of that address; 0: nothing. */
uint64_t page_tree_word(struct page_tree *tree, uint64_t address);

#endif
