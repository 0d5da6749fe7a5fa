/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds rows of a table by hash. The rows stay where they are; this holds only their numbers.
 *
 *     size_t probe = 0;
 *     uint32_t row;
 *
 *     while (hash_index_next(&index, hash, &probe, &row))
 *         if (row is the one)
 *             return row;
 *     hash_index_add(&index, hash, new_row);
 *
 * Open addressing; a slot is the upper half of the hash and row + 1. At most 3/4 full. A row
 * belongs where the upper half of its hash points to, as a part of the whole: so slots say
 * themselves where they go when there are more, and keep their order.
 */
#ifndef LEAKTIDE_BASE_HASH_INDEX_H
#define LEAKTIDE_BASE_HASH_INDEX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct hash_index {
    uint64_t *slots;
    size_t capacity; /* 0 or a power of two, at most 2^32 */
    size_t count;
};

/* Where the search for a hash begins. capacity is not 0. */
static inline size_t hash_index_home(const struct hash_index *index, uint64_t hash)
{
    return (size_t)((hash >> 32) * index->capacity >> 32);
}

void hash_index_init(struct hash_index *index);
void hash_index_release(struct hash_index *index);

/* A hash that will be asked for soon: time to fetch where the search begins. */
static inline void hash_index_soon(const struct hash_index *index, uint64_t hash)
{
    if (index->capacity)
        __builtin_prefetch(&index->slots[hash_index_home(index, hash)]);
}

/* The next row with (very likely) this hash. *probe starts at 0 and counts the slots looked at. */
static inline bool hash_index_next(const struct hash_index *index, uint64_t hash, size_t *probe,
                                   uint32_t *row)
{
    while (*probe < index->capacity) {
        uint64_t slot =
            index->slots[(hash_index_home(index, hash) + (*probe)++) & (index->capacity - 1)];

        if (!slot)
            return false;
        if (slot >> 32 == hash >> 32) {
            *row = (uint32_t)slot - 1;
            return true;
        }
    }
    return false;
}

/* False when there is no memory; the index is then as before. row < UINT32_MAX. */
bool hash_index_add(struct hash_index *index, uint64_t hash, uint32_t row);

struct table;
/* A new zeroed row after the last of the table, which the index finds. NULL when there is no
 * memory: then both are as before, so that nobody meets a row that was not filled in. */
void *hash_index_add_row(struct hash_index *index, uint64_t hash, struct table *table);

/* Asserts that each row is found where it is looked for. */
void hash_index_check(const struct hash_index *index);

#endif
