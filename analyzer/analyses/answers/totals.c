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
    static const struct report_column columns[] = {
        {"time_ns", "at"},
        {"request_bytes", "asked for"},
        {"live_bytes", "alive then"},
        {"status", "status"},
        {"site", "site"},
        {"ledger", "ledger"},
    };
    struct report_table *table = report_table(report, "failed", "Requests that failed", NULL,
                                              columns, sizeof(columns) / sizeof(columns[0]));
    size_t count = tally_failure_count(question->tally);
    size_t shown = rows_shown(question, count);

    for (size_t i = 0; i < shown; i++) {
        const struct failure *row = tally_failure_at(question->tally, i);
        const struct who who = {.site = row->site};
        const struct value values[] = {
            value_time(row->time_ns),
            value_bytes(row->size_bytes),
            value_bytes(row->live_bytes),
            value_change(VALUE_COUNT_CHANGE, (int64_t)row->status),
            value_text(label_who(question, report, who)),
            value_text(label_ledger(question, report, row->ledger)),
        };

        report_row(report, table, values);
    }
    if (shown < count)
        report_table_remark(report, table, "... and %zu more.", count - shown);
}

void analyse_totals(const struct question *question, struct report *report)
{
    static const struct report_column columns[] = {
        {"ledger", "ledger"},
        {"alive_bytes", "alive at end"},
        {"alive_count", "blocks"},
        {"peak_bytes", "peak"},
        {"allocated_bytes", "allocated in all"},
        {"allocated_count", "allocs"},
        {"reserved_bytes", "reserved"},
        {"reserved_peak_bytes", "reserved peak"},
        {"failed_count", "failed"},
    };
    struct report_table *table =
        report_table(report, "totals", "Totals by ledger", "Nothing was allocated.", columns,
                     sizeof(columns) / sizeof(columns[0]));
    size_t count;
    uint16_t *order = ledger_order(question->tally, &count);

    size_t shown = order ? rows_shown(question, count) : 0;

    for (size_t i = 0; i < shown; i++) {
        const struct ledger *ledger = tally_ledger_at(question->tally, order[i]);
        const struct value values[] = {
            value_text(label_ledger(question, report, order[i])),
            value_bytes(ledger->live_bytes),
            value_count(ledger->live_count),
            value_bytes(ledger->peak_bytes),
            value_bytes(ledger->alloc_bytes),
            value_count(ledger->alloc_count),
            ledger->has_reserved ? value_bytes(ledger->reserved_bytes) : value_none(),
            ledger->has_reserved ? value_bytes(ledger->reserved_peak_bytes) : value_none(),
            value_count(ledger->failed_count),
        };

        report_row(report, table, values);
    }
    if (shown < count)
        report_table_remark(report, table, "... and %zu more ledgers.", count - shown);
    free(order);
    analyse_failures(question, report);
}
