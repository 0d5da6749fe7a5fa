/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What each operator allocated, and the most it held at once.
 */
#define _GNU_SOURCE /* qsort_r */
#include <stdlib.h>

#include "labels.h"
#include "ledger_layers.h"
#include "plain_analyses.h"

static int usage_compare(const void *left, const void *right, void *context)
{
    uint32_t index_a = *(const uint32_t *)left, index_b = *(const uint32_t *)right;
    const struct usage *a = tally_usage_at(context, index_a);
    const struct usage *b = tally_usage_at(context, index_b);

    if (a->peak_bytes != b->peak_bytes)
        return a->peak_bytes > b->peak_bytes ? -1 : 1;
    if (a->alloc_bytes != b->alloc_bytes)
        return a->alloc_bytes > b->alloc_bytes ? -1 : 1;
    return (index_a > index_b) - (index_a < index_b);
}

static void add_operator(const struct question *question, struct report *report,
                         struct report_table *table, const struct usage *usage)
{
    const struct field fields[] = {
        {"operator", "operator", value_text(model_text_at(question->model, usage->id))},
        {"peak_bytes", "most at once", value_bytes(usage->peak_bytes)},
        {"peak_ns", "at", value_time(usage->peak_time_ns)},
        {"allocated_bytes", "allocated in all", value_bytes(usage->alloc_bytes)},
        {"allocated_count", "allocs", value_count(usage->alloc_count)},
        {"alive_bytes", "alive at end", value_bytes(usage->live_bytes)},
        {"alive_count", "blocks", value_count(usage->live_count)},
        {"ledger", "ledger",
         value_text(label_ledger(question, report_arena(report), usage->ledger))},
    };

    report_row(report, table, fields, sizeof(fields) / sizeof(fields[0]));
}

void analyse_operators(const struct question *question, struct report *report)
{
    struct report_table *table = report_table(report, "operators", "Memory by operator", NULL);
    size_t total = tally_usage_count(question->tally), count = 0, shown;
    uint32_t *order = malloc((total + 1) * sizeof(*order));

    for (size_t i = 0; order && i < total; i++)
        if (tally_usage_at(question->tally, i)->kind == USAGE_OPERATOR)
            order[count++] = (uint32_t)i;
    if (order)
        qsort_r(order, count, sizeof(*order), usage_compare, (void *)question->tally);
    shown = rows_shown(question, count);
    for (size_t i = 0; i < shown; i++)
        add_operator(question, report, table, tally_usage_at(question->tally, order[i]));
    if (shown < count)
        report_table_remark(report, table, "... and %zu more operators.", count - shown);
    free(order);
}

/* Of what a recorded pool cuts up, an operator holds only what happened to need a new segment. */
static bool is_better(const struct tally *tally, const struct usage *usage,
                      const struct usage *best)
{
    bool is_reserved, best_is_reserved;

    if (!best)
        return true;
    is_reserved = ledger_is_reserved(tally_ledger_at(tally, usage->ledger));
    best_is_reserved = ledger_is_reserved(tally_ledger_at(tally, best->ledger));
    return is_reserved == best_is_reserved ? usage->peak_bytes > best->peak_bytes
                                           : best_is_reserved;
}

/* The verdict of `leaktide ops` alone. */
void analyse_operators_verdict(const struct question *question, struct report *report)
{
    struct arena *texts = report_arena(report);
    const struct usage *best = NULL;

    for (size_t i = 0; i < tally_usage_count(question->tally); i++) {
        const struct usage *usage = tally_usage_at(question->tally, i);

        if (usage->kind == USAGE_OPERATOR && is_better(question->tally, usage, best))
            best = usage;
    }
    if (best)
        report_verdict(report, RANK_OPERATORS, "Operator %s held most at once: %s of %s.",
                       model_text_at(question->model, best->id),
                       label_size(texts, best->peak_bytes),
                       label_ledger(question, texts, best->ledger));
    else
        report_verdict(report, RANK_OPERATORS,
                       "No operators: the program marked none while it allocated.");
}
