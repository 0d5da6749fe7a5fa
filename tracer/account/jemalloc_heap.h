/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Heaps of jemalloc 5.3, read from outside, whatever it is linked into and named.
 */
#ifndef LEAKTIDE_TRACER_JEMALLOC_HEAP_H
#define LEAKTIDE_TRACER_JEMALLOC_HEAP_H

#include "heap_extent.h"
#include "page_tree.h"

/* Looks in [start, end), the variables of an object. False: there is none. The tree borrows the
 * memory. */
bool jemalloc_find(struct page_tree *tree, struct process_memory *memory,
                   const struct mappings *mappings, uint64_t start, uint64_t end);

/* address: of a page; end: of its mapping. */
struct heap_extent jemalloc_extent_at(struct page_tree *tree, uint64_t address, uint64_t end);

#endif
