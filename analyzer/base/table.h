/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rows that only get more, and never move.
 *
 *   segment 0: rows 0 .. 63     segment 1: 64 .. 191     segment 2: 192 .. 447 ...
 *
 * Each segment is twice the one before, so a row is found with one count of leading zeros, a
 * pointer to a row stays good, and growing copies nothing. Rows live in an arena.
 *
 * One thread adds. Others may meanwhile count, and read the rows that were counted.
 */
#ifndef LEAKTIDE_BASE_TABLE_H
#define LEAKTIDE_BASE_TABLE_H

#include <stddef.h>
#include <stdint.h>

#include "arena.h"
#include "leaktide/invariant.h"

enum { TABLE_FIRST_BITS = 6, TABLE_SEGMENTS = 32 };

struct table {
    struct arena *arena;
    size_t row_bytes;
    size_t count;
    unsigned char *segments[TABLE_SEGMENTS];
};

void table_init(struct table *table, struct arena *arena, size_t row_bytes);

/* A new zeroed row after the last, or NULL when there is no memory. */
void *table_add(struct table *table);

/* For a thread that is not the one that adds. */
static inline size_t table_count(const struct table *table)
{
    return __atomic_load_n(&table->count, __ATOMIC_ACQUIRE);
}

/* index < count. For rows of a size that is known here: no multiplication by a variable. */
static inline void *table_at_sized(const struct table *table, size_t index, size_t row_bytes)
{
    size_t shifted = index + ((size_t)1 << TABLE_FIRST_BITS);
    unsigned bits = 63 - (unsigned)__builtin_clzll(shifted);

    MT_ASSERT(index < table_count(table));
    MT_ASSERT(row_bytes == table->row_bytes);
    return table->segments[bits - TABLE_FIRST_BITS] + (shifted - ((size_t)1 << bits)) * row_bytes;
}

/* index < count */
static inline void *table_at(const struct table *table, size_t index)
{
    return table_at_sized(table, index, table->row_bytes);
}

#endif
