/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What leaks, and weighs too little to be called a leak.
 */
#include "growth_weight.h"

#include "overdue.h"
#include "survivor_ground.h"

bool growth_is_heap(const struct tally *tally, uint16_t ledger)
{
    const struct ledger *row = tally_ledger_at(tally, ledger);

    return row->kind == LEDGER_MEMORY && row->device < 0;
}

/* What the steps of the process asked for, in all its ledgers. */
static uint64_t asked_bytes(const struct tally *tally, uint16_t process)
{
    uint64_t bytes = 0;

    for (size_t i = 0; i < tally_step_count(tally); i++) {
        const struct step *step = tally_step_at(tally, i);

        for (size_t r = 0; step->process == process && r < step->row_count; r++)
            bytes += tally_step_row_at(tally, step->first_row + r)->alloc_bytes;
    }
    return bytes;
}

/* What stopped only because there was no memory left is never light. */
static bool is_weighed(const struct judged *row, uint16_t ledger)
{
    return row->judgement.verdict == VERDICT_LEAK && row->origin->ledger == ledger &&
           !row->failed_step;
}

static bool is_light(const struct tally *tally, uint16_t ledger, uint64_t bytes)
{
    const struct ledger *row = tally_ledger_at(tally, ledger);

    return bytes < OVERDUE_WEIGHT_BYTES ||
           is_trifle(bytes, asked_bytes(tally, row->process), row->peak_bytes);
}

void growth_weigh(const struct tally *tally, uint16_t ledger, struct judged_list *list)
{
    uint64_t bytes = 0;
    size_t count = 0;

    if (!growth_is_heap(tally, ledger))
        return;
    for (size_t i = 0; i < list->count; i++) {
        if (!is_weighed(&list->rows[i], ledger))
            continue;
        bytes += list->rows[i].weight_bytes;
        count++;
    }
    if (!count || !is_light(tally, ledger, bytes))
        return;
    for (size_t i = 0; i < list->count; i++)
        if (is_weighed(&list->rows[i], ledger))
            list->rows[i].judgement.verdict = VERDICT_LIGHT;
    list->verdict_counts[VERDICT_LEAK] -= count;
    list->verdict_counts[VERDICT_LIGHT] += count;
}
