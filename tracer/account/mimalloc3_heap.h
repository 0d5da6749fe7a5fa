/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Heaps of mimalloc 3, read from outside, whatever it is linked into and named.
 *
 * They are arenas, each a mapping of its own, or next to another one, which begins with what it
 * says of itself: how many slices it has, and where the descriptions of its pages are, if not in
 * the pages. A page says which arena and slice it is, by which both are known.
 */
#ifndef LEAKTIDE_TRACER_MIMALLOC3_HEAP_H
#define LEAKTIDE_TRACER_MIMALLOC3_HEAP_H

#include "heap_extent.h"
#include "mappings.h"
#include "process_memory.h"

enum { MIMALLOC3_ARENAS_MOST = 64 };

struct mimalloc3 {
    struct process_memory *memory; /* for its structures; another one than for its heaps */
    const struct mimalloc3_layout *layout;
    struct mimalloc3_arena {
        uint64_t start, slice_count, info_slices;
        uint64_t pages; /* their descriptions; 0: each stands in its page */
    } arenas[MIMALLOC3_ARENAS_MOST];
    size_t arena_count;
    uint64_t owner; /* of arenas: a variable of the object */
};

/* Is there an arena with a page? It borrows the memory. */
bool mimalloc3_find(struct mimalloc3 *mimalloc, struct process_memory *memory,
                    const struct mappings *mappings);

/* address: of a page; end: of its mapping. */
struct heap_extent mimalloc3_extent_at(struct mimalloc3 *mimalloc, uint64_t address, uint64_t end);

#endif
