/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Source: Objects/obmalloc.c and Include/internal/pycore_obmalloc.h of CPython.
 */
#include "python_pools.h"

#include <stdbool.h>
#include <string.h>

enum {
    POOL_BYTES = 16384,    /* since 3.10 */
    POOL_OLD_BYTES = 4096, /* before */
    POOL_HEAD = 48,
    OBJECT_ALIGN = 16,
    OBJECT_CLASSES = 32
};

/* struct pool_header */
struct pool_head {
    uint32_t used_count, unused;
    uint64_t free_block, next, previous;
    uint32_t arena, size_class, next_offset, last_offset;
};

/* Of two pool sizes, the last offset tells which one it is. */
static bool is_pool(const struct pool_head *head, uint64_t address, uint64_t pool_bytes)
{
    uint32_t object_bytes = (head->size_class + 1) * OBJECT_ALIGN;

    return address % pool_bytes == 0 && head->last_offset == pool_bytes - object_bytes &&
           head->used_count <= (pool_bytes - POOL_HEAD) / object_bytes &&
           head->next_offset >= POOL_HEAD && head->next_offset <= pool_bytes &&
           (!head->free_block || head->free_block - address < pool_bytes);
}

struct python_pool python_pool_at(struct process_memory *memory, uint64_t address, uint64_t end)
{
    struct python_pool pool = {0};
    struct pool_head head;
    const void *at = memory_at(memory, address, sizeof(head));

    if (!at)
        return pool;
    memcpy(&head, at, sizeof(head));
    if (head.size_class >= OBJECT_CLASSES)
        return pool;
    if (is_pool(&head, address, POOL_BYTES) && end - address >= POOL_BYTES)
        pool.size_bytes = POOL_BYTES;
    else if (is_pool(&head, address, POOL_OLD_BYTES) && end - address >= POOL_OLD_BYTES)
        pool.size_bytes = POOL_OLD_BYTES;
    else
        return pool;
    pool.object_count = head.used_count;
    pool.used_bytes = head.used_count * (uint64_t)(head.size_class + 1) * OBJECT_ALIGN;
    pool.own_bytes = POOL_HEAD;
    return pool;
}
