/* SPDX-License-Identifier: Apache-2.0 */
/* What qsort() asks for, of numbers: less than, equal to or greater than 0, as a is to b. */
#ifndef LEAKTIDE_BASE_COMPARE_H
#define LEAKTIDE_BASE_COMPARE_H

#include <stdint.h>

static inline int compare_numbers(uint64_t a, uint64_t b)
{
    return (a > b) - (a < b);
}

/* For rows that are a uint64_t each. */
static inline int compare_number_rows(const void *left, const void *right)
{
    return compare_numbers(*(const uint64_t *)left, *(const uint64_t *)right);
}

#endif
