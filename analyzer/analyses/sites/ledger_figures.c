/* SPDX-License-Identifier: Apache-2.0 */
#include "ledger_figures.h"

#include <string.h>
#include <strings.h>

/* "PTA allocated" is the count of the pool whose title is PTA. */
static bool is_count_of(const char *counter, const char *title)
{
    size_t length = strlen(title);

    return length && strncasecmp(counter, title, length) == 0 &&
           strcmp(counter + length, " allocated") == 0;
}

/* "PTA allocated" for the ledger of pool pta, of its process and device; NULL: there is none. */
static const struct sample_row *counter_of(const struct question *question,
                                           const struct ledger *wanted)
{
    const struct tally *tally = question->tally;
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

struct ledger_figures ledger_figures_of(const struct question *question, uint16_t ledger)
{
    const struct ledger *blocks = tally_ledger_at(question->tally, ledger);
    const struct sample_row *counter = counter_of(question, blocks);
    struct ledger_figures figures = {
        .peak_bytes = blocks->peak_bytes,
        .peak_ns = blocks->peak_time_ns,
        .seen_peak_bytes = blocks->peak_bytes,
        .end_bytes =
            counter ? counter->last_bytes : blocks->live_bytes + blocks->older_beside_left_bytes,
        .has_counter = counter != NULL,
        .has_reserved = blocks->has_reserved && blocks->reserved_peak_bytes &&
                        ledger_reserved_is_possible(blocks),
        .reserved_peak_bytes = blocks->reserved_peak_bytes,
    };

    if (counter && counter->high_bytes > blocks->peak_bytes) {
        figures.peak_bytes = counter->high_bytes;
        figures.peak_ns = counter->high_ns;
        figures.is_counted = true;
    }
    if (blocks->reserved_peak_bytes > blocks->reserved_peak_used_bytes)
        figures.unused_bytes = blocks->reserved_peak_bytes - blocks->reserved_peak_used_bytes;
    figures.unseen_peak_bytes = figures.peak_bytes - figures.seen_peak_bytes;
    if (figures.end_bytes > blocks->live_bytes)
        figures.unseen_end_bytes = figures.end_bytes - blocks->live_bytes;
    figures.held_bytes = figures.peak_bytes > figures.reserved_peak_bytes
                             ? figures.peak_bytes
                             : figures.reserved_peak_bytes;
    return figures;
}
