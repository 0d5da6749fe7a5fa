/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Call stacks of a report, as a tree.
 */
#include "report_stacks.h"

#include <string.h>

#include "hash.h"
#include "leaktide/invariant.h"

/* A frame as somebody gave it, whose texts may be gone, and other ones at their place, by now. */
struct frame_source {
    const char *function, *file, *module;
    const struct report_frame *frame;
};

void report_stacks_init(struct report_stacks *stacks, struct arena *arena)
{
    table_init(&stacks->texts, arena, sizeof(const char *));
    table_init(&stacks->frames, arena, sizeof(struct report_frame));
    table_init(&stacks->sources, arena, sizeof(struct frame_source));
    table_init(&stacks->stacks, arena, sizeof(struct report_stack));
    hash_index_init(&stacks->text_index);
    hash_index_init(&stacks->frame_index);
    hash_index_init(&stacks->source_index);
    hash_index_init(&stacks->stack_index);
}

void report_stacks_release(struct report_stacks *stacks)
{
    hash_index_release(&stacks->text_index);
    hash_index_release(&stacks->frame_index);
    hash_index_release(&stacks->source_index);
    hash_index_release(&stacks->stack_index);
}

void report_stacks_check(const struct report_stacks *stacks)
{
    MT_ASSERT(stacks->frames.count <= stacks->sources.count);
    for (size_t i = 0; i < stacks->frames.count; i++) {
        const struct report_frame *frame = table_at(&stacks->frames, i);

        MT_ASSERT(frame->function && frame->file && frame->module);
    }
    for (size_t i = 0; i < stacks->stacks.count; i++) {
        const struct report_stack *stack = table_at(&stacks->stacks, i);

        MT_ASSERT(stack->frame);
        MT_ASSERT(stack->depth == (stack->caller ? stack->caller->depth + 1 : 1));
    }
}

/* A new row, which the index finds; NULL when there is no memory. */
static void *row_add(struct table *table, struct hash_index *index, uint64_t hash)
{
    void *row = hash_index_add_row(index, hash, table);

    if (!row)
        table->arena->has_failed = true;
    return row;
}

static const char *text_for(struct report_stacks *stacks, const char *text)
{
    uint64_t hash = hash_bytes(text, strlen(text));
    const char **row;
    size_t probe = 0;
    uint32_t found;

    while (hash_index_next(&stacks->text_index, hash, &probe, &found)) {
        row = table_at(&stacks->texts, found);
        if (strcmp(*row, text) == 0)
            return *row;
    }
    row = row_add(&stacks->texts, &stacks->text_index, hash);
    if (row)
        *row = arena_copy(stacks->texts.arena, text);
    return row ? *row : "";
}

static uint64_t frame_hash(const struct report_frame *frame)
{
    return hash_pair(hash_pair((uintptr_t)frame->function, (uintptr_t)frame->file),
                     hash_pair((uintptr_t)frame->module, frame->line));
}

static bool is_like(const struct report_frame *a, const struct report_frame *b)
{
    return a->line == b->line && a->is_inlined == b->is_inlined && a->is_python == b->is_python &&
           !a->folded_as == !b->folded_as &&
           (!a->folded_as || strcmp(a->folded_as, b->folded_as) == 0);
}

/* frame: its texts are those of text_for() */
static const struct report_frame *frame_kept(struct report_stacks *stacks,
                                             const struct report_frame *frame)
{
    uint64_t hash = frame_hash(frame);
    struct report_frame *row;
    size_t probe = 0;
    uint32_t found;

    while (hash_index_next(&stacks->frame_index, hash, &probe, &found)) {
        row = table_at(&stacks->frames, found);
        if (row->function == frame->function && row->file == frame->file &&
            row->module == frame->module && is_like(row, frame))
            return row;
    }
    row = row_add(&stacks->frames, &stacks->frame_index, hash);
    if (row)
        *row = *frame;
    return row;
}

static const struct report_frame *frame_new(struct report_stacks *stacks,
                                            const struct report_frame *frame)
{
    struct report_frame copy = *frame;

    copy.function = text_for(stacks, frame->function);
    copy.file = text_for(stacks, frame->file);
    copy.module = text_for(stacks, frame->module);
    copy.folded_as = frame->folded_as ? text_for(stacks, frame->folded_as) : NULL;
    return frame_kept(stacks, &copy);
}

static bool is_same_source(const struct frame_source *source, const struct report_frame *frame)
{
    return source->function == frame->function && source->file == frame->file &&
           source->module == frame->module && is_like(source->frame, frame) &&
           strcmp(source->frame->function, frame->function) == 0 &&
           strcmp(source->frame->file, frame->file) == 0 &&
           strcmp(source->frame->module, frame->module) == 0;
}

static const struct report_frame *frame_for(struct report_stacks *stacks,
                                            const struct report_frame *frame)
{
    uint64_t hash = frame_hash(frame);
    const struct report_frame *kept;
    struct frame_source *row;
    size_t probe = 0;
    uint32_t found;

    while (hash_index_next(&stacks->source_index, hash, &probe, &found)) {
        row = table_at(&stacks->sources, found);
        if (is_same_source(row, frame))
            return row->frame;
    }
    kept = frame_new(stacks, frame);
    row = kept ? row_add(&stacks->sources, &stacks->source_index, hash) : NULL;
    if (row)
        *row = (struct frame_source){frame->function, frame->file, frame->module, kept};
    return row ? kept : NULL;
}

static const struct report_stack *stack_for(struct report_stacks *stacks,
                                            const struct report_frame *frame,
                                            const struct report_stack *caller)
{
    uint64_t hash = hash_pair((uintptr_t)frame, (uintptr_t)caller);
    struct report_stack *row;
    size_t probe = 0;
    uint32_t found;

    while (hash_index_next(&stacks->stack_index, hash, &probe, &found)) {
        row = table_at(&stacks->stacks, found);
        if (row->frame == frame && row->caller == caller)
            return row;
    }
    row = row_add(&stacks->stacks, &stacks->stack_index, hash);
    if (row)
        *row = (struct report_stack){frame, caller, caller ? caller->depth + 1 : 1};
    return row;
}

const struct report_stack *report_stacks_put(struct report_stacks *stacks,
                                             const struct report_frame *frames, size_t count)
{
    const struct report_stack *stack = NULL;

    while (count--) {
        const struct report_frame *frame = frame_for(stacks, &frames[count]);

        stack = frame ? stack_for(stacks, frame, stack) : NULL;
        if (!stack)
            return NULL;
    }
    return stack;
}
