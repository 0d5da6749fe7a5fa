/* SPDX-License-Identifier: Apache-2.0 */
/*
 * When a collector of the process looked at all of its heap.
 */
#include "collector_watch.h"

#include "stack_trait.h"
#include "thresholds.h"

/* One collection makes several blocks for itself: the next has begun when something was made that
 * it could collect. */
void collector_watch_born(struct collector_watch *watch, unsigned traits, uint32_t clock)
{
    if (traits & STACK_IS_COLLECTED)
        watch->has_made = true;
    if (!(traits & STACK_IS_COLLECTING) || !watch->has_made)
        return;
    watch->before = watch->last;
    watch->last = clock;
    watch->count++;
    watch->has_made = false;
}

/* What was unreachable when the one before the last began is freed at the latest when the last
 * begins: until then it is swept beside the program. 0: nothing is known. */
static uint32_t known_until(const struct collector_watch *watch)
{
    return watch->count > 1 ? watch->before : 0;
}

struct overdue collector_judge(const struct collector_watch *watch,
                               const struct overdue_stack *stack, uint32_t end,
                               enum overdue_sweep sweep, bool *is_garbage)
{
    uint32_t known = known_until(watch);
    struct overdue proved = overdue_judge_before(stack, end, known, sweep);
    struct overdue all = overdue_judge(stack, end, sweep);
    bool is_seen =
        known > stack->first && known - stack->first > (stack->last - stack->first) / MOST_SHARE;

    *is_garbage = proved.reason != OVERDUE_YES && !is_seen;
    return *is_garbage ? all : proved;
}
