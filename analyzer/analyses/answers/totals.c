/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The totals of each ledger.
 */
#include <stdlib.h>

#include "labels.h"
#include "ledger_order.h"
#include "plain_analyses.h"

void analyse_failures(const struct question *question, struct report *report)
{
    struct arena *texts = report_arena(report);
    struct report_table *table = report_table(report, "failed", "Calls that were refused", NULL);
    size_t count = tally_failure_count(question->tally);
    size_t shown = rows_shown(question, count);

    for (size_t i = 0; i < shown; i++) {
        const struct failure *row = tally_failure_at(question->tally, i);
        const struct who who = {.site = row->site};
        const struct field fields[] = {
            {"time_ns", "at", value_time(row->time_ns)},
            {"request_bytes", "asked for", value_bytes(row->size_bytes)},
            {"live_bytes", "alive then", value_bytes(row->live_bytes)},
            {"status", "status", value_change(VALUE_COUNT_CHANGE, (int64_t)row->status)},
            {"site", "site", value_who(question, texts, who)},
            {"ledger", "ledger", value_text(label_ledger(question, texts, row->ledger))},
        };

        report_row(report, table, fields, sizeof(fields) / sizeof(fields[0]));
    }
    if (shown < count)
        report_table_remark(report, table, "... and %zu more.", count - shown);
}

void analyse_totals(const struct question *question, struct report *report)
{
    struct report_table *table =
        report_table(report, "totals", "Totals by ledger", "Nothing was allocated.");
    size_t count;
    uint16_t *order = ledger_order(question->tally, &count);

    size_t shown = order ? ledgers_shown(question, order, count) : 0;

    for (size_t i = 0; i < shown; i++) {
        const struct ledger *ledger = tally_ledger_at(question->tally, order[i]);
        const struct field fields[] = {
            {"ledger", "ledger",
             value_text(label_ledger(question, report_arena(report), order[i]))},
            {"alive_bytes", "alive at end", value_bytes(ledger->live_bytes)},
            {"alive_count", "blocks", value_count(ledger->live_count)},
            {"peak_bytes", "peak", value_bytes(ledger->peak_bytes)},
            {"allocated_bytes", "allocated in all", value_bytes(ledger->alloc_bytes)},
            {"allocated_count", "allocs", value_count(ledger->alloc_count)},
            {"reserved_bytes", "reserved",
             ledger->has_reserved ? value_bytes(ledger->reserved_bytes) : value_none()},
            {"reserved_peak_bytes", "reserved peak",
             ledger->has_reserved ? value_bytes(ledger->reserved_peak_bytes) : value_none()},
            {"failed_count", "failed", value_count(ledger->failed_count)},
        };

        report_row(report, table, fields, sizeof(fields) / sizeof(fields[0]));
    }
    if (shown < count)
        report_table_remark(report, table, "... and %zu more ledgers.", count - shown);
    free(order);
    analyse_failures(question, report);
}
