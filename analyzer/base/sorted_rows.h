/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Looking up rows that are sorted by a number.
 */
#ifndef LEAKTIDE_BASE_SORTED_ROWS_H
#define LEAKTIDE_BASE_SORTED_ROWS_H

#include <stddef.h>
#include <stdint.h>

/*
 * How many rows are at or below a number: the last of them is the one before the answer. Rows are
 * sorted by their first member, a uint64_t.
 */
static inline size_t rows_up_to(const void *rows, size_t count, size_t row_bytes, uint64_t number)
{
    size_t low = 0, high = count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;
        const uint64_t *first = (const void *)((const char *)rows + middle * row_bytes);

        if (*first <= number)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

#endif
