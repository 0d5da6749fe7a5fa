/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Heaps of mimalloc 2, read from outside, whatever it is linked into and named.
 *
 * They are segments, each at a multiple of its size, which begin with a description of their
 * slices: one entry after the other leads to the last, which ends where the segment says. What does
 * not add up so is none.
 */
#ifndef LEAKTIDE_TRACER_MIMALLOC_HEAP_H
#define LEAKTIDE_TRACER_MIMALLOC_HEAP_H

#include "heap_extent.h"
#include "mappings.h"
#include "process_memory.h"

enum { MIMALLOC_SLICES = 512 };

struct mimalloc {
    struct process_memory *memory; /* for its structures; another one than for its heaps */
    uint64_t segment;              /* that was read last; 0: none */
    bool is_segment;
    bool is_freed;        /* it was one, and is kept for later */
    uint64_t slice_count; /* of a large one, more than it has rows */
    uint64_t heap;        /* of some of its blocks; of the first thread, a variable of the object */
    struct mimalloc_span {
        uint64_t slice_count; /* from here on; 0: in the middle of one */
        uint64_t used_bytes;
        uint32_t block_count; /* 0: free */
    } spans[MIMALLOC_SLICES];
};

/* Is there a segment in any of the mappings? It borrows the memory. */
bool mimalloc_find(struct mimalloc *mimalloc, struct process_memory *memory,
                   const struct mappings *mappings);

/* address: of a page; end: of its mapping. */
struct heap_extent mimalloc_extent_at(struct mimalloc *mimalloc, uint64_t address, uint64_t end);

#endif
