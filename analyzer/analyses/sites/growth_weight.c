/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What leaks, and weighs too little to be called a leak.
 */
#include "growth_weight.h"

#include "leak_weight.h"

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
static bool is_weighed(const struct tally *tally, const struct judged *row, uint16_t process)
{
    return row->judgement.verdict == VERDICT_LEAK && !row->failed_step &&
           growth_is_heap(tally, row->origin->ledger) &&
           tally_ledger_at(tally, row->origin->ledger)->process == process;
}

void growth_weigh(const struct tally *tally, uint16_t process, struct judged_list *list)
{
    uint64_t bytes = 0;
    size_t count = 0;
    bool is_light;

    for (size_t i = 0; i < list->count; i++) {
        if (!is_weighed(tally, &list->rows[i], process))
            continue;
        bytes += list->rows[i].is_explained ? 0 : list->rows[i].weight_bytes;
        count++;
    }
    is_light = count && leak_is_light(bytes, asked_bytes(tally, process),
                                      leak_process_bytes(tally, process));
    for (size_t i = 0; count && i < list->count; i++) {
        struct judged *row = &list->rows[i];

        if (!is_weighed(tally, row, process) ||
            (!is_light && !leak_is_beside(row->weight_bytes, bytes)))
            continue;
        row->judgement.verdict = VERDICT_LIGHT;
        list->verdict_counts[VERDICT_LEAK]--;
        list->verdict_counts[VERDICT_LIGHT]++;
    }
}
