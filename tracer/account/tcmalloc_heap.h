/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Heaps of tcmalloc (gperftools 2.6 to 2.10), read from outside, whatever it is linked into and
 * named.
 */
#ifndef LEAKTIDE_TRACER_TCMALLOC_HEAP_H
#define LEAKTIDE_TRACER_TCMALLOC_HEAP_H

#include "heap_extent.h"
#include "page_tree.h"

enum { TCMALLOC_CLASSES_MOST = 128 };

struct tcmalloc {
    struct page_tree spans;
    uint32_t class_bytes[TCMALLOC_CLASSES_MOST]; /* of blocks, by size class, from 1 on */
    uint32_t class_count;
    uint64_t cached_bytes; /* free blocks in the caches of threads and of all: spans count them as
                              used */
};

/* Looks in [start, end), the variables of an object. False: there is none. It borrows the memory.
 */
bool tcmalloc_find(struct tcmalloc *tcmalloc, struct process_memory *memory,
                   const struct mappings *mappings, uint64_t start, uint64_t end);

/* address: of a page; end: of its mapping. */
struct heap_extent tcmalloc_extent_at(struct tcmalloc *tcmalloc, uint64_t address, uint64_t end);

#endif
