/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Heaps of a process that are not glibc's: which there are, and what stands at an address of them.
 */
#ifndef LEAKTIDE_TRACER_OTHER_HEAPS_H
#define LEAKTIDE_TRACER_OTHER_HEAPS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "jemalloc_heap.h"
#include "mappings.h"
#include "mimalloc3_heap.h"
#include "mimalloc_heap.h"
#include "process_memory.h"
#include "tcmalloc_heap.h"

enum { OTHER_HEAPS_MOST = 4, OTHER_HEAP_NAME_BYTES = 96 };

struct other_heaps {
    struct process_memory memory; /* for what they say of themselves */
    bool is_open;
    struct other_heap {
        enum other_heap_kind {
            HEAP_OF_JEMALLOC,
            HEAP_OF_TCMALLOC,
            HEAP_OF_MIMALLOC,
            HEAP_OF_MIMALLOC3
        } kind;
        union {
            struct page_tree jemalloc;
            struct tcmalloc tcmalloc;
            struct mimalloc mimalloc;
            struct mimalloc3 mimalloc3;
        };
        char name[OTHER_HEAP_NAME_BYTES]; /* "jemalloc of libjemalloc.so.2" */
        uint64_t cached_bytes; /* of what its extents count as used: free, in caches of threads */
    } heaps[OTHER_HEAPS_MOST];
    size_t count;
};

/* folder: a descriptor of the process's own in /proc. What cannot be read has no heaps. */
void other_heaps_find(struct other_heaps *heaps, int folder, const struct mappings *mappings);
void other_heaps_release(struct other_heaps *heaps);

/* address: of a page; end: of its mapping. NULL: it is of none of them. Else *extent. */
struct other_heap *other_heaps_extent(struct other_heaps *heaps, uint64_t address, uint64_t end,
                                      struct heap_extent *extent);

#endif
