/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What stands at an address of a heap that is not glibc's: blocks, memory that is kept for later,
 * or the allocator's own.
 */
#ifndef LEAKTIDE_TRACER_HEAP_EXTENT_H
#define LEAKTIDE_TRACER_HEAP_EXTENT_H

#include <stdbool.h>
#include <stdint.h>

struct heap_extent {
    uint64_t size_bytes; /* from the address on, whole pages; 0: nothing is known there */
    uint64_t free_bytes; /* of blocks, where it has small ones; all, where it is kept for later */
    uint64_t block_count;
    bool is_own;   /* of the allocator */
    bool is_spare; /* all free: given back when the allocator is asked to */
};

#endif
