/* SPDX-License-Identifier: Apache-2.0 */
#include "given_again.h"

#include <string.h>

#include "thresholds.h"

/* Who asks an allocator of the interpreter for an object that its collector tracks ... */
static const char *const makers_of_tracked[] = {"PyList_New", "PyDict_New", "new_dict",
                                                "PyTuple_New", "tuple_alloc"};
/* ... for another, or for the keys of a dict, unless a larger table of keys is wanted. */
static const char *const makers_of_others[] = {"PyFloat_FromDouble", "new_keys_object"};
static const char *const growers[] = {"dictresize", "insertion_resize"};
/* How the names of allocators begin that are of what is tracked. */
static const char *const tracked_starts[] = {"_PyObject_GC_", "gc_alloc"};

#define COUNT(list) (sizeof(list) / sizeof((list)[0]))

static bool is_one_of(const char *function, const char *const *names, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (strcmp(function, names[i]) == 0)
            return true;
    return false;
}

static bool is_of_tracked(const char *function)
{
    for (size_t i = 0; i < COUNT(tracked_starts); i++)
        if (strncmp(function, tracked_starts[i], strlen(tracked_starts[i])) == 0)
            return true;
    return false;
}

/* Arithmetic of floats, where the function that makes one is a part of it. */
static bool is_arithmetic(const char *function)
{
    return strncmp(function, "float_", 6) == 0;
}

static bool has_python(const struct symbol_frame *frames, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (frames[i].is_python)
            return true;
    return false;
}

static bool is_maker(const struct symbol_frame *frame, bool is_tracked)
{
    if (is_tracked)
        return is_one_of(frame->function, makers_of_tracked, COUNT(makers_of_tracked));
    return (is_one_of(frame->function, makers_of_others, COUNT(makers_of_others)) &&
            !is_one_of(frame[1].function, growers, COUNT(growers))) ||
           is_arithmetic(frame->function);
}

bool is_given_again(const struct symbol_frame *frames, size_t count)
{
    bool is_tracked = false;
    size_t asker = 0;

    for (; asker < count && !frames[asker].is_python; asker++) {
        if (is_of_tracked(frames[asker].function))
            is_tracked = true;
        else if (!frames[asker].is_allocator)
            break;
    }
    /* There is an outer frame, as one of them is of Python. */
    return asker < count && !frames[asker].is_python && has_python(frames + asker, count - asker) &&
           is_maker(&frames[asker], is_tracked);
}

static bool stack_is_of_such(struct symbols *symbols, const struct survivor_stack *stack)
{
    size_t count;
    const struct symbol_frame *frames = symbols_frames(symbols, stack->who.site, &count);

    return is_given_again(frames, count);
}

/* What of an origin, or of a stack, holds others: a table that grows has eight bytes for each that
 * it holds, which may hold others; of other blocks there are half as many. */
static bool is_enough_for(bool is_growing, uint64_t bytes, uint64_t count, uint64_t held_count)
{
    return is_growing ? bytes >= held_count : count >= held_count / MOST_SHARE;
}

/* Most of its bytes are of such objects, and no other stack of it keeps them. */
static bool is_doubtful(struct symbols *symbols, const struct survivor_origin *origin)
{
    uint64_t such_bytes = 0;
    bool has_keeper = false;

    for (size_t i = 0; i < origin->stack_count; i++) {
        const struct survivor_stack *stack = &origin->stacks[i];
        const struct overdue *overdue = &stack->overdue;

        if (stack_is_of_such(symbols, stack))
            such_bytes += overdue->bytes;
        else
            has_keeper |=
                is_enough_for(overdue->is_growing, overdue->bytes, overdue->count, origin->count);
    }
    return !has_keeper && such_bytes > origin->bytes / MOST_SHARE;
}

static bool is_growing(const struct survivor_origin *origin)
{
    return origin->stacks[0].overdue.is_growing;
}

/* Over at least half of the time of the other: a table that doubles does so ever more seldom. */
static bool is_beside(const struct survivor_origin *origin, const struct survivor_origin *other)
{
    const struct overdue *a = &origin->stacks[0].overdue, *b = &other->stacks[0].overdue;
    uint32_t first = a->first > b->first ? a->first : b->first;
    uint32_t last = a->last < b->last ? a->last : b->last;

    return last > first && last - first >= (b->last - b->first) / MOST_SHARE;
}

static bool may_keep(struct symbols *symbols, const struct survivor_origin *origin,
                     const struct survivor_origin *first)
{
    return is_enough_for(is_growing(origin), origin->bytes, origin->count, first->count) &&
           is_beside(origin, first) && !is_doubtful(symbols, origin);
}

static bool is_same_line(struct symbols *symbols, const struct survivor_origin *a,
                         const struct survivor_origin *b)
{
    return strcmp(symbols_label(symbols, a->stacks[0].who.site),
                  symbols_label(symbols, b->stacks[0].who.site)) == 0;
}

/* To the front; the others keep their order. */
static void put_first(struct survivor_origin *origins, size_t index)
{
    struct survivor_origin moved = origins[index];

    memmove(origins + 1, origins, index * sizeof(*origins));
    origins[0] = moved;
}

const struct survivor_origin *given_again_settle(struct symbols *symbols,
                                                 struct survivor_origin *origins, size_t leak_count)
{
    size_t keeper = 0;

    if (!leak_count || !is_doubtful(symbols, &origins[0]))
        return NULL;
    for (size_t i = 1; i < leak_count; i++) {
        if (!may_keep(symbols, &origins[i], &origins[0]))
            continue;
        if (is_same_line(symbols, &origins[0], &origins[i]))
            return NULL;
        if (!keeper || (is_growing(&origins[i]) && !is_growing(&origins[keeper])))
            keeper = i;
    }
    put_first(origins, keeper);
    return &origins[keeper ? 1 : 0];
}
