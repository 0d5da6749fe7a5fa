/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Does a ledger as a whole grow from step to step? By the same rules as a site.
 *
 * A leak may be spread so thin over sites that none of them can be judged: each step a new one, as
 * with generated code. Then only its ledger shows it.
 */
#include "ledger_growth.h"

#include "labels.h"
#include "leak_finding.h"
#include "leak_words.h"
#include "thresholds.h"

/* The same site may leak in several ledgers; a ledger with a site that leaks is explained. */
static bool has_leaking_site(const struct judged_list *sites, uint16_t ledger)
{
    for (size_t i = 0; i < sites->verdict_counts[VERDICT_LEAK]; i++)
        if (sites->rows[i].origin->ledger == ledger)
            return true;
    return false;
}

/*
 * Survivors of many steps, most of them of at least ten sites that each left some in one or two
 * steps. A handful of buffers made at need, at a handful of sites, is no leak.
 */
static bool is_spread_leak(const struct judged_list *sites, const struct judged *ledger)
{
    size_t count = 0;
    uint64_t bytes = 0;

    if (ledger->judgement.trend.rise_chance >= CHANCE_MAX ||
        has_leaking_site(sites, ledger->origin->ledger))
        return false;
    for (size_t i = 0; i < sites->count; i++) {
        const struct judged *site = &sites->rows[i];

        if (site->origin->ledger != ledger->origin->ledger ||
            site->judgement.birth_count > SPREAD_BIRTHS_MAX)
            continue;
        count++;
        bytes += site->judgement.overdue_bytes;
    }
    return count >= SPREAD_SITES_MIN && bytes >= ledger->judgement.overdue_bytes / MOST_SHARE;
}

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
                       const struct judged_list *sites)
{
    struct judged_list ledgers;

    if (growth_judge_ledgers(question, &ledgers)) {
        for (size_t i = 0; i < ledgers.verdict_counts[VERDICT_LEAK]; i++) {
            const struct judged *row = &ledgers.rows[i];

            if (!is_spread_leak(sites, row))
                continue;
            report_verdict(report, RANK_LEAKS, "LEAK: %s; no single site makes it.",
                           leak_sentence(question, report_arena(report), &ledgers, row));
            report_outcome(report, REPORT_FOUND);
            leak_finding(question, report, &ledgers, row);
        }
        add_table(question, report, &ledgers);
    }
    growth_release(&ledgers);
}
