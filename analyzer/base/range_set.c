/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Stretches of addresses.
 */
#include "range_set.h"

#include <stdlib.h>
#include <string.h>

#include "leaktide/invariant.h"
#include "list.h"

enum { checked_most = 64 };

void range_set_init(struct range_set *set)
{
    memset(set, 0, sizeof(*set));
}

void range_set_release(struct range_set *set)
{
    free(set->rows);
    range_set_init(set);
}

void range_set_check(const struct range_set *set)
{
    uint64_t size_bytes = 0;

    MT_ASSERT(set->count <= set->capacity);
    for (size_t i = 0; i < set->count; i++) {
        MT_ASSERT(set->rows[i].from < set->rows[i].to);
        MT_ASSERT(!i || set->rows[i - 1].to <= set->rows[i].from);
        size_bytes += set->rows[i].to - set->rows[i].from;
    }
    MT_ASSERT(size_bytes == set->size_bytes);
}

size_t range_set_find(const struct range_set *set, uint64_t address)
{
    size_t low = 0, high = set->count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (set->rows[middle].to <= address)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static bool insert(struct range_set *set, size_t at, struct range range)
{
    if (!list_has_room(&set->rows, &set->capacity, set->count, sizeof(*set->rows)))
        return false;
    memmove(set->rows + at + 1, set->rows + at, (set->count - at) * sizeof(*set->rows));
    set->rows[at] = range;
    set->count++;
    set->size_bytes += range.to - range.from;
    return true;
}

static void take_out(struct range_set *set, size_t at)
{
    set->size_bytes -= set->rows[at].to - set->rows[at].from;
    memmove(set->rows + at, set->rows + at + 1, (--set->count - at) * sizeof(*set->rows));
}

bool range_set_remove(struct range_set *set, struct range range)
{
    size_t at = range_set_find(set, range.from);

    while (range.from < range.to && at < set->count && set->rows[at].from < range.to) {
        struct range old = set->rows[at];

        take_out(set, at);
        if (old.from < range.from && !insert(set, at++, (struct range){old.from, range.from}))
            return false;
        if (old.to > range.to && !insert(set, at++, (struct range){range.to, old.to}))
            return false;
    }
    return true;
}

bool range_set_add(struct range_set *set, struct range range)
{
    if (MT_ASSERTS && set->count <= checked_most)
        range_set_check(set);
    if (range.from >= range.to)
        return true;
    return range_set_remove(set, range) && insert(set, range_set_find(set, range.from), range);
}
