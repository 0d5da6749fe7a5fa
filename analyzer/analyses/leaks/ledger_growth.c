/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Does a ledger as a whole grow from step to step? By the same rules as a site.
 */
#include "ledger_growth.h"

#include "labels.h"

static void add_row(const struct question *question, struct report *report,
                    struct report_table *table, const struct judged *row)
{
    const struct step_judgement *judgement = &row->judgement;
    bool is_measured = judgement->verdict == VERDICT_LEAK || judgement->verdict == VERDICT_UNSURE;
    const struct field fields[] = {
        {"ledger", "ledger",
         value_text(label_ledger(question, report_arena(report), row->origin->ledger))},
        {"verdict", "verdict",
         value_word(judgement->verdict == VERDICT_LEAK ? "grows"
                                                       : step_verdict_name(judgement->verdict))},
        {"growth_bytes_per_step", "per step",
         is_measured ? value_bytes(judgement->growth_per_step) : value_none()},
        {"growth_low_bytes_per_step", "at least",
         is_measured ? value_bytes(judgement->growth_low) : value_none()},
        {"growth_high_bytes_per_step", "at most",
         is_measured ? value_bytes(judgement->growth_high) : value_none()},
        {"alive_bytes", "alive", value_bytes(row->alive.bytes)},
        {"grown_bytes", "grown", value_bytes(row->grown_bytes)},
        {"alive_bytes_by_step", "alive at step ends",
         value_series(report_series(report, VALUE_BYTES, row->alive_bytes, row->steps.count))},
    };

    report_row(report, table, fields, sizeof(fields) / sizeof(fields[0]));
}

static void add_table(const struct question *question, struct report *report,
                      const struct judged_list *list)
{
    struct report_table *table =
        report_table(report, "ledger_growth", "Ledgers from step to step", NULL);
    size_t shown = rows_shown(question, list->count);

    for (size_t i = 0; i < shown; i++)
        add_row(question, report, table, &list->rows[i]);
    if (shown < list->count)
        report_table_remark(report, table, "... and %zu more.", list->count - shown);
}

void ledger_growth_add(const struct question *question, struct report *report,
                       const struct verdict *verdict)
{
    if (verdict->ledgers->rows)
        add_table(question, report, verdict->ledgers);
}
