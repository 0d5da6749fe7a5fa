/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Does the resident memory of a process rise over its accounts, and by which parts?
 *
 * The first quarter of the accounts is the start of the program, and not judged. From there on the
 * resident bytes must rise, by the test of trend.h, and still rise in the last third.
 */
#ifndef LEAKTIDE_ANALYSES_RESIDENT_RISE_H
#define LEAKTIDE_ANALYSES_RESIDENT_RISE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "arena.h"
#include "memory_accounts.h"

enum { RESIDENT_PARTS_MOST = ACCOUNT_PART_COUNT + 9 };

/* What the growth of a part means; `is_leak`: somebody may not give back what they could. */
struct resident_cause {
    enum account_part part;
    bool is_leak;
    const char *name, *meaning, *what_to_do; /* not translated */
};

/* How much of a rise is of one part. */
struct resident_part {
    const struct memory_account *base, *newest;
    enum account_part part;
    uint64_t bytes, whole_bytes;
    bool is_rough; /* which part of a heap is not known */
};

/* The account from which on a number of theirs rises; count: it does not, they are too few, or the
 * arena has no memory. */
size_t resident_rise_base(struct arena *arena, const struct memory_account *accounts, size_t count,
                          uint64_t (*number)(const struct memory_account *account));
/* For the function above. */
uint64_t resident_bytes_of(const struct memory_account *account);

/* Of the rise since an account: RESIDENT_PARTS_MOST parts at most, the largest first; how many. */
size_t resident_rise_parts(const struct memory_account *accounts, size_t count, size_t base_index,
                           struct resident_part *parts);

/* NULL: that part is no cause of growth. */
const struct resident_cause *resident_cause_of(const struct resident_part *part);

static inline uint64_t risen_bytes(uint64_t before, uint64_t after)
{
    return after > before ? after - before : 0;
}

#endif
