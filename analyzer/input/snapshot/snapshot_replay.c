/* SPDX-License-Identifier: Apache-2.0 */
/*
 * From the tables of a snapshot to events in time order.
 */
#include "snapshot_replay.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "leaktide/profiler_step.h"
#include "list.h"
#include "snapshot_baseline.h"

enum { device_most = 1024 };

struct replay_device {
    int32_t number;
    uint16_t place;
    uint32_t next, end; /* events that are still to come, rows of the tables */
    uint32_t first;
    uint64_t reserved_bytes; /* now */
    uint64_t newest_ns;      /* times do not go back */
    struct snapshot_baseline baseline;
    size_t next_old, next_segment, next_waiting; /* of the baseline, that are still to come */
    bool is_begun;
};

struct snapshot_replay {
    const struct snapshot_tables *tables;
    const char *path;
    struct arena arena;
    struct replay_device *devices;
    size_t device_count, device_capacity;
    bool has_times;
    uint64_t start_us, newest_ns;
    uint32_t next_annotation, annotation_end;
    int32_t step_device; /* whose annotations make steps; -1: none yet */
    uint16_t pool;
    uint32_t thread, snapshot_text, free_text;
    uint64_t newest_stream; /* and its name; 0: none yet */
    uint32_t stream_text;
    struct baseline_counts counts;
    bool is_state;          /* without history */
    uint64_t untimed_count; /* events without a time */
    size_t baseline_device; /* that the baseline has come to */
    struct event pending;   /* the second of two that an entry made */
    bool has_pending;
};

static const struct snapshot_entry *entry_at(const struct snapshot_tables *tables, size_t index)
{
    return snapshot_entries_at(tables->entries, index);
}

/* --- devices ------------------------------------------------------------------------------- */

static struct replay_device *device_for(struct snapshot_replay *replay, int32_t number)
{
    const struct snapshot_tables *tables = replay->tables;
    struct mt_place place = {.device = number, .kind = MT_KIND_DEVICE, .module = -1};
    struct replay_device *device;

    for (size_t i = 0; i < replay->device_count; i++)
        if (replay->devices[i].number == number)
            return &replay->devices[i];
    if (replay->device_count == device_most)
        return NULL;
    if (!list_has_room(&replay->devices, &replay->device_capacity, replay->device_count,
                       sizeof(*device)))
        return NULL;
    device = &replay->devices[replay->device_count++];
    *device = (struct replay_device){.number = number, .place = model_place(tables->model, place)};
    snapshot_baseline_init(&device->baseline, &replay->arena);
    return device;
}

static enum mt_result add_traces(struct snapshot_replay *replay, struct mt_error *error)
{
    const struct snapshot_tables *tables = replay->tables;
    uint64_t count = 0;

    for (uint32_t i = 0; i < tables->traces_found.count; i++) {
        const uint32_t *child = table_at(&tables->children, tables->traces_found.first + i);
        const struct object *trace = table_at(&tables->objects, *child);
        struct replay_device *device;

        if (trace->kind != OBJECT_ENTRIES)
            continue;
        device = device_for(replay, (int32_t)i);
        if (!device)
            return mt_error_set(error, MT_NO_MEMORY, "no memory for the devices of %s",
                                replay->path);
        device->first = device->next = trace->first;
        device->end = trace->first + trace->count;
        count += trace->count;
    }
    if (count > snapshot_entries_count(tables->entries))
        return mt_error_set(error, MT_CORRUPT, "%s: two devices share one history", replay->path);
    return MT_OK;
}

/* Each block belongs to one segment: a file that says otherwise could keep us busy for ever. */
static enum mt_result add_segments(struct snapshot_replay *replay, struct mt_error *error)
{
    const struct snapshot_tables *tables = replay->tables;
    uint64_t count = 0;

    for (uint32_t i = 0; i < tables->segments_found.count; i++) {
        const struct snapshot_segment *segment =
            table_at(&tables->segments, tables->segments_found.first + i);

        count += segment->block_count;
        if (!device_for(replay, segment->device))
            return mt_error_set(error, MT_NO_MEMORY, "no memory for the devices of %s",
                                replay->path);
    }
    if (count > tables->blocks.count)
        return mt_error_set(error, MT_CORRUPT, "%s: two segments share their blocks", replay->path);
    return MT_OK;
}

/* One event, or the two of a release; that the snapshot was taken is none. */
static bool is_lone(const struct snapshot_tables *tables, const struct replay_device *device)
{
    enum { most = 3 };
    struct snapshot_entry events[most];
    size_t count = 0;

    if (device->end - device->first > most)
        return false;
    for (uint32_t i = device->first; i < device->end; i++) {
        events[count] = *entry_at(tables, i);
        count += events[count].action != WORD_SNAPSHOT;
    }
    if (count < 2)
        return !count || events[0].action != WORD_OOM;
    return count == 2 && events[0].action == WORD_FREE_REQUESTED &&
           events[1].action == WORD_FREE_COMPLETED && events[0].address == events[1].address;
}

/*
 * A process that records no history keeps the newest event of each device all the same. With the
 * blocks that are held it is a state: one moment, of which nobody knows what was before.
 */
static void find_state(struct snapshot_replay *replay)
{
    const struct snapshot_tables *tables = replay->tables;
    uint64_t count = 0;

    for (size_t i = 0; i < replay->device_count; i++) {
        const struct replay_device *device = &replay->devices[i];

        if (!is_lone(tables, device))
            return;
        count += device->end - device->first;
    }
    if (!tables->blocks.count || !tables->segments_found.count)
        return;
    replay->is_state = true;
    if (count)
        model_note(tables->model, count,
                   "events of the snapshot that are all of its history: it is read as a state");
}

static enum mt_result add_baseline(struct snapshot_replay *replay, struct replay_device *device,
                                   struct mt_error *error)
{
    const struct snapshot_history history = {device->number, device->first, device->end};

    if (!snapshot_baseline_find(&device->baseline, replay->tables, &history, &replay->counts))
        return mt_error_set(error, MT_NO_MEMORY, "no memory for the blocks of %s", replay->path);
    device->reserved_bytes = device->baseline.reserved_bytes;
    return MT_OK;
}

/* --- times --------------------------------------------------------------------------------- */

static void find_start(struct snapshot_replay *replay)
{
    const struct snapshot_tables *tables = replay->tables;
    replay->start_us = UINT64_MAX;
    for (size_t d = 0; d < replay->device_count; d++) {
        for (uint32_t i = replay->devices[d].first; i < replay->devices[d].end; i++) {
            const struct snapshot_entry *entry = entry_at(tables, i);

            replay->has_times |= entry->has_time;
            replay->untimed_count += !entry->has_time;
            if (entry->has_time && entry->time_us < replay->start_us)
                replay->start_us = entry->time_us;
        }
    }
    replay->next_annotation = tables->annotations_found.first;
    replay->annotation_end = tables->annotations_found.first;
    if (!replay->has_times || replay->is_state)
        return;
    replay->annotation_end += tables->annotations_found.count;
    for (uint32_t i = replay->next_annotation; i < replay->annotation_end; i++) {
        const struct snapshot_annotation *row = table_at(&tables->annotations, i);

        if (row->has_time && row->time_us < replay->start_us)
            replay->start_us = row->time_us;
    }
}

/* Time 0 is the baseline's, and all there is of a state. Times that go back stand still. */
static uint64_t time_of(const struct snapshot_replay *replay, const struct replay_device *device)
{
    uint64_t time_ns;

    if (replay->is_state)
        return 0;
    if (!replay->has_times)
        return device->next - device->first + 1;
    if (!entry_at(replay->tables, device->next)->has_time)
        return device->newest_ns;
    time_ns = (entry_at(replay->tables, device->next)->time_us - replay->start_us) * 1000 + 1;
    return time_ns > device->newest_ns ? time_ns : device->newest_ns;
}

/* --- what is said about it ----------------------------------------------------------------- */

/* Where others have a time, an event without one cannot be put in order. */
static void note_odd(const struct snapshot_replay *replay)
{
    const struct snapshot_tables *tables = replay->tables;
    uint64_t untimed = replay->has_times ? replay->untimed_count : tables->odd_times;
    struct model_share share = {
        .missing = tables->odd_count + tables->unknown_actions + untimed,
        .whole = snapshot_entries_count(tables->entries) + tables->odd_count,
    };

    model_add_share(tables->model, PART_EVENTS, share);
    if (untimed)
        model_note(tables->model, untimed,
                   "events of the snapshot without a time: they count as at once with the event "
                   "before");
    if (tables->odd_count)
        model_note(tables->model, tables->odd_count,
                   "dicts or lists of the snapshot that are no whole event, block or segment");
}

static void note(const struct snapshot_replay *replay)
{
    const struct snapshot_tables *tables = replay->tables;
    struct model *model = tables->model;

    if (!replay->has_times)
        model_note(model, 0, "%s tells no times: events are numbered instead", replay->path);
    if (replay->counts.old_count)
        model_note(model, replay->counts.old_count,
                   "blocks (%" PRIu64 " B) that are older than the history of the snapshot; they "
                   "count from time 0 on",
                   replay->counts.old_bytes);
    if (replay->counts.pending_count)
        model_note(model, replay->counts.pending_count,
                   "blocks (%" PRIu64 " B) that the program has freed, but that wait for another "
                   "stream",
                   replay->counts.pending_bytes);
    if (replay->counts.unmatched_count)
        model_note(model, replay->counts.unmatched_count,
                   "events of the snapshot that do not go with the events before them");
    note_odd(replay);
    if (tables->unknown_actions)
        model_note(model, tables->unknown_actions,
                   "events of the snapshot of a kind that leaktide does not know");
    if (tables->has_host_part)
        model_note(model, 0, "%s has pinned host memory too, which is not counted", replay->path);
    model_note(model, 0,
               "a snapshot knows the memory of its allocator only: not that of the runtime, of "
               "communication, or of other processes");
}

static uint32_t text_of(struct model *model, const char *text)
{
    return model_text(model, text, strlen(text));
}

/* As they were given; pages of mappings tell one that may have been set later. */
static uint32_t settings_of(const struct snapshot_replay *replay)
{
    static const char grows[] = "expandable_segments:True";
    struct model *model = replay->tables->model;
    const char *given = model_text_at(model, replay->tables->settings);
    char both[512];
    bool is_expandable = false;

    for (size_t i = 0; i < replay->device_count; i++)
        is_expandable |= replay->devices[i].baseline.is_expandable;
    if (!is_expandable || strstr(given, grows))
        return replay->tables->settings;
    snprintf(both, sizeof(both), "%s%s%s", given, *given ? "," : "", grows);
    return text_of(model, both);
}

static void fill_process(struct snapshot_replay *replay)
{
    const struct snapshot_tables *tables = replay->tables;
    struct model_process *process = model_process_fill(tables->model, tables->process);

    if (replay->has_times)
        process->start_realtime_ns = replay->start_us * 1000;
    process->times_are_events = !replay->has_times;
    process->allocator_settings = settings_of(replay);
    process->is_complete = true;
}

/*
 * torch_npu asks for 32 bytes more than the program, so that small blocks of whole units take one
 * unit more; PyTorch never does. No frame has to name it.
 */
static bool pads_requests(const struct snapshot_tables *tables)
{
    enum { unit = 512, small_most = 1 << 20 };
    size_t padded_count = 0, plain_count = 0;

    for (size_t i = 0; i < tables->blocks.count; i++) {
        const struct snapshot_block *block = table_at(&tables->blocks, i);

        if (!snapshot_block_is_active(block) || !block->requested_bytes ||
            block->requested_bytes % unit || block->requested_bytes >= small_most)
            continue;
        padded_count += block->size_bytes == block->requested_bytes + unit;
        plain_count += block->size_bytes == block->requested_bytes;
    }
    return padded_count > plain_count;
}

enum mt_result snapshot_replay_create(const struct snapshot_tables *tables, const char *path,
                                      struct snapshot_replay **out, struct mt_error *error)
{
    struct snapshot_replay *replay = calloc(1, sizeof(*replay));
    enum mt_result result;

    if (!replay)
        return mt_error_set(error, MT_NO_MEMORY, "no memory to replay %s", path);
    replay->tables = tables;
    replay->path = path;
    replay->step_device = -1;
    replay->pool = model_known_pool(
        tables->model, tables->is_npu || pads_requests(tables) ? POOL_PTA : POOL_TORCH);
    replay->thread = model_thread(tables->model, (struct model_thread){.process = tables->process});
    replay->snapshot_text = text_of(tables->model, "snapshot");
    replay->free_text = text_of(tables->model, "free when out of memory");
    arena_init(&replay->arena);
    result = add_traces(replay, error);
    if (result == MT_OK)
        result = add_segments(replay, error);
    if (result == MT_OK)
        find_state(replay);
    for (size_t i = 0; i < replay->device_count && result == MT_OK; i++)
        result = add_baseline(replay, &replay->devices[i], error);
    if (result != MT_OK) {
        snapshot_replay_destroy(replay);
        return result;
    }
    find_start(replay);
    fill_process(replay);
    note(replay);
    *out = replay;
    return MT_OK;
}

void snapshot_replay_destroy(struct snapshot_replay *replay)
{
    if (!replay)
        return;
    for (size_t i = 0; i < replay->device_count; i++)
        snapshot_baseline_release(&replay->devices[i].baseline);
    free(replay->devices);
    arena_release(&replay->arena);
    free(replay);
}

/* --- events -------------------------------------------------------------------------------- */

static struct event event_of(const struct snapshot_replay *replay,
                             const struct replay_device *device, enum event_kind kind,
                             uint64_t time_ns)
{
    return (struct event){
        .time_ns = time_ns,
        .kind = (uint8_t)kind,
        .thread = replay->thread,
        .pool = replay->pool,
        .place = device ? device->place : 0,
        .process = replay->tables->process,
        .flags = device ? EVENT_IS_OF_DEVICE : 0,
    };
}

/* Streams are pointers, or 0; they are told as they are, in decimal. */
static uint32_t stream_text(struct snapshot_replay *replay, uint64_t stream)
{
    char name[24];

    if (!replay->stream_text || stream != replay->newest_stream) {
        snprintf(name, sizeof(name), "%" PRIu64, stream);
        replay->newest_stream = stream;
        replay->stream_text = text_of(replay->tables->model, name);
    }
    return replay->stream_text;
}

static struct event segment_event(const struct snapshot_replay *replay,
                                  const struct replay_device *device, uint64_t time_ns,
                                  struct range range)
{
    struct event event = event_of(replay, device, EVENT_SEGMENT, time_ns);

    event.address = range.from;
    event.value = range.to - range.from;
    event.flags |= device->baseline.is_expandable ? EVENT_IS_MAPPED : 0;
    return event;
}

/* False when the baseline is over. */
static bool next_of_baseline(struct snapshot_replay *replay, struct event *event)
{
    while (replay->baseline_device < replay->device_count) {
        struct replay_device *device = &replay->devices[replay->baseline_device];
        const struct old_block *block;

        if (!device->is_begun) {
            device->is_begun = true;
            *event = event_of(replay, device, EVENT_RESERVED, 0);
            event->value = device->reserved_bytes;
            return true;
        }
        if (device->next_segment < device->baseline.segments.count) {
            *event = segment_event(replay, device, 0,
                                   device->baseline.segments.rows[device->next_segment++]);
            event->flags |= EVENT_IS_OLDER;
            return true;
        }
        if (device->next_old < device->baseline.old_blocks.count) {
            block = table_at(&device->baseline.old_blocks, device->next_old++);
            *event = event_of(replay, device, EVENT_ALLOC, 0);
            event->flags |= EVENT_IS_OLDER;
            event->address = block->address;
            event->value = block->size_bytes;
            event->site = block->site;
            event->detail = stream_text(replay, block->stream);
            return true;
        }
        while (device->next_waiting < device->baseline.old_blocks.count) {
            block = table_at(&device->baseline.old_blocks, device->next_waiting++);
            if (!block->is_waiting)
                continue;
            *event = event_of(replay, device, EVENT_FREE_WAITS, 0);
            event->flags |= EVENT_IS_OLDER;
            event->address = block->address;
            event->value = block->size_bytes;
            return true;
        }
        replay->baseline_device++;
    }
    return false;
}

/* What the pool holds from below changes: where, and how much. */
static size_t make_reserved(struct snapshot_replay *replay, struct replay_device *device,
                            const struct snapshot_entry *entry, uint64_t time_ns,
                            struct event *event)
{
    *event = segment_event(replay, device, time_ns,
                           snapshot_range_of(entry->address, entry->size_bytes));
    if (snapshot_reserved_change(entry) < 0)
        event->kind = EVENT_SEGMENT_GONE;
    if (entry->action == WORD_SEGMENT_MAP)
        event->flags |= EVENT_IS_MAPPED;
    device->reserved_bytes += (uint64_t)snapshot_reserved_change(entry);
    replay->has_pending = true;
    replay->pending = event_of(replay, device, EVENT_RESERVED, time_ns);
    replay->pending.value = device->reserved_bytes;
    return 1;
}

/* Most blocks are given back at once. */
static bool is_free_waiting(const struct snapshot_replay *replay,
                            const struct replay_device *device, uint64_t address)
{
    const struct snapshot_entry *next;

    if (device->next == device->end)
        return true;
    next = entry_at(replay->tables, device->next);
    return next->action != WORD_FREE_COMPLETED || next->address != address;
}

/* How many events it makes: 0, or 1; another may be pending. */
static size_t make_event(struct snapshot_replay *replay, struct replay_device *device,
                         const struct snapshot_entry *entry, uint64_t time_ns, struct event *event)
{
    *event = event_of(replay, device, EVENT_ALLOC, time_ns);
    event->address = entry->address;
    event->value = entry->size_bytes;
    switch (entry->action) {
    case WORD_ALLOC:
        event->site = entry->site;
        event->detail = stream_text(replay, entry->stream);
        return 1;
    case WORD_FREE_COMPLETED:
        event->kind = EVENT_FREE;
        return 1;
    case WORD_FREE_REQUESTED:
        event->kind = EVENT_FREE_WAITS;
        return is_free_waiting(replay, device, entry->address);
    case WORD_OOM:
        event->kind = EVENT_ALLOC_FAILED;
        event->site = entry->site;
        event->address = 0; /* no status */
        replay->has_pending = true;
        replay->pending = event_of(replay, device, EVENT_SAMPLE, time_ns);
        replay->pending.text = replay->free_text;
        replay->pending.value = entry->address;
        return 1;
    case WORD_SNAPSHOT:
    case WORD_WORKSPACE_SNAPSHOT:
        event->kind = EVENT_MARK;
        event->address = 0;
        event->text = replay->snapshot_text;
        return 1;
    default:
        break;
    }
    return snapshot_reserved_change(entry) ? make_reserved(replay, device, entry, time_ns, event)
                                           : 0;
}

/* Annotations of a device are told for each device that is in use: steps count once. */
static size_t make_annotation(struct snapshot_replay *replay, const struct snapshot_annotation *row,
                              uint64_t time_ns, struct event *event)
{
    const char *name = model_text_at(replay->tables->model, row->name);
    uint64_t number;

    *event = event_of(replay, NULL, row->is_start ? EVENT_RANGE_BEGIN : EVENT_RANGE_END, time_ns);
    if (replay->step_device < 0)
        replay->step_device = row->device;
    if (row->device != replay->step_device)
        return 0;
    if (mt_profiler_step(name, strlen(name), &number)) {
        event->kind = row->is_start ? EVENT_STEP_BEGIN : EVENT_STEP_END;
        event->value = number;
        return 1;
    }
    event->text = row->name;
    event->address = row->name; /* ranges of one name do not overlap, or the newest ends first */
    return 1;
}

static struct replay_device *earliest(const struct snapshot_replay *replay, uint64_t *time_ns)
{
    struct replay_device *found = NULL;

    for (size_t i = 0; i < replay->device_count; i++) {
        struct replay_device *device = &replay->devices[i];
        uint64_t device_ns;

        if (device->next == device->end)
            continue;
        device_ns = time_of(replay, device);
        if (!found || device_ns < *time_ns) {
            found = device;
            *time_ns = device_ns;
        }
    }
    return found;
}

/* An annotation is told before the events of its microsecond if it begins, else after them. */
static bool is_annotation_next(const struct snapshot_replay *replay, bool has_entry,
                               uint64_t entry_ns, uint64_t *time_ns)
{
    const struct snapshot_annotation *row;

    if (replay->next_annotation == replay->annotation_end)
        return false;
    row = table_at(&replay->tables->annotations, replay->next_annotation);
    *time_ns = row->has_time ? (row->time_us - replay->start_us) * 1000 + 1 : replay->newest_ns;
    if (!has_entry)
        return true;
    return row->is_start ? *time_ns <= entry_ns : *time_ns < entry_ns;
}

static size_t next_event(struct snapshot_replay *replay, struct event *event, bool *is_over)
{
    uint64_t entry_ns = 0, time_ns = 0;
    struct replay_device *device = earliest(replay, &entry_ns);
    const struct snapshot_annotation *annotation;

    *is_over = false;
    if (replay->has_pending) {
        *event = replay->pending;
        replay->has_pending = false;
        return 1;
    }
    if (is_annotation_next(replay, device != NULL, entry_ns, &time_ns)) {
        annotation = table_at(&replay->tables->annotations, replay->next_annotation++);
        if (time_ns < replay->newest_ns)
            time_ns = replay->newest_ns;
        replay->newest_ns = time_ns;
        return make_annotation(replay, annotation, time_ns, event);
    }
    if (!device) {
        *is_over = true;
        return 0;
    }
    device->newest_ns = entry_ns;
    if (entry_ns > replay->newest_ns)
        replay->newest_ns = entry_ns;
    return make_event(replay, device, entry_at(replay->tables, device->next++), replay->newest_ns,
                      event);
}

size_t snapshot_replay_next(struct snapshot_replay *replay, struct event *batch, size_t capacity)
{
    struct model_process *process =
        model_process_fill(replay->tables->model, replay->tables->process);
    size_t count = 0;
    bool is_over = false;

    while (count < capacity && next_of_baseline(replay, batch + count))
        count++;
    while (count < capacity && !is_over)
        count += next_event(replay, batch + count, &is_over);
    process->end_ns = replay->newest_ns;
    process->event_count += count;
    return count;
}
