/* SPDX-License-Identifier: Apache-2.0 */
#include "survivor_turns.h"

#include <stdlib.h>

#include "compare.h"
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
