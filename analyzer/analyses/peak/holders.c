/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Who of a ledger held something, largest first.
 */
#include "holders.h"

#include <stdlib.h>

static int holder_compare(const void *left, const void *right)
{
    const struct holder *a = left, *b = right;

    if (a->held.bytes != b->held.bytes)
        return a->held.bytes > b->held.bytes ? -1 : 1;
    if (a->held.count != b->held.count)
        return a->held.count > b->held.count ? -1 : 1;
    return a->origin < b->origin ? -1 : a->origin > b->origin;
}

size_t holders_of(const struct origins *origins, uint16_t ledger, holder_sum sum,
                  const void *context, struct holder *rows)
{
    size_t count = 0;

    for (size_t i = 0; i < origins->count; i++) {
        const struct origin *origin = &origins->rows[i];

        if (origin->ledger != ledger)
            continue;
        rows[count] = (struct holder){origin, sum(context, origin)};
        count += rows[count].held.count > 0;
    }
    qsort(rows, count, sizeof(*rows), holder_compare);
    return count;
}
