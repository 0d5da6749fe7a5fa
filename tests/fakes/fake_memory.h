/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The bookkeeping behind the fake runtimes: a range of addresses of which parts are handed out.
 *
 * The lowest gap that fits is used, so addresses come back as soon as they are free. Nothing is
 * believed: what was not handed out cannot be freed, and what is full hands nothing out.
 * All calls are safe from any thread.
 */
#ifndef LEAKTIDE_FAKE_MEMORY_H
#define LEAKTIDE_FAKE_MEMORY_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct fake_block {
    uint64_t address;
    uint64_t size_bytes;
    uint64_t tag; /* the owner's own number */
};

struct fake_memory {
    uint64_t base;
    uint64_t capacity_bytes;
    pthread_mutex_t lock;
    struct fake_block *blocks; /* by address */
    size_t count, room;
    uint64_t used_bytes;
};

#define FAKE_MEMORY(first_address, bytes)                                                          \
    {                                                                                              \
        .base = (first_address), .capacity_bytes = (bytes), .lock = PTHREAD_MUTEX_INITIALIZER      \
    }

/* 0 when the range is full. Blocks start at multiples of alignment, a power of two. */
uint64_t fake_memory_alloc(struct fake_memory *memory, uint64_t size_bytes, uint64_t alignment,
                           uint64_t tag);

/* The caller chose the address, of memory that is not ours. False if it is taken. */
bool fake_memory_add(struct fake_memory *memory, uint64_t address, uint64_t size_bytes,
                     uint64_t tag);

/* False for an address at which no block starts. `block` may be NULL. */
bool fake_memory_free(struct fake_memory *memory, uint64_t address, struct fake_block *block);

/* The block that holds this address; false if there is none. */
bool fake_memory_find(struct fake_memory *memory, uint64_t address, struct fake_block *block);

uint64_t fake_memory_used(struct fake_memory *memory);
size_t fake_memory_count(struct fake_memory *memory);

#endif
