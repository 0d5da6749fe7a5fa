/* SPDX-License-Identifier: Apache-2.0 */
#include "trace_stacks.h"

#include <stdlib.h>
#include <string.h>

#include "hash.h"
#include "leaktide/format.h"
#include "leaktide/frames.h"
#include "leaktide/invariant.h"

enum { ROWS_FIRST_CAPACITY = 64, NOT_MADE = 0 };

struct stack_row {
    uint64_t id;
    uint32_t stack; /* of the model */
    uint32_t site;  /* of the model; NOT_MADE: nobody asked yet */
    uint32_t epoch; /* of the source, when stack was made */
};

struct code_row {
    uint64_t id;
    uint32_t function, file; /* texts */
};

struct address_row {
    uint64_t address;
    uint32_t frame; /* of the model */
    uint32_t epoch;
};

/* Outermost first: stacks[n] has n + 1 frames. */
struct last_stack {
    uint64_t id;
    uint32_t count;
    uint32_t epoch;
    uint32_t stacks[MT_STACK_FRAMES_MAX];
    uint64_t frames[MT_STACK_FRAMES_MAX]; /* as in leaktide/frames.h */
};

/* --- rows by number ------------------------------------------------------------------------ */

static void *row_at(const struct trace_ids *ids, size_t row_bytes, size_t index)
{
    return (char *)ids->rows + index * row_bytes;
}

static void *ids_find(const struct trace_ids *ids, size_t row_bytes, uint64_t id)
{
    size_t probe = 0;
    uint32_t found;

    while (hash_index_next(&ids->index, hash_u64(id), &probe, &found)) {
        void *row = found < ids->count ? row_at(ids, row_bytes, found) : NULL;

        if (row && *(const uint64_t *)row == id)
            return row;
    }
    return NULL;
}

/* The row of the id, which may be there already; NULL: no memory. */
static void *ids_add(struct trace_ids *ids, size_t row_bytes, uint64_t id)
{
    void *row = ids_find(ids, row_bytes, id);

    if (row)
        return row;
    MT_ASSERT(ids->count <= ids->capacity);
    MT_ASSERT(ids->index.count == ids->count);
    if (ids->count == ids->capacity) {
        size_t capacity = ids->capacity ? 2 * ids->capacity : ROWS_FIRST_CAPACITY;
        void *rows = capacity < UINT32_MAX ? realloc(ids->rows, capacity * row_bytes) : NULL;

        if (!rows)
            return NULL;
        ids->rows = rows;
        ids->capacity = capacity;
    }
    if (!hash_index_add(&ids->index, hash_u64(id), (uint32_t)ids->count))
        return NULL;
    row = row_at(ids, row_bytes, ids->count++);
    memset(row, 0, row_bytes);
    *(uint64_t *)row = id;
    return row;
}

static void ids_release(struct trace_ids *ids)
{
    hash_index_release(&ids->index);
    free(ids->rows);
    *ids = (struct trace_ids){.rows = NULL};
}

/* --- frames -------------------------------------------------------------------------------- */

static uint32_t text_of(struct model *model, const char *text)
{
    return model_text(model, text, strlen(text));
}

static uint32_t frame_of_address(const struct stack_source *source, uint64_t address)
{
    struct address_row *row = ids_find(&source->frames->addresses, sizeof(*row), address);
    bool is_new = !row;

    if (!row)
        row = ids_add(&source->frames->addresses, sizeof(*row), address);
    if (!row)
        return 0;
    if (is_new || row->epoch != source->epoch) {
        row->frame = model_frame(source->model, (struct model_frame){.process = source->process,
                                                                     .kind = FRAME_NATIVE,
                                                                     .address = address,
                                                                     .time_ns = source->time_ns});
        row->epoch = source->epoch;
    }
    return row->frame;
}

static uint32_t frame_of_code(const struct stack_source *source, uint64_t frame_of_trace)
{
    uint64_t value = frame_of_trace & ~MT_FRAME_IS_CODE;
    const struct code_row *code =
        ids_find(&source->frames->codes, sizeof(*code), value >> MT_FRAME_LINE_BITS);
    struct model_frame frame = {
        .process = source->process,
        .kind = FRAME_PYTHON,
        .line = (uint32_t)(value & ((1u << MT_FRAME_LINE_BITS) - 1)),
        .time_ns = source->time_ns,
    };

    frame.function = code ? code->function : text_of(source->model, "(code that was not recorded)");
    frame.file = code ? code->file : 0;
    return model_frame(source->model, frame);
}

/* The same frame, as of now. */
static uint32_t frame_again(const struct stack_source *source, uint32_t frame)
{
    struct model_frame now = *model_frame_at(source->model, frame);

    if (now.address)
        return frame_of_address(source, now.address);
    return frame;
}

/*
 * A stack that does not reach the start of its thread says so: with a frame outside of all others
 * that has no address. 0: it is whole.
 */
static uint32_t outer_end(const struct stack_source *source, uint64_t flags)
{
    static const struct {
        uint64_t flag;
        const char *name;
    } ends[] = {
        {MT_STACK_TRUNCATED, "(more frames were not asked for)"},
        {MT_STACK_JIT, "(called from code made at run time)"},
        {MT_STACK_UNREADABLE, "(the stack could not be read further)"},
        {MT_STACK_NO_ROWS, "(nothing tells who called)"},
    };
    struct model_frame frame = {.process = source->process, .time_ns = source->time_ns};

    if (flags & MT_STACK_COMPLETE)
        return 0;
    for (size_t i = 0; i < sizeof(ends) / sizeof(ends[0]); i++)
        if (flags & ends[i].flag) {
            frame.function = text_of(source->model, ends[i].name);
            return model_stack(source->model, 0, model_frame(source->model, frame));
        }
    return 0;
}

/* The frames after the first `last->count`. False: they do not read back. */
static bool take_frames(struct last_stack *last, const struct stack_source *source,
                        const struct stack_definition *definition)
{
    const uint8_t *at = definition->frames, *end = at + definition->size_bytes;
    uint64_t frame = last->count ? last->frames[last->count - 1] : 0;
    uint32_t outer =
        last->count ? last->stacks[last->count - 1] : outer_end(source, definition->flags);

    MT_ASSERT(last->count <= MT_STACK_FRAMES_MAX);
    while (at < end) {
        at = mt_frame_get(at, end, frame, &frame);
        if (!at || last->count == MT_STACK_FRAMES_MAX)
            return false;
        outer = model_stack(source->model, outer,
                            frame & MT_FRAME_IS_CODE ? frame_of_code(source, frame)
                                                     : frame_of_address(source, frame));
        last->stacks[last->count] = outer;
        last->frames[last->count++] = frame;
    }
    return last->count > 0;
}

/* Other modules were loaded since the stack was taken: its frames may be others. */
static void last_renew(struct last_stack *last, const struct stack_source *source)
{
    for (uint32_t i = 0; i < last->count; i++) {
        const struct model_stack *row = model_stack_at(source->model, last->stacks[i]);
        uint32_t outer = i ? last->stacks[i - 1] : row->outer;

        last->stacks[i] = model_stack(source->model, outer, frame_again(source, row->frame));
    }
    last->epoch = source->epoch;
}

/* --- stacks -------------------------------------------------------------------------------- */

enum stack_taken trace_stacks_define(struct trace_stacks *stacks, const struct stack_source *source,
                                     const struct stack_definition *definition)
{
    struct last_stack *last = stacks->last;
    struct stack_row *row;

    if (!last)
        last = stacks->last = calloc(1, sizeof(*last));
    if (!last)
        return STACK_NO_MEMORY;
    if (definition->shared_count > last->count ||
        (definition->shared_count && definition->id != last->id + 1)) {
        last->count = 0;
        return STACK_CORRUPT;
    }
    last->count = (uint32_t)definition->shared_count;
    if (last->epoch != source->epoch)
        last_renew(last, source);
    if (!take_frames(last, source, definition)) {
        last->count = 0;
        return STACK_CORRUPT;
    }
    last->id = definition->id;
    row = ids_add(&stacks->by_id, sizeof(*row), definition->id);
    if (!row)
        return STACK_NO_MEMORY;
    row->stack = last->stacks[last->count - 1];
    row->site = NOT_MADE;
    row->epoch = source->epoch;
    return STACK_TAKEN;
}

/* The same addresses, at another time. */
static uint32_t stack_again(const struct stack_source *source, uint32_t stack)
{
    uint32_t frames[MT_STACK_FRAMES_MAX + 1];
    uint32_t count = 0, outer = 0;

    for (; stack && count <= MT_STACK_FRAMES_MAX; count++) {
        const struct model_stack *row = model_stack_at(source->model, stack);

        frames[count] = row->frame;
        stack = row->outer;
    }
    while (count--) {
        outer = model_stack(source->model, outer, frame_again(source, frames[count]));
    }
    return outer;
}

/* Of the innermost native frame. */
static uint64_t caller_of(const struct model *model, uint32_t stack)
{
    uint64_t address = 0;

    for (; stack && !address; stack = model_stack_at(model, stack)->outer)
        address = model_frame_at(model, model_stack_at(model, stack)->frame)->address;
    return address;
}

uint32_t trace_stacks_site(struct trace_stacks *stacks, const struct stack_source *source,
                           uint64_t id)
{
    struct stack_row *row = ids_find(&stacks->by_id, sizeof(*row), id);

    if (!row)
        return 0;
    if (row->epoch != source->epoch) {
        row->stack = stack_again(source, row->stack);
        row->epoch = source->epoch;
        row->site = NOT_MADE;
    }
    if (row->site == NOT_MADE)
        row->site = model_site(source->model,
                               (struct model_site){.process = source->process,
                                                   .address = caller_of(source->model, row->stack),
                                                   .time_ns = source->time_ns,
                                                   .stack = row->stack});
    return row->site;
}

void trace_stacks_release(struct trace_stacks *stacks)
{
    ids_release(&stacks->by_id);
    free(stacks->last);
    *stacks = (struct trace_stacks){.last = NULL};
}

bool trace_frames_code(struct trace_frames *frames, uint64_t id, uint32_t function, uint32_t file)
{
    struct code_row *row = ids_add(&frames->codes, sizeof(*row), id);

    if (!row)
        return false;
    row->function = function;
    row->file = file;
    return true;
}

void trace_frames_release(struct trace_frames *frames)
{
    ids_release(&frames->codes);
    ids_release(&frames->addresses);
}
