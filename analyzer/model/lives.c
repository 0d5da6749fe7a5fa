/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Lives of blocks: what a tally tells about each, with the time of its birth kept until its end.
 *
 * Blocks that are alive stand in one array, without order; a hash index by address finds them. Two
 * pools may have a block at one address: they differ in their group.
 */
#include "lives.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "hash.h"

enum { batch_events = 4096, first_capacity = 1 << 12 };

/* One that is still told of everything. */
struct listener {
    const struct life_visitor *visitor;
    uint32_t event_kinds;
    bool has_stopped;
};

struct reading {
    struct tally *tally;
    struct listener listeners[LIFE_VISITORS_MOST];
    size_t listener_count, stopped_count;
    uint32_t event_kinds; /* that somebody wants to be told of */
    struct life *slots;   /* open addressing, at most half full */
    size_t capacity, count;
    uint64_t born_count;
    const struct event *batch; /* its first event is number event_count + 1 */
    uint64_t event_count;
    bool has_failed;
};

static size_t home_of(const struct reading *reading, uint64_t address)
{
    return (size_t)hash_u64(address) & (reading->capacity - 1);
}

static struct life *slot_for(struct reading *reading, uint64_t address, uint32_t group)
{
    size_t i = home_of(reading, address);

    while (reading->slots[i].group &&
           (reading->slots[i].address != address || reading->slots[i].group != group))
        i = (i + 1) & (reading->capacity - 1);
    return &reading->slots[i];
}

static bool make_room(struct reading *reading)
{
    struct life *old = reading->slots;
    size_t old_capacity = reading->capacity;

    if ((reading->count + 1) * 2 <= old_capacity)
        return true;
    reading->capacity = old_capacity ? old_capacity * 2 : first_capacity;
    reading->slots = calloc(reading->capacity, sizeof(*reading->slots));
    if (!reading->slots) {
        reading->slots = old;
        reading->capacity = old_capacity;
        return false;
    }
    for (size_t i = 0; i < old_capacity; i++)
        if (old[i].group)
            *slot_for(reading, old[i].address, old[i].group) = old[i];
    free(old);
    return true;
}

/* Those behind it that would no longer be found move up. */
static void slot_clear(struct reading *reading, struct life *slot)
{
    size_t mask = reading->capacity - 1, hole = (size_t)(slot - reading->slots), i = hole;

    reading->count--;
    for (;;) {
        size_t home;

        i = (i + 1) & mask;
        if (!reading->slots[i].group)
            break;
        home = home_of(reading, reading->slots[i].address);
        if (((i - home) & mask) < ((i - hole) & mask))
            continue;
        reading->slots[hole] = reading->slots[i];
        hole = i;
    }
    memset(&reading->slots[hole], 0, sizeof(reading->slots[hole]));
}

static uint64_t number_of(const struct reading *reading, const struct event *event)
{
    return reading->event_count + (uint64_t)(event - reading->batch) + 1;
}

static bool is_over(const struct reading *reading)
{
    return reading->stopped_count == reading->listener_count;
}

static void listener_stop(struct reading *reading, struct listener *listener)
{
    listener->has_stopped = true;
    reading->stopped_count++;
}

static void tell_born(struct reading *reading, const struct life *life)
{
    for (size_t i = 0; i < reading->listener_count; i++) {
        struct listener *listener = &reading->listeners[i];
        const struct life_visitor *visitor = listener->visitor;

        if (visitor->born && !listener->has_stopped && !visitor->born(visitor->context, life))
            listener_stop(reading, listener);
    }
}

static void tell_over(struct reading *reading, const struct life *life)
{
    for (size_t i = 0; i < reading->listener_count; i++) {
        struct listener *listener = &reading->listeners[i];
        const struct life_visitor *visitor = listener->visitor;

        if (visitor->over && !listener->has_stopped && !visitor->over(visitor->context, life))
            listener_stop(reading, listener);
    }
}

static void tell_event(struct reading *reading, const struct event *event)
{
    for (size_t i = 0; i < reading->listener_count; i++) {
        struct listener *listener = &reading->listeners[i];
        const struct life_visitor *visitor = listener->visitor;

        if (listener->event_kinds >> event->kind & 1 && !listener->has_stopped &&
            !visitor->event(visitor->context, event))
            listener_stop(reading, listener);
    }
}

static void tell_process_over(struct reading *reading, uint16_t process)
{
    for (size_t i = 0; i < reading->listener_count; i++) {
        struct listener *listener = &reading->listeners[i];
        const struct life_visitor *visitor = listener->visitor;

        if (visitor->process_over && !listener->has_stopped &&
            !visitor->process_over(visitor->context, process))
            listener_stop(reading, listener);
    }
}

static void on_born(void *context, const struct event *event, uint32_t group, uint32_t era)
{
    struct reading *reading = context;
    struct life *slot;

    if (!make_room(reading)) {
        reading->has_failed = true;
        return;
    }
    slot = slot_for(reading, event->address, group);
    reading->count += !slot->group;
    *slot = (struct life){
        .address = event->address,
        .size_bytes = event->value,
        .born_ns = event->time_ns,
        .freed_ns = UINT64_MAX,
        .index = reading->born_count++,
        .born_event = number_of(reading, event),
        .group = group,
        .born_step = era,
        .thread = event->thread,
        .ledger = tally_group_at(reading->tally, group)->ledger,
    };
    tell_born(reading, slot);
}

static void on_gone(void *context, const struct event *event, uint64_t address, uint32_t group,
                    uint32_t era)
{
    struct reading *reading = context;
    struct life *slot = reading->capacity ? slot_for(reading, address, group) : NULL;
    struct life life;

    if (!slot || !slot->group)
        return;
    life = *slot;
    slot_clear(reading, slot);
    life.freed_ns = event->time_ns;
    life.freed_event = number_of(reading, event);
    life.freed_step = era;
    life.freeing_thread = event->thread;
    tell_over(reading, &life);
}

static int by_index(const void *a, const void *b)
{
    const struct life *left = a, *right = b;

    return (left->index > right->index) - (left->index < right->index);
}

/* What is alive at the end of a process, oldest first. */
static void process_end(struct reading *reading, uint16_t process)
{
    size_t count = 0;

    tell_process_over(reading, process);
    for (size_t i = 0; i < reading->capacity; i++)
        if (reading->slots[i].group)
            reading->slots[count++] = reading->slots[i];
    if (count)
        qsort(reading->slots, count, sizeof(*reading->slots), by_index);
    for (size_t i = 0; i < count; i++) {
        reading->slots[i].freed_step = UINT32_MAX;
        tell_over(reading, &reading->slots[i]);
    }
    if (reading->slots)
        memset(reading->slots, 0, reading->capacity * sizeof(*reading->slots));
    reading->count = 0;
}

/* How many events can be fed before somebody has to be told of one. */
static size_t piece_of(const struct reading *reading, const struct event *events, size_t count)
{
    size_t piece = 1;

    if (!reading->event_kinds)
        return count;
    while (piece < count && !(reading->event_kinds >> events[piece].kind & 1))
        piece++;
    return piece;
}

static enum mt_result feed(struct reading *reading, const struct event *batch, size_t count,
                           struct mt_error *error)
{
    enum mt_result result = MT_OK;
    size_t piece;

    reading->batch = batch;
    for (size_t i = 0; i < count && result == MT_OK && !is_over(reading); i += piece) {
        piece = piece_of(reading, batch + i, count - i);
        tell_event(reading, &batch[i]);
        if (!is_over(reading))
            result = tally_feed(reading->tally, batch + i, piece, error);
    }
    reading->event_count += count;
    if (result == MT_OK && reading->has_failed)
        return mt_error_set(error, MT_NO_MEMORY, "no memory for %zu live blocks", reading->count);
    return result;
}

static enum mt_result read_all(struct reading *reading, const struct event_source *events,
                               struct event *batch, struct mt_error *error)
{
    enum mt_result result = events->rewind(events->context, error);
    bool has_process = false;
    uint16_t process = 0;
    size_t count = 1;

    while (result == MT_OK && count && !is_over(reading)) {
        result = events->next(events->context, batch, batch_events, &count, error);
        if (result != MT_OK || !count)
            break;
        if (has_process && batch[0].process != process)
            process_end(reading, process);
        has_process = true;
        process = batch[0].process;
        result = feed(reading, batch, count, error);
    }
    if (result == MT_OK && has_process && !is_over(reading))
        process_end(reading, process);
    return result;
}

static void listen(struct reading *reading, const struct life_visitor *visitor)
{
    struct listener *listener = &reading->listeners[reading->listener_count++];

    listener->visitor = visitor;
    if (visitor->event)
        listener->event_kinds = visitor->event_kinds ? visitor->event_kinds : UINT32_MAX;
    reading->event_kinds |= listener->event_kinds;
}

enum mt_result lives_read_together(const struct event_source *events, struct model *model,
                                   const struct life_visitor *visitors, size_t visitor_count,
                                   struct mt_error *error)
{
    struct event *batch = malloc(batch_events * sizeof(*batch));
    struct reading reading = {0};
    struct tally_observer observer = {.context = &reading, .born = on_born, .gone = on_gone};
    enum mt_result result;

    assert(visitor_count <= LIFE_VISITORS_MOST);
    if (!batch)
        return mt_error_set(error, MT_NO_MEMORY, "no memory for a batch of events");
    for (size_t i = 0; i < visitor_count; i++)
        listen(&reading, &visitors[i]);
    result = tally_create(model, &reading.tally, error);
    if (result == MT_OK) {
        tally_observe(reading.tally, &observer);
        result = read_all(&reading, events, batch, error);
    }
    tally_destroy(reading.tally);
    free(reading.slots);
    free(batch);
    return result;
}

enum mt_result lives_read(const struct event_source *events, struct model *model,
                          const struct life_visitor *visitor, struct mt_error *error)
{
    return lives_read_together(events, model, visitor, 1, error);
}
