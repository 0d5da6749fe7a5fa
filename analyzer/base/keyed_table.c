/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A table and its index.
 */
#include "keyed_table.h"

#include "leaktide/invariant.h"

void keyed_table_init(struct keyed_table *table, struct arena *arena, size_t row_bytes)
{
    MT_ASSERT(row_bytes >= sizeof(uint64_t));
    table_init(&table->rows, arena, row_bytes);
    hash_index_init(&table->index);
}

void keyed_table_release(struct keyed_table *table)
{
    hash_index_release(&table->index);
}

void *keyed_table_add(struct keyed_table *table, uint64_t key)
{
    uint64_t *row = hash_index_add_row(&table->index, hash_u64(key), &table->rows);

    if (row)
        *row = key;
    return row;
}
