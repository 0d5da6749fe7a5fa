/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One number on every side: how the current side differs from the bases, and they among
 * themselves.
 */
#ifndef LEAKTIDE_ANALYSES_DIFF_SPREAD_H
#define LEAKTIDE_ANALYSES_DIFF_SPREAD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { DIFF_SIDES_MOST = 64 };

struct spread {
    uint64_t base;  /* the (lower) median of the bases */
    uint64_t noise; /* their largest less their smallest */
    uint64_t current;
    int64_t change; /* current - base; 0 where the current one lies among the bases */
    bool is_changed;
};

/* numbers: the bases, then the current side; 2 to DIFF_SIDES_MOST. */
struct spread spread_of(const uint64_t *numbers, size_t count);

/* Without the sign. */
static inline uint64_t spread_size(struct spread spread)
{
    return spread.change < 0 ? 0 - (uint64_t)spread.change : (uint64_t)spread.change;
}

#endif
