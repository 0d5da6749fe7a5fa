/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rows in one piece of memory: twice as many when it is full.
 */
#include "list.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { first_rows = 64 };

bool list_grow(void *rows, size_t *capacity, size_t row_bytes)
{
    size_t larger = *capacity ? *capacity * 2 : first_rows;
    void *moved;

    if (larger > SIZE_MAX / 2 / row_bytes)
        return false;
    memcpy(&moved, rows, sizeof(moved)); /* the pointer, whatever it points to */
    moved = realloc(moved, larger * row_bytes);
    if (!moved)
        return false;
    memcpy(rows, &moved, sizeof(moved));
    *capacity = larger;
    return true;
}
