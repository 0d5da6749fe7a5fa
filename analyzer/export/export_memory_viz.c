/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A snapshot for PyTorch's viewer, pytorch.org/memory_viz, and its Python readers.
 *
 * Each ledger is a device there, in the order of `leaktide_ledgers`; the recording is read once for
 * each, and once to find the segments. Every alloc has as its category what is thought of its site,
 * and the viewer colours by it; when there are categories, one must be called "unknown". Blocks
 * that are older than the recording have no alloc: viewers find them by their free, or among the
 * blocks of the segments at the end.
 */
#include <stdlib.h>
#include <string.h>

#include "labels.h"
#include "list.h"
#include "live_set.h"
#include "snapshot_writer.h"
#include "verdict.h"
#include "viz_annotations.h"
#include "viz_segments.h"

/* Keys of a snapshot; the writer tells them apart by their pointers. */
static const char key_action[] = "action";
static const char key_active_size[] = "active_size";
static const char key_allocator_settings[] = "allocator_settings";
static const char key_conf[] = "PYTORCH_CUDA_ALLOC_CONF";
static const char key_addr[] = "addr";
static const char key_address[] = "address";
static const char key_allocated_size[] = "allocated_size";
static const char key_blocks[] = "blocks";
static const char key_category[] = "category";
static const char key_device[] = "device";
static const char key_device_free[] = "device_free";
static const char key_device_traces[] = "device_traces";
static const char key_filename[] = "filename";
static const char key_frames[] = "frames";
static const char key_is_expandable[] = "is_expandable";
static const char key_ledgers[] = "leaktide_ledgers";
static const char key_line[] = "line";
static const char key_name[] = "name";
static const char key_requested_size[] = "requested_size";
static const char key_segment_type[] = "segment_type";
static const char key_segments[] = "segments";
static const char key_size[] = "size";
static const char key_state[] = "state";
static const char key_stream[] = "stream";
static const char key_time_us[] = "time_us";
static const char key_total_size[] = "total_size";

struct viz_block {
    uint64_t address, size_bytes, stream;
    uint32_t group;
    bool is_waiting; /* freed, and a stream still uses it */
};

struct viz_blocks {
    struct viz_block *rows;
    size_t count, capacity;
};

struct viz {
    const struct export_request *request;
    const struct question *question;
    struct snapshot_writer writer;
    struct viz_ledger *ledgers;
    struct viz_blocks *left; /* alive at the end, by ledger */
    const char **categories; /* by group */
    uint32_t *frame_memos;   /* by group */
    struct live_set waiting; /* blocks of this ledger, freed, that a stream still uses */
    struct live_set streams; /* of blocks of this ledger that are alive: size_bytes is the stream */
    uint64_t stream;         /* of the newest event, where it tells one */
    bool has_failed;
    /* Of the ledger that is being written. */
    uint16_t ledger;
    uint64_t base_ns;
    bool has_times;
    struct event failed; /* kind EVENT_ALLOC_FAILED: waits for what was free then */
};

/* --- categories ---------------------------------------------------------------------------- */

/* What steps say of sites that are no leak; a leak in a pool above is none here. */
static void note_sites(struct viz *viz, const struct judged_list *sites)
{
    for (size_t i = sites->verdict_counts[VERDICT_LEAK]; i < sites->count; i++)
        for (size_t g = 0; g < sites->rows[i].origin->group_count; g++)
            viz->categories[sites->rows[i].origin->groups[g]] =
                step_verdict_name(sites->rows[i].judgement.verdict);
}

static bool judge_groups(struct viz *viz)
{
    const struct question *question = viz->question;
    const struct verdict *verdict = verdict_borrow(question);
    uint32_t *leaks = verdict ? verdict_leaks_of_groups(question, verdict) : NULL;
    size_t count = tally_group_count(question->tally);

    viz->categories = calloc(count + 1, sizeof(*viz->categories));
    if (leaks && viz->categories && !verdict->is_by_stacks)
        note_sites(viz, verdict->sites);
    for (size_t i = 0; leaks && viz->categories && i < count; i++)
        if (leaks[i])
            viz->categories[i] = step_verdict_name(VERDICT_LEAK);
    free(leaks);
    verdict_give_back(question, verdict);
    return leaks && viz->categories;
}

/* Where nothing is thought of it: is anything of it left? */
static const char *category_of(const struct viz *viz, uint32_t group)
{
    if (viz->categories[group])
        return viz->categories[group];
    return tally_group_at(viz->question->tally, group)->live_count ? "not released" : "released";
}

/* --- frames -------------------------------------------------------------------------------- */

static void put_frame(struct viz *viz, const char *name, const char *file, uint32_t line)
{
    struct snapshot_writer *writer = &viz->writer;

    put_map_begin(writer);
    put_key(writer, key_name);
    put_text(writer, name);
    put_key(writer, key_filename);
    put_text(writer, file);
    put_key(writer, key_line);
    put_number(writer, line);
    put_end(writer);
}

static void put_no_frames(struct viz *viz)
{
    put_key(&viz->writer, key_frames);
    put_list_begin(&viz->writer);
    put_end(&viz->writer);
}

/* Those of a site, innermost first, after the operator. */
static void put_site(struct viz *viz, uint32_t operator_text, uint32_t site)
{
    const struct symbol_frame *frames;
    size_t count;

    put_list_begin(&viz->writer);
    if (operator_text)
        put_frame(viz, model_text_at(viz->question->model, operator_text), "operator", 0);
    frames = symbols_frames(viz->question->symbols, site, &count);
    for (size_t i = 0; i < count; i++)
        put_frame(viz, frames[i].function, *frames[i].file ? frames[i].file : frames[i].module,
                  frames[i].line);
    put_end(&viz->writer);
}

static void put_frames(struct viz *viz, uint32_t group)
{
    const struct group_detail *detail = tally_detail_at(viz->question->tally, group);

    put_key(&viz->writer, key_frames);
    if (put_again(&viz->writer, viz->frame_memos[group]))
        return;
    put_site(viz, detail->operator_text, detail->site);
    put_remembered(&viz->writer, &viz->frame_memos[group]);
}

/* --- events -------------------------------------------------------------------------------- */

/* Stream 0 is that of whom none is known. */
static uint64_t stream_at(const struct viz *viz, uint64_t address)
{
    struct live_place place = live_set_find(&viz->streams, live_hash(address), address);

    return place.bucket ? live_set_at(&viz->streams, place).size_bytes : 0;
}

static void keep_stream(struct viz *viz, uint64_t address)
{
    const struct live_block block = {.address = address, .size_bytes = viz->stream, .group = 1};

    if (viz->stream)
        viz->has_failed |= !live_set_put(&viz->streams, live_hash(address), &block);
}

static uint64_t take_stream(struct viz *viz, uint64_t address)
{
    struct live_place place = live_set_find(&viz->streams, live_hash(address), address);

    return place.bucket ? live_set_take(&viz->streams, live_hash(address), place).size_bytes : 0;
}

/* Begins an event: who calls puts what else belongs to it, and ends it. */
static void put_action(struct viz *viz, const char *action, uint64_t address, uint64_t size_bytes,
                       uint64_t time_ns)
{
    const struct {
        const char *key;
        uint64_t number;
    } numbers[] = {
        {key_addr, address},
        {key_size, size_bytes},
        {key_stream, viz->stream},
        {key_time_us, (viz->base_ns + time_ns) / 1000},
    };

    put_map_begin(&viz->writer);
    put_key(&viz->writer, key_action);
    put_text(&viz->writer, action);
    for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++) {
        if (numbers[i].key == key_time_us && !viz->has_times)
            continue;
        put_key(&viz->writer, numbers[i].key);
        put_number(&viz->writer, numbers[i].number);
    }
}

static void put_plain_action(struct viz *viz, const char *action, uint64_t address,
                             uint64_t size_bytes, uint64_t time_ns)
{
    put_action(viz, action, address, size_bytes, time_ns);
    put_no_frames(viz);
    put_end(&viz->writer);
}

/* The first of every device: a category that viewers insist on. */
static void put_start(struct viz *viz)
{
    put_action(viz, "snapshot", 0, 0, 0);
    put_key(&viz->writer, key_category);
    put_text(&viz->writer, "unknown");
    put_no_frames(viz);
    put_end(&viz->writer);
}

static void put_segment_change(struct viz *viz, const struct event *event)
{
    static const char *const actions[2][2] = {
        {"segment_alloc", "segment_free"},
        {"segment_map", "segment_unmap"},
    };
    const struct viz_ledger *ledger = &viz->ledgers[viz->ledger];

    if (ledger->is_told && !(event->flags & EVENT_IS_OLDER))
        put_plain_action(viz, actions[ledger->is_mapped][event->kind == EVENT_SEGMENT_GONE],
                         event->address, event->value, event->time_ns);
}

static void put_free_waits(struct viz *viz, const struct event *event)
{
    const struct live_block block = {.address = event->address, .group = 1};

    if (live_set_find(&viz->waiting, live_hash(event->address), event->address).bucket)
        return;
    viz->has_failed |= !live_set_put(&viz->waiting, live_hash(event->address), &block);
    if (event->flags & EVENT_IS_OLDER) /* as the block: among those of the segments only */
        return;
    viz->stream = stream_at(viz, event->address);
    put_plain_action(viz, "free_requested", event->address, event->value, event->time_ns);
}

static void put_failed(struct viz *viz, uint64_t free_bytes)
{
    put_action(viz, "oom", free_bytes, viz->failed.value, viz->failed.time_ns);
    put_key(&viz->writer, key_device_free);
    put_number(&viz->writer, free_bytes);
    put_key(&viz->writer, key_frames);
    put_site(viz, 0, viz->failed.site);
    put_end(&viz->writer);
    viz->failed.kind = EVENT_KIND_COUNT;
}

/* What snapshots say after a failed alloc. */
static bool is_free_memory(const struct viz *viz, const struct event *event)
{
    return event->kind == EVENT_SAMPLE &&
           strcmp(model_text_at(viz->question->model, event->text), "free when out of memory") == 0;
}

static bool on_event(void *context, const struct event *event)
{
    struct viz *viz = context;
    uint16_t ledger;

    viz->stream = event->kind == EVENT_ALLOC && event->detail
                      ? strtoull(model_text_at(viz->question->model, event->detail), NULL, 10)
                      : 0;
    if (viz->failed.kind == EVENT_ALLOC_FAILED)
        put_failed(viz, is_free_memory(viz, event) ? event->value : 0);
    if (!viz_ledger_of(viz->request, event, &ledger) || ledger != viz->ledger)
        return true;
    if (event->kind == EVENT_SEGMENT || event->kind == EVENT_SEGMENT_GONE)
        put_segment_change(viz, event);
    else if (event->kind == EVENT_FREE_WAITS)
        put_free_waits(viz, event);
    else if (event->kind == EVENT_ALLOC_FAILED)
        viz->failed = *event;
    return !viz->has_failed;
}

static bool on_born(void *context, const struct life *life)
{
    struct viz *viz = context;

    if (life->ledger != viz->ledger)
        return true;
    keep_stream(viz, life->address);
    if (tally_detail_at(viz->question->tally, life->group)->is_older)
        return !viz->has_failed;
    put_action(viz, "alloc", viz_address(&viz->ledgers[viz->ledger], life), life->size_bytes,
               life->born_ns);
    put_key(&viz->writer, key_category);
    put_text(&viz->writer, category_of(viz, life->group));
    put_frames(viz, life->group);
    put_end(&viz->writer);
    return !viz->has_failed;
}

static bool keep_left(struct viz *viz, const struct life *life, uint64_t stream, bool is_waiting)
{
    struct viz_blocks *left = &viz->left[viz->ledger];

    if (!list_has_room(&left->rows, &left->capacity, left->count, sizeof(*left->rows)))
        return false;
    left->rows[left->count++] =
        (struct viz_block){viz_address(&viz->ledgers[viz->ledger], life), life->size_bytes, stream,
                           life->group, is_waiting};
    return true;
}

static bool on_over(void *context, const struct life *life)
{
    struct viz *viz = context;
    struct live_place place;
    uint64_t address;

    if (life->ledger != viz->ledger)
        return true;
    viz->stream = take_stream(viz, life->address);
    place = live_set_find(&viz->waiting, live_hash(life->address), life->address);
    if (!life->freed_event) {
        viz->has_failed |= !keep_left(viz, life, viz->stream, place.bucket != NULL);
        return !viz->has_failed;
    }
    address = viz_address(&viz->ledgers[viz->ledger], life);
    if (place.bucket)
        live_set_take(&viz->waiting, live_hash(life->address), place);
    else
        put_plain_action(viz, "free_requested", address, life->size_bytes, life->freed_ns);
    put_plain_action(viz, "free_completed", address, life->size_bytes, life->freed_ns);
    return !viz->has_failed;
}

/* --- segments ------------------------------------------------------------------------------ */

static int block_compare(const void *left, const void *right)
{
    const struct viz_block *a = left, *b = right;

    return (a->address > b->address) - (a->address < b->address);
}

/* block NULL: nothing is there. */
static void put_block(struct viz *viz, uint64_t address, uint64_t size_bytes,
                      const struct viz_block *block)
{
    static const char *const states[] = {"active_allocated", "active_pending_free"};
    struct snapshot_writer *writer = &viz->writer;

    put_map_begin(writer);
    put_key(writer, key_address);
    put_number(writer, address);
    put_key(writer, key_size);
    put_number(writer, size_bytes);
    put_key(writer, key_requested_size);
    put_number(writer, block ? size_bytes : 0);
    put_key(writer, key_state);
    put_text(writer, block ? states[block->is_waiting] : "inactive");
    if (block)
        put_frames(viz, block->group);
    else
        put_no_frames(viz);
    put_end(writer);
}

/* Blocks stand side by side in a segment, with gaps between them. Returns the first block after
 * it. One that begins within the one before is left out: a handle, or a number of another kind. */
static size_t put_blocks(struct viz *viz, struct range segment, size_t first)
{
    const struct viz_blocks *left = &viz->left[viz->ledger];
    uint64_t address = segment.from;
    size_t i = first;

    for (; i < left->count && left->rows[i].address < segment.to; i++) {
        const struct viz_block *block = &left->rows[i];
        uint64_t room = segment.to - block->address;

        if (block->address < address)
            continue;
        if (block->address > address)
            put_block(viz, address, block->address - address, NULL);
        put_block(viz, block->address, block->size_bytes < room ? block->size_bytes : room, block);
        address = block->address + (block->size_bytes < room ? block->size_bytes : room);
    }
    if (address < segment.to)
        put_block(viz, address, segment.to - address, NULL);
    return i;
}

/* What blocks that wait hold is active, and allocated no more. */
static uint64_t bytes_in(const struct viz_blocks *left, struct range segment, size_t first,
                         bool with_waiting)
{
    uint64_t bytes = 0;

    for (size_t i = first; i < left->count && left->rows[i].address < segment.to; i++)
        if (with_waiting || !left->rows[i].is_waiting)
            bytes += left->rows[i].size_bytes;
    return bytes;
}

/* That of its first block; of one without blocks nobody knows. */
static uint64_t stream_of(const struct viz_blocks *left, struct range segment, size_t first)
{
    return first < left->count && left->rows[first].address < segment.to ? left->rows[first].stream
                                                                         : 0;
}

static size_t put_segment(struct viz *viz, struct range segment, size_t first)
{
    const struct viz_blocks *left = &viz->left[viz->ledger];
    uint64_t bytes = bytes_in(left, segment, first, true);
    const struct {
        const char *key;
        uint64_t number;
    } numbers[] = {
        {key_device, viz->ledger},
        {key_address, segment.from},
        {key_total_size, segment.to - segment.from},
        {key_allocated_size, bytes_in(left, segment, first, false)},
        {key_active_size, bytes},
        {key_requested_size, bytes},
        {key_stream, stream_of(left, segment, first)},
    };
    size_t next;

    put_map_begin(&viz->writer);
    for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++) {
        put_key(&viz->writer, numbers[i].key);
        put_number(&viz->writer, numbers[i].number);
    }
    put_key(&viz->writer, key_segment_type);
    put_text(&viz->writer, "large");
    put_key(&viz->writer, key_is_expandable);
    put_flag(&viz->writer, viz->ledgers[viz->ledger].is_mapped);
    put_no_frames(viz);
    put_key(&viz->writer, key_blocks);
    put_list_begin(&viz->writer);
    next = put_blocks(viz, segment, first);
    put_end(&viz->writer);
    put_end(&viz->writer);
    return next;
}

static void put_segments(struct viz *viz)
{
    const struct viz_blocks *left = &viz->left[viz->ledger];
    const struct range_set *segments = &viz->ledgers[viz->ledger].segments;
    size_t block = 0;

    if (left->count)
        qsort(left->rows, left->count, sizeof(*left->rows), block_compare);
    for (size_t i = 0; i < segments->count; i++)
        block = put_segment(viz, segments->rows[i], block);
}

/* --- all of it ----------------------------------------------------------------------------- */

static enum mt_result put_trace(struct viz *viz, uint16_t ledger, struct mt_error *error)
{
    const struct life_visitor visitor = {
        .context = viz,
        .born = on_born,
        .over = on_over,
        .event = on_event,
        .event_kinds = 1u << EVENT_ALLOC | 1u << EVENT_SEGMENT | 1u << EVENT_SEGMENT_GONE |
                       1u << EVENT_FREE_WAITS | 1u << EVENT_ALLOC_FAILED | 1u << EVENT_SAMPLE,
    };
    uint16_t process = tally_ledger_at(viz->question->tally, ledger)->process;
    enum mt_result result;

    viz->ledger = ledger;
    viz->base_ns = export_realtime_base(model_process_at(viz->request->model, process));
    viz->has_times = !model_process_at(viz->request->model, process)->times_are_events;
    viz->failed.kind = EVENT_KIND_COUNT;
    live_set_clear(&viz->waiting);
    live_set_clear(&viz->streams);
    viz->stream = 0;
    put_list_begin(&viz->writer);
    put_start(viz);
    result = lives_read(viz->question->events, viz->request->model, &visitor, error);
    if (viz->failed.kind == EVENT_ALLOC_FAILED)
        put_failed(viz, 0);
    put_end(&viz->writer);
    return result;
}

static void put_names(struct viz *viz, size_t count)
{
    put_key(&viz->writer, key_ledgers);
    put_list_begin(&viz->writer);
    for (size_t i = 0; i < count; i++)
        put_text(&viz->writer, label_ledger(viz->question, viz->request->labels, (uint16_t)i));
    put_end(&viz->writer);
}

/* Of the first process: one allocator, one set of settings. */
static void put_settings(struct viz *viz)
{
    const char *settings = "";

    if (model_process_count(viz->request->model))
        settings = model_text_at(viz->request->model,
                                 model_process_at(viz->request->model, 0)->allocator_settings);
    if (!*settings)
        return;
    put_key(&viz->writer, key_allocator_settings);
    put_map_begin(&viz->writer);
    put_key(&viz->writer, key_conf);
    put_text(&viz->writer, settings);
    put_end(&viz->writer);
}

static enum mt_result put_all(struct viz *viz, size_t count, struct mt_error *error)
{
    enum mt_result result = MT_OK;

    put_map_begin(&viz->writer);
    put_names(viz, count);
    put_settings(viz);
    result = viz_put_annotations(viz->request, &viz->writer, error);
    put_key(&viz->writer, key_device_traces);
    put_list_begin(&viz->writer);
    for (size_t i = 0; i < count && result == MT_OK; i++)
        result = put_trace(viz, (uint16_t)i, error);
    put_end(&viz->writer);
    put_key(&viz->writer, key_segments);
    put_list_begin(&viz->writer);
    for (viz->ledger = 0; viz->ledger < count && result == MT_OK; viz->ledger++)
        put_segments(viz);
    put_end(&viz->writer);
    put_end(&viz->writer);
    return result;
}

enum mt_result export_memory_viz(const struct export_request *request, struct mt_error *error)
{
    struct viz viz = {.request = request, .question = request->question};
    size_t count = tally_ledger_count(request->question->tally);
    enum mt_result result = viz_segments_create(request, &viz.ledgers, error);

    viz.left = calloc(count + 1, sizeof(*viz.left));
    viz.frame_memos =
        calloc(tally_group_count(request->question->tally) + 1, sizeof(*viz.frame_memos));
    snapshot_writer_init(&viz.writer, request->out, request->text);
    viz.has_failed = !live_set_init(&viz.waiting) || !live_set_init(&viz.streams) || !viz.left ||
                     !viz.frame_memos;
    if (result == MT_OK && !viz.has_failed && judge_groups(&viz))
        result = put_all(&viz, count, error);
    else if (result == MT_OK)
        viz.has_failed = true;
    if ((!snapshot_writer_finish(&viz.writer) || viz.has_failed) && result == MT_OK)
        result = mt_error_set(error, MT_NO_MEMORY, "no memory to write a snapshot");
    for (size_t i = 0; viz.left && i < count; i++)
        free(viz.left[i].rows);
    free(viz.left);
    free(viz.frame_memos);
    free(viz.categories);
    viz_segments_destroy(viz.ledgers, count);
    live_set_release(&viz.waiting);
    live_set_release(&viz.streams);
    return result;
}
