/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Memory that is given back all at once.
 *
 * Blocks come from growing chunks; single blocks are never freed. Blocks are aligned for any type.
 * One thread at a time.
 */
#ifndef LEAKTIDE_BASE_ARENA_H
#define LEAKTIDE_BASE_ARENA_H

#include <stddef.h>

struct arena_chunk;

struct arena {
    struct arena_chunk *newest;
    size_t used_bytes; /* of the newest chunk */
};

void arena_init(struct arena *arena);
void arena_release(struct arena *arena);

/* Zeroed; NULL when the system has no memory. */
void *arena_alloc(struct arena *arena, size_t size_bytes);

/* A terminated copy of `size_bytes` bytes; NULL when the system has no memory. */
char *arena_text(struct arena *arena, const char *bytes, size_t size_bytes);

#endif
