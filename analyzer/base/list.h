/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rows in one piece of memory, which is made larger when it is full.
 *
 * The owner keeps three members (rows, count, capacity), all zero at first, and frees the rows.
 * Rows may move when one is added; table.h is for those that are pointed at.
 *
 *     if (!list_has_room(&set->rows, &set->capacity, set->count, sizeof(*set->rows)))
 *         return false;
 *     set->rows[set->count++] = row;
 */
#ifndef LEAKTIDE_BASE_LIST_H
#define LEAKTIDE_BASE_LIST_H

#include <stdbool.h>
#include <stddef.h>

#include "leaktide/invariant.h"

/* As list_has_room(), when there is none. */
bool list_grow(void *rows, size_t *capacity, size_t row_bytes);

/*
 * rows  address of the pointer to the rows
 *
 * True: rows[count] may be written. False: there is no memory, and all is as it was.
 */
static inline bool list_has_room(void *rows, size_t *capacity, size_t count, size_t row_bytes)
{
    MT_ASSERT(count <= *capacity);
    return count < *capacity || list_grow(rows, capacity, row_bytes);
}

/*
 * The same for rows that are found by number, where `count` is all that there is memory for.
 *
 * True: rows[index] is there, and rows that were not are zero. False: as above.
 */
bool list_reach_slowly(void *rows, size_t *count, size_t index, size_t row_bytes);

static inline bool list_reach(void *rows, size_t *count, size_t index, size_t row_bytes)
{
    return index < *count || list_reach_slowly(rows, count, index, row_bytes);
}

/* The same for as many rows as are said: `larger`, not fewer than there are. */
bool list_extend(void *rows, size_t *count, size_t larger, size_t row_bytes);

#endif
