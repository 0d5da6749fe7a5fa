/* SPDX-License-Identifier: Apache-2.0 */
/*
 * leaktide advice: all rules that do not belong to one finding, with all their evidence.
 */
#include "advice_analyses.h"
#include "advice_rules.h"
#include "fragments.h"
#include "lives.h"
#include "peak_rules.h"
#include "peak_trial.h"
#include "pool_rules.h"
#include "sentence.h"
#include "what_if.h"

enum { spoken_most = 3, spoken_in_short = 1 };

static void add_table(struct report *report, const struct advices *advices)
{
    struct report_table *table = report_table(report, "advice", "What to do", NULL);

    for (size_t i = 0; i < advices->count; i++) {
        const struct advice *advice = &advices->rows[i];

        const struct field fields[] = {
            {"rule", "rule", value_word(advice->rule)},
            {"saves_bytes", "saves",
             advice->saves_bytes ? value_bytes(advice->saves_bytes) : value_none()},
            {"is_at_most", "at most", value_number(VALUE_FLAG, advice->is_at_most)},
            {"is_tried", "tried", value_number(VALUE_FLAG, advice->is_tried)},
            {"finding", "seen", value_text(advice->finding)},
            {"what_to_do", "what to do", value_text(advice->what_to_do)},
        };

        report_row(report, table, fields, sizeof(fields) / sizeof(fields[0]));
    }
}

/* is_asked: for advice, so that none is an answer too. */
static void apply_rules(const struct evidence *evidence, size_t spoken, bool is_asked)
{
    static const struct rule *const tables[] = {peak_rules,          pool_rules,   workspace_rules,
                                                communication_rules, driver_rules, NULL};
    struct advices advices;

    advices_collect(evidence, tables, &advices);
    advices_show(&advices, evidence->report, RANK_STEPS, spoken);
    add_table(evidence->report, &advices);
    if (is_asked && !advices.count)
        report_verdict(evidence->report, RANK_STEPS,
                       "No advice: nothing in this recording calls for it.");
}

/* Both see the same reading. */
static enum mt_result read_pools_and_sites(const struct question *question,
                                           struct fragments *fragments, struct trials *trials,
                                           struct mt_error *error)
{
    struct life_visitor visitor = {0};
    enum mt_result result = trials_begin(trials, question, &visitor, error);

    if (result == MT_OK)
        result = fragments_read(question, &visitor, fragments, error);
    return result == MT_OK ? trials_finish(trials, error) : result;
}

/* Without this evidence, the other rules still speak. */
static bool has_evidence(struct report *report, enum mt_result result, const char *on,
                         const struct mt_error *error)
{
    if (result != MT_OK)
        report_note(report, 0, report_text(report, "advice on %s: %s", on, error->message));
    return result == MT_OK;
}

void analyse_advice(const struct question *question, struct report *report)
{
    struct evidence evidence = {.question = question, .report = report};
    struct fragments fragments = {.count = 0};
    struct what_ifs what_ifs;
    struct trials trials;
    struct mt_error error;

    if (has_evidence(report, read_pools_and_sites(question, &fragments, &trials, &error),
                     translated("pools and sites"), &error)) {
        evidence.fragments = &fragments;
        evidence.trials = &trials;
    }
    if (has_evidence(report, what_ifs_read(question, NULL, &what_ifs, &error), "settings", &error))
        evidence.what_ifs = &what_ifs;
    apply_rules(&evidence, spoken_most, true);
    fragments_release(&fragments);
    trials_release(&trials);
}

/* What the sums tell, and what other settings of an allocator with a model would save: of all
 * advice it is tried, and saves most. A page with pictures has it among its pools. */
void analyse_advice_in_short(const struct question *question, struct report *report)
{
    struct evidence evidence = {.question = question, .report = report};
    struct what_ifs what_ifs;
    struct mt_error error;

    if (!question->is_for_pictures &&
        has_evidence(report, what_ifs_read(question, NULL, &what_ifs, &error), "settings", &error))
        evidence.what_ifs = &what_ifs;
    apply_rules(&evidence, spoken_in_short, false);
}
