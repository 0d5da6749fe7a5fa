/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What is known of stacks.
 */
#include "stack_facts.h"

#include <stdlib.h>
#include <string.h>

#include "hash.h"
#include "list.h"
#include "stack_trait.h"

enum {
    recursion_depth =
        16, /* a frame that is among so many before it is recursion: f calls g calls f */
    path_most = 1024
};

struct python_shape {
    uint64_t stack, shape;
};

void stack_facts_init(struct stack_facts *facts, struct model *model, struct frame_names *names)
{
    *facts = (struct stack_facts){.model = model, .names = names};
    arena_init(&facts->arena);
    keyed_table_init(&facts->python_shapes, &facts->arena, sizeof(struct python_shape));
}

void stack_facts_release(struct stack_facts *facts)
{
    keyed_table_release(&facts->python_shapes);
    arena_release(&facts->arena);
    free(facts->rows);
    facts->rows = NULL;
    facts->row_count = 0;
}

/* --- facts --------------------------------------------------------------------------------- */

bool is_inside_operator(bool was_inside, enum frame_class class)
{
    return class == CLASS_OPERATOR || (was_inside && frame_classes[class].is_plumbing);
}

/* Without a name, only what Python calls, or what ends it, may be what rules look for. */
static unsigned traits_inside(unsigned outer, unsigned traits)
{
    return outer & (STACK_IS_PYTHON | STACK_IS_ENDING) ? traits
                                                       : traits & ~(unsigned)STACK_IS_UNNAMED;
}

/* Of the frame of this stack, to what is known of its caller's. */
static void fact_add(const struct stack_facts *facts, uint32_t stack, struct stack_fact *fact)
{
    const struct model_stack *row = model_stack_at(facts->model, stack);
    const struct named_frames frames = frame_names_of(facts->names, row->frame);
    size_t depth = fact->depth + (frames.count ? frames.count : 1);

    if (!row->outer || frames.class >= fact->class) {
        fact->telling = stack;
        fact->called = 0;
        fact->class = frames.class;
        if (frames.class == CLASS_PROGRAM) /* runs, whoever loads it: a loop may be in a module */
            fact->traits &= ~(unsigned)STACK_IS_IMPORT;
    } else if (!fact->called) {
        fact->called = stack;
    }
    if (frames.is_python)
        fact->python = stack;
    for (size_t i = frames.count; i-- > 0;)
        fact->is_operator = is_inside_operator(fact->is_operator, frames.rows[i].class);
    fact->traits |= traits_inside(fact->traits, frames.traits);
    fact->depth = depth < STACK_DEPTH_MOST ? (unsigned)depth : STACK_DEPTH_MOST;
}

/*
 * The facts of the caller's stack are known. Of frames that tell as much the innermost counts. What
 * a line of the program loads is one, however it goes on inside: nobody has to name those frames.
 */
static void fact_make(struct stack_facts *facts, uint32_t stack)
{
    uint32_t outer = model_stack_at(facts->model, stack)->outer;
    struct stack_fact fact = outer ? facts->rows[outer] : (struct stack_fact){0};

    if (!model_stack_is_inside_load(facts->model, stack))
        fact_add(facts, stack, &fact);
    facts->rows[stack] = fact;
}

const struct stack_fact *stack_facts_of(struct stack_facts *facts, uint32_t stack)
{
    uint32_t path[path_most];

    if (stack >= facts->row_count &&
        !list_extend(&facts->rows, &facts->row_count, model_stack_count(facts->model),
                     sizeof(*facts->rows)))
        return NULL;
    while (!facts->rows[stack].depth) {
        size_t count = 0;

        /* Of a very long way, the outermost part first. */
        for (uint32_t at = stack; at && !facts->rows[at].depth;
             at = model_stack_at(facts->model, at)->outer)
            path[count++ % path_most] = at;
        for (size_t i = 0; i < count && i < path_most; i++)
            fact_make(facts, path[(count - 1 - i) % path_most]);
    }
    return &facts->rows[stack];
}

/* --- shapes -------------------------------------------------------------------------------- */

/* The newest frames that count, and which may be among them. */
struct fold {
    uint64_t hash;
    uint64_t seen[4];
    uint64_t kept[recursion_depth];
    size_t count;
};

static bool is_among(const struct fold *fold, uint64_t key)
{
    size_t newest = fold->count < recursion_depth ? fold->count : recursion_depth;

    if (!(fold->seen[key >> 6 & 3] >> (key & 63) & 1))
        return false;
    for (size_t i = 0; i < newest; i++)
        if (fold->kept[i] == key)
            return true;
    return false;
}

static void fold_frame(struct fold *fold, const struct named_frame *frame)
{
    uint64_t key = frame->shape_key;

    if (is_among(fold, key))
        return;
    fold->seen[key >> 6 & 3] |= UINT64_C(1) << (key & 63);
    fold->kept[fold->count++ % recursion_depth] = key;
    fold->hash = hash_pair(fold->hash, key);
}

/* The lines of Python from this one outward. */
static uint64_t python_fold(struct stack_facts *facts, uint32_t stack)
{
    struct fold fold = {0};

    while (stack) {
        const struct model_stack *row = model_stack_at(facts->model, stack);
        const struct named_frames frames = frame_names_of(facts->names, row->frame);

        for (size_t i = 0; i < frames.count; i++)
            fold_frame(&fold, &frames.rows[i]);
        stack = row->outer ? facts->rows[row->outer].python : 0;
    }
    return fold.hash;
}

static uint64_t python_shape(struct stack_facts *facts, uint32_t stack)
{
    struct python_shape *row = keyed_table_find(&facts->python_shapes, stack);
    uint64_t shape;

    if (row)
        return row->shape;
    shape = python_fold(facts, stack);
    row = keyed_table_add(&facts->python_shapes, stack);
    if (row)
        row->shape = shape;
    return shape;
}

uint64_t stack_facts_shape(struct stack_facts *facts, uint32_t stack)
{
    const struct stack_fact *fact = stack_facts_of(facts, stack);
    uint32_t python = fact ? fact->python : 0;
    struct fold fold = {0};

    while (stack && stack != python) {
        const struct model_stack *row = model_stack_at(facts->model, stack);
        const struct named_frames frames = frame_names_of(facts->names, row->frame);

        for (size_t i = 0; i < frames.count; i++)
            if (!python || !frames.rows[i].is_loop)
                fold_frame(&fold, &frames.rows[i]);
        stack = row->outer;
    }
    return hash_pair(fold.hash, python ? python_shape(facts, python) : 0) | 1;
}
