/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Memory that is given back all at once.
 *
 * Blocks come from growing chunks; single blocks are never freed. Blocks are aligned for any type.
 * Running out of memory is remembered in has_failed. One thread at a time.
 */
#ifndef LEAKTIDE_BASE_ARENA_H
#define LEAKTIDE_BASE_ARENA_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>

struct arena_chunk;

struct arena {
    struct arena_chunk *newest;
    size_t used_bytes; /* of the newest chunk */
    bool has_failed;   /* the system had no memory, at some time since arena_init() */
};

void arena_init(struct arena *arena);
void arena_release(struct arena *arena);

/* Zeroed; NULL when the system has no memory. */
void *arena_alloc(struct arena *arena, size_t size_bytes);

/* A terminated copy of `size_bytes` bytes; NULL when the system has no memory. */
char *arena_text(struct arena *arena, const char *bytes, size_t size_bytes);

/* A copy; never NULL, "" when the system has no memory. */
const char *arena_copy(struct arena *arena, const char *terminated);

/* As printf() writes it, of any length; never NULL, "" when the system has no memory. */
const char *arena_format(struct arena *arena, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
const char *arena_format_list(struct arena *arena, const char *format, va_list arguments)
    __attribute__((format(printf, 2, 0)));

#endif
