/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What leaks? The origins that growth.h has judged, as sentences, findings and a table.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "growth.h"
#include "labels.h"
#include "leak_advice.h"
#include "leak_analyses.h"
#include "leak_doubt.h"
#include "leak_finding.h"
#include "leak_words.h"
#include "ledger_growth.h"
#include "missing.h"
#include "sentence.h"
#include "survivor_answers.h"
#include "survivor_search.h"
#include "survivor_verdict.h"
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
        {"site", "site", value_who(question, texts, row->origin->who)},
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

static size_t count_other_leaks(const struct question *question, const struct judged_list *list)
{
    size_t others = 0;

    for (size_t i = 1; i < list->verdict_counts[VERDICT_LEAK]; i++)
        others += !growth_is_told(question->symbols, list, i);
    return others;
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
static const struct judged *holder_of(const struct question *question,
                                      const struct judged_list *list)
{
    const struct judged *first = &list->rows[0];

    if (first->judgement.is_one_growing_block || leak_keeps_all(question, first))
        return NULL;
    for (size_t i = 1; i < list->verdict_counts[VERDICT_LEAK]; i++) {
        const struct judged *row = &list->rows[i];

        if (!row->judgement.is_one_growing_block &&
            is_of_same_steps(question->symbols, first, row) &&
            !growth_is_told(question->symbols, list, i) && leak_keeps_all(question, row))
            return row;
    }
    return NULL;
}

static void say_holder(const struct question *question, struct report *report,
                       const struct judged_list *list)
{
    const struct judged *holder = holder_of(question, list);

    if (holder)
        report_verdict(report, RANK_LEAKS, LEAK_HOLDER_SENTENCE,
                       leak_who(question, report_arena(report), holder->origin->who));
}

static void say_leak(const struct question *question, struct report *report,
                     const struct judged_list *list)
{
    size_t others = count_other_leaks(question, list);
    struct advice advice;
    const struct origin *origin = list->rows[0].origin;
    const char *unseen =
        label_unseen_callers(question, report_arena(report), origin->ledger, origin->who);
    const char *and_more = others ? report_text(report, "; and %zu more %s", others,
                                                translated(others == 1 ? "leak" : "leaks"))
                                  : "";

    report_verdict(report, RANK_LEAKS, "LEAK: %s%s%s.",
                   leak_sentence(question, report_arena(report), list, &list->rows[0]),
                   leak_horizon(question, report, &list->rows[0]), and_more);
    if (advice_for_leak(question, report, &list->rows[0], &advice))
        report_verdict(report, RANK_LEAKS, "WHY: %s. %s", advice.finding,
                       advice_end(report, &advice));
    say_holder(question, report, list);
    if (unseen)
        report_verdict(report, RANK_LEAKS, "%s", unseen);
    report_outcome(report, REPORT_FOUND);
    for (size_t i = 0; i < list->verdict_counts[VERDICT_LEAK]; i++)
        if (!growth_is_told(question->symbols, list, i))
            leak_finding(question, report, list, &list->rows[i]);
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
static const char *light_clause(const struct question *question, struct report *report,
                                const struct judged_list *list)
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
                       label_size(texts, bytes),
                       label_who(question, texts, list->rows[0].origin->who));
}

static void say_few_steps(const struct question *question, struct report *report, uint32_t judged,
                          uint32_t needed)
{
    if (growth_steps_are_marked(question))
        report_verdict(report, RANK_LEAKS,
                       "CANNOT SAY whether something leaks: %" PRIu32 " judged %s, %" PRIu32
                       " are needed; record %" PRIu32 " more.",
                       judged, translated(judged == 1 ? "step" : "steps"), needed, needed - judged);
    else
        report_verdict(report, RANK_LEAKS,
                       "CANNOT SAY whether something leaks: of the steps found by their period "
                       "%" PRIu32 " could be judged, %" PRIu32
                       " are needed. Run the loop longer, or mark steps.",
                       judged, needed);
    report_outcome(report, REPORT_NO_DATA);
}

static void say_no_leak(const struct question *question, struct report *report,
                        const struct judged_list *list, const struct judged_steps *steps,
                        const struct survivors *survivors)
{
    uint32_t judged = steps->last - steps->warm_up, needed = growth_steps_needed(question);

    if (!growth_has_blocks(question)) {
        report_verdict(report, RANK_LEAKS, "CANNOT SAY whether something leaks: %s",
                       no_blocks_sentence(question, report_arena(report)));
        report_outcome(report, REPORT_NO_DATA);
        return;
    }
    if (judged < needed) {
        say_few_steps(question, report, judged, needed);
        return;
    }
    if (survivors && survivors_say_doubts(question, report, survivors))
        return;
    if (missing_is_much(tally_model(question->tally))) {
        report_verdict(report, RANK_LEAKS, SEEN_NO_LEAK_SENTENCE);
        report_outcome(report, REPORT_NO_DATA);
        return;
    }
    if (!list->origin_count) {
        report_verdict(report, RANK_LEAKS,
                       "No leak in %" PRIu32 " steps: nothing is alive at a step's end.", judged);
        return;
    }
    report_verdict(report, RANK_LEAKS, "No leak in %" PRIu32 " steps: %s judged, %s%s.", judged,
                   label_counted(report_arena(report), list->origin_count, "site"),
                   light_clause(question, report, list), kept_clause(report, list));
    if (survivors)
        survivors_say_waiting(question, report, survivors, NULL);
}

static void say_judged(const struct question *question, struct report *report,
                       const struct judged_list *list, const struct judged_steps *steps,
                       const struct survivors *survivors)
{
    report_fact(report, "judged_steps", "Judged",
                value_text(report_text(
                    report, "steps %" PRIu64 " to %" PRIu64 "; %" PRIu32 " left out as warm-up",
                    step_number(question->tally, steps->process, steps->warm_up + 1),
                    step_number(question->tally, steps->process, steps->last), steps->warm_up)));
    report_fact(report, "warm_up_step_count", NULL, value_count(steps->warm_up));
    report_fact(report, "judged_step_count", NULL, value_count(steps->last - steps->warm_up));
    if (list->verdict_counts[VERDICT_LEAK])
        say_leak(question, report, list);
    else
        say_no_leak(question, report, list, steps, survivors);
}

static void say_steps(const struct question *question, struct report *report,
                      const struct survivors *survivors)
{
    struct judged_steps steps = growth_longest_steps(question);
    struct judged_list list = {0};
    struct origins origins;

    if (!steps.last)
        return; /* the window ledger answers */
    if (!origins_init(&origins, question, ORIGINS_BY_SIZE)) {
        report_note(report, 0, "leaks: not enough memory to judge");
        return;
    }
    if (growth_judge(question, &origins, survivors, &list)) {
        say_judged(question, report, &list, &steps, survivors);
        add_table(question, report, &list);
        ledger_growth_add(question, report, &list);
    } else {
        report_note(report, 0, "leaks: not enough memory to judge");
    }
    growth_release(&list);
    origins_release(&origins);
}

void analyse_leaks(const struct question *question, struct report *report)
{
    say_steps(question, report, NULL);
}

/* --- with what survives ---------------------------------------------------------------------- */

static void search_write(void *state, struct report *report)
{
    const struct survivor_search *search = state;
    const struct question *question = search->question;
    const struct survivors *survivors = survivor_search_result(search);

    if (search->reading && !survivors)
        report_note(report, 0, "leaks: not enough memory to follow the blocks");
    if (leak_stacks_decide(question, survivors)) {
        survivors_say(question, report, survivors);
    } else {
        say_steps(question, report, survivors);
        window_say(question, report);
    }
    if (survivors)
        survivors_say_errands(question, report, survivors);
}

const struct block_analysis leaks_analysis = {
    .name = "leaks",
    .is_early = true,
    .begin = survivor_search_begin,
    .write = search_write,
    .release = survivor_search_release,
};
