/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which ledgers come first.
 */
#define _GNU_SOURCE /* qsort_r */
#include "ledger_order.h"

#include <stdlib.h>

/* Views and address space are no memory of their own, whatever their size. */
static int rank_of(const struct ledger *ledger)
{
    if (ledger->kind == LEDGER_MEMORY)
        return ledger->device >= 0 ? 0 : 1;
    return ledger->kind == LEDGER_HOST ? 1 : 2;
}

static int ledger_compare(const void *left, const void *right, void *context)
{
    uint16_t index_a = *(const uint16_t *)left, index_b = *(const uint16_t *)right;
    const struct ledger *a = tally_ledger_at(context, index_a);
    const struct ledger *b = tally_ledger_at(context, index_b);

    if (rank_of(a) != rank_of(b))
        return rank_of(a) - rank_of(b);
    if (a->peak_bytes != b->peak_bytes)
        return a->peak_bytes > b->peak_bytes ? -1 : 1;
    return (index_a > index_b) - (index_a < index_b);
}

uint16_t *ledger_order(const struct tally *tally, size_t *count)
{
    size_t total = tally_ledger_count(tally);
    uint16_t *order = malloc((total + 1) * sizeof(*order));

    *count = 0;
    for (size_t i = 0; order && i < total; i++) {
        const struct ledger *ledger = tally_ledger_at(tally, i);

        if (ledger->alloc_count || ledger->has_reserved || ledger->failed_count)
            order[(*count)++] = (uint16_t)i;
    }
    if (order)
        qsort_r(order, *count, sizeof(*order), ledger_compare, (void *)tally);
    return order;
}

bool ledger_matters(const struct tally *tally, uint16_t first, uint16_t ledger)
{
    uint64_t peak_bytes = tally_ledger_at(tally, ledger)->peak_bytes;

    return peak_bytes && peak_bytes >= tally_ledger_at(tally, first)->peak_bytes / 100;
}
