/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A heap that a signal handler may use at any moment: it takes no lock and gives nothing back. To
 * preload behind the tracer, whose code is then all that a handler can meet half done.
 */
#include <stdatomic.h>
#include <stddef.h>
#include <string.h>

#define EXPORT __attribute__((visibility("default")))

enum { ALIGNMENT = 16, HEAP_BYTES = 1 << 29 };

static _Alignas(ALIGNMENT) char heap[HEAP_BYTES];
static atomic_size_t used_bytes;

EXPORT void *malloc(size_t size_bytes);
EXPORT void *calloc(size_t count, size_t size_bytes);
EXPORT void *realloc(void *block, size_t size_bytes);
EXPORT void free(void *block);

void *malloc(size_t size_bytes)
{
    size_t whole = (size_bytes + 2 * ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    size_t at = atomic_fetch_add(&used_bytes, whole);

    if (at + whole > HEAP_BYTES)
        return NULL;
    memcpy(heap + at, &size_bytes, sizeof(size_bytes));
    return heap + at + ALIGNMENT;
}

void *calloc(size_t count, size_t size_bytes)
{
    return malloc(count * size_bytes); /* zeros, as nothing is used twice */
}

void *realloc(void *block, size_t size_bytes)
{
    void *copy = malloc(size_bytes);
    size_t old_bytes = 0;

    if (copy && block) {
        memcpy(&old_bytes, (char *)block - ALIGNMENT, sizeof(old_bytes));
        memcpy(copy, block, old_bytes < size_bytes ? old_bytes : size_bytes);
    }
    return copy;
}

void free(void *block)
{
    (void)block;
}
