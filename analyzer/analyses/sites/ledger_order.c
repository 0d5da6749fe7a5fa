/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which ledgers come first.
 */
#define _GNU_SOURCE /* qsort_r */
#include "ledger_order.h"

#include <stdlib.h>

#include "ledger_layers.h"

struct place {
    uint16_t ledger;
    int rank;
    uint64_t own_bytes; /* of its peak, what is outside of the pools above it */
};

/* Views and address space are no memory of their own, whatever their size; helpers come last. */
static int rank_of(const struct tally *tally, const struct ledger *ledger)
{
    if (model_process_at(tally_model(tally), ledger->process)->is_helper)
        return 3;
    if (ledger->kind == LEDGER_MEMORY)
        return ledger->device >= 0 ? 0 : 1;
    return ledger->kind == LEDGER_HOST ? 1 : 2;
}

static int place_compare(const void *left, const void *right, void *context)
{
    const struct place *x = left, *y = right;
    const struct ledger *a = tally_ledger_at(context, x->ledger);
    const struct ledger *b = tally_ledger_at(context, y->ledger);

    if (x->rank != y->rank)
        return x->rank - y->rank;
    if (x->own_bytes != y->own_bytes)
        return x->own_bytes > y->own_bytes ? -1 : 1;
    if (a->peak_bytes != b->peak_bytes)
        return a->peak_bytes > b->peak_bytes ? -1 : 1;
    return (x->ledger > y->ledger) - (x->ledger < y->ledger);
}

uint16_t *ledger_order(const struct tally *tally, size_t *count)
{
    size_t total = tally_ledger_count(tally);
    uint16_t *order = malloc((total + 1) * sizeof(*order));
    struct place *places = malloc((total + 1) * sizeof(*places));

    *count = 0;
    for (size_t i = 0; order && places && i < total; i++) {
        const struct ledger *ledger = tally_ledger_at(tally, i);

        if (ledger->alloc_count || ledger->has_reserved || ledger->failed_count)
            places[(*count)++] = (struct place){(uint16_t)i, rank_of(tally, ledger),
                                                ledger_outside_peak(tally, (uint16_t)i)};
    }
    if (order && places)
        qsort_r(places, *count, sizeof(*places), place_compare, (void *)tally);
    for (size_t i = 0; order && i < *count; i++)
        order[i] = places[i].ledger;
    if (!places) {
        free(order);
        order = NULL;
    }
    free(places);
    return order;
}

/* Addresses of a device, and mappings of its memory, are no memory. */
static bool is_of_addresses(const struct ledger *ledger)
{
    return ledger->device >= 0 && !ledger_is_judged(ledger);
}

bool ledger_matters(const struct tally *tally, uint16_t first, uint16_t ledger)
{
    uint64_t peak_bytes = ledger_outside_peak(tally, ledger);

    return peak_bytes && peak_bytes >= tally_ledger_at(tally, first)->peak_bytes / 100 &&
           (ledger == first || !is_of_addresses(tally_ledger_at(tally, ledger)));
}

bool ledger_is_detailed(const struct tally *tally, uint16_t first, uint16_t ledger)
{
    const struct ledger *row = tally_ledger_at(tally, ledger);

    return (!ledger_is_reserved(row) && (ledger == first || !is_of_addresses(row))) ||
           ledger_matters(tally, first, ledger);
}
