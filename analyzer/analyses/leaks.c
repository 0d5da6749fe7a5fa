/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What leaks? Each origin of each process that has steps is judged; step_verdict.h says how.
 *
 * A process with more steps than TREND_MAX is looked at in stretches of equal length.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "analysis.h"
#include "labels.h"
#include "origins.h"
#include "step_verdict.h"

enum { default_warm_up = 2 };

/* Steps first+1 .. last of one process, in `count` stretches of `stride`. */
struct window {
    uint16_t process;
    uint32_t warm_up, last;
    uint32_t stride;
    size_t count;
};

struct judged {
    const struct origin *origin;
    struct step_judgement judgement;
    struct step_sample alive; /* when the last step ended */
    uint64_t grown_bytes;     /* since the first judged step ended; 0 when it shrank */
    uint64_t survivor_bytes;  /* of them, born in any step */
    uint64_t survivor_count;
    struct window window;
    const struct report_series *series;
};

struct judged_list {
    struct judged *rows;
    size_t count;
    size_t origin_count; /* looked at */
    size_t verdict_counts[VERDICT_COUNT];
};

static struct window window_of(const struct question *question, uint16_t process)
{
    uint32_t last = tally_process_at(question->tally, process).ended_step_count;
    struct window window = {.process = process, .last = last};

    if (question->warm_up_steps != WARM_UP_DEFAULT)
        window.warm_up = (uint32_t)question->warm_up_steps;
    else if (last >= STEPS_NEEDED + default_warm_up)
        window.warm_up = default_warm_up;
    else
        window.warm_up = last > STEPS_NEEDED ? last - STEPS_NEEDED : 0;
    if (window.warm_up > last)
        window.warm_up = last;
    window.stride = (last - window.warm_up + TREND_MAX - 1) / TREND_MAX;
    if (!window.stride)
        window.stride = 1;
    window.count = (last - window.warm_up + window.stride - 1) / window.stride;
    return window;
}

struct history {
    uint64_t alive[TREND_MAX], counts[TREND_MAX], bytes[TREND_MAX];
};

static void add_survivors(const struct question *question, const struct window *window,
                          const struct origin *origin, struct history *history,
                          struct judged *judged)
{
    uint32_t epoch = tally_process_at(question->tally, window->process).epoch;

    for (size_t g = 0; g < origin->group_count; g++) {
        const struct cohorts *cohorts =
            &tally_detail_at(question->tally, origin->groups[g])->cohorts;

        for (size_t i = 0; i < cohorts->count; i++) {
            struct step_sample left = cohort_at_step_end(&cohorts->rows[i], epoch);
            uint32_t birth = left.step + cohorts->stride - 1;

            if (!left.count || !birth)
                continue;
            judged->survivor_bytes += left.bytes;
            judged->survivor_count += left.count;
            if (birth > window->last)
                birth = window->last;
            if (birth <= window->warm_up)
                continue;
            history->counts[(birth - window->warm_up - 1) / window->stride] += left.count;
            history->bytes[(birth - window->warm_up - 1) / window->stride] += left.bytes;
        }
    }
}

static struct judged judge(const struct question *question, const struct window *window,
                           const struct origin *origin, struct report *report)
{
    struct history history;
    struct judged judged = {.origin = origin, .window = *window};

    memset(&history, 0, sizeof(history));
    for (size_t i = 0; i < window->count; i++) {
        uint64_t step = window->warm_up + (uint64_t)(i + 1) * window->stride;

        if (step > window->last)
            step = window->last;
        history.alive[i] = origin_at_step(question->tally, origin, (uint32_t)step).bytes;
    }
    judged.alive = origin_at_step(question->tally, origin, window->last);
    if (judged.alive.bytes > history.alive[0])
        judged.grown_bytes = judged.alive.bytes - history.alive[0];
    add_survivors(question, window, origin, &history, &judged);
    judged.judgement = step_judge(&(struct step_history){
        .alive_bytes = history.alive,
        .survivor_counts = history.counts,
        .survivor_bytes = history.bytes,
        .count = window->count,
    });
    judged.judgement.growth_per_step /= window->stride;
    /* Too few steps to judge: worth showing only if it grew. */
    if (judged.judgement.verdict == VERDICT_UNSURE && !judged.judgement.kept_count)
        judged.judgement.verdict = VERDICT_STABLE;
    if (judged.judgement.verdict < VERDICT_TEMPORARY)
        judged.series = report_series(report, VALUE_BYTES, history.alive, window->count);
    return judged;
}

static bool was_alive_at_a_step_end(const struct tally *tally, const struct origin *origin)
{
    for (size_t i = 0; i < origin->group_count; i++)
        if (tally_detail_at(tally, origin->groups[i])->series.count)
            return true;
    return false;
}

static int judged_compare(const void *left, const void *right)
{
    const struct judged *a = left, *b = right;

    if (a->judgement.verdict != b->judgement.verdict)
        return a->judgement.verdict < b->judgement.verdict ? -1 : 1;
    if (a->grown_bytes != b->grown_bytes)
        return a->grown_bytes > b->grown_bytes ? -1 : 1;
    if (a->survivor_bytes != b->survivor_bytes)
        return a->survivor_bytes > b->survivor_bytes ? -1 : 1;
    return a->origin < b->origin ? -1 : a->origin > b->origin;
}

static bool judge_all(const struct question *question, const struct origins *origins,
                      struct report *report, struct judged_list *list)
{
    list->rows = malloc((origins->count + 1) * sizeof(*list->rows));
    if (!list->rows)
        return false;
    for (size_t i = 0; i < origins->count; i++) {
        const struct origin *origin = &origins->rows[i];
        const struct ledger *ledger = tally_ledger_at(question->tally, origin->ledger);
        struct window window = window_of(question, ledger->process);
        struct judged *row = &list->rows[list->count];

        if (!window.last || !was_alive_at_a_step_end(question->tally, origin))
            continue;
        *row = judge(question, &window, origin, report);
        list->origin_count++;
        list->verdict_counts[row->judgement.verdict]++;
        list->count += row->judgement.verdict < VERDICT_TEMPORARY;
    }
    qsort(list->rows, list->count, sizeof(*list->rows), judged_compare);
    return true;
}

static const char *leak_sentence(const struct question *question, struct report *report,
                                 const struct judged *row)
{
    return report_text(
        report, "%s per step at %s: %s since step %" PRIu32 ", survivors of %zu of %zu steps (%s)",
        label_size(report, row->judgement.growth_per_step),
        label_who(question, report, row->origin->who), label_size(report, row->grown_bytes),
        row->window.warm_up + row->window.stride, row->judgement.birth_count, row->window.count,
        label_ledger(question, report, row->origin->ledger));
}

static uint64_t chance_ppb(const struct trend *trend)
{
    return (uint64_t)(trend->rise_chance * 1e9 + 0.5);
}

static void add_finding(const struct question *question, struct report *report,
                        const struct judged *row)
{
    const struct fact facts[] = {
        {"ledger", NULL, value_text(label_ledger(question, report, row->origin->ledger))},
        {"site", NULL, value_text(label_who(question, report, row->origin->who))},
        {"growth_bytes_per_step", NULL, value_bytes(row->judgement.growth_per_step)},
        {"alive_bytes", NULL, value_bytes(row->alive.bytes)},
        {"grown_bytes", NULL, value_bytes(row->grown_bytes)},
        {"survivor_bytes", NULL, value_bytes(row->survivor_bytes)},
        {"survivor_count", NULL, value_count(row->survivor_count)},
        {"birth_step_count", NULL, value_count(row->judgement.birth_count)},
        {"judged_step_count", NULL, value_count(row->window.count)},
        {"rise_chance_ppb", NULL, value_count(chance_ppb(&row->judgement.trend))},
    };
    const char *sentence =
        report_text(report,
                    "%s: %s; a rise like this happens by chance with "
                    "p = %.1g",
                    step_verdict_name(row->judgement.verdict), leak_sentence(question, report, row),
                    row->judgement.trend.rise_chance);

    report_finding(report, "leak", sentence, facts, sizeof(facts) / sizeof(facts[0]));
}

static void add_row(const struct question *question, struct report *report,
                    struct report_table *table, const struct judged *row)
{
    bool is_growing =
        row->judgement.verdict == VERDICT_LEAK || row->judgement.verdict == VERDICT_UNSURE;
    const struct value values[] = {
        value_text(step_verdict_name(row->judgement.verdict)),
        is_growing ? value_bytes(row->judgement.growth_per_step) : value_none(),
        value_bytes(row->alive.bytes),
        value_count(row->alive.count),
        value_text(
            report_text(report, "%zu of %zu", row->judgement.birth_count, row->window.count)),
        value_text(label_who(question, report, row->origin->who)),
        row->origin->who.site ? value_name(question, row->origin->who.operator_text) : value_none(),
        value_text(label_ledger(question, report, row->origin->ledger)),
        value_series(row->series),
    };

    report_row(report, table, values);
}

static const char *are_or_is(struct report *report, uint64_t count)
{
    return report_text(report, "%s %s", label_count(report, count), count == 1 ? "is" : "are");
}

static const char *hold_or_holds(struct report *report, uint64_t count)
{
    return report_text(report, "%s %s", label_count(report, count), count == 1 ? "holds" : "hold");
}

static void add_table(const struct question *question, struct report *report,
                      const struct judged_list *list)
{
    static const struct report_column columns[] = {
        {"verdict", "verdict"},
        {"growth_bytes_per_step", "per step"},
        {"alive_bytes", "alive"},
        {"alive_count", "blocks"},
        {"birth_steps", "born in steps"},
        {"site", "site"},
        {"operator", "operator"},
        {"ledger", "ledger"},
        {"alive_bytes_by_step", "alive at step ends"},
    };
    struct report_table *table = report_table(
        report, "leaks", "Sites that keep memory from step to step",
        "No site keeps more from step to step.", columns, sizeof(columns) / sizeof(columns[0]));
    size_t shown = rows_shown(question, list->count);

    for (size_t i = 0; i < shown; i++)
        add_row(question, report, table, &list->rows[i]);
    if (shown < list->count)
        report_table_remark(report, table, "... and %zu more.", list->count - shown);
    report_table_remark(report, table,
                        "Of %s alive at a step end, %s stable, and %s only what the next step "
                        "frees.",
                        label_counted(report, list->origin_count, "site"),
                        are_or_is(report, list->verdict_counts[VERDICT_STABLE]),
                        hold_or_holds(report, list->verdict_counts[VERDICT_TEMPORARY]));
}

/*
 * One allocation may pass through several pools: a runtime's and, below it, the driver's. Then it
 * shows up in each ledger, from one site and with as many blocks; it is one leak all the same.
 */
static bool is_same_leak(const struct judged *a, const struct judged *b)
{
    return a->origin->ledger != b->origin->ledger && a->origin->who.site &&
           a->origin->who.site == b->origin->who.site && a->alive.count == b->alive.count &&
           a->judgement.birth_count == b->judgement.birth_count;
}

/* Leaks that are not the first one seen again. */
static size_t count_other_leaks(const struct judged_list *list)
{
    size_t others = 0;

    for (size_t i = 1; i < list->verdict_counts[VERDICT_LEAK]; i++) {
        bool is_known = false;

        for (size_t j = 0; j < i && !is_known; j++)
            is_known = is_same_leak(&list->rows[j], &list->rows[i]);
        others += !is_known;
    }
    return others;
}

static void say_leak(const struct question *question, struct report *report,
                     const struct judged_list *list)
{
    size_t others = count_other_leaks(list);
    const char *and_more =
        others ? report_text(report, "; and %zu more %s", others, others == 1 ? "leak" : "leaks")
               : "";

    report_verdict(report, RANK_LEAKS, "LEAK: %s%s.",
                   leak_sentence(question, report, &list->rows[0]), and_more);
    report_outcome(report, REPORT_FOUND);
    for (size_t i = 0; i < list->verdict_counts[VERDICT_LEAK]; i++)
        add_finding(question, report, &list->rows[i]);
}

/* The process with most steps speaks for the run. */
static struct window longest_window(const struct question *question)
{
    struct window longest = {0};

    for (size_t i = 0; i < model_process_count(question->model); i++) {
        struct window window = window_of(question, (uint16_t)i);

        if (window.last > longest.last)
            longest = window;
    }
    return longest;
}

/* What is kept but does not grow any more: a cache, or a buffer that was forgotten once. */
static const char *kept_clause(struct report *report, const struct judged_list *list)
{
    uint64_t kept_bytes = 0;

    if (!list->verdict_counts[VERDICT_CACHE])
        return "";
    for (size_t i = 0; i < list->count; i++)
        if (list->rows[i].judgement.verdict == VERDICT_CACHE)
            kept_bytes += list->rows[i].judgement.kept_bytes;
    return report_text(report, "; %s of some steps kept at %s", label_size(report, kept_bytes),
                       label_counted(report, list->verdict_counts[VERDICT_CACHE], "site"));
}

static void say_no_leak(struct report *report, const struct judged_list *list,
                        const struct window *window)
{
    uint32_t judged = window->last - window->warm_up;

    if (judged < STEPS_NEEDED) {
        report_verdict(report, RANK_LEAKS,
                       "CANNOT SAY whether something leaks: %" PRIu32
                       " judged %s, %d are needed; record %" PRIu32 " more.",
                       judged, judged == 1 ? "step" : "steps", STEPS_NEEDED, STEPS_NEEDED - judged);
        report_outcome(report, REPORT_NO_DATA);
        return;
    }
    report_verdict(report, RANK_LEAKS,
                   "No leak in %" PRIu32 " steps: %s judged, none grows to the end%s.", judged,
                   label_counted(report, list->origin_count, "site"), kept_clause(report, list));
}

void analyse_leaks(const struct question *question, struct report *report)
{
    struct window window = longest_window(question);
    struct judged_list list = {0};
    struct origins origins;

    if (!window.last)
        return; /* the window ledger answers */
    if (!origins_init(&origins, question->tally, false)) {
        report_note(report, 0, "leaks: not enough memory to judge");
        return;
    }
    if (judge_all(question, &origins, report, &list)) {
        report_fact(report, "judged_steps", "Judged",
                    value_text(report_text(
                        report, "steps %" PRIu32 " to %" PRIu32 "; %" PRIu32 " left out as warm-up",
                        window.warm_up + 1, window.last, window.warm_up)));
        report_fact(report, "warm_up_step_count", NULL, value_count(window.warm_up));
        report_fact(report, "judged_step_count", NULL, value_count(window.last - window.warm_up));
        if (list.verdict_counts[VERDICT_LEAK])
            say_leak(question, report, &list);
        else
            say_no_leak(report, &list, &window);
        add_table(question, report, &list);
    } else {
        report_note(report, 0, "leaks: not enough memory to judge");
    }
    free(list.rows);
    origins_release(&origins);
}
