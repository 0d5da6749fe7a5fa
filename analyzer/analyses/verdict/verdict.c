/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Survivors and steps become one verdict, which the recording keeps.
 */
#include "verdict.h"

#include <stdlib.h>

#include "leak_list.h"
#include "ledger_layers.h"
#include "survivor_answers.h"

struct verdict_owner {
    struct verdict verdict; /* the first: what is borrowed is this */
    struct arena arena;
    struct survivor_reading *reading; /* NULL: steps alone decide */
    struct origins origins;
    struct judged_list sites, ledgers;
    struct leak_list leaks;
    struct doubt doubts[DOUBT_KIND_COUNT];
};

static void owner_destroy(struct verdict_owner *owner)
{
    if (!owner)
        return;
    growth_release(&owner->sites);
    growth_release(&owner->ledgers);
    origins_release(&owner->origins);
    survivor_reading_destroy(owner->reading);
    arena_release(&owner->arena);
    free(owner->leaks.rows);
    free(owner);
}

void verdict_destroy(struct verdict *verdict)
{
    /* It is the first member. */
    owner_destroy((struct verdict_owner *)verdict);
}

/* --- made once -------------------------------------------------------------------------------- */

static bool judge_steps(const struct question *question, struct verdict_owner *owner)
{
    const struct survivors *survivors = owner->verdict.survivors;

    return !owner->verdict.steps.last ||
           (origins_init_of(&owner->origins, question, ORIGINS_BY_SIZE, group_is_judged) &&
            growth_judge(question, &owner->origins, survivors, &owner->sites) &&
            growth_judge_ledgers(question, &owner->ledgers));
}

static size_t judged_stacks(const struct survivors *survivors)
{
    size_t count = 0;

    for (size_t i = 0; i < survivors->process_count; i++)
        if (survivors->processes[i].is_judged)
            count += survivors->processes[i].active_count;
    return count;
}

static bool fill(const struct question *question, struct verdict_owner *owner)
{
    struct verdict *verdict = &owner->verdict;
    struct doubt_ground ground = {.question = question, .arena = &owner->arena};

    verdict->steps = growth_longest_steps(question);
    verdict->sites = &owner->sites;
    verdict->ledgers = &owner->ledgers;
    verdict->doubts = owner->doubts;
    if (!judge_steps(question, owner))
        return false;
    ground.survivors = verdict->survivors;
    ground.is_by_stacks = verdict->is_by_stacks =
        survivors_decide(question, verdict->survivors) && !growth_steps_decide(question);
    verdict->judged_count =
        verdict->is_by_stacks ? judged_stacks(verdict->survivors) : owner->sites.origin_count;
    leak_list_make(question, verdict, &owner->arena, &owner->leaks);
    verdict->leaks = owner->leaks.rows;
    verdict->leak_count = owner->leaks.count;
    verdict->doubt_count = doubts_find(&ground, owner->doubts);
    return !owner->leaks.has_failed && !owner->arena.has_failed;
}

/* Takes the reading, which may be NULL, in any case. */
static struct verdict *make(const struct question *question, struct survivor_reading *reading)
{
    struct verdict_owner *owner = calloc(1, sizeof(*owner));

    if (!owner) {
        survivor_reading_destroy(reading);
        return NULL;
    }
    arena_init(&owner->arena);
    arena_init(&owner->sites.arena);
    arena_init(&owner->ledgers.arena);
    owner->reading = reading;
    owner->verdict.survivors = reading ? survivor_reading_finish(reading) : NULL;
    if ((!reading || owner->verdict.survivors) && fill(question, owner))
        return &owner->verdict;
    owner_destroy(owner);
    return NULL;
}

/* --- kept ------------------------------------------------------------------------------------- */

/* NULL: there is none that was asked for in the same way. */
static struct verdict *kept(const struct question *question)
{
    const struct verdict_keeper *keeper = question->keeper;

    return keeper && keeper->warm_up_steps == question->warm_up_steps ? keeper->verdict : NULL;
}

static struct verdict *keep(const struct question *question, struct verdict *verdict)
{
    struct verdict_keeper *keeper = question->keeper;

    if (!keeper || !verdict)
        return verdict;
    verdict_destroy(keeper->verdict);
    *keeper = (struct verdict_keeper){verdict, question->warm_up_steps};
    return verdict;
}

const struct verdict *verdict_borrow(const struct question *question)
{
    struct survivor_reading *reading = NULL;

    if (kept(question))
        return kept(question);
    if (growth_needs_survivors(question)) {
        reading = survivors_read(question);
        if (!reading)
            return NULL;
    }
    return keep(question, make(question, reading));
}

void verdict_give_back(const struct question *question, const struct verdict *verdict)
{
    if (!question->keeper)
        verdict_destroy((struct verdict *)verdict);
}

/* --- in the reading of an answer -------------------------------------------------------------- */

struct verdict_search {
    const struct question *question;
    struct survivor_reading *reading; /* NULL: steps alone decide, or it was taken */
    const struct verdict *verdict;
    bool is_made;
};

void *verdict_search_begin(const struct question *question, struct life_visitor *visitor)
{
    struct verdict_search *search = calloc(1, sizeof(*search));

    if (!search)
        return NULL;
    search->question = question;
    search->verdict = kept(question);
    search->is_made = search->verdict != NULL;
    if (search->is_made || !growth_needs_survivors(question))
        return search;
    search->reading = survivor_reading_create(question, visitor);
    if (search->reading)
        return search;
    free(search);
    return NULL;
}

const struct question *verdict_search_question(const struct verdict_search *search)
{
    return search->question;
}

const struct verdict *verdict_search_result(struct verdict_search *search)
{
    if (search->is_made)
        return search->verdict;
    search->is_made = true;
    search->verdict = keep(search->question, make(search->question, search->reading));
    search->reading = NULL;
    return search->verdict;
}

void verdict_search_release(void *state)
{
    struct verdict_search *search = state;

    survivor_reading_destroy(search->reading);
    if (search->is_made)
        verdict_give_back(search->question, search->verdict);
    free(search);
}

/* --- asked ------------------------------------------------------------------------------------ */

static enum why_rule rule_of(const struct judged *row)
{
    switch (row->judgement.verdict) {
    case VERDICT_LEAK:
        return WHY_STEP_LEAK;
    case VERDICT_LIGHT:
        return WHY_STEP_LIGHT;
    case VERDICT_SAWTOOTH:
        return WHY_STEP_SAWTOOTH;
    case VERDICT_UNSURE:
        return WHY_STEP_UNSURE;
    default:
        return WHY_STEP_CACHE;
    }
}

struct why verdict_why_of(const struct judged *row, uint32_t steps_needed)
{
    struct births_seen births = growth_births(row);
    enum why_rule rule = rule_of(row);
    bool is_of_few = rule == WHY_STEP_UNSURE;

    return (struct why){
        .rule = rule,
        .measured = is_of_few ? row->steps.last - row->steps.warm_up : births.with_survivors,
        .needed = is_of_few ? steps_needed : births.stretch_count,
        .who = row->origin->who,
        .process = row->steps.process,
        .ledger = row->origin->ledger,
        .freed_age = row->judgement.freed_age,
        .count = row->judgement.overdue_count,
        .left_bytes = row->survivor_bytes,
    };
}

struct why verdict_why(const struct question *question, const struct leak *leak)
{
    const struct survivor_stack *first;

    if (leak->row)
        return verdict_why_of(leak->row, growth_steps_needed(question));
    first = &leak->survivors->stacks[0];
    return (struct why){
        .rule = first->overdue.is_growing ? WHY_GROWS : WHY_LEAK,
        .measured = first->overdue.is_growing ? first->overdue.bytes : first->overdue.measured,
        .needed = first->overdue.needed,
        .who = first->who,
        .process = leak->process,
        .ledger = leak->ledger,
        .births = first->overdue.births,
        .freed_age = first->overdue.freed_age,
        .count = first->overdue.count,
        .left_bytes = first->overdue.left_bytes,
    };
}

static bool is_of_survivors(const struct question *question, const struct leak *leak,
                            uint32_t group)
{
    const struct survivor_stack *first = &leak->survivors->stacks[0];
    uint32_t site = tally_detail_at(question->tally, group)->site;
    uint16_t ledger = tally_group_at(question->tally, group)->ledger;

    return site && ledger_of_heap(question->tally, ledger) == first->heap &&
           symbols_site_key(question->symbols, site) == first->name;
}

static bool is_of_leak(const struct question *question, const struct leak *leak, uint32_t group)
{
    if (leak->survivors)
        return is_of_survivors(question, leak, group);
    for (size_t i = 0; i < leak->row->origin->group_count; i++)
        if (leak->row->origin->groups[i] == group)
            return true;
    return false;
}

uint32_t *verdict_leaks_of_groups(const struct question *question, const struct verdict *verdict)
{
    size_t count = tally_group_count(question->tally);
    uint32_t *leaks = calloc(count + 1, sizeof(*leaks));

    for (size_t i = 0; leaks && i < verdict->leak_count; i++)
        for (uint32_t group = 1; group < count; group++)
            if (!leaks[group] && is_of_leak(question, &verdict->leaks[i], group))
                leaks[group] = (uint32_t)i + 1;
    return leaks;
}

/* Whether enough of this process was judged, however much was of others. */
static bool is_judged(const struct question *question, const struct verdict *verdict,
                      uint16_t process, size_t *judged_count)
{
    const struct survivor_process *row =
        verdict->survivors ? survivors_of_process(verdict->survivors, process) : NULL;
    struct judged_steps steps;

    if (verdict->is_by_stacks) {
        *judged_count = row && row->is_judged ? row->active_count : 0;
        return row && (row->is_judged || survivors_are_leak(row) || survivors_are_undecided(row));
    }
    *judged_count =
        verdict->sites->origins_of_processes ? verdict->sites->origins_of_processes[process] : 0;
    steps = growth_steps_of(question, process);
    return steps.last - steps.warm_up >= growth_steps_needed(question);
}

/* What is doubted of one recording says nothing of another that is read with it. */
static bool is_of_recording_of(const struct question *question, const struct doubt *doubt,
                               uint16_t process)
{
    struct model *model = tally_model(question->tally);

    return doubt->kind == DOUBT_STATE || doubt->kind == DOUBT_BLOCKS ||
           doubt->kind == DOUBT_MISSING ||
           model_process_at(model, doubt->process)->input ==
               model_process_at(model, process)->input;
}

const struct doubt *verdict_doubt_of(const struct question *question, const struct verdict *verdict,
                                     uint16_t process, size_t *judged_count)
{
    static const struct doubt unjudged = {.kind = DOUBT_NO_STEPS};
    bool is_enough = is_judged(question, verdict, process, judged_count);

    for (size_t i = 0; i < verdict->doubt_count; i++)
        if (is_of_recording_of(question, &verdict->doubts[i], process))
            return &verdict->doubts[i];
    return is_enough ? NULL : &unjudged;
}
