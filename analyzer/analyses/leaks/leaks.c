/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What leaks? The verdict, as sentences, findings and a table.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "labels.h"
#include "leak_advice.h"
#include "leak_analyses.h"
#include "leak_finding.h"
#include "leak_words.h"
#include "ledger_growth.h"
#include "sentence.h"
#include "survivor_verdict.h"
#include "why_table.h"
#include "window_say.h"

static void add_row(const struct question *question, struct report *report,
                    struct report_table *table, const struct judged *row)
{
    struct arena *texts = report_arena(report);
    struct births_seen births = growth_births(row);
    bool is_growing =
        row->judgement.verdict <= VERDICT_LIGHT || row->judgement.verdict == VERDICT_UNSURE;
    const struct field fields[] = {
        {"verdict", "verdict", value_word(step_verdict_name(row->judgement.verdict))},
        {"growth_bytes_per_step", "per step",
         is_growing ? value_bytes(row->judgement.growth_per_step) : value_none()},
        {"alive_bytes", "alive", value_bytes(row->alive.bytes)},
        {"alive_count", "blocks", value_count(row->alive.count)},
        {"birth_steps", "born in steps",
         value_text(
             report_text(report, "%zu of %zu", births.with_survivors, births.stretch_count))},
        {"site", "site",
         who_is_known(row->origin->who) ? value_site(row->name)
                                        : value_who(question, texts, row->origin->who)},
        {"site_key", NULL, value_text(report_text(report, "%016" PRIx64, row->key))},
        {"operator", "operator",
         row->origin->who.site ? value_name(question, row->origin->who.operator_text)
                               : value_none()},
        {"ledger", "ledger", value_text(label_ledger(question, texts, row->origin->ledger))},
        {"alive_bytes_by_step", "alive at step ends",
         value_series(report_series(report, VALUE_BYTES, row->alive_bytes, row->steps.count))},
    };

    report_row(report, table, fields, sizeof(fields) / sizeof(fields[0]));
}

static const char *are_or_is(struct report *report, uint64_t count)
{
    return report_text(report, "%s %s", label_count(report_arena(report), count),
                       translated(count == 1 ? "is" : "are"));
}

static const char *hold_or_holds(struct report *report, uint64_t count)
{
    return report_text(report, "%s %s", label_count(report_arena(report), count),
                       translated(count == 1 ? "holds" : "hold"));
}

static void add_table(const struct question *question, struct report *report,
                      const struct judged_list *list)
{
    struct report_table *table =
        report_table(report, "leaks", "Sites that keep memory from step to step",
                     "No site keeps more from step to step.");
    size_t shown = rows_shown(question, list->count);

    for (size_t i = 0; i < shown; i++)
        add_row(question, report, table, &list->rows[i]);
    if (shown < list->count)
        report_table_remark(report, table, "... and %zu more.", list->count - shown);
    report_table_remark(report, table,
                        "Of %s alive at a step end, %s stable, and %s only what the next step "
                        "frees.",
                        label_counted(report_arena(report), list->origin_count, "site"),
                        are_or_is(report, list->verdict_counts[VERDICT_STABLE]),
                        hold_or_holds(report, list->verdict_counts[VERDICT_TEMPORARY]));
}

/* Two lines, not one in two pools. */
static bool is_of_same_steps(struct symbols *symbols, const struct judged *a,
                             const struct judged *b)
{
    uint32_t site_a = a->origin->who.site, site_b = b->origin->who.site;

    if (site_a && site_b &&
        strcmp(symbols_label(symbols, site_a), symbols_label(symbols, site_b)) == 0)
        return false;
    return a->steps.process == b->steps.process && a->first_step == b->first_step &&
           growth_births(a).with_survivors == growth_births(b).with_survivors;
}

/*
 * What keeps a graph, a batch or an answer keeps blocks of several lines, and frees others of the
 * same lines. A line of which all blocks stay, of the same steps, is nearer to the cause. NULL: the
 * first one is such a line, or there is none.
 */
static const struct leak *holder_of(const struct question *question, const struct verdict *verdict)
{
    const struct judged *first = verdict->leaks[0].row;

    if (first->judgement.is_one_growing_block || leak_keeps_all(question, first))
        return NULL;
    for (size_t i = 1; i < verdict->leak_count; i++) {
        const struct judged *row = verdict->leaks[i].row;

        if (!row->judgement.is_one_growing_block &&
            is_of_same_steps(question->symbols, first, row) && leak_keeps_all(question, row))
            return &verdict->leaks[i];
    }
    return NULL;
}

static void say_leak(const struct question *question, struct report *report,
                     const struct verdict *verdict)
{
    const struct leak *leak = &verdict->leaks[0], *holder = holder_of(question, verdict);
    size_t others = verdict->leak_count - 1;
    struct advice advice;
    const char *unseen =
        label_unseen_callers(question, report_arena(report), leak->ledger, leak->who);
    const char *and_more = others ? report_text(report, "; and %zu more %s", others,
                                                translated(others == 1 ? "leak" : "leaks"))
                                  : "";

    report_verdict(report, RANK_LEAKS, "LEAK: %s%s%s.",
                   leak_sentence(question, report_arena(report), leak),
                   leak_horizon(question, report, leak->row), and_more);
    if (advice_for_leak(question, report, leak, &advice))
        report_verdict(report, RANK_LEAKS, "WHY: %s. %s", advice.finding,
                       advice_end(report, &advice));
    if (holder)
        report_verdict(report, RANK_LEAKS, LEAK_HOLDER_SENTENCE, holder->name);
    if (unseen)
        report_verdict(report, RANK_LEAKS, "%s", unseen);
    report_outcome(report, REPORT_FOUND);
    for (size_t i = 0; i < verdict->leak_count; i++)
        leak_finding(question, report, &verdict->leaks[i]);
}

/* What is kept but does not grow any more: a cache, or a buffer that was forgotten once. */
static const char *kept_clause(struct report *report, const struct judged_list *list)
{
    struct arena *texts = report_arena(report);
    uint64_t kept_bytes = 0;

    if (!list->verdict_counts[VERDICT_CACHE])
        return "";
    for (size_t i = 0; i < list->count; i++)
        if (list->rows[i].judgement.verdict == VERDICT_CACHE)
            kept_bytes += list->rows[i].judgement.kept_bytes;
    return report_text(report, "; %s of earlier steps still held at %s",
                       label_size(texts, kept_bytes),
                       label_counted(texts, list->verdict_counts[VERDICT_CACHE], "site"));
}

/* What grows to the end, if anything. */
static const char *light_clause(struct report *report, const struct judged_list *list)
{
    struct arena *texts = report_arena(report);
    uint64_t bytes = 0;

    if (!list->verdict_counts[VERDICT_LIGHT])
        return translated("none grows to the end");
    for (size_t i = 0; i < list->verdict_counts[VERDICT_LIGHT]; i++)
        bytes += list->rows[i].weight_bytes;
    return report_text(report,
                       "%s too little to be called one, %s in all, most of it at %s: record "
                       "longer to be sure",
                       list->verdict_counts[VERDICT_LIGHT] == 1
                           ? "1 keeps"
                           : report_text(report, "%zu keep", list->verdict_counts[VERDICT_LIGHT]),
                       label_size(texts, bytes), list->rows[0].name);
}

static void say_no_leak(const struct question *question, struct report *report,
                        const struct verdict *verdict)
{
    uint32_t judged = verdict->steps.last - verdict->steps.warm_up;
    const struct judged_list *list = verdict->sites;

    if (!list->origin_count)
        report_verdict(report, RANK_LEAKS,
                       "No leak in %" PRIu32 " steps: nothing is alive at a step's end.", judged);
    else
        report_verdict(report, RANK_LEAKS, "No leak in %" PRIu32 " steps: %s judged, %s%s.", judged,
                       label_counted(report_arena(report), list->origin_count, "site"),
                       light_clause(report, list), kept_clause(report, list));
    if (verdict->survivors)
        survivors_say_waiting(question, report, verdict->survivors, NULL);
}

static void say_steps(const struct question *question, struct report *report,
                      const struct verdict *verdict)
{
    const struct judged_steps *steps = &verdict->steps;

    report_fact(report, "judged_steps", "Judged",
                value_text(report_text(
                    report, "steps %" PRIu64 " to %" PRIu64 "; %" PRIu32 " left out as warm-up",
                    step_number(question->tally, steps->process, steps->warm_up + 1),
                    step_number(question->tally, steps->process, steps->last), steps->warm_up)));
    report_fact(report, "warm_up_step_count", NULL, value_count(steps->warm_up));
    report_fact(report, "judged_step_count", NULL, value_count(steps->last - steps->warm_up));
    if (verdict->leak_count)
        say_leak(question, report, verdict);
    else if (!survivors_say_doubt(question, report, verdict))
        say_no_leak(question, report, verdict);
    add_table(question, report, verdict->sites);
    ledger_growth_add(question, report, verdict);
}

/* Nothing is said of what was recorded before what was not, and of what grew before its loop. */
static bool comes_first(const struct verdict *verdict)
{
    return verdict->doubt_count && (verdict->doubts[0].kind == DOUBT_DEVICE_UNRECORDED ||
                                    verdict->doubts[0].kind == DOUBT_LOOP);
}

static void say_window(const struct question *question, struct report *report,
                       const struct verdict *verdict)
{
    if (comes_first(verdict))
        survivors_say_doubt(question, report, verdict);
    window_say(question, report);
}

static void write_leaks(void *state, struct report *report)
{
    struct verdict_search *search = state;
    const struct question *question = verdict_search_question(search);
    const struct verdict *verdict = verdict_search_result(search);

    if (!verdict) {
        report_note(report, 0, "leaks: not enough memory to judge");
        report_outcome(report, REPORT_NO_DATA);
        return;
    }
    if (verdict->is_by_stacks)
        survivors_say(question, report, verdict);
    else if (verdict->steps.last)
        say_steps(question, report, verdict);
    else
        say_window(question, report, verdict);
    if (verdict->survivors)
        survivors_say_errands(question, report, verdict->survivors);
    why_tables_add(question, report, verdict);
}

const struct block_analysis leaks_analysis = {
    .name = "leaks",
    .is_early = true,
    .begin = verdict_search_begin,
    .write = write_leaks,
    .release = verdict_search_release,
};
