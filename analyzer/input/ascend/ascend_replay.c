/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One row of a stream, or one release, at a time, becomes a few events in a queue.
 */
#include "ascend_replay.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "heap.h"
#include "list.h"

#define UNKNOWN_BLOCKS   (UINT64_C(1) << 63)
#define WORKSPACE_BLOCKS (UINT64_C(1) << 62)

void ascend_replay_init(struct ascend_replay *replay, struct model *model, uint16_t process,
                        uint64_t origin_ns, struct ascend_stream *streams, size_t count)
{
    memset(replay, 0, sizeof(*replay));
    replay->model = model;
    replay->process = process;
    replay->origin_ns = origin_ns;
    replay->streams = streams;
    replay->stream_count = count;
    replay->next_unknown = UNKNOWN_BLOCKS;
    replay->thread = model_thread(model, (struct model_thread){.process = process});
}

/* --- events -------------------------------------------------------------------------------- */

static struct event *put(struct ascend_replay *replay, enum event_kind kind, uint64_t time_ns)
{
    struct event *event = &replay->queue[replay->queue_end++];

    *event = (struct event){.kind = (uint8_t)kind,
                            .time_ns = time_ns - replay->origin_ns,
                            .process = replay->process,
                            .thread = replay->thread};
    return event;
}

static void put_free(struct ascend_replay *replay, uint64_t time_ns, uint16_t pool,
                     uint64_t address, uint64_t size_bytes)
{
    struct event *event = put(replay, EVENT_FREE, time_ns);

    event->pool = pool;
    event->address = address;
    event->value = size_bytes;
}

/* Of a block that was there before the window. */
static void put_older_free(struct ascend_replay *replay, uint64_t time_ns, uint16_t pool,
                           uint16_t place, uint64_t size_bytes)
{
    struct event *event = put(replay, EVENT_FREE, time_ns);

    event->flags = EVENT_IS_OLDER;
    event->pool = pool;
    event->place = place;
    event->address = replay->next_unknown++;
    event->value = size_bytes;
}

static void put_sample(struct ascend_replay *replay, const struct ascend_row *row,
                       struct ascend_counter counter)
{
    struct event *event = put(replay, EVENT_SAMPLE, row->time_ns);

    event->place = row->place;
    event->detail = row->stream_name;
    event->text = counter.text;
    event->value = counter.bytes;
}

static void put_operator(struct ascend_replay *replay, enum event_kind kind, uint64_t time_ns,
                         uint32_t name)
{
    if (name)
        put(replay, kind, time_ns)->text = name;
}

/* --- pools --------------------------------------------------------------------------------- */

static uint32_t older_counter(struct model *model, uint16_t pool)
{
    const struct pool *known = model_pool_at(model, pool);
    const char *name = model_text_at(model, model_pool_name_at(model, pool));
    char text[64];

    if (known->role == POOL_ROLE_FRAMEWORK || known->role == POOL_ROLE_GRAPH)
        name = known->title; /* as the profile's own counters call it */
    snprintf(text, sizeof(text), "%s older blocks", name);
    return ascend_text(model, text);
}

/* NULL beyond ASCEND_POOLS_MAX pools of one process. */
static struct ascend_pool_state *pool_state(struct ascend_replay *replay, uint16_t pool,
                                            uint16_t place)
{
    struct ascend_pool_state *state;

    for (size_t i = 0; i < replay->pool_count; i++)
        if (replay->pools[i].pool == pool && replay->pools[i].place == place)
            return &replay->pools[i];
    if (replay->pool_count == ASCEND_POOLS_MAX) {
        model_note(replay->model, 1, "blocks of more than %d devices: their counters are not read",
                   ASCEND_POOLS_MAX);
        return NULL;
    }
    state = &replay->pools[replay->pool_count++];
    *state = (struct ascend_pool_state){
        .pool = pool, .place = place, .older_counter = older_counter(replay->model, pool)};
    return state;
}

static void older_changed(struct ascend_replay *replay, const struct ascend_pool_state *state,
                          uint64_t time_ns)
{
    const struct ascend_row row = {.time_ns = time_ns, .place = state->place};

    put_sample(replay, &row, (struct ascend_counter){state->older_counter, state->older_bytes});
    replay->queue[replay->queue_end - 1].pool = state->pool;
    replay->queue[replay->queue_end - 1].flags = EVENT_IS_OLDER;
}

/* The pool's counter tells what the blocks hold that are older than the window. */
static void compare_counter(struct ascend_replay *replay, struct ascend_pool_state *state,
                            struct ascend_total allocated, uint64_t time_ns)
{
    uint64_t older_bytes;

    if (!allocated.is_known)
        return;
    if (allocated.bytes < state->live_bytes) {
        state->rise_count++; /* rows of another run, or of a lost release */
        return;
    }
    older_bytes = allocated.bytes - state->live_bytes;
    if (!state->has_older) {
        state->has_older = true;
        state->older_bytes = older_bytes;
        older_changed(replay, state, time_ns);
    } else if (older_bytes < state->older_bytes) {
        put_older_free(replay, time_ns, state->pool, state->place,
                       state->older_bytes - older_bytes);
        state->older_bytes = older_bytes;
        older_changed(replay, state, time_ns);
    } else if (older_bytes > state->older_bytes) {
        state->rise_count++;
    }
}

/* Where the rows have the only counter of the pool, those at releases are as good as the others. */
static void allocated_changed(struct ascend_replay *replay, struct ascend_pool_state *state,
                              struct ascend_total allocated, uint64_t time_ns)
{
    const struct ascend_row row = {.time_ns = time_ns, .place = state->place};

    if (!state->allocated_counter || !allocated.is_known ||
        allocated.bytes == state->allocated_bytes)
        return;
    state->allocated_bytes = allocated.bytes;
    put_sample(replay, &row, (struct ascend_counter){state->allocated_counter, allocated.bytes});
}

static void reserved_changed(struct ascend_replay *replay, struct ascend_pool_state *state,
                             const struct ascend_row *row)
{
    struct event *event;

    if (!row->reserved.is_known ||
        (state->has_reserved && state->reserved_bytes == row->reserved.bytes))
        return;
    state->has_reserved = true;
    state->reserved_bytes = row->reserved.bytes;
    event = put(replay, EVENT_RESERVED, row->time_ns);
    event->pool = row->pool;
    event->place = row->place;
    event->value = row->reserved.bytes;
}

/* --- releases to come ---------------------------------------------------------------------- */

static bool comes_first(const void *row, const void *other)
{
    const struct ascend_release *a = row, *b = other;

    return a->time_ns != b->time_ns ? a->time_ns < b->time_ns : a->id < b->id;
}

static enum mt_result heap_push(struct ascend_replay *replay, const struct ascend_release *release,
                                struct mt_error *error)
{
    if (!list_has_room(&replay->heap, &replay->heap_capacity, replay->heap_count,
                       sizeof(*replay->heap)))
        return mt_error_set(error, MT_NO_MEMORY, "no memory for %zu live blocks",
                            replay->heap_count + 1);
    replay->heap[replay->heap_count] = *release;
    heap_sift_up(replay->heap, sizeof(*replay->heap), replay->heap_count++, comes_first);
    return MT_OK;
}

static struct ascend_release heap_pop(struct ascend_replay *replay)
{
    struct ascend_release top = replay->heap[0];

    replay->heap[0] = replay->heap[--replay->heap_count];
    if (replay->heap_count)
        heap_sift_down(replay->heap, replay->heap_count, sizeof(*replay->heap), 0, comes_first);
    return top;
}

static void put_about_block(struct ascend_replay *replay, enum event_kind kind,
                            const struct ascend_release *block)
{
    struct event *event = put(replay, kind, block->time_ns);

    event->pool = block->pool;
    event->place = block->place;
    event->address = block->id;
    event->value = block->size_bytes;
}

static void on_release(struct ascend_replay *replay)
{
    struct ascend_release release = heap_pop(replay);
    struct ascend_pool_state *state = pool_state(replay, release.pool, release.place);

    if (release.kind != ASCEND_RELEASE) {
        put_about_block(replay, release.kind == ASCEND_RETURN ? EVENT_RETURNED : EVENT_ACCESS,
                        &release);
        return;
    }
    put_free(replay, release.time_ns, release.pool, release.id, release.size_bytes);
    if (!state)
        return;
    state->live_bytes -= release.size_bytes;
    compare_counter(replay, state, release.allocated, release.time_ns);
    allocated_changed(replay, state, release.allocated, release.time_ns);
}

/* --- rows ---------------------------------------------------------------------------------- */

/* The workspace is handed out again and again at one address: the newest row ends the one before.
 */
static uint64_t workspace_address(struct ascend_replay *replay, const struct ascend_row *row)
{
    struct ascend_workspace *found = NULL;

    for (size_t i = 0; i < replay->workspace_count && !found; i++)
        if (replay->workspaces[i].stream == row->stream &&
            replay->workspaces[i].place == row->place)
            found = &replay->workspaces[i];
    if (found) {
        put_free(replay, row->time_ns, row->pool, found->id, found->size_bytes);
    } else {
        if (replay->workspace_count == ASCEND_POOLS_MAX)
            return WORKSPACE_BLOCKS | row->id;
        found = &replay->workspaces[replay->workspace_count++];
    }
    *found = (struct ascend_workspace){row->stream, WORKSPACE_BLOCKS | row->id, row->size_bytes,
                                       row->place};
    return found->id;
}

/* The last use of a block, its return to the pool, and its release. */
static enum mt_result push_ends(struct ascend_replay *replay, const struct ascend_row *row,
                                uint64_t address, struct mt_error *error)
{
    struct ascend_release release = {.time_ns = row->last_use_ns,
                                     .id = address,
                                     .size_bytes = row->size_bytes,
                                     .pool = row->pool,
                                     .place = row->place,
                                     .kind = ASCEND_LAST_USE};
    enum mt_result result = MT_OK;

    if (row->is_workspace)
        return MT_OK;
    if (row->last_use_ns && (!row->release_ns || row->last_use_ns < row->release_ns))
        result = heap_push(replay, &release, error);
    release.kind = ASCEND_RETURN;
    release.time_ns = row->returned_ns;
    if (result == MT_OK && row->returned_ns)
        result = heap_push(replay, &release, error);
    release.kind = ASCEND_RELEASE;
    release.time_ns = row->release_ns;
    release.allocated = row->release_allocated;
    return result == MT_OK && row->release_ns ? heap_push(replay, &release, error) : result;
}

static enum mt_result on_block(struct ascend_replay *replay, const struct ascend_row *row,
                               struct mt_error *error)
{
    struct ascend_pool_state *state = pool_state(replay, row->pool, row->place);
    uint64_t address = row->is_workspace ? workspace_address(replay, row) : row->id;
    struct event *event;

    if (state && !row->is_workspace) {
        state->live_bytes += row->size_bytes;
        if (row->allocated.is_known && row->counter_count) {
            state->allocated_counter = row->counters[0].text;
            state->allocated_bytes = row->allocated.bytes;
        }
        compare_counter(replay, state, row->allocated, row->time_ns);
    }
    put_operator(replay, EVENT_OPERATOR_BEGIN, row->time_ns, row->name);
    event = put(replay, EVENT_ALLOC, row->time_ns);
    event->pool = row->pool;
    event->place = row->place;
    event->address = address;
    event->value = row->size_bytes;
    event->detail = row->stream_name;
    event->site = row->site;
    put_operator(replay, EVENT_OPERATOR_END, row->time_ns, row->name);
    if (state)
        reserved_changed(replay, state, row);
    return push_ends(replay, row, address, error);
}

static void on_older_release(struct ascend_replay *replay, const struct ascend_row *row)
{
    struct ascend_pool_state *state = pool_state(replay, row->pool, row->place);

    put_older_free(replay, row->time_ns, row->pool, row->place, row->size_bytes);
    if (!state || !state->has_older)
        return;
    state->older_bytes -=
        row->size_bytes < state->older_bytes ? row->size_bytes : state->older_bytes;
    older_changed(replay, state, row->time_ns);
    allocated_changed(replay, state, row->release_allocated, row->time_ns);
}

static enum mt_result on_row(struct ascend_replay *replay, const struct ascend_row *row,
                             struct mt_error *error)
{
    enum mt_result result = MT_OK;

    if (row->kind == ASCEND_BLOCK)
        result = on_block(replay, row, error);
    else if (row->kind == ASCEND_OLDER_RELEASE)
        on_older_release(replay, row);
    else if (row->kind == ASCEND_STEP_BEGIN)
        put(replay, EVENT_STEP_BEGIN, row->time_ns)->value = row->id;
    else if (row->kind == ASCEND_STEP_END)
        put(replay, EVENT_STEP_END, row->time_ns)->value = row->id;
    for (unsigned i = 0; i < row->counter_count; i++)
        put_sample(replay, row, row->counters[i]);
    return result;
}

/* --- merging ------------------------------------------------------------------------------- */

static enum mt_result read_row(struct ascend_replay *replay, size_t index, struct mt_error *error)
{
    struct ascend_stream *stream = &replay->streams[index];

    return stream->next(stream->state, &replay->rows[index], &replay->has_row[index], error);
}

/* The stream whose row comes next; stream_count when all are over. */
static size_t next_stream(const struct ascend_replay *replay)
{
    size_t best = replay->stream_count;

    for (size_t i = 0; i < replay->stream_count; i++)
        if (replay->has_row[i] &&
            (best == replay->stream_count || replay->rows[i].time_ns < replay->rows[best].time_ns))
            best = i;
    return best;
}

/* Fills the queue with the events of what comes next; leaves it empty at the end. */
static enum mt_result fill_queue(struct ascend_replay *replay, struct mt_error *error)
{
    enum mt_result result = MT_OK;
    size_t best;

    replay->queue_begin = replay->queue_end = 0;
    if (!replay->is_begun)
        for (size_t i = 0; result == MT_OK && i < replay->stream_count; i++)
            result = read_row(replay, i, error);
    replay->is_begun = true;
    while (result == MT_OK && replay->queue_end == 0) {
        best = next_stream(replay);
        if (replay->heap_count && (best == replay->stream_count ||
                                   replay->heap[0].time_ns <= replay->rows[best].time_ns)) {
            on_release(replay);
            continue;
        }
        if (best == replay->stream_count)
            break;
        result = on_row(replay, &replay->rows[best], error);
        if (result == MT_OK)
            result = read_row(replay, best, error);
    }
    return result;
}

enum mt_result ascend_replay_next(struct ascend_replay *replay, struct event *batch,
                                  size_t capacity, size_t *count, struct mt_error *error)
{
    *count = 0;
    while (*count < capacity) {
        if (replay->queue_begin == replay->queue_end) {
            enum mt_result result = fill_queue(replay, error);

            if (result != MT_OK)
                return result;
            if (!replay->queue_end)
                return MT_OK;
        }
        batch[(*count)++] = replay->queue[replay->queue_begin++];
    }
    return MT_OK;
}

void ascend_replay_release(struct ascend_replay *replay)
{
    for (size_t i = 0; i < replay->pool_count; i++) {
        const struct ascend_pool_state *state = &replay->pools[i];

        if (state->rise_count)
            model_note(
                replay->model, state->rise_count,
                "rows of pool %s whose Total Allocated does not follow from the rows "
                "before: blocks are missing from the file, or share a time",
                model_text_at(replay->model, model_pool_name_at(replay->model, state->pool)));
    }
    free(replay->heap);
    memset(replay, 0, sizeof(*replay));
}
