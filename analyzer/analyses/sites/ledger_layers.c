/* SPDX-License-Identifier: Apache-2.0 */
#include "ledger_layers.h"

#include "model.h"

/* Addresses, views and what others hold are no memory that blocks could lie in. */
static bool is_memory(const struct ledger *ledger)
{
    return ledger->kind == LEDGER_MEMORY || ledger->kind == LEDGER_HOST;
}

bool ledger_lies_in(const struct model *model, const struct ledger *inner,
                    const struct ledger *outer)
{
    return inner->process == outer->process && inner->device == outer->device &&
           inner->peak_bytes && outer->peak_bytes && is_memory(outer) &&
           pool_lies_in(model_pool_at(model, inner->pool), model_pool_at(model, outer->pool));
}

bool ledger_lies_directly_in(const struct tally *tally, const struct ledger *inner,
                             const struct ledger *outer)
{
    const struct model *model = tally_model(tally);

    if (!ledger_lies_in(model, inner, outer))
        return false;
    for (size_t i = 0; i < tally_ledger_count(tally); i++) {
        const struct ledger *between = tally_ledger_at(tally, i);

        if (between->kind == inner->kind && ledger_lies_in(model, inner, between) &&
            ledger_lies_in(model, between, outer))
            return false;
    }
    return true;
}

bool ledger_is_cut_up(const struct tally *tally, const struct ledger *ledger)
{
    for (size_t i = 0; i < tally_ledger_count(tally); i++) {
        const struct ledger *inner = tally_ledger_at(tally, i);

        if (is_memory(inner) && ledger_lies_in(tally_model(tally), inner, ledger))
            return true;
    }
    return false;
}

bool ledger_is_lowest(const struct tally *tally, const struct ledger *ledger)
{
    for (size_t i = 0; i < tally_ledger_count(tally); i++)
        if (ledger_lies_in(tally_model(tally), ledger, tally_ledger_at(tally, i)))
            return false;
    return true;
}

bool ledger_is_of_device(const struct tally *tally, const struct ledger *ledger)
{
    return ledger->device >= 0 && ledger->kind == LEDGER_MEMORY && ledger->peak_bytes &&
           pool_is_of_device(model_pool_at(tally_model(tally), ledger->pool)) &&
           ledger_is_lowest(tally, ledger);
}

static bool is_of_heap(const struct tally *tally, const struct ledger *ledger)
{
    const struct pool *pool = model_pool_at(tally_model(tally), ledger->pool);

    return ledger->kind == LEDGER_MEMORY && ledger->device < 0 && pool->role == POOL_ROLE_HOST &&
           pool->lies_in == pool->id;
}

uint16_t ledger_of_heap(const struct tally *tally, uint16_t ledger)
{
    const struct ledger *row = tally_ledger_at(tally, ledger);

    if (!is_of_heap(tally, row))
        return ledger;
    for (uint16_t i = 0; i < ledger; i++) {
        const struct ledger *other = tally_ledger_at(tally, i);

        if (other->process == row->process && is_of_heap(tally, other))
            return i;
    }
    return ledger;
}
