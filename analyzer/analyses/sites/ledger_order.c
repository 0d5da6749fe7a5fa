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
    uint64_t own_bytes; /* of its peak, what no ledger above it explains */
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

/* What other ledgers took from it directly is theirs to explain; of one that does not say what it
 * reserves, all, if it uses a good part: the rest lies unused in its segments. */
static uint64_t own_bytes(const struct tally *tally, const struct ledger *outer)
{
    uint64_t taken_bytes = 0;

    for (size_t i = 0; i < tally_ledger_count(tally); i++) {
        const struct ledger *inner = tally_ledger_at(tally, i);

        if (inner->kind != outer->kind || !ledger_lies_directly_in(tally, inner, outer))
            continue;
        if (!inner->has_reserved && inner->peak_bytes >= outer->peak_bytes / LEDGER_EXPLAINED_SHARE)
            return 0;
        taken_bytes += inner->has_reserved ? inner->reserved_peak_bytes : inner->peak_bytes;
    }
    return outer->peak_bytes > taken_bytes ? outer->peak_bytes - taken_bytes : 0;
}

/* Whether memory is mapped part by part: there are addresses for at least one. */
static bool has_addresses(const struct tally *tally, uint16_t process, uint64_t size_bytes)
{
    for (size_t i = 0; i < tally_ledger_count(tally); i++) {
        const struct ledger *ledger = tally_ledger_at(tally, i);

        if (ledger->process == process && ledger->kind == LEDGER_VIRTUAL &&
            ledger->peak_bytes >= size_bytes)
            return true;
    }
    return false;
}

static uint64_t least(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

/* Of the peak, at most, what went to parts of the request that was refused, and came back: nobody
 * ever had it. */
static uint64_t came_back_bytes(const struct tally *tally, const struct failure *failure)
{
    uint64_t bytes = 0;

    for (size_t i = 1; i < tally_group_count(tally); i++) {
        const struct group *group = tally_group_at(tally, i);
        uint64_t peak_bytes;

        if (group->ledger != failure->ledger || tally_detail_at(tally, i)->site != failure->site)
            continue;
        peak_bytes = group_at_peak(tally, i).bytes;
        bytes += peak_bytes - least(peak_bytes, group->live_bytes);
    }
    return bytes;
}

static bool was_before(const struct tally *tally, size_t index)
{
    const struct failure *failure = tally_failure_at(tally, index);

    for (size_t i = 0; i < index; i++)
        if (tally_failure_at(tally, i)->site == failure->site &&
            tally_failure_at(tally, i)->ledger == failure->ledger)
            return true;
    return false;
}

/* By the failure that explains most of it. */
static uint64_t refused_bytes(const struct tally *tally, uint16_t ledger)
{
    const struct ledger *row = tally_ledger_at(tally, ledger);
    uint64_t most_bytes = 0;

    for (size_t i = 0; i < tally_failure_count(tally); i++) {
        const struct failure *failure = tally_failure_at(tally, i);
        uint64_t bytes = 0;

        if (failure->ledger == ledger && failure->site && !was_before(tally, i) &&
            has_addresses(tally, row->process, failure->size_bytes))
            bytes = came_back_bytes(tally, failure);
        most_bytes = bytes > most_bytes ? bytes : most_bytes;
    }
    return most_bytes;
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
            places[(*count)++] =
                (struct place){(uint16_t)i, rank_of(tally, ledger), own_bytes(tally, ledger)};
        if (ledger->failed_count)
            places[*count - 1].own_bytes -=
                least(places[*count - 1].own_bytes, refused_bytes(tally, (uint16_t)i));
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

bool ledger_matters(const struct tally *tally, uint16_t first, uint16_t ledger)
{
    uint64_t peak_bytes = tally_ledger_at(tally, ledger)->peak_bytes;

    return peak_bytes && peak_bytes >= tally_ledger_at(tally, first)->peak_bytes / 100;
}
