/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds rows of a table by hash.
 */
#include "hash_index.h"

#include <stdlib.h>

#include "huge_pages.h"
#include "leaktide/invariant.h"
#include "table.h"

enum { first_capacity = 64 };

static const size_t capacity_most = (size_t)1 << 32; /* the upper half of a hash has no more */

static void put(struct hash_index *index, uint64_t slot)
{
    size_t position = hash_index_home(index, slot);

    while (index->slots[position])
        position = (position + 1) & (index->capacity - 1);
    index->slots[position] = slot;
}

static bool grow(struct hash_index *index)
{
    struct hash_index larger = {
        .capacity = index->capacity ? index->capacity * 2 : first_capacity,
        .count = index->count,
    };

    larger.slots =
        larger.capacity > capacity_most ? NULL : calloc(larger.capacity, sizeof(*larger.slots));
    if (!larger.slots)
        return false;
    huge_pages_want(larger.slots, larger.capacity * sizeof(*larger.slots));
    huge_pages_fill(larger.slots, larger.capacity * sizeof(*larger.slots));
    for (size_t i = 0; i < index->capacity; i++)
        if (index->slots[i])
            put(&larger, index->slots[i]);
    free(index->slots);
    *index = larger;
    if (MT_ASSERTS)
        hash_index_check(index);
    return true;
}

void hash_index_check(const struct hash_index *index)
{
    size_t filled = 0;

    MT_ASSERT(!(index->capacity & (index->capacity - 1)) || !index->capacity);
    MT_ASSERT(index->count <= index->capacity / 4 * 3);
    MT_ASSERT(index->slots || !index->capacity);
    for (size_t i = 0; i < index->capacity; i++) {
        size_t home = hash_index_home(index, index->slots[i]);

        if (!index->slots[i])
            continue;
        filled++;
        for (; home != i; home = (home + 1) & (index->capacity - 1))
            MT_ASSERT(index->slots[home]); /* a gap would end the search too early */
        MT_ASSERT((uint32_t)index->slots[i]);
    }
    MT_ASSERT(filled == index->count);
}

void hash_index_init(struct hash_index *index)
{
    *index = (struct hash_index){0};
}

void hash_index_release(struct hash_index *index)
{
    free(index->slots);
    hash_index_init(index);
}

static bool has_room(struct hash_index *index)
{
    return index->count < index->capacity / 4 * 3 || grow(index);
}

bool hash_index_add(struct hash_index *index, uint64_t hash, uint32_t row)
{
    MT_ASSERT(row < UINT32_MAX);
    if (!has_room(index))
        return false;
    put(index, (hash >> 32) << 32 | (uint64_t)(row + 1));
    index->count++;
    return true;
}

void *hash_index_add_row(struct hash_index *index, uint64_t hash, struct table *table)
{
    void *row = table->count < UINT32_MAX && has_room(index) ? table_add(table) : NULL;

    if (row)
        hash_index_add(index, hash, (uint32_t)(table->count - 1));
    return row;
}
