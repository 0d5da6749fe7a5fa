/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How an interpreter ends, and what of that was seen.
 */
#include "interpreter_end.h"

#include "stack_trait.h"
#include "thresholds.h"

static void see_sweep(struct interpreter_end *end, unsigned traits)
{
    if (!(traits & (STACK_IS_SWEEPING | STACK_IS_SWEPT)))
        return;
    end->swept_early |= !end->is_handled;
    end->shows_sweeps |= traits & STACK_IS_SWEEPING && end->is_handled && !end->is_cleared;
}

enum interpreter_event interpreter_end_born(struct interpreter_end *end, unsigned traits)
{
    bool is_first = !end->has_begun && traits & STACK_IS_ENDING;

    end->has_begun |= is_first;
    end->is_cleared |= (traits & STACK_IS_CLEARED) != 0;
    if (!end->has_begun)
        return INTERPRETER_GOES_ON;
    see_sweep(end, traits);
    if (is_first && traits & STACK_IS_SWEPT && !(traits & STACK_IS_SWEEPING))
        return INTERPRETER_COLLECTS;
    if (!(traits & STACK_IS_FLUSHING) || end->is_handled)
        return INTERPRETER_GOES_ON;
    end->is_handled = true;
    return INTERPRETER_HANDLED;
}

bool interpreter_end_is_sweeping(const struct interpreter_end *end)
{
    return end->has_begun && !end->is_cleared;
}

/* Each cycle has a block that refers to others. Where fewer went than survivors are needed, no
 * loop made cycles of them. */
static bool is_let_go(const struct interpreter_end *end, bool sees_objects)
{
    bool is_unanswered = sees_objects && end->containers > READY_NUMBERS_MAX;

    return end->is_handled && !end->swept_early &&
           (end->shows_sweeps || is_unanswered || end->referrers < SURVIVORS_MIN);
}

enum overdue_sweep interpreter_end_sweep(const struct interpreter_end *end, bool sees_objects)
{
    if (!end->is_cleared)
        return OVERDUE_SWEEP_UNKNOWN;
    return is_let_go(end, sees_objects) ? OVERDUE_SWEEP_LAST : OVERDUE_SWEEP_ALL;
}

enum overdue_sweep interpreter_end_doubted(const struct interpreter_end *end)
{
    if (!end->is_cleared)
        return OVERDUE_SWEEP_UNKNOWN;
    return end->is_handled ? OVERDUE_SWEEP_LAST : OVERDUE_SWEEP_ALL;
}
