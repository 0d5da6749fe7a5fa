/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Chunks in a list, newest first; each is at least as large as the one before, up to a limit.
 */
#include "arena.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "leaktide/invariant.h"

enum { first_chunk_bytes = 16 * 1024, largest_chunk_bytes = 1024 * 1024, alignment = 16 };

struct arena_chunk {
    struct arena_chunk *older;
    size_t capacity_bytes;
    _Alignas(16) unsigned char bytes[];
};

void arena_init(struct arena *arena)
{
    arena->newest = NULL;
    arena->used_bytes = 0;
    arena->has_failed = false;
}

void arena_release(struct arena *arena)
{
    while (arena->newest) {
        struct arena_chunk *older = arena->newest->older;

        free(arena->newest);
        arena->newest = older;
    }
    arena->used_bytes = 0;
}

static size_t next_capacity(const struct arena *arena, size_t size_bytes)
{
    size_t capacity_bytes = first_chunk_bytes;

    if (arena->newest)
        capacity_bytes = arena->newest->capacity_bytes * 2;
    if (capacity_bytes > largest_chunk_bytes)
        capacity_bytes = largest_chunk_bytes;
    return capacity_bytes < size_bytes ? size_bytes : capacity_bytes;
}

/* NULL, which is remembered. */
static void *fail(struct arena *arena)
{
    arena->has_failed = true;
    return NULL;
}

void *arena_alloc(struct arena *arena, size_t size_bytes)
{
    void *block;

    MT_ASSERT(arena->newest || !arena->used_bytes);
    MT_ASSERT(!arena->newest || arena->used_bytes <= arena->newest->capacity_bytes);
    MT_ASSERT(arena->used_bytes % alignment == 0);
    if (size_bytes > SIZE_MAX / 2)
        return fail(arena);
    size_bytes = (size_bytes + alignment - 1) & ~(size_t)(alignment - 1);
    if (!arena->newest || arena->newest->capacity_bytes - arena->used_bytes < size_bytes) {
        size_t capacity_bytes = next_capacity(arena, size_bytes);
        struct arena_chunk *chunk = calloc(1, sizeof(*chunk) + capacity_bytes);

        if (!chunk)
            return fail(arena);
        chunk->older = arena->newest;
        chunk->capacity_bytes = capacity_bytes;
        arena->newest = chunk;
        arena->used_bytes = 0;
    }
    block = arena->newest->bytes + arena->used_bytes;
    arena->used_bytes += size_bytes;
    return block;
}

char *arena_text(struct arena *arena, const char *bytes, size_t size_bytes)
{
    char *copy;

    MT_ASSERT(bytes || !size_bytes);
    copy = arena_alloc(arena, size_bytes + 1);

    if (copy && size_bytes)
        memcpy(copy, bytes, size_bytes);
    return copy;
}

const char *arena_copy(struct arena *arena, const char *terminated)
{
    const char *copy = arena_text(arena, terminated, strlen(terminated));

    return copy ? copy : "";
}

const char *arena_format_list(struct arena *arena, const char *format, va_list arguments)
{
    va_list again;
    char *text;
    int length;

    va_copy(again, arguments);
    length = vsnprintf(NULL, 0, format, again);
    va_end(again);
    text = length < 0 ? fail(arena) : arena_alloc(arena, (size_t)length + 1);
    if (!text)
        return "";
    vsnprintf(text, (size_t)length + 1, format, arguments);
    return text;
}

const char *arena_format(struct arena *arena, const char *format, ...)
{
    va_list arguments;
    const char *text;

    va_start(arguments, format);
    text = arena_format_list(arena, format, arguments);
    va_end(arguments);
    return text;
}
