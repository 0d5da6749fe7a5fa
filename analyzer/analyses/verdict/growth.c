/* SPDX-License-Identifier: Apache-2.0 */
/*
 * From groups and their series to histories that can be judged.
 */
#include "growth.h"

#include <stdlib.h>
#include <string.h>

#include "growth_weight.h"
#include "ledger_layers.h"
#include "survivor_answers.h"
#include "thresholds.h"

/*
 * How long new sites keep coming: programs compile, tune and fill caches in their first steps. Two
 * steps at least, and on while a step brings more than a hundredth of all groups for the first
 * time, up to a third of the steps. Of the fewest, seven, five are left to be judged.
 */
static uint32_t warm_up_of(const struct tally *tally, uint16_t process, uint32_t last)
{
    uint32_t most = last / THIRD_SHARE;
    uint32_t *new_groups = calloc((size_t)most + 2, sizeof(*new_groups));
    uint32_t warm_up = WARM_UP_STEPS, all = 0;

    for (size_t i = 1; new_groups && i < tally_group_count(tally); i++) {
        const struct group_detail *detail = tally_detail_at(tally, i);

        if (detail->process != process || !detail->first_step)
            continue;
        all++;
        if (detail->first_step <= most)
            new_groups[detail->first_step]++;
    }
    while (new_groups && warm_up < most && new_groups[warm_up + 1] >= SEVERAL_MIN &&
           new_groups[warm_up + 1] > all / TRIFLE_SHARE)
        warm_up++;
    free(new_groups);
    return warm_up;
}

/* In stretches, as few as will do. */
static void cut_into_stretches(struct judged_steps *steps)
{
    uint32_t count = steps->last - steps->warm_up;

    steps->stride = (count + TREND_MAX - 1) / TREND_MAX;
    if (!steps->stride)
        steps->stride = 1;
    steps->count = (count + steps->stride - 1) / steps->stride;
}

/* Its first steps came before the recording, or in a pause. */
static bool is_warmed_up(const struct tally *tally, struct tally_process process)
{
    return process.passed_step_count &&
           tally_step_at(tally, process.first_step)->number > WARM_UP_STEPS;
}

struct judged_steps growth_steps_of(const struct question *question, uint16_t process)
{
    struct tally_process row = tally_process_at(question->tally, process);
    uint32_t last = row.ended_step_count;
    struct judged_steps steps = {.process = process, .last = last};

    if (question->warm_up_steps != WARM_UP_DEFAULT)
        steps.warm_up = (uint32_t)question->warm_up_steps;
    else if (question->has_chosen_steps || (last && is_warmed_up(question->tally, row)))
        steps.warm_up = 0;
    else if (last >= STEPS_MIN + WARM_UP_STEPS)
        steps.warm_up = warm_up_of(question->tally, process, last);
    else
        steps.warm_up = last > STEPS_MIN ? last - STEPS_MIN : 0;
    if (steps.warm_up > last)
        steps.warm_up = last;
    cut_into_stretches(&steps);
    return steps;
}

struct history {
    uint64_t alive[TREND_MAX], counts[TREND_MAX], bytes[TREND_MAX];
};

/* How old a block of this origin was, at most, when it was freed; in stretches. */
static size_t freed_age_of(const struct question *question, const struct judged_steps *steps,
                           const struct origin *origin)
{
    uint32_t age = 1;

    for (size_t g = 0; g < origin->group_count; g++) {
        uint32_t own = tally_past_at(question->tally, origin->groups[g])->freed_age_at_end;

        age = own > age ? own : age;
    }
    return (age + steps->stride - 1) / steps->stride;
}

static void add_survivors(const struct question *question, const struct judged_steps *steps,
                          const struct origin *origin, struct history *history,
                          struct judged *judged)
{
    uint32_t epoch = tally_process_at(question->tally, steps->process).epoch;

    for (size_t g = 0; g < origin->group_count; g++) {
        const struct cohorts *cohorts = &tally_past_at(question->tally, origin->groups[g])->cohorts;

        if (cohorts->count && cohorts->stride > judged->birth_stretch)
            judged->birth_stretch = cohorts->stride;
        for (size_t i = 0; i < cohorts->count; i++) {
            struct step_sample left = cohort_at_step_end(&cohorts->rows[i], epoch);
            uint32_t birth = left.step + cohorts->stride - 1;

            if (!left.count || !birth || left.step > steps->last)
                continue;
            judged->survivor_bytes += left.bytes;
            judged->survivor_count += left.count;
            if (birth > steps->last)
                birth = steps->last;
            if (birth <= steps->warm_up)
                continue;
            if (!judged->first_step || left.step < judged->first_step)
                judged->first_step = left.step;
            history->counts[(birth - steps->warm_up - 1) / steps->stride] += left.count;
            history->bytes[(birth - steps->warm_up - 1) / steps->stride] += left.bytes;
        }
    }
}

static const uint64_t *numbers_copy(struct arena *arena, const uint64_t *numbers, size_t count)
{
    uint64_t *copy = arena_alloc(arena, (count + 1) * sizeof(*copy));

    if (copy)
        memcpy(copy, numbers, count * sizeof(*copy));
    return copy;
}

/* The series of a group hold from one sample to the next. */
static void add_series(const struct step_series *series, const struct judged_steps *steps,
                       uint64_t *alive)
{
    size_t next = 0;
    uint64_t bytes = 0;

    for (size_t i = 0; i < steps->count; i++) {
        uint64_t step = steps->warm_up + (uint64_t)(i + 1) * steps->stride;

        step = step < steps->last ? step : steps->last;
        step = (step + series->stride - 1) / series->stride * series->stride;
        while (next < series->count && series->samples[next].step <= step)
            bytes = series->samples[next++].bytes;
        alive[i] += bytes;
    }
}

/* More blocks are alive than before: what grows is not one that is made anew. */
static bool has_more_blocks(const struct tally *tally, const struct judged *judged)
{
    uint64_t before = origin_at_step(tally, judged->origin, judged->steps.warm_up + 1).count;

    return judged->alive.count >= before + SURVIVORS_MIN;
}

/* A cache that says how much it holds at most has nine tenths of what grew. */
static bool is_of_bounded(const struct question *question, const struct judged *judged)
{
    const struct tally *tally = question->tally;
    uint64_t grown = 0, bounded = 0;

    for (size_t i = 0; i < judged->origin->group_count; i++) {
        const struct origin part = {.groups = &judged->origin->groups[i], .group_count = 1};
        uint32_t site = tally_detail_at(tally, *part.groups)->site;
        uint64_t before = origin_at_step(tally, &part, judged->steps.warm_up + 1).bytes;
        uint64_t after = origin_at_step(tally, &part, judged->steps.last).bytes;

        if (after <= before)
            continue;
        grown += after - before;
        if (symbols_shape_of(question->symbols, site).traits & STACK_IS_BOUNDED)
            bounded += after - before;
    }
    return grown && bounded >= grown - grown / FEW_SHARE;
}

/* What is left of each time is at least as much as of all times before: a table that doubles. */
static bool is_doubling(const struct step_history *history)
{
    uint64_t before = 0;

    for (size_t i = 0; i < history->count; i++) {
        if (history->survivor_counts[i] && history->survivor_bytes[i] < before)
            return false;
        before += history->survivor_bytes[i];
    }
    return true;
}

/* Steps that were only found are turns of any loop, also of one that goes over data: a table in the
 * heap that doubles in it is no leak. */
static bool is_table_in_found_steps(const struct question *question,
                                    const struct step_history *history, const struct judged *judged)
{
    return !growth_steps_are_marked(question) &&
           growth_is_heap(question->tally, judged->origin->ledger) &&
           !judged->judgement.is_one_growing_block && is_doubling(history);
}

/*
 * In the process's own heap stacks are known, and blocks are many: there survivors.h decides
 * wherever it can. Found steps may be of a loop that had ended.
 */
static void judge_on_ground(const struct question *question, const struct survivors *survivors,
                            const struct step_history *history, struct judged *judged)
{
    const struct origin *origin = judged->origin;
    const struct survivor_origin *where = NULL;
    enum survivor_answer answer = SURVIVORS_SILENT;

    if (survivors && origin->who.site && growth_is_heap(question->tally, origin->ledger))
        answer = survivors_about(survivors, judged->steps.process,
                                 ledger_of_heap(question->tally, origin->ledger),
                                 symbols_site_key(question->symbols, origin->who.site), &where);
    judged->judgement = step_judge(history);
    if (answer != SURVIVORS_SILENT && judged->judgement.is_one_growing_block &&
        has_more_blocks(question->tally, judged)) {
        judged->judgement.is_one_growing_block = false;
        judged->judgement.verdict = VERDICT_CACHE;
    }
    if (answer == SURVIVORS_STAY && judged->judgement.verdict != VERDICT_LEAK) {
        judged->judgement = step_judge_known(history);
        judged->stay_bytes_per_step =
            survivors_per_step(survivors, judged->steps.process, where, judged->steps.last);
    }
    judged->weight_bytes = where ? where->bytes : judged->judgement.overdue_bytes;
    if (judged->judgement.is_one_growing_block)
        judged->weight_bytes = judged->grown_bytes;
    if (judged->judgement.verdict == VERDICT_LEAK &&
        (answer == SURVIVORS_GO || answer == SURVIVORS_MAY_GO ||
         (answer == SURVIVORS_STOPPED && !growth_steps_are_marked(question))))
        judged->judgement.verdict = VERDICT_CACHE;
    if (judged->judgement.verdict == VERDICT_LEAK &&
        (is_of_bounded(question, judged) || is_table_in_found_steps(question, history, judged)))
        judged->judgement.verdict = VERDICT_CACHE;
    if (judged->judgement.verdict == VERDICT_LEAK &&
        judged->steps.last - judged->steps.warm_up < growth_steps_needed(question))
        judged->judgement.verdict = VERDICT_UNSURE;
}

/* Where other stacks free late, the slope of all blocks is not that of those which stay. */
static void measure(const struct step_history *history, struct judged *judged)
{
    struct step_judgement *judgement = &judged->judgement;
    uint64_t stay_bytes = judged->stay_bytes_per_step;

    step_measure(history, judged->steps.stride, judgement);
    if (!stay_bytes || stay_bytes >= judgement->growth_per_step)
        return;
    judgement->growth_per_step = stay_bytes;
    if (judgement->growth_low > stay_bytes)
        judgement->growth_low = stay_bytes;
}

static struct judged judge(const struct question *question, const struct survivors *survivors,
                           const struct judged_steps *steps, const struct origin *origin,
                           size_t site_count, struct arena *arena)
{
    uint32_t first_judged = steps->warm_up + steps->stride;
    struct history history;
    struct judged judged = {.origin = origin, .steps = *steps, .birth_stretch = steps->stride};
    struct step_history given;

    memset(history.alive, 0, steps->count * sizeof(*history.alive));
    memset(history.counts, 0, steps->count * sizeof(*history.counts));
    memset(history.bytes, 0, steps->count * sizeof(*history.bytes));
    for (size_t g = 0; g < origin->group_count; g++) {
        const struct step_series *series =
            &tally_past_at(question->tally, origin->groups[g])->series;

        if (series->count)
            add_series(series, steps, history.alive);
    }
    judged.alive = origin_at_step(question->tally, origin, steps->last);
    if (judged.alive.bytes > history.alive[0])
        judged.grown_bytes = judged.alive.bytes - history.alive[0];
    add_survivors(question, steps, origin, &history, &judged);
    given = (struct step_history){
        .alive_bytes = history.alive,
        .survivor_counts = history.counts,
        .survivor_bytes = history.bytes,
        .count = steps->count,
        .site_count = site_count,
        .freed_age = freed_age_of(question, steps, origin),
    };
    judge_on_ground(question, survivors, &given, &judged);
    if (judged.first_step < first_judged || judged.judgement.is_one_growing_block)
        judged.first_step = first_judged;
    /* Too few steps to judge: worth showing only if it grew. */
    if (judged.judgement.verdict == VERDICT_UNSURE && !judged.judgement.kept_count)
        judged.judgement.verdict = VERDICT_STABLE;
    if (judged.judgement.verdict <= VERDICT_LIGHT || judged.judgement.verdict == VERDICT_UNSURE)
        measure(&given, &judged);
    if (judged.judgement.verdict < VERDICT_TEMPORARY)
        judged.alive_bytes = numbers_copy(arena, history.alive, steps->count);
    return judged;
}

/* The first step in which a request of the origin failed; 0: none did. */
static uint32_t failed_step_of(const struct tally *tally, const struct origin *origin)
{
    for (size_t i = 0; origin->who.site && i < tally_failure_count(tally); i++) {
        const struct failure *failure = tally_failure_at(tally, i);

        for (size_t g = 0; failure->ledger == origin->ledger && g < origin->group_count; g++)
            if (tally_detail_at(tally, origin->groups[g])->site == failure->site)
                return failure->step;
    }
    return 0;
}

/*
 * A leak ends when there is no memory left for it, and then looks like a cache that is full. So
 * what stopped is judged once more, up to where its own requests began to fail.
 */
static void judge_before_failure(const struct question *question, const struct judged_steps *steps,
                                 size_t site_count, struct arena *arena, struct judged *row)
{
    struct judged_steps before = *steps;
    struct judged judged;

    before.last = failed_step_of(question->tally, row->origin);
    if (before.last <= steps->warm_up + 1)
        return;
    before.last--;
    cut_into_stretches(&before);
    judged = judge(question, NULL, &before, row->origin, site_count, arena);
    judged.failed_step = before.last + 1;
    if (judged.judgement.verdict == VERDICT_LEAK)
        *row = judged;
}

/* False: nothing to judge. */
static bool was_alive_at_a_step_end(const struct tally *tally, const struct origin *origin)
{
    for (size_t i = 0; i < origin->group_count; i++)
        if (tally_past_at(tally, origin->groups[i])->series.count)
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

/* Origins come ledger by ledger, so by process: the steps are looked for once for each. */
static bool judge_rows(const struct question *question, const struct survivors *survivors,
                       const struct origin *origins, size_t count, struct judged_list *list)
{
    struct judged_steps steps = {0};

    list->rows = malloc((count + 1) * sizeof(*list->rows));
    list->origins_of_processes =
        arena_alloc(&list->arena, (model_process_count(question->model) + 1) * sizeof(size_t));
    if (!list->origins_of_processes)
        return false;
    for (size_t i = 0; list->rows && i < count; i++) {
        const struct ledger *ledger = tally_ledger_at(question->tally, origins[i].ledger);
        uint16_t process = ledger->process;
        struct judged *row = &list->rows[list->count];

        if (!i || steps.process != process)
            steps = growth_steps_of(question, process);
        if (!steps.last || !was_alive_at_a_step_end(question->tally, &origins[i]))
            continue;
        *row = judge(question, survivors, &steps, &origins[i], count, &list->arena);
        if (row->judgement.verdict == VERDICT_CACHE)
            judge_before_failure(question, &steps, count, &list->arena, row);
        if (row->judgement.verdict < VERDICT_TEMPORARY && !row->alive_bytes)
            return false;
        list->origin_count++;
        list->origins_of_processes[process]++;
        list->verdict_counts[row->judgement.verdict]++;
        list->count += row->judgement.verdict < VERDICT_TEMPORARY;
    }
    for (size_t i = 0; list->rows && i < model_process_count(question->model); i++)
        growth_weigh(question, (uint16_t)i, list);
    if (list->rows)
        qsort(list->rows, list->count, sizeof(*list->rows), judged_compare);
    return list->rows != NULL;
}

bool growth_judge(const struct question *question, const struct origins *origins,
                  const struct survivors *survivors, struct judged_list *list)
{
    memset(list, 0, sizeof(*list));
    arena_init(&list->arena);
    return judge_rows(question, survivors, origins->rows, origins->count, list);
}

/* All groups that are judged, ledger after ledger. An origin for each ledger that has some; how
 * many. */
static size_t ledgers_of(const struct tally *tally, uint32_t *groups, struct origin *ledgers)
{
    size_t group_count = tally_group_count(tally), count = 0;

    for (uint16_t ledger = 0; ledger < tally_ledger_count(tally); ledger++) {
        struct origin row = {.groups = groups, .ledger = ledger};

        for (uint32_t group = 1; group < group_count; group++)
            if (tally_group_at(tally, group)->ledger == ledger && group_is_judged(tally, group))
                groups[row.group_count++] = group;
        if (row.group_count)
            ledgers[count++] = row;
        groups += row.group_count;
    }
    return count;
}

bool growth_judge_ledgers(const struct question *question, struct judged_list *list)
{
    memset(list, 0, sizeof(*list));
    arena_init(&list->arena);
    list->ledgers = malloc((tally_ledger_count(question->tally) + 1) * sizeof(*list->ledgers));
    list->ledger_groups = malloc(tally_group_count(question->tally) * sizeof(*list->ledger_groups));
    return list->ledgers && list->ledger_groups &&
           judge_rows(question, NULL, list->ledgers,
                      ledgers_of(question->tally, list->ledger_groups, list->ledgers), list);
}

static bool is_found(const struct step_rule *rule, size_t process)
{
    return rule && rule->found && process < rule->found_count &&
           rule->found[process].token.kind != TOKEN_NONE;
}

uint32_t growth_marked_steps_of(const struct question *question, uint16_t process)
{
    return is_found(question->steps, process)
               ? 0
               : tally_process_at(question->tally, process).ended_step_count;
}

bool growth_steps_are_marked(const struct question *question)
{
    if (question->has_chosen_steps)
        return true;
    for (size_t i = 0; i < model_process_count(question->model); i++)
        if (tally_process_at(question->tally, (uint16_t)i).step_count &&
            !is_found(question->steps, i))
            return true;
    return false;
}

struct judged_steps growth_longest_steps(const struct question *question)
{
    struct judged_steps longest = {0};

    for (size_t i = 0; i < model_process_count(question->model); i++) {
        struct judged_steps window = growth_steps_of(question, (uint16_t)i);

        if (window.last > longest.last)
            longest = window;
    }
    return longest;
}

uint32_t growth_steps_needed(const struct question *question)
{
    return growth_steps_are_marked(question) ? STEPS_MIN : TURNS_MIN;
}

bool growth_steps_decide(const struct question *question)
{
    struct judged_steps steps = growth_longest_steps(question);

    return growth_steps_are_marked(question) &&
           (steps.last - steps.warm_up >= STEPS_MIN || question->has_chosen_steps ||
            question->warm_up_steps != WARM_UP_DEFAULT);
}

bool growth_needs_survivors(const struct question *question)
{
    if (!growth_steps_are_marked(question))
        return true;
    for (size_t i = 0; i < tally_ledger_count(question->tally); i++)
        if (tally_ledger_at(question->tally, i)->peak_bytes &&
            growth_is_heap(question->tally, (uint16_t)i))
            return true;
    return false;
}

bool growth_has_device_memory(const struct question *question)
{
    for (size_t i = 0; i < tally_ledger_count(question->tally); i++)
        if (tally_ledger_at(question->tally, i)->device >= 0)
            return true;
    return false;
}

bool growth_has_blocks(const struct question *question)
{
    const struct tally *tally = question->tally;

    for (uint16_t i = 0; i < tally_ledger_count(tally); i++) {
        const struct ledger *ledger = tally_ledger_at(tally, i);

        if (ledger_is_judged(ledger) && ledger->alloc_count &&
            tally_process_at(tally, ledger->process).ended_step_count)
            return true;
    }
    return false;
}

struct births_seen growth_births(const struct judged *row)
{
    size_t steps = row->steps.last - row->steps.warm_up;
    struct births_seen seen = {.stretch = row->birth_stretch,
                               .stretch_count =
                                   (steps + row->birth_stretch - 1) / row->birth_stretch,
                               .with_survivors = row->judgement.birth_count};

    if (seen.with_survivors > seen.stretch_count)
        seen.with_survivors = seen.stretch_count;
    return seen;
}

void growth_release(struct judged_list *list)
{
    free(list->rows);
    free(list->ledgers);
    free(list->ledger_groups);
    arena_release(&list->arena);
}
