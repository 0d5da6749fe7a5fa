/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Steps of the ledgers of a process. Of very many, so many are one row that rows stay few; rows end
 * with the same steps in all processes, whatever they did before and however long they ran.
 */
#include "growth.h"
#include "rank_gather_parts.h"

enum { rows_most = 512, ledgers_most = 4 };

/* What the ledger held when the step ended; NULL: it did not, or the ledger was not there yet. */
static const struct step_row *end_row(const struct tally *tally, uint16_t ledger, uint32_t index)
{
    const struct step *step = tally_step_of(tally, tally_ledger_at(tally, ledger)->process, index);

    return step ? tally_step_row_of(tally, step, ledger) : NULL;
}

uint64_t gathered_growth(const struct question *question, uint16_t ledger)
{
    const struct tally *tally = question->tally;
    uint16_t process = tally_ledger_at(tally, ledger)->process;
    uint32_t step_count = tally_process_at(tally, process).step_count;
    const struct step_row *first = NULL, *last = NULL;
    uint32_t first_index = 0, last_index = 0;

    for (uint32_t index = growth_steps_of(question, process).warm_up + 1; index <= step_count;
         index++) {
        const struct step_row *row = end_row(tally, ledger, index);

        if (!row)
            continue;
        first_index = first ? first_index : index;
        first = first ? first : row;
        last = row;
        last_index = index;
    }
    return last_index > first_index && last->end_bytes > first->end_bytes
               ? (last->end_bytes - first->end_bytes) / (last_index - first_index)
               : 0;
}

/* Steps that are one row. */
struct stretch_of_steps {
    uint64_t count, peak_bytes, duration_ns;
};

static void put_stretch(struct gathering *gathering, uint16_t ledger, const struct step *step,
                        const struct step_row *row, const struct stretch_of_steps *stretch)
{
    struct summary *summary = gathering->summary;
    size_t added = gathered_row(
        gathering, SUMMARY_steps,
        (struct gathered_columns){COLUMN_steps_process_key, COLUMN_steps_pool, COLUMN_steps_device},
        ledger);

    summary_put(summary, COLUMN_steps_step, added, step->number);
    summary_put(summary, COLUMN_steps_step_count, added, stretch->count);
    summary_put(summary, COLUMN_steps_end_bytes, added, row->end_bytes);
    summary_put(summary, COLUMN_steps_peak_bytes, added, stretch->peak_bytes);
    summary_put(summary, COLUMN_steps_duration_ns, added, stretch->duration_ns);
}

static void gather_ledger_steps(struct gathering *gathering, uint16_t ledger, uint32_t ended,
                                uint64_t stride)
{
    const struct tally *tally = gathering->question->tally;
    struct stretch_of_steps stretch = {0};

    for (uint32_t index = 1; index <= ended; index++) {
        const struct step *step =
            tally_step_of(tally, tally_ledger_at(tally, ledger)->process, index);
        const struct step_row *row = end_row(tally, ledger, index);

        if (!row)
            continue;
        stretch.count++;
        stretch.duration_ns += step->end_ns > step->begin_ns ? step->end_ns - step->begin_ns : 0;
        if (row->peak_bytes > stretch.peak_bytes)
            stretch.peak_bytes = row->peak_bytes;
        if (step->number % stride && index != ended)
            continue;
        put_stretch(gathering, ledger, step, row, &stretch);
        stretch = (struct stretch_of_steps){0};
    }
}

/* Pools before what is mapped and viewed, the largest first. */
static bool is_before(const struct ledger *a, const struct ledger *b)
{
    if ((a->kind == LEDGER_MEMORY) != (b->kind == LEDGER_MEMORY))
        return a->kind == LEDGER_MEMORY;
    return a->peak_bytes > b->peak_bytes;
}

void gather_steps(struct gathering *gathering, uint16_t process)
{
    const struct tally *tally = gathering->question->tally;
    uint32_t ended = tally_process_at(tally, process).step_count;
    uint64_t stride = 1;
    uint16_t chosen[ledgers_most];
    size_t count = 0;

    while (ended / stride > rows_most)
        stride *= 2;
    for (size_t i = 0; i < tally_ledger_count(tally); i++) {
        const struct ledger *ledger = tally_ledger_at(tally, i);
        size_t place = count;

        if (ledger->process != process)
            continue;
        while (place && is_before(ledger, tally_ledger_at(tally, chosen[place - 1])))
            place--;
        if (place == ledgers_most)
            continue;
        count += count < ledgers_most;
        for (size_t j = count - 1; j > place; j--)
            chosen[j] = chosen[j - 1];
        chosen[place] = (uint16_t)i;
    }
    for (size_t i = 0; i < count; i++)
        gather_ledger_steps(gathering, chosen[i], ended, stride);
}
