/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rows that only get more, and never move.
 */
#include "table.h"

#include <string.h>

#include "leaktide/invariant.h"

void table_init(struct table *table, struct arena *arena, size_t row_bytes)
{
    MT_ASSERT(arena);
    MT_ASSERT(row_bytes);
    memset(table, 0, sizeof(*table));
    table->arena = arena;
    table->row_bytes = row_bytes;
}

void *table_add(struct table *table)
{
    size_t index = table->count;
    size_t shifted = index + ((size_t)1 << TABLE_FIRST_BITS);
    unsigned bits = 63 - (unsigned)__builtin_clzll(shifted);
    unsigned segment = bits - TABLE_FIRST_BITS;
    volatile unsigned char *row;

    MT_ASSERT(table->row_bytes);
    MT_ASSERT(!index || table->segments[0]);
    if (segment >= TABLE_SEGMENTS)
        return NULL;
    if (!table->segments[segment]) {
        table->segments[segment] = arena_alloc(table->arena, table->row_bytes << bits);
        if (!table->segments[segment])
            return NULL;
    }
    row = table->segments[segment] + (shifted - ((size_t)1 << bits)) * table->row_bytes;
    row[table->row_bytes - 1] = 0; /* huge_pages.h: its page is written first, then read */
    __atomic_store_n(&table->count, index + 1, __ATOMIC_RELEASE);
    return (void *)row;
}
