/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rows in one piece of memory: twice as many when it is full.
 */
#include "list.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { first_rows = 64 };

/* Not less memory than there was. */
static bool resize(void *rows, size_t capacity, size_t row_bytes)
{
    void *moved;

    if (capacity > SIZE_MAX / 2 / row_bytes)
        return false;
    memcpy(&moved, rows, sizeof(moved)); /* the pointer, whatever it points to */
    moved = realloc(moved, capacity * row_bytes);
    if (!moved)
        return false;
    memcpy(rows, &moved, sizeof(moved));
    return true;
}

bool list_grow(void *rows, size_t *capacity, size_t row_bytes)
{
    size_t larger = *capacity ? *capacity * 2 : first_rows;

    if (!resize(rows, larger, row_bytes))
        return false;
    *capacity = larger;
    return true;
}

bool list_extend(void *rows, size_t *count, size_t larger, size_t row_bytes)
{
    char *bytes;

    MT_ASSERT(larger >= *count);
    if (!resize(rows, larger, row_bytes))
        return false;
    memcpy(&bytes, rows, sizeof(bytes));
    memset(bytes + *count * row_bytes, 0, (larger - *count) * row_bytes);
    *count = larger;
    return true;
}

bool list_reach_slowly(void *rows, size_t *count, size_t index, size_t row_bytes)
{
    size_t larger = *count ? *count : first_rows;

    while (larger <= index) {
        if (larger > SIZE_MAX / 2)
            return false;
        larger *= 2;
    }
    return list_extend(rows, count, larger, row_bytes);
}
