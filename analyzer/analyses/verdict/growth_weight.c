/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What leaks, and weighs too little to be called a leak.
 */
#include "growth_weight.h"

#include "leak_weight.h"

bool growth_is_heap(const struct tally *tally, uint16_t ledger)
{
    const struct ledger *row = tally_ledger_at(tally, ledger);

    return ledger_is_heap(row->kind, row->device);
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

static bool is_of_each_step(const struct judged *row)
{
    struct births_seen births = growth_births(row);

    return births.with_survivors == births.stretch_count;
}

void growth_weigh(const struct question *question, uint16_t process, struct judged_list *list)
{
    const struct tally *tally = question->tally;
    bool are_marked = growth_steps_are_marked(question);
    uint64_t bytes = 0, steady_bytes = 0, asked, peak;
    size_t count = 0;
    bool is_light;

    for (size_t i = 0; i < list->count; i++) {
        const struct judged *row = &list->rows[i];

        if (!is_weighed(tally, row, process))
            continue;
        bytes += row->weight_bytes;
        steady_bytes += are_marked && is_of_each_step(row) ? row->weight_bytes : 0;
        count++;
    }
    if (!count)
        return;
    asked = asked_bytes(tally, process);
    peak = leak_process_bytes(tally, process);
    is_light =
        leak_is_light(bytes, asked, peak) && leak_of_each_step_is_light(steady_bytes, asked, peak);
    for (size_t i = 0; i < list->count; i++) {
        struct judged *row = &list->rows[i];

        if (!is_weighed(tally, row, process) ||
            (!is_light && !leak_is_beside(row->weight_bytes, bytes)))
            continue;
        row->judgement.verdict = VERDICT_LIGHT;
        list->verdict_counts[VERDICT_LEAK]--;
        list->verdict_counts[VERDICT_LIGHT]++;
    }
}
