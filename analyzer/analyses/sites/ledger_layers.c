/* SPDX-License-Identifier: Apache-2.0 */
#include "ledger_layers.h"

#include "leaktide/format.h"
#include "model.h"
#include "thresholds.h"

bool ledger_is_reserved(const struct ledger *ledger)
{
    return ledger->is_reserved;
}

const struct ledger *ledger_below(const struct tally *tally, const struct ledger *ledger)
{
    return ledger->below ? tally_ledger_at(tally, ledger->below - 1U) : NULL;
}

/* A pool cut most of it up. Memory without an address that nobody mapped could not be: it is of a
 * request that failed, and gave it all back. */
static bool is_cut_up(const struct tally *tally, const struct group *group,
                      const struct group_detail *detail)
{
    uint64_t bytes = detail->cut_up_bytes;

    if (model_place_at(tally_model(tally), detail->place).flags & MT_PLACE_HANDLE)
        return bytes >= detail->mapped_bytes - detail->mapped_bytes / MOST_SHARE;
    return bytes && bytes >= group->alloc_bytes - group->alloc_bytes / MOST_SHARE;
}

/* A pool lies in it, and nobody saw where: as in recordings without mappings. The process's own
 * memory has addresses. */
static bool is_opaque(const struct tally *tally, const struct ledger *outer)
{
    if (outer->device < 0 || outer->cut_up_bytes)
        return false;
    for (size_t i = 0; i < tally_ledger_count(tally); i++) {
        const struct ledger *inner = tally_ledger_at(tally, i);

        if (ledger_is_memory(inner) && inner->peak_bytes && !inner->is_placed &&
            ledger_may_lie_in(tally_model(tally), inner, outer))
            return true;
    }
    return false;
}

static bool is_reserved(const struct tally *tally, const struct tally *ledgers, size_t group)
{
    const struct group *row = tally_group_at(tally, group);

    return tally_ledger_at(ledgers, row->ledger)->is_reserved &&
           (is_opaque(tally, tally_ledger_at(tally, row->ledger)) ||
            is_cut_up(tally, row, tally_detail_at(tally, group)));
}

bool group_is_reserved(const struct question *question, size_t group)
{
    return is_reserved(question->tally, question_ledgers(question), group);
}

bool group_is_own(const struct tally *tally, uint32_t group)
{
    return !is_reserved(tally, tally, group);
}

bool ledger_is_judged(const struct ledger *ledger)
{
    return ledger_is_memory(ledger) || ledger->kind == LEDGER_VIEW;
}

bool group_is_judged(const struct tally *tally, uint32_t group)
{
    return ledger_is_judged(tally_ledger_at(tally, tally_group_at(tally, group)->ledger)) &&
           !tally_detail_at(tally, group)->is_older && group_is_own(tally, group);
}

uint64_t ledger_outside_peak(const struct tally *tally, uint16_t ledger)
{
    const struct ledger *row = tally_ledger_at(tally, ledger);
    uint64_t bytes = 0;

    if (!row->is_reserved)
        return row->peak_bytes;
    for (size_t i = 1; i < tally_group_count(tally); i++)
        if (tally_group_at(tally, i)->ledger == ledger && !is_reserved(tally, tally, i))
            bytes += group_at_peak(tally, i).bytes;
    return bytes;
}

bool ledger_is_of_device(const struct tally *tally, const struct ledger *ledger)
{
    return ledger->device >= 0 && ledger->kind == LEDGER_MEMORY && ledger->peak_bytes &&
           pool_is_of_device(model_pool_at(tally_model(tally), ledger->pool)) &&
           !ledger_below(tally, ledger);
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
