/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One number on every side.
 */
#include "diff_spread.h"

#include <stdlib.h>
#include <string.h>

#include "leaktide/invariant.h"

static int number_compare(const void *left, const void *right)
{
    uint64_t a = *(const uint64_t *)left, b = *(const uint64_t *)right;

    return (a > b) - (a < b);
}

struct spread spread_of(const uint64_t *numbers, size_t count)
{
    uint64_t bases[DIFF_SIDES_MOST], current = numbers[count - 1];
    size_t base_count = count - 1;
    struct spread spread = {.current = current};

    MT_ASSERT(base_count && base_count <= DIFF_SIDES_MOST);
    memcpy(bases, numbers, base_count * sizeof(*bases));
    qsort(bases, base_count, sizeof(*bases), number_compare);
    spread.base = bases[(base_count - 1) / 2];
    spread.noise = bases[base_count - 1] - bases[0];
    spread.is_changed = current < bases[0] || current > bases[base_count - 1];
    if (spread.is_changed)
        spread.change = (int64_t)(current - spread.base);
    return spread;
}
