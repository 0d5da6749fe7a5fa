/* SPDX-License-Identifier: Apache-2.0 */
#include "survivor_origins.h"

#include <stdlib.h>

#include "compare.h"
#include "thresholds.h"

/* By origin, and the heaviest first. */
static int stack_compare(const void *left, const void *right)
{
    const struct survivor_stack *a = left, *b = right;

    if (a->heap != b->heap)
        return a->heap < b->heap ? -1 : 1;
    if (a->name != b->name)
        return compare_numbers(a->name, b->name);
    if (a->overdue.bytes != b->overdue.bytes)
        return compare_numbers(b->overdue.bytes, a->overdue.bytes);
    return compare_numbers(a->who.site, b->who.site);
}

static int origin_compare(const void *left, const void *right)
{
    const struct survivor_origin *a = left, *b = right;

    if (a->may_go != b->may_go)
        return a->may_go - b->may_go;
    if (a->bytes != b->bytes)
        return compare_numbers(b->bytes, a->bytes);
    return compare_numbers(a->stacks[0].who.site, b->stacks[0].who.site);
}

/* re keeps as many patterns; a program that keeps more of one line keeps them itself. */
static bool is_bounded(const struct survivor_stack *stack)
{
    return stack->traits & STACK_IS_BOUNDED ||
           (stack->traits & STACK_IS_PATTERN && stack->overdue.count <= PATTERNS_MAX);
}

static void origin_add(struct survivor_origin *origin, const struct survivor_stack *stack)
{
    origin->keeps_all = stack->keeps_all && (origin->keeps_all || !origin->stack_count);
    if (!origin->stack_count++)
        origin->stacks = stack;
    origin->bytes += stack->overdue.bytes;
    origin->count += stack->overdue.count;
    if (is_bounded(stack))
        origin->bounded_bytes += stack->overdue.bytes;
    else if (stack->is_garbage)
        origin->garbage_bytes += stack->overdue.bytes;
    else if (stack->overdue.is_fading)
        origin->fading_bytes += stack->overdue.bytes;
}

/* What is collected has handles, which go with it: lighter, and no more of them. */
static void join_garbage(struct survivor_process *process, struct survivor_origin *origins)
{
    uint64_t garbage_bytes = process->garbage_bytes, garbage_count = 0;

    for (size_t i = 0; i < process->origin_count; i++)
        if (origins[i].garbage_bytes)
            garbage_count += origins[i].count;
    for (size_t i = 0; i < process->origin_count; i++) {
        struct survivor_origin *origin = &origins[i];
        uint64_t bytes;

        if (origin->may_go || origin->bytes > garbage_bytes || origin->count > garbage_count)
            continue;
        bytes = origin->bytes - origin->bounded_bytes - origin->garbage_bytes;
        origin->may_go = true;
        origin->garbage_bytes += bytes;
        process->garbage_bytes += bytes;
        process->bytes -= bytes;
    }
}

bool survivor_origins_make(struct arena *arena, struct survivor_stack *stacks, size_t count,
                           struct survivor_process *process)
{
    struct survivor_origin *origins = arena_alloc(arena, (count + 1) * sizeof(*origins));

    if (!origins)
        return false;
    qsort(stacks, count, sizeof(*stacks), stack_compare);
    for (size_t i = 0; i < count; i++) {
        if (!i || stacks[i].name != stacks[i - 1].name || stacks[i].heap != stacks[i - 1].heap)
            process->origin_count++;
        origin_add(&origins[process->origin_count - 1], &stacks[i]);
    }
    for (size_t i = 0; i < process->origin_count; i++) {
        struct survivor_origin *origin = &origins[i];

        origin->may_go = origin->bounded_bytes + origin->fading_bytes + origin->garbage_bytes >
                         origin->bytes / MOST_SHARE;
        process->bounded_bytes += origin->bounded_bytes;
        process->garbage_bytes += origin->garbage_bytes;
        if (origin->may_go)
            process->fading_bytes += origin->fading_bytes;
        else
            process->bytes += origin->bytes - origin->bounded_bytes - origin->garbage_bytes;
    }
    join_garbage(process, origins);
    qsort(origins, process->origin_count, sizeof(*origins), origin_compare);
    process->origins = origins;
    return true;
}
