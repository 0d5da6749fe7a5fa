/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Heaps of glibc's malloc (2.31 to 2.41), read from outside.
 *
 * Nothing is taken from a table of versions: a heap is split when all of it proves the layout.
 * Every chunk is followed by the next one up to the end of the heap, every free chunk's size is
 * repeated after it, and the arena names the top chunk that was found.
 */
#ifndef LEAKTIDE_TRACER_GLIBC_HEAP_H
#define LEAKTIDE_TRACER_GLIBC_HEAP_H

#include <stdbool.h>
#include <stdint.h>

#include "process_memory.h"

/* Resident bytes. What is left of the heap is in use. */
struct heap_split {
    uint64_t free_bytes;   /* free chunks and the top, without what is cached */
    uint64_t cached_bytes; /* freed, kept for the next call of the same size: tcache, fast bins */
    uint64_t own_bytes;    /* headers of blocks, arenas, caches' own */
    uint64_t trim_bytes;   /* of free_bytes: what malloc_trim(0) gives back */
    uint64_t block_count;  /* in use */
    uint64_t top;          /* address of the top chunk; 0: it is in another heap of the arena */
    bool is_fastbins_read;
};

/*
 * The heap of the main arena: [start, end) that grew by brk(). Adds to split; false, and split is
 * as it was: it is laid out otherwise, changes too fast, or is in part not resident.
 */
bool glibc_main_heap(struct process_memory *memory, uint64_t start, uint64_t end,
                     struct heap_split *split);

/* Looks in [start, end), the data of the C library, for the arena with that top chunk. */
bool glibc_main_fastbins(struct process_memory *memory, uint64_t start, uint64_t end,
                         struct heap_split *split);

/* Heaps of other arenas begin at multiples of this. */
#define GLIBC_HEAP_ALIGN (UINT64_C(64) << 20)

struct arena_heap {
    uint64_t arena; /* address of its arena */
    uint64_t size_bytes;
};

/* Is there one, in a mapping that ends at end? */
bool glibc_arena_heap(struct process_memory *memory, uint64_t address, uint64_t end,
                      struct arena_heap *heap);
bool glibc_arena_split(struct process_memory *memory, uint64_t address,
                       const struct arena_heap *heap, struct heap_split *split);

/* The size of a block with a mapping of its own, whole pages; 0: there is none. */
uint64_t glibc_mapped_block(struct process_memory *memory, uint64_t address, uint64_t end);

#endif
