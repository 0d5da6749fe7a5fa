/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sums and peaks of a process begin anew: what comes before is read only to know who is alive.
 */
#include <string.h>

#include "tally_state.h"

static void ledger_begin(const struct tally *tally, struct ledger *ledger,
                         const struct event *event)
{
    ledger->peak_bytes = ledger->step_peak_bytes = ledger->live_bytes;
    ledger->phase_peak_bytes = ledger->live_bytes;
    memset(ledger->phase_peaks_bytes, 0, sizeof(ledger->phase_peaks_bytes));
    ledger->peak_epoch++;
    ledger->peak_time_ns = event->time_ns;
    ledger->peak_number = tally->number;
    ledger->peak_group = ledger->peak_phase = ledger->peak_step = 0;
    ledger->alloc_count = ledger->alloc_bytes = 0;
    ledger->era_alloc_count = ledger->era_alloc_bytes = 0;
    ledger->reserved_peak_bytes = ledger->reserved_bytes;
    ledger->reserved_peak_time_ns = event->time_ns;
    ledger->reserved_peak_used_bytes = 0;
    ledger->failed_count = 0;
}

static void groups_begin(struct tally *tally, uint16_t process)
{
    for (size_t i = 1; i < tally->group_count; i++) {
        const struct group_detail *detail = table_at(&tally->details, i);

        if (detail->process == process)
            tally->groups[i].alloc_bytes = tally->groups[i].alloc_count = 0;
    }
    for (size_t i = 0; i < tally->touched_count; i++)
        tally->touched[i].alloc_bytes = tally->touched[i].alloc_count = 0;
}

static void usage_begin(struct usage *usage, const struct event *event)
{
    usage->peak_bytes = usage->live_bytes;
    usage->peak_time_ns = event->time_ns;
    usage->alloc_bytes = usage->alloc_count = 0;
}

static void sample_begin(struct sample_row *row, const struct event *event)
{
    row->first_bytes = row->low_bytes = row->high_bytes = row->last_bytes;
    row->first_ns = row->high_ns = event->time_ns;
}

void tally_window_begin(struct tally *tally, const struct event *event)
{
    for (size_t i = tally->process_first_ledger; i < tally->ledger_count; i++)
        ledger_begin(tally, &tally->ledgers[i], event);
    if (tally->adds_up)
        groups_begin(tally, event->process);
    for (size_t i = 0; i < tally->usages.count; i++) {
        struct usage *usage = table_at(&tally->usages, i);

        if (tally->ledgers[usage->ledger].process == event->process)
            usage_begin(usage, event);
    }
    for (size_t i = 0; i < tally->samples.count; i++) {
        struct sample_row *row = table_at(&tally->samples, i);

        if (row->process == event->process)
            sample_begin(row, event);
    }
}
