/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rows of which the first is always the one that comes first: a binary heap in an array.
 *
 * The owner keeps rows and their count. After it has put a row at index 0 or at the end, one call
 * puts the heap in order again. Everything is inlined, the comparison too, where the size of a row
 * and the function are known to the compiler.
 *
 *     Invariant: no row comes before the one at (index - 1) / 2.
 */
#ifndef LEAKTIDE_BASE_HEAP_H
#define LEAKTIDE_BASE_HEAP_H

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include "leaktide/invariant.h"

enum { HEAP_ROW_BYTES_MOST = 256 };

/* True if the first row is to stand before the second; not of a row and itself. */
typedef bool heap_order(const void *row, const void *other);

/* The row at the index may come later than it did. */
static inline __attribute__((always_inline)) void
heap_sift_down(void *rows, size_t count, size_t row_bytes, size_t index, heap_order *comes_first)
{
    unsigned char *bytes = rows;
    _Alignas(16) unsigned char moving[HEAP_ROW_BYTES_MOST];

    MT_ASSERT(index < count);
    MT_ASSERT(row_bytes <= HEAP_ROW_BYTES_MOST);
    memcpy(moving, bytes + index * row_bytes, row_bytes);
    for (size_t child = 2 * index + 1; child < count; child = 2 * index + 1) {
        if (child + 1 < count &&
            comes_first(bytes + (child + 1) * row_bytes, bytes + child * row_bytes))
            child++;
        if (!comes_first(bytes + child * row_bytes, moving))
            break;
        memcpy(bytes + index * row_bytes, bytes + child * row_bytes, row_bytes);
        index = child;
    }
    memcpy(bytes + index * row_bytes, moving, row_bytes);
}

/* The row at the index is new, or may come earlier than it did. */
static inline __attribute__((always_inline)) void
heap_sift_up(void *rows, size_t row_bytes, size_t index, heap_order *comes_first)
{
    unsigned char *bytes = rows;
    _Alignas(16) unsigned char moving[HEAP_ROW_BYTES_MOST];

    MT_ASSERT(row_bytes <= HEAP_ROW_BYTES_MOST);
    memcpy(moving, bytes + index * row_bytes, row_bytes);
    for (; index && comes_first(moving, bytes + (index - 1) / 2 * row_bytes);
         index = (index - 1) / 2)
        memcpy(bytes + index * row_bytes, bytes + (index - 1) / 2 * row_bytes, row_bytes);
    memcpy(bytes + index * row_bytes, moving, row_bytes);
}

/* Rows in any order become a heap. */
static inline __attribute__((always_inline)) void
heap_make(void *rows, size_t count, size_t row_bytes, heap_order *comes_first)
{
    for (size_t i = count / 2; i-- > 0;)
        heap_sift_down(rows, count, row_bytes, i, comes_first);
}

#endif
