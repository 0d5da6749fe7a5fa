/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A Chrome trace of torch.profiler as an input, plain or packed.
 *
 * Each device says how much it holds with every event. What it held before the first one, and that
 * is never freed by name, counts as one block without a site, from time 0 on.
 */
#define _GNU_SOURCE /* memmem */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "arena.h"
#include "byte_stream.h"
#include "chrome_events.h"
#include "hash.h"
#include "hash_index.h"
#include "input_kinds.h"
#include "table.h"

enum { look_bytes = 1 << 16, devices_max = 64, pending_max = 4 };

/* Above all addresses that programs have. */
static const uint64_t older_address = UINT64_C(1) << 63;

struct chrome_device {
    int32_t device;
    uint8_t type;
    uint16_t pool, place;
    uint64_t older_bytes; /* at the beginning, of no known block */
    uint64_t reserved_bytes;
    uint64_t held_bytes; /* where blocks have no addresses */
};

struct older_block {
    uint64_t address, size_bytes;
    uint32_t device;
};

struct chrome {
    char *path;
    struct chrome_events events;
    struct chrome_device devices[devices_max];
    size_t device_count;
    struct arena arena;
    struct table older; /* blocks that are freed, but were never made */
    size_t next_older, next_device, next;
    uint64_t start_ns;
    uint32_t held_text;
    struct event pending[pending_max];
    size_t pending_count, pending_next;
};

/* --- what is where ------------------------------------------------------------------------- */

static enum pool_id pool_of_type(uint8_t type)
{
    switch (type) {
    case CHROME_CPU:
        return POOL_TORCH_CPU;
    case CHROME_CUDA:
        return POOL_TORCH;
    case CHROME_NPU:
        return POOL_PTA;
    default:
        return POOL_TORCH_OTHER;
    }
}

static struct chrome_device *device_of(struct chrome *chrome, const struct chrome_record *record)
{
    struct model *model = chrome->events.model;
    enum pool_id pool = pool_of_type(record->device_type);
    struct mt_place place = {.device = record->device,
                             .kind = record->device_type ? MT_KIND_DEVICE : MT_KIND_HOST,
                             .module = -1};
    struct chrome_device *row;

    for (size_t i = 0; i < chrome->device_count; i++)
        if (chrome->devices[i].device == record->device &&
            chrome->devices[i].type == record->device_type)
            return &chrome->devices[i];
    if (chrome->device_count == devices_max)
        return NULL;
    row = &chrome->devices[chrome->device_count++];
    *row = (struct chrome_device){.device = record->device,
                                  .type = record->device_type,
                                  .pool = model_known_pool(model, pool),
                                  .place = model_place(model, place)};
    if (record->allocated_bytes) {
        uint64_t now = record->allocated_bytes - 1;

        row->older_bytes = record->is_free             ? now + record->size_bytes
                           : now >= record->size_bytes ? now - record->size_bytes
                                                       : 0;
    }
    return row;
}

static int compare_records(const void *left, const void *right)
{
    const struct chrome_record *a = left, *b = right;

    if (a->time_ns != b->time_ns)
        return a->time_ns < b->time_ns ? -1 : 1;
    if (a->kind != b->kind)
        return a->kind < b->kind ? -1 : 1;
    /* The outer one begins first and ends last. */
    if (a->other_ns != b->other_ns && a->kind <= CHROME_BEGIN)
        return a->other_ns > b->other_ns ? -1 : 1;
    return 0;
}

/* A block that is freed but never made is older than the trace. */
static bool find_older(struct chrome *chrome, struct hash_index *index, struct table *alive)
{
    for (size_t i = 0; i < chrome->events.count; i++) {
        const struct chrome_record *record = &chrome->events.records[i];
        struct chrome_device *device;
        struct older_block *block = NULL;
        uint64_t hash = hash_u64(record->address);
        size_t probe = 0;
        uint32_t found;

        if (record->kind != CHROME_MEMORY)
            continue;
        device = device_of(chrome, record);
        if (!device || !record->has_address)
            continue;
        while (!block && hash_index_next(index, hash, &probe, &found)) {
            block = table_at(alive, found);
            if (block->address != record->address || &chrome->devices[block->device] != device)
                block = NULL;
        }
        if (block)
            continue;
        block = hash_index_add_row(index, hash, alive);
        if (!block)
            return false;
        *block = (struct older_block){record->address, record->size_bytes,
                                      (uint32_t)(device - chrome->devices)};
        if (!record->is_free)
            continue;
        block = table_add(&chrome->older);
        if (!block)
            return false;
        *block = *(struct older_block *)table_at(alive, alive->count - 1);
        device->older_bytes -=
            device->older_bytes < record->size_bytes ? device->older_bytes : record->size_bytes;
    }
    return true;
}

static enum mt_result add_older(struct chrome *chrome, struct mt_error *error)
{
    struct hash_index index;
    struct arena arena;
    struct table seen;
    bool is_good;

    arena_init(&arena);
    hash_index_init(&index);
    table_init(&seen, &arena, sizeof(struct older_block));
    is_good = find_older(chrome, &index, &seen);
    hash_index_release(&index);
    arena_release(&arena);
    if (!is_good)
        return mt_error_set(error, MT_NO_MEMORY, "no memory for the blocks of %s", chrome->path);
    return MT_OK;
}

/* --- what some events lack ------------------------------------------------------------------ */

enum { HAS_ADDRESS = 1, HAS_ALLOCATED = 2, HAS_RESERVED = 4, HAS_TOTALS = 6 };

static unsigned has_of(const struct chrome_record *record)
{
    return (record->has_address ? HAS_ADDRESS : 0) | (record->allocated_bytes ? HAS_ALLOCATED : 0) |
           (record->reserved_bytes ? HAS_RESERVED : 0);
}

/* Totals of the processor are told by newer versions only, and then both where devices have both;
 * an address by all or by none. */
static unsigned told_by_others(const struct chrome_events *events, uint8_t device_type)
{
    unsigned told = 0, anywhere = 0;

    for (size_t i = 0; i < events->count; i++) {
        const struct chrome_record *record = &events->records[i];

        if (record->kind != CHROME_MEMORY)
            continue;
        anywhere |= has_of(record);
        if (record->device_type == device_type)
            told |= has_of(record);
    }
    return told | (anywhere & HAS_ADDRESS) | (told & HAS_TOTALS ? anywhere & HAS_TOTALS : 0);
}

/* A version tells the same of every block of a device: what others tell and this does not, is lost.
 * A request that was refused has no address, and is told even so. */
static void leave_out_partial(struct chrome_events *events)
{
    unsigned all[UINT8_MAX + 1] = {0};
    bool is_known[UINT8_MAX + 1] = {false};
    size_t kept = 0;

    for (size_t i = 0; i < events->count; i++) {
        uint8_t type = events->records[i].device_type;

        if (events->records[i].kind == CHROME_MEMORY && !is_known[type]) {
            all[type] = told_by_others(events, type);
            is_known[type] = true;
        }
    }
    for (size_t i = 0; i < events->count; i++) {
        const struct chrome_record *record = &events->records[i];
        unsigned lacking = all[record->device_type] & ~has_of(record);
        bool is_lost = record->kind == CHROME_MEMORY && lacking;

        events->bad_count +=
            is_lost || (record->kind == CHROME_FAILED && (lacking & ~(unsigned)HAS_ADDRESS));
        events->memory_count -= is_lost;
        if (!is_lost)
            events->records[kept++] = *record;
    }
    events->count = kept;
}

static bool has_addresses(const struct chrome_events *events)
{
    for (size_t i = 0; i < events->count; i++)
        if (events->records[i].kind == CHROME_MEMORY && events->records[i].has_address)
            return true;
    return false;
}

/* --- opening ------------------------------------------------------------------------------- */

static bool has_word(const unsigned char *bytes, size_t size_bytes, const char *word)
{
    return memmem(bytes, size_bytes, word, strlen(word)) != NULL;
}

static int chrome_recognises(const char *path)
{
    unsigned char *bytes = malloc(look_bytes);
    size_t size_bytes = bytes ? byte_stream_begin(path, bytes, look_bytes) : 0, i = 0;
    int is_ours = 0;

    while (i < size_bytes && bytes[i] && strchr(" \t\r\n", bytes[i]))
        i++;
    if (i < size_bytes && (bytes[i] == '{' || bytes[i] == '['))
        is_ours = has_word(bytes, size_bytes, "\"traceEvents\"") ||
                  (has_word(bytes, size_bytes, "\"ph\"") && has_word(bytes, size_bytes, "\"ts\""));
    free(bytes);
    return is_ours;
}

static void chrome_close(void *state)
{
    struct chrome *chrome = state;

    if (!chrome)
        return;
    chrome_events_release(&chrome->events);
    arena_release(&chrome->arena);
    free(chrome->path);
    free(chrome);
}

static void fill_process(struct chrome *chrome)
{
    struct chrome_events *events = &chrome->events;
    struct model_process *process = model_process_fill(events->model, events->process);

    chrome->start_ns = events->records[0].time_ns;
    process->rank = events->rank;
    process->start_realtime_ns = events->base_time_ns + chrome->start_ns;
    process->is_complete = true;
    process->has_function_stacks = events->stacks.count != 0;
    if (!has_addresses(events))
        model_lack(events->model, "this trace has no addresses: only totals are known, not blocks");
    model_add_share(events->model, PART_EVENTS,
                    (struct model_share){events->bad_count, events->told_count});
    if (events->bad_count)
        model_note(events->model, events->bad_count,
                   "events of memory or operators that lack a number which others have, and were "
                   "left out");
    if (chrome->older.count)
        model_note(events->model, chrome->older.count,
                   "blocks that are older than the trace, and are freed in it");
    for (size_t i = 0; i < chrome->device_count; i++)
        if (chrome->devices[i].older_bytes)
            model_note(events->model, 0,
                       "device %" PRId32 " held %" PRIu64 " B when the trace began that are not "
                       "freed in it; they are one block without a site",
                       chrome->devices[i].device, chrome->devices[i].older_bytes);
    if (!events->stacks.count)
        model_note(events->model, 0,
                   "this trace has no call stacks (with_stack was off): operators stand for them");
}

static enum mt_result read_events(struct chrome *chrome, struct mt_error *error)
{
    struct byte_stream stream;
    enum mt_result result = byte_stream_open(&stream, chrome->path, error);

    if (result != MT_OK)
        return result;
    result = chrome_events_read(&chrome->events, &stream, error);
    byte_stream_close(&stream);
    if (result == MT_CORRUPT && chrome->events.memory_count &&
        model_wants_partial(chrome->events.model)) {
        model_note_damage(chrome->events.model, error);
        result = MT_OK;
    }
    if (result != MT_OK)
        return result;
    leave_out_partial(&chrome->events);
    if (!chrome->events.memory_count && chrome->events.bad_count)
        return mt_error_set(error, MT_CORRUPT,
                            "%s: none of its %" PRIu64 " events of memory or operators makes sense",
                            chrome->path, chrome->events.bad_count);
    if (!chrome->events.memory_count)
        return mt_error_set(error, MT_NO_DATA,
                            "%s: a trace without [memory] events (profile_memory was off?)",
                            chrome->path);
    qsort(chrome->events.records, chrome->events.count, sizeof(*chrome->events.records),
          compare_records);
    result = add_older(chrome, error);
    if (result == MT_OK && !chrome_stacks_settle(&chrome->events.stacks))
        result = mt_error_set(error, MT_NO_MEMORY, "no memory for the blocks of %s", chrome->path);
    if (result == MT_OK)
        fill_process(chrome);
    return result;
}

static enum mt_result chrome_open(const char *path, struct model *model, void **state,
                                  struct mt_error *error)
{
    struct chrome *chrome = calloc(1, sizeof(*chrome));
    struct model_process process = {
        .source = model_text(model, path, strlen(path)), .rank = -1, .is_window = true};
    enum mt_result result;

    if (chrome)
        chrome->path = strdup(path);
    if (!chrome || !chrome->path) {
        free(chrome);
        return mt_error_set(error, MT_NO_MEMORY, "no memory to open %s", path);
    }
    arena_init(&chrome->arena);
    table_init(&chrome->older, &chrome->arena, sizeof(struct older_block));
    chrome->events.model = model;
    chrome->events.process = model_process(model, &process);
    chrome->held_text = model_text(model, "allocated", 9);
    result = read_events(chrome, error);
    if (result == MT_OK)
        result = model_status(model, error);
    if (result != MT_OK) {
        chrome_close(chrome);
        return result;
    }
    *state = chrome;
    return MT_OK;
}

/* --- events -------------------------------------------------------------------------------- */

static void pend(struct chrome *chrome, const struct chrome_device *device, uint64_t time_ns,
                 struct event event)
{
    event.time_ns = time_ns;
    event.process = chrome->events.process;
    if (device) {
        event.pool = device->pool;
        event.place = device->place;
        event.flags |= EVENT_IS_OF_DEVICE;
    }
    chrome->pending[chrome->pending_count++] = event;
}

/* False when the baseline is over. */
static bool pend_older(struct chrome *chrome)
{
    const struct chrome_device *device;
    const struct older_block *block;

    if (chrome->next_older < chrome->older.count) {
        block = table_at(&chrome->older, chrome->next_older++);
        device = &chrome->devices[block->device];
        pend(chrome, device, 0,
             (struct event){.kind = EVENT_ALLOC,
                            .flags = EVENT_IS_OLDER,
                            .address = block->address,
                            .value = block->size_bytes});
        return true;
    }
    if (chrome->next_device == chrome->device_count)
        return false;
    device = &chrome->devices[chrome->next_device];
    if (device->older_bytes)
        pend(chrome, device, 0,
             (struct event){.kind = EVENT_ALLOC,
                            .flags = EVENT_IS_OLDER,
                            .address = older_address + chrome->next_device,
                            .value = device->older_bytes});
    chrome->next_device++;
    return true;
}

/* Around an allocation: where it was asked for is known of each. */
static void pend_nn_module(struct chrome *chrome, const struct chrome_record *record,
                           uint64_t time_ns, enum event_kind kind, uint32_t path)
{
    if (path)
        pend(chrome, NULL, time_ns,
             (struct event){.kind = (uint8_t)kind,
                            .flags = EVENT_IS_PUT_IN,
                            .thread = record->thread,
                            .text = path});
}

static void pend_memory(struct chrome *chrome, const struct chrome_record *record, uint64_t time_ns)
{
    struct chrome_device *device = device_of(chrome, record);
    struct chrome_asker asker = {0, 0};
    struct event event = {
        .thread = record->thread, .address = record->address, .value = record->size_bytes};

    if (!device)
        return;
    event.kind = record->is_free ? EVENT_FREE : EVENT_ALLOC;
    if (!record->is_free)
        asker = chrome_stacks_asker(&chrome->events.stacks, chrome->events.model,
                                    chrome->events.process, record->thread, record->time_ns);
    event.site = asker.site;
    if (record->kind == CHROME_FAILED) {
        event.kind = EVENT_ALLOC_FAILED;
        event.address = 0;
    } else if (!record->has_address) {
        device->held_bytes += record->is_free ? 0 - record->size_bytes : record->size_bytes;
        event.kind = EVENT_SAMPLE;
        event.text = chrome->held_text;
        event.value = record->allocated_bytes ? record->allocated_bytes - 1 : device->held_bytes;
    }
    pend_nn_module(chrome, record, time_ns, EVENT_NN_MODULE_BEGIN, asker.nn_module);
    pend(chrome, device, time_ns, event);
    pend_nn_module(chrome, record, time_ns, EVENT_NN_MODULE_END, asker.nn_module);
    if (record->reserved_bytes && record->reserved_bytes != device->reserved_bytes) {
        device->reserved_bytes = record->reserved_bytes;
        pend(chrome, device, time_ns,
             (struct event){.kind = EVENT_RESERVED,
                            .thread = record->thread,
                            .value = record->reserved_bytes - 1});
    }
}

static void pend_span(struct chrome *chrome, const struct chrome_record *record, uint64_t time_ns)
{
    bool is_begin = record->kind == CHROME_BEGIN;
    struct event event = {.thread = record->thread, .text = record->text};

    event.kind = is_begin ? EVENT_OPERATOR_BEGIN : EVENT_OPERATOR_END;
    if (record->is_step) {
        event.kind = is_begin ? EVENT_STEP_BEGIN : EVENT_STEP_END;
        event.text = 0;
        event.value = strtoull(model_text_at(chrome->events.model, record->text) + 13, NULL, 10);
    }
    pend(chrome, NULL, time_ns, event);
}

/* False at the end. */
static bool pend_next(struct chrome *chrome)
{
    struct model_process *process =
        model_process_fill(chrome->events.model, chrome->events.process);
    const struct chrome_record *record;
    uint64_t time_ns;

    chrome->pending_count = chrome->pending_next = 0;
    if (pend_older(chrome))
        return true;
    if (chrome->next == chrome->events.count)
        return false;
    record = &chrome->events.records[chrome->next++];
    time_ns = record->time_ns - chrome->start_ns;
    process->end_ns = time_ns;
    if (record->kind == CHROME_MEMORY || record->kind == CHROME_FAILED)
        pend_memory(chrome, record, time_ns);
    else
        pend_span(chrome, record, time_ns);
    return true;
}

static enum mt_result chrome_next(void *state, struct event *batch, size_t capacity, size_t *count,
                                  struct mt_error *error)
{
    struct chrome *chrome = state;

    *count = 0;
    while (*count < capacity) {
        if (chrome->pending_next == chrome->pending_count && !pend_next(chrome))
            break;
        while (chrome->pending_next < chrome->pending_count && *count < capacity)
            batch[(*count)++] = chrome->pending[chrome->pending_next++];
    }
    model_process_fill(chrome->events.model, chrome->events.process)->event_count += *count;
    return model_status(chrome->events.model, error);
}

const struct input_kind input_chrome = {
    .name = "Chrome trace of torch.profiler",
    .contents =
        "blocks with the operator and the functions of Python that asked for them, reserved "
        "memory, profiler steps",
    .recognises = chrome_recognises,
    .open = chrome_open,
    .next = chrome_next,
    .close = chrome_close,
};
