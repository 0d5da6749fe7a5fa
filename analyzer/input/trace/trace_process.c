/* SPDX-License-Identifier: Apache-2.0 */
/*
 * All events of one process image, in time order.
 *
 *   chunk, chunk, ring --> decoder --> window --.
 *   chunk, ring ---------> decoder --> window --+--> heap of keys --> batch
 *   chunk ---------------> decoder --> window --'
 *
 * A key is the time of the next event of a stream, or a time before it, and a bit that lets frees
 * go first among equal times. Invariant: the keys of a stream never fall.
 */
#include "trace_process.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "chunk_decoder.h"
#include "heap.h"
#include "ring_reader.h"

enum { WINDOW_EVENTS = 256 };

#define NO_THREAD        UINT32_MAX
#define NO_KERNEL_THREAD (UINT64_C(1) << 32) /* ids of streams that do not say whose they are */
#define KEY_MAX          UINT64_MAX

struct spare_decoder {
    struct spare_decoder *next;
};

struct trace_stream {
    const struct trace_chunk *chunk, *chunks_end;
    const struct ring_slot *slot; /* NULL: no ring, or it was taken already */
    uint64_t position;            /* up to where the stream was read */
    uint64_t key;
    uint32_t number;
    uint32_t thread;
    struct chunk_decoder *decoder; /* of the chunk that is being read, or NULL */
    struct ring_reader *ring;      /* the same for the ring */
    uint64_t segment_last_key;     /* no event of the segment comes later; KEY_MAX: unknown */
    struct event *window;          /* WINDOW_EVENTS, decoded but not handed out */
    uint32_t window_at, window_count;
    struct trace_stacks stacks;
};

static uint64_t time_key(uint64_t time_ns)
{
    return time_ns << 1;
}

static uint64_t event_key(const struct event *event)
{
    return event->time_ns << 1 | (event->kind != EVENT_FREE);
}

/* --- decoders ------------------------------------------------------------------------------ */

static struct chunk_decoder *decoder_take(struct trace_process *process)
{
    struct spare_decoder *spare = process->spare_decoders;
    struct chunk_decoder *decoder;

    if (spare) {
        process->spare_decoders = spare->next;
        decoder = (struct chunk_decoder *)spare;
    } else {
        decoder = malloc(sizeof(*decoder));
    }
    if (decoder)
        chunk_decoder_init(decoder);
    return decoder;
}

static void decoder_give_back(struct trace_process *process, struct trace_stream *stream)
{
    struct spare_decoder *spare = (struct spare_decoder *)stream->decoder;

    if (!spare)
        return;
    spare->next = process->spare_decoders;
    process->spare_decoders = spare;
    stream->decoder = NULL;
}

/* --- segments ------------------------------------------------------------------------------ */

static void count_damage(struct trace_process *process, uint64_t events,
                         const struct mt_error *trouble)
{
    if (!process->first_damage.message[0])
        process->first_damage = *trouble;
    process->damaged_events += events;
}

/* Whether the chunk goes on where the stream stands; says so in a note if not. */
static bool follows(struct trace_process *process, const struct trace_stream *stream,
                    const struct trace_chunk *chunk)
{
    uint64_t begin = chunk->header.begin_position;

    if (begin > stream->position) {
        model_note(process->context.model, begin - stream->position,
                   "%s: words of the recording are missing between chunks", process->file.path);
        model_set_incomplete(process->context.model);
    }
    if (begin < stream->position)
        model_note(process->context.model, chunk->header.event_count,
                   "%s: events of chunks that repeat others were left out", process->file.path);
    return begin >= stream->position;
}

/* Begins the next chunk that can be read. *is_begun false: there is none. */
static enum mt_result begin_chunk(struct trace_process *process, struct trace_stream *stream,
                                  bool *is_begun, struct mt_error *error)
{
    while (stream->chunk != stream->chunks_end) {
        const struct trace_chunk *chunk = stream->chunk++;
        struct mt_error trouble = {.message = ""};
        enum mt_result result;

        if (!follows(process, stream, chunk))
            continue;
        stream->position = chunk->header.end_position;
        stream->decoder = decoder_take(process);
        if (!stream->decoder)
            return mt_error_set(error, MT_NO_MEMORY, "%s: no memory to decode a chunk",
                                process->file.path);
        result =
            mtt_file_load(&process->file, chunk, process->loader, stream->decoder->raw, &trouble);
        if (result == MT_OK)
            result =
                chunk_decoder_begin(stream->decoder, &process->context, &chunk->header, &trouble);
        if (result == MT_OK) {
            stream->segment_last_key =
                time_key(trace_clock_ns(&process->context.clock, chunk->header.last_time)) | 1;
            *is_begun = true;
            return MT_OK;
        }
        decoder_give_back(process, stream);
        if (result == MT_NO_MEMORY)
            return mt_error_set(error, result, "%s", trouble.message);
        count_damage(process, chunk->header.event_count, &trouble);
    }
    *is_begun = false;
    return MT_OK;
}

static enum mt_result begin_ring(struct trace_process *process, struct trace_stream *stream,
                                 bool *is_begun, struct mt_error *error)
{
    const struct ring_slot *slot = stream->slot;
    uint64_t begin;

    *is_begun = false;
    stream->slot = NULL;
    if (!slot || slot->head <= stream->position)
        return MT_OK;
    begin = slot->tail > stream->position ? slot->tail : stream->position;
    if (slot->tail > stream->position) {
        model_note(process->context.model, slot->tail - stream->position,
                   "%s: words of the recording are missing before the rings", process->file.path);
        model_set_incomplete(process->context.model);
    }
    if (begin == slot->head)
        return MT_OK;
    stream->ring = malloc(sizeof(*stream->ring));
    if (!stream->ring)
        return mt_error_set(error, MT_NO_MEMORY, "%s: no memory to read a ring",
                            process->file.path);
    ring_reader_begin(stream->ring, process->file.rings_descriptor, slot, begin,
                      &process->file.header);
    stream->segment_last_key = KEY_MAX;
    *is_begun = true;
    return MT_OK;
}

static void end_ring(struct trace_process *process, struct trace_stream *stream)
{
    if (stream->ring && stream->ring->overwritten)
        model_note(process->context.model, stream->ring->overwritten,
                   "%s: words of the rings could not be read, or the process wrote on",
                   process->file.path);
    free(stream->ring);
    stream->ring = NULL;
}

/* Makes sure that a segment is open. *is_open false: the stream is over. */
static enum mt_result open_segment(struct trace_process *process, struct trace_stream *stream,
                                   bool *is_open, struct mt_error *error)
{
    enum mt_result result;

    *is_open = stream->decoder || stream->ring;
    if (*is_open)
        return MT_OK;
    result = begin_chunk(process, stream, is_open, error);
    if (result == MT_OK && !*is_open)
        result = begin_ring(process, stream, is_open, error);
    return result;
}

/* --- events of a stream -------------------------------------------------------------------- */

/* A stream that did not say whose it is gets a thread of its own. */
static void name_thread(struct trace_process *process, struct trace_stream *stream,
                        struct event *events, size_t count)
{
    struct model *model = process->context.model;
    char name[32];
    uint32_t thread;

    if (!count || events[0].thread != NO_THREAD)
        return;
    snprintf(name, sizeof(name), "stream %" PRIu32, stream->number);
    thread = model_thread(model, (struct model_thread){
                                     .process = process->context.process,
                                     .thread_id = NO_KERNEL_THREAD | stream->number,
                                     .name = model_text(model, name, strlen(name)),
                                 });
    for (size_t i = 0; i < count && events[i].thread == NO_THREAD; i++)
        events[i].thread = thread;
    if (stream->thread == NO_THREAD)
        stream->thread = thread;
}

/* The counter may step back by a hair when a thread changes cores between two chunks. */
static void keep_order(struct event *events, size_t count, uint64_t time_ns)
{
    for (size_t i = 0; i < count && events[i].time_ns < time_ns; i++)
        events[i].time_ns = time_ns;
}

/* Decodes from the open segment and closes it at its end. */
static void decode(struct trace_process *process, struct trace_stream *stream, struct event *events,
                   size_t capacity, size_t *count)
{
    struct trace_context *context = &process->context;
    bool was_unnamed = stream->thread == NO_THREAD;

    context->stacks = &stream->stacks;
    if (stream->decoder) {
        struct mt_error trouble = {.message = ""};

        if (chunk_decoder_next(stream->decoder, context, &stream->thread, events, capacity, count,
                               &trouble) != MT_OK)
            count_damage(process, stream->decoder->events_left, &trouble);
        if (*count < capacity)
            decoder_give_back(process, stream);
    } else {
        *count = ring_reader_next(stream->ring, context, &stream->thread, events, capacity);
        if (*count < capacity)
            end_ring(process, stream);
    }
    if (was_unnamed)
        name_thread(process, stream, events, *count);
    keep_order(events, *count, stream->key >> 1);
}

static enum mt_result fill_window(struct trace_process *process, struct trace_stream *stream,
                                  struct mt_error *error)
{
    size_t count;

    if (!stream->window)
        stream->window = malloc(WINDOW_EVENTS * sizeof(*stream->window));
    if (!stream->window)
        return mt_error_set(error, MT_NO_MEMORY, "%s: no memory to merge its threads",
                            process->file.path);
    decode(process, stream, stream->window, WINDOW_EVENTS, &count);
    stream->window_at = 0;
    stream->window_count = (uint32_t)count;
    if (count)
        stream->key = event_key(stream->window);
    return MT_OK;
}

/* --- the heap ------------------------------------------------------------------------------ */

static bool comes_first(const void *row, const void *other)
{
    return ((const struct heap_entry *)row)->key < ((const struct heap_entry *)other)->key;
}

/* After the key of the stream at the top. */
static void put_top_in_order(struct trace_process *process)
{
    heap_sift_down(process->heap, process->heap_count, sizeof(*process->heap), 0, comes_first);
}

static uint64_t second_key(const struct trace_process *process)
{
    const struct heap_entry *heap = process->heap;
    uint64_t key = process->heap_count > 1 ? heap[1].key : KEY_MAX;

    if (process->heap_count > 2 && heap[2].key < key)
        key = heap[2].key;
    return key;
}

/* Hands out the window of a stream up to the key `limit`. */
static size_t take_from_window(struct trace_stream *stream, uint64_t limit, struct event *batch,
                               size_t capacity)
{
    size_t left = stream->window_count - stream->window_at;
    const struct event *events = stream->window + stream->window_at;
    size_t count = 0;

    if (left > capacity)
        left = capacity;
    while (count < left && event_key(&events[count]) <= limit) {
        batch[count] = events[count];
        count++;
    }
    stream->window_at += (uint32_t)count;
    if (stream->window_at < stream->window_count)
        stream->key = event_key(stream->window + stream->window_at);
    else
        stream->key = time_key(batch[count - 1].time_ns);
    return count;
}

/* Merges what is in windows, until the stream at the top has to decode more. */
static size_t merge_windows(struct trace_process *process, struct event *batch, size_t capacity)
{
    size_t count = 0;

    while (count < capacity) {
        struct trace_stream *stream = process->heap[0].stream;

        if (stream->window_at == stream->window_count)
            break;
        count += take_from_window(stream, second_key(process), batch + count, capacity - count);
        process->heap[0].key = stream->key;
        put_top_in_order(process);
    }
    return count;
}

/* Lets the stream at the top go on: straight into the batch if it is far ahead of the others. */
static enum mt_result advance(struct trace_process *process, struct event *batch, size_t capacity,
                              size_t *count, struct mt_error *error)
{
    struct trace_stream *stream = process->heap[0].stream;
    uint64_t limit = second_key(process);
    bool is_open;
    enum mt_result result = open_segment(process, stream, &is_open, error);

    *count = 0;
    if (result != MT_OK)
        return result;
    if (!is_open) {
        process->heap[0] = process->heap[--process->heap_count];
    } else if (limit == KEY_MAX || stream->segment_last_key < limit) {
        decode(process, stream, batch, capacity, count);
        if (*count)
            stream->key = time_key(batch[*count - 1].time_ns);
        process->heap[0].key = stream->key;
    } else {
        result = fill_window(process, stream, error);
        process->heap[0].key = stream->key;
    }
    if (process->heap_count)
        put_top_in_order(process);
    return result;
}

/* --- the process --------------------------------------------------------------------------- */

static uint64_t first_key(const struct trace_process *process, const struct trace_stream *stream)
{
    if (stream->chunk == stream->chunks_end)
        return 0;
    return time_key(trace_clock_ns(&process->context.clock, stream->chunk->header.first_time));
}

/* Streams are groups of chunks and slots with the same number; both lists are sorted by it. */
static size_t group_streams(struct trace_process *process, struct trace_stream *streams)
{
    const struct mtt_file *file = &process->file;
    const struct trace_chunk *chunk = file->chunks, *chunks_end = chunk;
    const struct ring_slot *slot = file->slots, *slots_end = slot;
    size_t count = 0;

    if (file->chunk_count)
        chunks_end += file->chunk_count;
    if (file->slot_count)
        slots_end += file->slot_count;
    while (chunk != chunks_end || slot != slots_end) {
        struct trace_stream stream = {.chunk = chunk, .thread = NO_THREAD};

        stream.number = chunk != chunks_end ? chunk->header.stream : slot->stream;
        if (slot != slots_end && slot->stream < stream.number)
            stream.number = slot->stream;
        while (chunk != chunks_end && chunk->header.stream == stream.number)
            chunk++;
        stream.chunks_end = chunk;
        for (; slot != slots_end && slot->stream == stream.number; slot++)
            stream.slot = slot;
        stream.key = first_key(process, &stream);
        stream.stacks.kept =
            model_kept_sites(process->context.model, process->context.process, stream.number);
        if (streams)
            streams[count] = stream;
        count++;
    }
    return count;
}

static enum mt_result streams_create(struct trace_process *process, struct mt_error *error)
{
    size_t count =
        process->file.chunk_count || process->file.slot_count ? group_streams(process, NULL) : 0;

    if (!count)
        return MT_OK;
    process->streams = calloc(count, sizeof(*process->streams));
    process->heap = calloc(count, sizeof(*process->heap));
    if (!process->streams || !process->heap)
        return mt_error_set(error, MT_NO_MEMORY, "%s: no memory for its threads",
                            process->file.path);
    process->stream_count = group_streams(process, process->streams);
    process->heap_count = count;
    for (size_t i = 0; i < count; i++)
        process->heap[i] = (struct heap_entry){process->streams[i].key, &process->streams[i]};
    heap_make(process->heap, count, sizeof(*process->heap), comes_first);
    return MT_OK;
}

enum mt_result trace_process_open(struct trace_process *process, const char *path,
                                  const struct trace_context *context, struct chunk_loader *loader,
                                  struct mt_error *error)
{
    enum mt_result result;

    *process = (struct trace_process){.context = *context, .loader = loader};
    result = mtt_file_open(&process->file, path, error);
    if (result == MT_OK)
        result = mtt_file_find(&process->file, context->model, error);
    process->context.told_steps = process->file.header.told_steps;
    if (result == MT_OK)
        result = streams_create(process, error);
    if (result != MT_OK)
        trace_process_close(process);
    return result;
}

enum mt_result trace_process_next(struct trace_process *process, struct event *batch,
                                  size_t capacity, size_t *count, struct mt_error *error)
{
    size_t total = 0;

    while (total < capacity && process->heap_count) {
        size_t part;
        enum mt_result result;

        total += merge_windows(process, batch + total, capacity - total);
        if (total == capacity)
            break;
        result = advance(process, batch + total, capacity - total, &part, error);
        if (result != MT_OK)
            return result;
        total += part;
    }
    if (process->context.is_out_of_memory)
        return mt_error_set(error, MT_NO_MEMORY, "%s: no memory for its texts", process->file.path);
    if (total) {
        process->context.event_count += total;
        process->context.last_time_ns = batch[total - 1].time_ns;
    }
    *count = total;
    return MT_OK;
}

/* What is still being written may have other stacks the next time. Where a chunk ended early, maybe
 * within a definition, the next reading has to find that again. */
static void keep_stacks(const struct trace_process *process)
{
    const struct trace_context *context = &process->context;

    if (process->file.header.state != MT_FILE_CLOSED || context->site_epoch || context->any_site ||
        process->first_damage.message[0])
        return;
    for (size_t i = 0; i < process->stream_count; i++)
        trace_stacks_keep(&process->streams[i].stacks, context->model, context->process,
                          process->streams[i].number);
}

void trace_process_summarize(struct trace_process *process)
{
    const struct trace_context *context = &process->context;
    const char *path = process->file.path;
    struct model_process *row = model_process_fill(context->model, context->process);

    keep_stacks(process);
    row->event_count = context->event_count;
    if (row->end_ns < context->last_time_ns)
        row->end_ns = context->last_time_ns;
    for (unsigned i = 0; i < MT_LOST_KINDS; i++)
        if (row->lost_counts[i] < context->lost_counts[i])
            row->lost_counts[i] = context->lost_counts[i];
    row->lost_counts[MT_LOST_MALFORMED] += process->damaged_events;
    if (process->damaged_events)
        model_note(context->model, process->damaged_events,
                   "%s: events of damaged chunks were left out; the first: %s", path,
                   process->first_damage.message);
    if (context->unknown_records)
        model_note(context->model, context->unknown_records,
                   "%s: records of a newer version were passed over", path);
    if (context->unknown_columns)
        model_note(context->model, context->unknown_columns,
                   "%s: columns of a newer version were passed over", path);
    if (context->bad_stacks || context->missing_stacks)
        model_note(context->model, context->bad_stacks + context->missing_stacks,
                   "%s: call stacks that do not read back; events of theirs have no call site",
                   path);
    if (context->malformed_words) {
        model_set_incomplete(context->model);
        model_note(context->model, context->malformed_words,
                   "%s: words of the rings are no record and were passed over", path);
    }
}

void trace_process_close(struct trace_process *process)
{
    for (size_t i = 0; i < process->stream_count; i++) {
        free(process->streams[i].decoder);
        free(process->streams[i].ring);
        free(process->streams[i].window);
        trace_stacks_release(&process->streams[i].stacks);
    }
    while (process->spare_decoders) {
        struct spare_decoder *spare = process->spare_decoders;

        process->spare_decoders = spare->next;
        free(spare);
    }
    trace_frames_release(&process->context.frames);
    free(process->streams);
    free(process->heap);
    if (process->file.path)
        mtt_file_close(&process->file);
    *process = (struct trace_process){0};
}
