/* SPDX-License-Identifier: Apache-2.0 */
#include "trace_stacks.h"

#include <stdlib.h>
#include <string.h>

#include "hash.h"
#include "leaktide/format.h"
#include "leaktide/frames.h"
#include "leaktide/invariant.h"
#include "list.h"

enum { NOT_MADE = 0, KNOWN_FIRST_CAPACITY = 1024 };

struct trace_stack_row {
    uint32_t stack; /* of the model */
    uint32_t site;  /* of the model; NOT_MADE: nobody asked yet */
    uint32_t epoch; /* of the source, when stack was made */
};

/* Stacks whose ids follow each other. */
struct id_run {
    uint64_t first_id;
    size_t first; /* the number of its first one among all stacks */
    size_t count;
};

struct code_row {
    uint64_t id;
    uint32_t function, file; /* texts */
};

struct known_row {
    uint64_t frame_of_trace; /* as in leaktide/frames.h */
    uint32_t frame;          /* of the model; 0: the row is free */
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
    if (ids->count == UINT32_MAX ||
        !list_has_room(&ids->rows, &ids->capacity, ids->count, row_bytes))
        return NULL;
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

static uint32_t make_address_frame(const struct stack_source *source, uint64_t address)
{
    return model_frame(source->model, (struct model_frame){.process = source->process,
                                                           .kind = FRAME_NATIVE,
                                                           .address = address,
                                                           .time_ns = source->time_ns});
}

/* code: NULL: it was not recorded. */
static uint32_t make_code_frame(const struct stack_source *source, const struct code_row *code,
                                uint64_t frame_of_trace)
{
    struct model_frame frame = {
        .process = source->process,
        .kind = FRAME_PYTHON,
        .line = (uint32_t)(frame_of_trace & ((1u << MT_FRAME_LINE_BITS) - 1)),
        .time_ns = source->time_ns,
    };

    frame.function = code ? code->function : text_of(source->model, "(code that was not recorded)");
    frame.file = code ? code->file : 0;
    return model_frame(source->model, frame);
}

static uint32_t frame_make(const struct stack_source *source, uint64_t frame_of_trace)
{
    uint64_t value = frame_of_trace & ~MT_FRAME_IS_CODE;

    if (!(frame_of_trace & MT_FRAME_IS_CODE))
        return make_address_frame(source, frame_of_trace);
    return make_code_frame(
        source,
        ids_find(&source->frames->codes, sizeof(struct code_row), value >> MT_FRAME_LINE_BITS),
        frame_of_trace);
}

/* The row of the frame, or the free one that it gets. */
static struct known_row *known_slot(const struct known_frames *known, uint64_t frame_of_trace)
{
    size_t at = hash_u64(frame_of_trace) & (known->capacity - 1);

    while (known->rows[at].frame && known->rows[at].frame_of_trace != frame_of_trace)
        at = (at + 1) & (known->capacity - 1);
    return &known->rows[at];
}

/* NULL: it is not known. */
static const struct known_row *known_find(const struct known_frames *known, uint64_t frame_of_trace)
{
    const struct known_row *row = known->capacity ? known_slot(known, frame_of_trace) : NULL;

    return row && row->frame ? row : NULL;
}

static bool known_grow(struct known_frames *known)
{
    struct known_frames grown = {
        .count = known->count,
        .capacity = known->capacity ? 2 * known->capacity : KNOWN_FIRST_CAPACITY,
    };

    grown.rows = calloc(grown.capacity, sizeof(*grown.rows));
    if (!grown.rows)
        return false;
    for (size_t i = 0; i < known->capacity; i++)
        if (known->rows[i].frame)
            *known_slot(&grown, known->rows[i].frame_of_trace) = known->rows[i];
    free(known->rows);
    *known = grown;
    return true;
}

/* Without memory for it, the model is asked again. */
static void known_put(struct known_frames *known, const struct known_row *row)
{
    struct known_row *slot;

    MT_ASSERT(2 * known->count <= known->capacity);
    if (!row->frame || (2 * (known->count + 1) > known->capacity && !known_grow(known)))
        return;
    slot = known_slot(known, row->frame_of_trace);
    known->count += !slot->frame;
    *slot = *row;
}

/* Each is asked of the model once, as long as the modules stay. */
static uint32_t frame_of(const struct stack_source *source, uint64_t frame_of_trace)
{
    const struct known_row *known = known_find(&source->frames->known, frame_of_trace);
    struct known_row made = {.frame_of_trace = frame_of_trace, .epoch = source->epoch};

    if (known && known->epoch == source->epoch)
        return known->frame;
    made.frame = frame_make(source, frame_of_trace);
    known_put(&source->frames->known, &made);
    return made.frame;
}

/* The same frame, as of now. */
static uint32_t frame_again(const struct stack_source *source, uint32_t frame)
{
    struct model_frame now = *model_frame_at(source->model, frame);

    if (now.address)
        return frame_of(source, now.address);
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
    uint64_t frame = 0;
    uint32_t outer;

    MT_ASSERT(last->count <= MT_STACK_FRAMES_MAX);
    if (last->count) {
        frame = last->frames[last->count - 1];
        outer = last->stacks[last->count - 1];
    } else {
        outer = outer_end(source, definition->flags);
    }
    while (at < end) {
        at = mt_frame_get(at, end, frame, &frame);
        if (!at || last->count == MT_STACK_FRAMES_MAX)
            return false;
        if (frame & MT_FRAME_IS_CODE || !model_stack_is_without_native(source->model, outer))
            outer = model_stack(source->model, outer, frame_of(source, frame));
        last->stacks[last->count] = outer;
        last->frames[last->count++] = frame;
    }
    return last->count > 0;
}

/* The same, where nobody wants them: how many there are is all that the next definition needs. */
static bool count_frames(struct last_stack *last, const struct stack_definition *definition)
{
    const uint8_t *at = definition->frames, *end = at + definition->size_bytes;

    while (at < end) {
        at = mt_varint_skip(at, end);
        if (!at || last->count == MT_STACK_FRAMES_MAX)
            return false;
        last->count++;
    }
    return last->count > 0;
}

/* Other modules were loaded since the stack was taken: its frames may be others. */
static void last_renew(struct last_stack *last, const struct stack_source *source)
{
    uint32_t before = 0; /* the caller's stack, as it was */

    for (uint32_t i = 0; i < last->count; i++) {
        uint32_t stack = last->stacks[i];
        const struct model_stack *row = model_stack_at(source->model, stack);
        uint32_t outer = i ? last->stacks[i - 1] : row->outer;

        last->stacks[i] = stack == before /* the frame was left out */
                              ? outer
                              : model_stack(source->model, outer, frame_again(source, row->frame));
        before = stack;
    }
    last->epoch = source->epoch;
}

/* --- stacks -------------------------------------------------------------------------------- */

static bool has_id(const struct id_run *run, uint64_t id)
{
    return id - run->first_id < run->count;
}

/* Ids grow, and by one where nothing is missing, so there are few runs. NULL: it is not defined. */
static const struct id_run *run_find(const struct trace_stacks *stacks, uint64_t id)
{
    size_t below = 0, above = stacks->run_count;

    if (above && has_id(&stacks->runs[above - 1], id))
        return &stacks->runs[above - 1];
    while (below < above) {
        size_t middle = below + (above - below) / 2;
        const struct id_run *run = &stacks->runs[middle];

        if (has_id(run, id))
            return run;
        if (run->first_id < id)
            below = middle + 1;
        else
            above = middle;
    }
    return NULL;
}

/* No id that was defined is larger; 0: none was. */
static uint64_t newest_id(const struct trace_stacks *stacks)
{
    const struct id_run *run = stacks->runs + stacks->run_count;

    return stacks->run_count ? run[-1].first_id + (run[-1].count - 1) : 0;
}

/* An id that is larger than all before. False: no memory. */
static bool id_add(struct trace_stacks *stacks, uint64_t id)
{
    struct id_run *run;

    if (!stacks->run_count || newest_id(stacks) + 1 != id) {
        if (!list_has_room(&stacks->runs, &stacks->run_capacity, stacks->run_count, sizeof(*run)))
            return false;
        stacks->runs[stacks->run_count++] =
            (struct id_run){.first_id = id, .first = stacks->count, .count = 0};
    }
    stacks->runs[stacks->run_count - 1].count++;
    stacks->count++;
    return true;
}

/* The stack that was defined last is `stack`. False: no memory. */
static bool row_add(struct trace_stacks *stacks, uint32_t stack, uint32_t epoch)
{
    if (!list_has_room(&stacks->rows, &stacks->capacity, stacks->count, sizeof(*stacks->rows)))
        return false;
    stacks->rows[stacks->count] =
        (struct trace_stack_row){.stack = stack, .site = NOT_MADE, .epoch = epoch};
    return true;
}

/* Fills `last`. False: the definition does not read back, or what it shares is missing. */
static bool take_definition(struct trace_stacks *stacks, const struct stack_source *source,
                            const struct stack_definition *definition)
{
    struct last_stack *last = stacks->last;
    bool is_later = !stacks->count || newest_id(stacks) < definition->id;

    if (!is_later || definition->shared_count > last->count ||
        (definition->shared_count && definition->id != last->id + 1))
        return false;
    last->count = (uint32_t)definition->shared_count;
    last->id = definition->id;
    if (source->any_site)
        return count_frames(last, definition);
    if (last->epoch != source->epoch)
        last_renew(last, source);
    return take_frames(last, source, definition);
}

enum stack_taken trace_stacks_define(struct trace_stacks *stacks, const struct stack_source *source,
                                     const struct stack_definition *definition)
{
    const struct last_stack *last;

    if (stacks->kept.count)
        return STACK_TAKEN;
    if (!stacks->last)
        stacks->last = calloc(1, sizeof(*stacks->last));
    if (!stacks->last)
        return STACK_NO_MEMORY;
    if (!take_definition(stacks, source, definition)) {
        stacks->last->count = 0;
        return STACK_CORRUPT;
    }
    last = stacks->last;
    if (!source->any_site && !row_add(stacks, last->stacks[last->count - 1], source->epoch))
        return STACK_NO_MEMORY;
    return id_add(stacks, definition->id) ? STACK_TAKEN : STACK_NO_MEMORY;
}

void trace_stacks_soon(const struct trace_stacks *stacks, const struct stack_source *source,
                       const struct stack_definition *next)
{
    const struct last_stack *last = stacks->last;
    const struct known_row *row;
    uint64_t shared_count = next->shared_count, frame;

    if (!last || source->any_site || !shared_count || shared_count > last->count ||
        !mt_frame_get(next->frames, next->frames + next->size_bytes, last->frames[shared_count - 1],
                      &frame))
        return;
    row = model_stack_is_without_native(source->model, last->stacks[shared_count - 1])
              ? NULL
              : known_find(&source->frames->known, frame);
    if (row)
        model_stack_soon(source->model, last->stacks[shared_count - 1], row->frame);
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

static struct trace_stack_row *row_of(const struct trace_stacks *stacks, const struct id_run *run,
                                      uint64_t id)
{
    return &stacks->rows[run->first + (id - run->first_id)];
}

uint32_t trace_stacks_known_site(const struct trace_stacks *stacks, uint32_t any_site,
                                 uint32_t epoch, uint64_t id)
{
    const struct id_run *run;
    const struct trace_stack_row *row;

    if (stacks->kept.count)
        return id - stacks->kept.first_id < stacks->kept.count
                   ? stacks->kept.sites[id - stacks->kept.first_id]
                   : 0;
    run = run_find(stacks, id);
    if (!run || any_site)
        return run ? any_site : 0;
    row = row_of(stacks, run, id);
    return row->epoch == epoch ? row->site : NOT_MADE;
}

void trace_stacks_site_soon(const struct trace_stacks *stacks, uint64_t id)
{
    const struct id_run *run;

    if (id - stacks->kept.first_id < stacks->kept.count) {
        __builtin_prefetch(&stacks->kept.sites[id - stacks->kept.first_id]);
        return;
    }
    run = stacks->kept.count ? NULL : run_find(stacks, id);
    if (run)
        __builtin_prefetch(row_of(stacks, run, id));
}

uint32_t trace_stacks_site(struct trace_stacks *stacks, const struct stack_source *source,
                           uint64_t id)
{
    uint32_t known = trace_stacks_known_site(stacks, source->any_site, source->epoch, id);
    const struct id_run *run = known || stacks->kept.count ? NULL : run_find(stacks, id);
    struct trace_stack_row *row;

    if (!run)
        return known;
    row = row_of(stacks, run, id);
    if (row->epoch != source->epoch) {
        row->stack = stack_again(source, row->stack);
        row->epoch = source->epoch;
    }
    row->site = model_site(source->model,
                           (struct model_site){.process = source->process,
                                               .address = caller_of(source->model, row->stack),
                                               .time_ns = source->time_ns,
                                               .stack = row->stack});
    return row->site;
}

void trace_stacks_keep(const struct trace_stacks *stacks, struct model *model, uint16_t process,
                       uint32_t stream)
{
    const struct trace_stack_row *rows = stacks->rows;
    uint32_t *sites;

    if (stacks->run_count != 1)
        return;
    sites = model_keep_sites(model, process, stream, stacks->runs[0].first_id, stacks->count);
    for (size_t i = 0; sites && i < stacks->count; i++)
        sites[i] = rows[i].site;
}

void trace_stacks_release(struct trace_stacks *stacks)
{
    free(stacks->rows);
    free(stacks->runs);
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
    free(frames->known.rows);
    frames->known = (struct known_frames){.rows = NULL};
}
