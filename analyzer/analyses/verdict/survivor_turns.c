/* SPDX-License-Identifier: Apache-2.0 */
#include "survivor_turns.h"

#include <stdlib.h>

#include "compare.h"
#include "growth.h"
#include "thresholds.h"

static int active_compare(const void *left, const void *right)
{
    const struct active_stack *a = left, *b = right;

    if (a->births != b->births)
        return compare_numbers(a->births, b->births);
    return compare_numbers(a->first, b->first);
}

/* How many of the stacks from this one on have as many births. */
static size_t agreed_at(const struct active_stack *stacks, size_t count, size_t at)
{
    size_t end = at;

    while (end < count && stacks[end].births == stacks[at].births)
        end++;
    return end - at;
}

/*
 * The commonest number of births, of several the greatest: of stacks that allocate once in each
 * turn. least: a smaller number is taken instead, if two stacks have it, as the commonest is of a
 * loop within that one; 0: none.
 */
static void turns_of(struct active_stack *stacks, size_t count, uint32_t least,
                     struct survivor_process *process)
{
    size_t agreed, least_agreed = 0;

    if (count)
        qsort(stacks, count, sizeof(*stacks), active_compare);
    for (size_t i = 0; i < count; i += agreed) {
        agreed = agreed_at(stacks, count, i);
        if (stacks[i].births == least)
            least_agreed = agreed;
        if (agreed < SEVERAL_MIN || agreed < process->turns_agreed)
            continue;
        process->turns_agreed = (uint32_t)agreed;
        process->turns = stacks[i].births;
    }
    if (least_agreed >= SEVERAL_MIN && least < process->turns) {
        process->turns_agreed = (uint32_t)least_agreed;
        process->turns = least;
    }
}

/* From the first birth of a stack to its last are one turn less than it has births. */
static double births_per_turn(const struct active_stack *stacks, size_t count, uint32_t turns)
{
    double births = 0, gaps = 0;

    for (size_t i = 0; i < count; i++) {
        if (stacks[i].births != turns)
            continue;
        births += (double)(stacks[i].last - stacks[i].first);
        gaps += (double)turns - 1;
    }
    return gaps > 0 ? births / gaps : 0;
}

static int first_compare(const void *left, const void *right)
{
    const struct active_stack *a = left, *b = right;

    return compare_numbers(a->first, b->first);
}

uint32_t survivor_turns_begin(struct active_stack *stacks, size_t count)
{
    if (!count)
        return 0;
    qsort(stacks, count, sizeof(*stacks), first_compare);
    return stacks[count / 2].first;
}

/* Of those that began about when this one did: others are of another loop, or of imports. */
static size_t keep_loop(struct active_stack *stacks, size_t count, uint32_t first, uint32_t end)
{
    uint32_t near = (end - first) / LOOP_BEGIN_SHARE;
    size_t kept = 0;

    for (size_t i = 0; i < count; i++)
        if (stacks[i].first + (uint64_t)near >= first && stacks[i].first <= first + (uint64_t)near)
            stacks[kept++] = stacks[i];
    return kept;
}

void survivor_turns_find(struct survivor_process *process, struct active_stack *active)
{
    const struct survivor_stack *leak = process->origin_count ? process->origins->stacks : NULL;
    size_t count = process->active_count;

    process->turns_begin = leak ? leak->first : process->begin;
    if (leak)
        count = keep_loop(active, count, leak->first, process->end);
    turns_of(active, count, leak ? leak->overdue.births : 0, process);
    process->turn_births = births_per_turn(active, count, process->turns);
}

/* How many blocks stay of each step; 0: not as many of each. The first cohort and the last may be
 * of fewer steps than the others. */
static uint32_t left_of_each(const struct cohorts *cohorts)
{
    uint32_t each = 0;

    for (size_t i = 1; i + 1 < cohorts->count; i++) {
        if (!cohorts->rows[i].count || (each && cohorts->rows[i].count != each))
            return 0;
        each = cohorts->rows[i].count;
    }
    return each ? each / cohorts->stride : 0;
}

/* What the stack left in most steps, of which as many blocks stay each time; NULL: not so. */
static const struct group_past *left_by_steps(const struct tally *tally,
                                              const struct survivor_stack *stack)
{
    const struct group_past *most = NULL;

    for (size_t i = 1; stack->who.site && i < tally_group_count(tally); i++) {
        const struct group_past *past = tally_past_at(tally, i);

        if (tally_detail_at(tally, i)->site == stack->who.site &&
            tally_group_at(tally, i)->ledger == stack->ledger && left_of_each(&past->cohorts) &&
            (!most || past->left_steps > most->left_steps))
            most = past;
    }
    return most;
}

void survivor_turns_by_steps(const struct question *question, struct survivor_process *process)
{
    const struct survivor_stack *leak = process->origin_count ? process->origins->stacks : NULL;
    const struct overdue *overdue = leak ? &leak->overdue : NULL;
    struct tally_process steps = tally_process_at(question->tally, process->process);
    const struct group_past *left;
    uint64_t leaving; /* of the steps, those of which blocks are overdue */

    if (!leak || growth_marked_steps_of(question, process->process) ||
        steps.ended_step_count < TURNS_MIN || steps.step_count >= process->turns ||
        overdue->count > overdue->births / MOST_SHARE)
        return;
    left = left_by_steps(question->tally, leak);
    if (!left || left->left_steps + 1 < steps.ended_step_count)
        return;
    leaving = overdue->count / left_of_each(&left->cohorts);
    if (leaving > left->left_steps || leaving <= 1)
        return;
    process->turns = steps.step_count;
    process->turn_births = (double)(overdue->last - overdue->first) / (double)(leaving - 1);
}
