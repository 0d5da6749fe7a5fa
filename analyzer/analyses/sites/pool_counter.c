/* SPDX-License-Identifier: Apache-2.0 */
#include "pool_counter.h"

#include <string.h>
#include <strings.h>

/* "PTA allocated" is the count of the pool whose title is PTA. */
static bool is_count_of(const char *counter, const char *title)
{
    size_t length = strlen(title);

    return length && strncasecmp(counter, title, length) == 0 &&
           strcmp(counter + length, " allocated") == 0;
}

const struct sample_row *pool_counter_of(const struct question *question, uint16_t ledger)
{
    const struct tally *tally = question->tally;
    const struct ledger *wanted = tally_ledger_at(tally, ledger);
    const char *title = model_pool_at(question->model, wanted->pool)->title;

    for (size_t i = 0; wanted->kind == LEDGER_MEMORY && i < tally_sample_count(tally); i++) {
        const struct sample_row *row = tally_sample_at(tally, i);

        if (row->process == wanted->process &&
            model_place_at(question->model, row->place).device == wanted->device &&
            is_count_of(model_text_at(question->model, row->counter), title))
            return row;
    }
    return NULL;
}

struct whole_peak whole_peak_of(const struct question *question, uint16_t ledger)
{
    const struct ledger *blocks = tally_ledger_at(question->tally, ledger);
    const struct sample_row *counter = pool_counter_of(question, ledger);

    if (counter && counter->high_bytes > blocks->peak_bytes)
        return (struct whole_peak){counter->high_bytes, counter->high_ns, true};
    return (struct whole_peak){blocks->peak_bytes, blocks->peak_time_ns, false};
}

uint64_t whole_end_of(const struct question *question, uint16_t ledger)
{
    const struct ledger *blocks = tally_ledger_at(question->tally, ledger);
    const struct sample_row *counter = pool_counter_of(question, ledger);

    return counter ? counter->last_bytes : blocks->live_bytes + blocks->older_beside_left_bytes;
}
