/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rows that are found by a number of theirs, or by the address of something: a table and its index.
 * A row begins with its key, and never moves.
 *
 *     struct place { uint64_t key; ... };
 *
 *     row = keyed_table_find(&places, stack);
 *     if (!row)
 *         row = keyed_table_add(&places, stack);
 */
#ifndef LEAKTIDE_BASE_KEYED_TABLE_H
#define LEAKTIDE_BASE_KEYED_TABLE_H

#include <stddef.h>
#include <stdint.h>

#include "arena.h"
#include "hash.h"
#include "hash_index.h"
#include "table.h"

struct keyed_table {
    struct table rows;
    struct hash_index index;
};

/* row_bytes: at least 8. The rows live in the arena, which outlives the table. */
void keyed_table_init(struct keyed_table *table, struct arena *arena, size_t row_bytes);
void keyed_table_release(struct keyed_table *table);

/* NULL: there is none. */
static inline void *keyed_table_find(const struct keyed_table *table, uint64_t key)
{
    uint64_t hash = hash_u64(key);
    size_t probe = 0;
    uint32_t found;

    while (hash_index_next(&table->index, hash, &probe, &found)) {
        uint64_t *row = table_at(&table->rows, found);

        if (*row == key)
            return row;
    }
    return NULL;
}

/* A new row, zero but for its key, which no other row has. NULL without memory. */
void *keyed_table_add(struct keyed_table *table, uint64_t key);

#endif
