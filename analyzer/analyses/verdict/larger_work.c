/* SPDX-License-Identifier: Apache-2.0 */
#include "larger_work.h"

#include "thresholds.h"

static bool is_one_at_a_time(const struct overdue_stack *stack)
{
    for (size_t i = 0; i < stack->row_count; i++)
        if (stack->rows[i].alive_bytes > stack->largest_bytes)
            return false;
    return true;
}

/* Never more than one at a time, as what fills and is emptied now and then has, and none for some
 * time before the next is made: a block that grows in its place lives until then. */
bool brief_blocks_are(const struct overdue_stack *stack)
{
    return stack->births >= SURVIVORS_MIN && stack->largest_bytes >= GROWING_BLOCK_BYTES_MIN &&
           stack->freed_age < (stack->last - stack->first) / (stack->births - 1) &&
           overdue_is_given_back(stack) && is_one_at_a_time(stack);
}

void brief_blocks_add(struct brief_blocks *brief, const struct overdue_stack *stack)
{
    struct overdue_rise rise = overdue_rise_of(stack);

    brief->early_bytes += rise.early_bytes;
    if (rise.chance < SURE_CHANCE_MAX && rise.late_bytes > rise.early_bytes)
        brief->growth_bytes += rise.late_bytes - rise.early_bytes;
}

/* By which part of themselves they are larger in the last third. */
static bool grow_along(const struct brief_blocks *brief, const struct overdue_rise *rise)
{
    double growth_bytes = rise->late_bytes - rise->early_bytes;

    return brief->growth_bytes * MOST_SHARE * rise->early_bytes >=
               growth_bytes * brief->early_bytes &&
           brief->growth_bytes > 0;
}

static uint64_t step_bytes(const struct overdue_stack *stack, uint64_t growth_bytes)
{
    return growth_bytes / stack->births;
}

enum work_kind larger_work_kind(const struct overdue_stack *stack, uint64_t first_bytes,
                                const struct brief_blocks *brief)
{
    struct overdue_rise rise = overdue_rise_of(stack);

    if (!grow_along(brief, &rise))
        return WORK_IS_THE_SAME;
    return first_bytes >= START_STEPS_TIMES * step_bytes(stack, stack->largest_bytes - first_bytes)
               ? WORK_GROWS
               : WORK_MAY_GROW;
}

void larger_loop_see(struct larger_loop *loop, struct who who, enum work_kind kind,
                     const struct overdue_stack *stack, uint64_t growth_bytes)
{
    if (kind == WORK_MAY_GROW)
        loop->doubtful_bytes += growth_bytes;
    if (kind == WORK_IS_THE_SAME || growth_bytes <= loop->most_bytes)
        return;
    loop->who = who;
    loop->most_bytes = growth_bytes;
    loop->step_bytes = step_bytes(stack, growth_bytes);
}
