/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The memory of another process: which pages are resident, and what they hold.
 *
 * A page that is not resident is never read: that would make it so, or bring it in from swap.
 */
#ifndef LEAKTIDE_TRACER_PROCESS_MEMORY_H
#define LEAKTIDE_TRACER_PROCESS_MEMORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { PROCESS_PAGE_BYTES_LEAST = 4096, MEMORY_WINDOW_BYTES = 1 << 18, PAGES_WINDOW = 1 << 12 };

struct process_memory {
    int memory, pagemap; /* descriptors */
    uint64_t page_bytes;
    uint8_t *bytes; /* a copy of [start, end) */
    uint64_t start, end;
    uint64_t *pages; /* of pagemap, from first_page on */
    uint64_t first_page, page_count;
};

/* folder: a descriptor of the process's own in /proc. False: it may not be read, or no memory. */
bool process_memory_open(struct process_memory *memory, int folder);
void process_memory_close(struct process_memory *memory);

/* How much of [start, end) is resident. */
uint64_t memory_resident_bytes(struct process_memory *memory, uint64_t start, uint64_t end);

/* The first address from start on, below end, whose page is resident, or is not; else end. */
uint64_t memory_next_resident(struct process_memory *memory, uint64_t start, uint64_t end);
uint64_t memory_next_absent(struct process_memory *memory, uint64_t start, uint64_t end);

/*
 * size_bytes at most a page. Good until the next call; NULL: not all of it is resident, or it
 * cannot be read. Meant for ways upward: what follows is fetched along.
 */
const void *memory_at(struct process_memory *memory, uint64_t address, size_t size_bytes);

/* A word; false: as above. */
bool memory_word(struct process_memory *memory, uint64_t address, uint64_t *word);

#endif
