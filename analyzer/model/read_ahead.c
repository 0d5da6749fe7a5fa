/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The events of a source, read ahead on a thread of its own.
 *
 * Who waits is woken when the ring is half full, or half empty, so that neither side goes to sleep
 * for each batch. Invariant: the slots [first, first + filled) belong to the caller, all others to
 * the thread; the slot that ends the reading is the last one the thread fills.
 */
#define _GNU_SOURCE /* sched_getaffinity */
#include "read_ahead.h"

#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

enum { SLOTS = 64, SLOT_EVENTS = 2048 };

/* What one call of the inner source gave. */
struct slot {
    size_t count;
    enum mt_result result;
    struct mt_error error;
    struct event events[SLOT_EVENTS];
};

struct read_ahead {
    struct event_source inner;
    uint64_t alone_events, alone_left; /* that are read without a thread */
    bool has_thread;
    bool is_over; /* the thread is gone, and `first` is the slot that ended the reading */
    size_t taken; /* events of the first slot that were handed out */
    pthread_t thread;
    pthread_mutex_t mutex; /* of what follows */
    pthread_cond_t filling, emptying;
    size_t first, filled;
    bool is_stopping;
    struct slot slots[SLOTS];
};

static bool is_last(const struct slot *slot)
{
    return slot->result != MT_OK || !slot->count;
}

/* --- the thread ---------------------------------------------------------------------------- */

/* The slot that is filled next; NULL: the caller wants no more. */
static struct slot *wait_for_empty(struct read_ahead *ahead)
{
    struct slot *slot;

    pthread_mutex_lock(&ahead->mutex);
    while (ahead->filled == SLOTS && !ahead->is_stopping)
        pthread_cond_wait(&ahead->emptying, &ahead->mutex);
    slot = ahead->is_stopping ? NULL : &ahead->slots[(ahead->first + ahead->filled) % SLOTS];
    pthread_mutex_unlock(&ahead->mutex);
    return slot;
}

static void slot_is_filled(struct read_ahead *ahead, bool is_the_last)
{
    bool is_time;

    pthread_mutex_lock(&ahead->mutex);
    ahead->filled++;
    is_time = is_the_last || ahead->filled >= SLOTS / 2;
    pthread_mutex_unlock(&ahead->mutex);
    if (is_time)
        pthread_cond_signal(&ahead->filling);
}

static void *read_on(void *context)
{
    struct read_ahead *ahead = context;
    bool is_the_last = false;
    struct slot *slot;

    while (!is_the_last && (slot = wait_for_empty(ahead))) {
        slot->count = 0;
        slot->result = ahead->inner.next(ahead->inner.context, slot->events, SLOT_EVENTS,
                                         &slot->count, &slot->error);
        is_the_last = is_last(slot);
        slot_is_filled(ahead, is_the_last);
    }
    return NULL;
}

/* --- the caller ---------------------------------------------------------------------------- */

static bool has_a_second_processor(void)
{
    cpu_set_t set;

    return sched_getaffinity(0, sizeof(set), &set) != 0 || CPU_COUNT(&set) > 1;
}

/* Signals are for the threads of the program. */
static bool thread_create(struct read_ahead *ahead)
{
    sigset_t all, before;
    bool is_made;

    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    is_made = pthread_create(&ahead->thread, NULL, read_on, ahead) == 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return is_made;
}

/* Where there can be no thread, the caller reads alone to the end. */
static void thread_begin(struct read_ahead *ahead)
{
    ahead->first = ahead->filled = ahead->taken = 0;
    ahead->is_stopping = false;
    ahead->has_thread = has_a_second_processor() && thread_create(ahead);
    if (!ahead->has_thread)
        ahead->alone_left = UINT64_MAX;
}

static void thread_end(struct read_ahead *ahead)
{
    if (!ahead->has_thread)
        return;
    pthread_mutex_lock(&ahead->mutex);
    ahead->is_stopping = true;
    pthread_mutex_unlock(&ahead->mutex);
    pthread_cond_signal(&ahead->emptying);
    pthread_join(ahead->thread, NULL);
    ahead->has_thread = false;
}

static struct slot *wait_for_filled(struct read_ahead *ahead)
{
    struct slot *slot;

    pthread_mutex_lock(&ahead->mutex);
    while (!ahead->filled)
        pthread_cond_wait(&ahead->filling, &ahead->mutex);
    slot = &ahead->slots[ahead->first];
    pthread_mutex_unlock(&ahead->mutex);
    return slot;
}

static void slot_is_empty(struct read_ahead *ahead)
{
    bool is_time;

    pthread_mutex_lock(&ahead->mutex);
    ahead->first = (ahead->first + 1) % SLOTS;
    is_time = --ahead->filled <= SLOTS / 2;
    pthread_mutex_unlock(&ahead->mutex);
    if (is_time)
        pthread_cond_signal(&ahead->emptying);
    ahead->taken = 0;
}

/* How the reading ended, as often as somebody asks. */
static enum mt_result end_of(const struct read_ahead *ahead, struct mt_error *error)
{
    const struct slot *slot = &ahead->slots[ahead->first];

    if (slot->result != MT_OK && error)
        *error = slot->error;
    return slot->result;
}

/* Up to `most` events where they stand. */
static enum mt_result take(struct read_ahead *ahead, const struct event **events, size_t most,
                           size_t *count, struct mt_error *error)
{
    const struct slot *slot = wait_for_filled(ahead);

    if (!is_last(slot) && ahead->taken == slot->count) { /* by the call before: they were in use */
        slot_is_empty(ahead);
        slot = wait_for_filled(ahead);
    }
    if (is_last(slot)) {
        thread_end(ahead);
        ahead->is_over = true;
        return end_of(ahead, error);
    }
    *count = slot->count - ahead->taken < most ? slot->count - ahead->taken : most;
    *events = slot->events + ahead->taken;
    ahead->taken += *count;
    return MT_OK;
}

static enum mt_result read_alone(struct read_ahead *ahead, struct event *batch, size_t capacity,
                                 size_t *count, struct mt_error *error)
{
    enum mt_result result = ahead->inner.next(ahead->inner.context, batch, capacity, count, error);

    if (result == MT_OK)
        ahead->alone_left -= *count < ahead->alone_left ? *count : ahead->alone_left;
    return result;
}

/* True when events come from the thread. */
static bool is_read_ahead(struct read_ahead *ahead)
{
    if (!ahead->has_thread && !ahead->alone_left)
        thread_begin(ahead);
    return ahead->has_thread;
}

static enum mt_result ahead_next(void *context, struct event *batch, size_t capacity, size_t *count,
                                 struct mt_error *error)
{
    struct read_ahead *ahead = context;
    const struct event *events = NULL;
    enum mt_result result;

    *count = 0;
    if (ahead->is_over)
        return end_of(ahead, error);
    if (!is_read_ahead(ahead))
        return read_alone(ahead, batch, capacity, count, error);
    result = take(ahead, &events, capacity, count, error);
    if (result == MT_OK && *count)
        memcpy(batch, events, *count * sizeof(*batch));
    return result;
}

static enum mt_result ahead_lend(void *context, const struct event **events, size_t *count,
                                 struct mt_error *error)
{
    struct read_ahead *ahead = context;
    struct slot *first = &ahead->slots[0];

    *count = 0;
    if (ahead->is_over)
        return end_of(ahead, error);
    if (is_read_ahead(ahead))
        return take(ahead, events, SLOT_EVENTS, count, error);
    *events = first->events;
    return read_alone(ahead, first->events, SLOT_EVENTS, count, error);
}

static enum mt_result ahead_rewind(void *context, struct mt_error *error)
{
    struct read_ahead *ahead = context;

    thread_end(ahead);
    ahead->is_over = false;
    ahead->alone_left = ahead->alone_events;
    return ahead->inner.rewind(ahead->inner.context, error);
}

struct read_ahead *read_ahead_create(const struct event_source *inner, uint64_t alone_events)
{
    struct read_ahead *ahead = malloc(sizeof(*ahead)); /* large, and mostly not used */

    if (!ahead)
        return NULL;
    memset(ahead, 0, offsetof(struct read_ahead, slots));
    ahead->inner = *inner;
    ahead->alone_events = ahead->alone_left = alone_events;
    pthread_mutex_init(&ahead->mutex, NULL);
    pthread_cond_init(&ahead->filling, NULL);
    pthread_cond_init(&ahead->emptying, NULL);
    return ahead;
}

void read_ahead_destroy(struct read_ahead *ahead)
{
    if (!ahead)
        return;
    thread_end(ahead);
    pthread_cond_destroy(&ahead->emptying);
    pthread_cond_destroy(&ahead->filling);
    pthread_mutex_destroy(&ahead->mutex);
    free(ahead);
}

struct event_source read_ahead_events(struct read_ahead *ahead)
{
    return (struct event_source){ahead, ahead_rewind, ahead_next, ahead_lend};
}
