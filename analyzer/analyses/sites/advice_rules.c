/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How rules are asked, and how their advice is said.
 */
#include "advice_rules.h"

#include <stdlib.h>
#include <string.h>

#include "labels.h"
#include "sentence.h"

struct advice *advice_add(struct advices *advices, const struct rule *rule, const char *finding,
                          uint64_t saves_bytes, bool is_at_most)
{
    struct advice *row = &advices->rows[advices->count];

    if (advices->count == ADVICES_MOST)
        return NULL;
    advices->count++;
    *row = (struct advice){.rule = rule->name,
                           .finding = finding,
                           .what_to_do = translated(rule->what_to_do),
                           .saves_bytes = saves_bytes,
                           .is_at_most = is_at_most,
                           .is_tried = rule->is_tried};
    return row;
}

static int by_saving(const void *left, const void *right)
{
    const struct advice *a = left, *b = right;

    if (a->saves_bytes != b->saves_bytes)
        return a->saves_bytes > b->saves_bytes ? -1 : 1;
    return strcmp(a->finding, b->finding);
}

void advices_collect(const struct evidence *evidence, const struct rule *const *tables,
                     struct advices *advices)
{
    advices->count = 0;
    for (; *tables; tables++)
        for (const struct rule *rule = *tables; rule->name; rule++)
            rule->look(rule, evidence, advices);
    if (advices->count)
        qsort(advices->rows, advices->count, sizeof(advices->rows[0]), by_saving);
}

void advices_collect_first(const struct evidence *evidence, const struct rule *table,
                           struct advices *advices)
{
    advices->count = 0;
    for (; table->name && !advices->count; table++)
        table->look(table, evidence, advices);
}

static const char *saving_of(struct report *report, const struct advice *advice)
{
    struct arena *texts = report_arena(report);
    const char *bytes = "", *per_step = "";

    if (advice->saves_bytes)
        bytes = report_text(report, "%s%s", advice->is_at_most ? translated("up to ") : "",
                            label_size(texts, advice->saves_bytes));
    if (advice->saves_bytes_per_step)
        per_step =
            report_text(report, "%s per step", label_size(texts, advice->saves_bytes_per_step));
    if (!*bytes && !*per_step)
        return "";
    return report_text(report, " Saves %s%s%s (%s).", per_step,
                       *per_step && *bytes ? translated(", and of the peak ") : "", bytes,
                       advice->is_tried ? translated("tried on this recording")
                                        : translated("not tried"));
}

const char *advice_end(struct report *report, const struct advice *advice)
{
    return report_text(report, "TRY: %s.%s", advice->what_to_do, saving_of(report, advice));
}

/* Another topic of the same report has the same rule. */
static bool is_found(const struct report *report, const char *sentence)
{
    for (size_t i = 0; i < report_finding_count(report); i++)
        if (strcmp(report_finding_at(report, i)->sentence, sentence) == 0)
            return true;
    return false;
}

static bool is_said(const struct report *report, const char *sentence)
{
    for (size_t i = 0; i < report_verdict_count(report); i++)
        if (strcmp(report_verdict_at(report, i), sentence) == 0)
            return true;
    return false;
}

static void show(struct report *report, const struct advice *advice, int rank, bool is_spoken)
{
    const char *sentence =
        report_text(report, "WHY: %s. %s", advice->finding, advice_end(report, advice));
    const struct field facts[] = {
        {"rule", NULL, value_word(advice->rule)},
        {"saves_bytes", NULL,
         advice->saves_bytes ? value_bytes(advice->saves_bytes) : value_none()},
        {"is_at_most", NULL, value_number(VALUE_FLAG, advice->is_at_most)},
        {"is_tried", NULL, value_number(VALUE_FLAG, advice->is_tried)},
        {"what_to_do", NULL, value_text(advice->what_to_do)},
    };

    if (is_spoken && !is_said(report, sentence))
        report_verdict(report, rank, "%s", sentence);
    if (!is_found(report, sentence))
        report_finding(report, "advice", sentence, facts, sizeof(facts) / sizeof(facts[0]));
}

void advices_show(const struct advices *advices, struct report *report, int rank, size_t spoken)
{
    for (size_t i = 0; i < advices->count; i++)
        show(report, &advices->rows[i], rank, i < spoken);
}
