/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A recorder that keeps what it is told in an array. Invariant: events before the count are whole
 * once all threads that recorded them have come back.
 */
#include "recorder_double.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "guard.h"
#include "module_list.h"
#include "recorder.h"
#include "recording.h"

struct double_event double_events[DOUBLE_EVENTS];
static atomic_size_t event_count;
static _Atomic uint64_t next_range, next_step, next_tick;
static __thread bool is_inside[LAYER_COUNT];

size_t double_event_count(void)
{
    return atomic_load(&event_count);
}

size_t double_count_of(enum mt_record_code code)
{
    size_t count = 0;

    for (size_t i = 0; i < double_event_count(); i++)
        count += double_events[i].code == code;
    return count;
}

const struct double_event *double_last(enum mt_record_code code)
{
    for (size_t i = double_event_count(); i > 0; i--)
        if (double_events[i - 1].code == code)
            return &double_events[i - 1];
    return NULL;
}

void double_reset(void)
{
    atomic_store(&event_count, 0);
    atomic_store(&next_range, 0);
    atomic_store(&next_step, 0);
    memset(is_inside, 0, sizeof(is_inside));
}

static void text_keep(char *kept, size_t room, struct text text)
{
    size_t size = text.size_bytes < room ? text.size_bytes : room - 1;

    if (size)
        memcpy(kept, text.bytes, size);
    kept[size] = '\0';
}

static struct double_event *event_add(enum mt_record_code code, struct text text)
{
    size_t index = atomic_fetch_add(&event_count, 1);
    struct double_event *event = &double_events[index < DOUBLE_EVENTS ? index : 0];

    if (index >= DOUBLE_EVENTS) {
        fputs("recorder_double: too many events for a test\n", stderr);
        abort();
    }
    *event = (struct double_event){.code = code, .place = {.device = -1, .module = -1}};
    text_keep(event->text, sizeof(event->text), text);
    return event;
}

/* Objects come and go unseen. */
atomic_bool modules_may_have_come;

void modules_look_slowly(void)
{
}

__attribute__((weak)) bool recording_makes_no_calls(void)
{
    return false;
}

bool guard_enter(enum layer layer)
{
    if (is_inside[layer])
        return false;
    is_inside[layer] = true;
    return true;
}

void guard_leave(enum layer layer)
{
    is_inside[layer] = false;
}

struct call_site recorder_site(enum layer layer, struct unwind_registers from)
{
    (void)layer;
    return (struct call_site){.caller = (const void *)(uintptr_t)from.pc};
}

struct call_site recorder_caller(const struct unwind_registers *from)
{
    return (struct call_site){.caller = (const void *)(uintptr_t)from->pc};
}

uint64_t recorder_ticks(void)
{
    return atomic_fetch_add(&next_tick, 1) + 1;
}

bool recorder_is_paused(void)
{
    return false;
}

uint64_t recorder_new_range(void)
{
    return atomic_fetch_add(&next_range, 1) + 1;
}

void record_alloc(struct text pool, uint64_t place, uint64_t address, uint64_t size_bytes,
                  struct call_site site)
{
    struct double_event *event = event_add(MT_RECORD_alloc, pool);

    event->place = mt_place_unpack(place);
    event->address = address;
    event->size_bytes = size_bytes;
    event->site = site.caller;
}

void record_python_alloc(const void *block, uint64_t size_bytes,
                         const struct unwind_registers *from)
{
    record_alloc(text_of("python"), 0, (uintptr_t)block, size_bytes, recorder_caller(from));
}

void record_python_free(const void *block, uint64_t ticks)
{
    record_free_at(text_of("python"), (uintptr_t)block, ticks);
}

bool double_has_unseen_python;

void record_unseen_python(void)
{
    double_has_unseen_python = true;
}

void record_free_site(struct call_site site)
{
    event_add(MT_RECORD_free_site, (struct text){"", 0})->site = site.caller;
}

void record_free_at(struct text pool, uint64_t address, uint64_t ticks)
{
    (void)ticks;
    record_free(pool, address);
}

void record_free(struct text pool, uint64_t address)
{
    event_add(MT_RECORD_free, pool)->address = address;
}

void record_alloc_failed(struct text pool, uint64_t place, uint64_t size_bytes, uint64_t status,
                         struct call_site site)
{
    struct double_event *event = event_add(MT_RECORD_alloc_failed, pool);

    event->place = mt_place_unpack(place);
    event->size_bytes = size_bytes;
    event->status = status;
    event->site = site.caller;
}

void record_host_refused(struct text pool, uint64_t place, uint64_t size_bytes,
                         struct call_site site)
{
    record_alloc_failed(pool, place, size_bytes, ENOMEM, site);
}

void record_pool_reserved(struct text pool, uint64_t place, uint64_t size_bytes)
{
    struct double_event *event = event_add(MT_RECORD_pool_reserved, pool);

    event->place = mt_place_unpack(place);
    event->size_bytes = size_bytes;
}

void record_operator_begin(struct text name)
{
    event_add(MT_RECORD_operator_begin, name);
}

void record_operator_end(struct text name)
{
    event_add(MT_RECORD_operator_end, name);
}

void record_range_begin(uint64_t range, struct text name, struct text domain)
{
    struct double_event *event = event_add(MT_RECORD_range_begin, name);

    text_keep(event->domain, sizeof(event->domain), domain);
    event->address = range;
}

void record_range_end(uint64_t range)
{
    event_add(MT_RECORD_range_end, text_of(NULL))->address = range;
}

void record_mark(struct text name, struct text domain)
{
    struct double_event *event = event_add(MT_RECORD_mark, name);

    text_keep(event->domain, sizeof(event->domain), domain);
}

uint64_t record_step_begin(uint64_t range)
{
    uint64_t step = atomic_fetch_add(&next_step, 1) + 1;
    struct double_event *event = event_add(MT_RECORD_step_begin, text_of(NULL));

    event->address = step;
    event->size_bytes = range;
    return step;
}

uint64_t record_told_step_begin(void)
{
    return record_step_begin(MT_RANGE_TOLD);
}

void record_told_step_end(uint64_t step)
{
    record_step_end(step);
}

void record_step_end(uint64_t step)
{
    event_add(MT_RECORD_step_end, text_of(NULL))->address = step;
}

void record_profiler_step(uint64_t number)
{
    (void)number;
    record_step_begin(MT_RANGE_PROFILER);
}

void record_tag_begin(struct text owner)
{
    event_add(MT_RECORD_tag_begin, owner);
}

void record_tag_end(struct text owner)
{
    event_add(MT_RECORD_tag_end, owner);
}

void record_launch(struct text name, uint64_t place)
{
    event_add(MT_RECORD_launch, name)->place = mt_place_unpack(place);
}

void record_access(uint64_t address, uint64_t size_bytes, struct text pool, uint64_t flags)
{
    struct double_event *event = event_add(MT_RECORD_access, pool);

    event->address = address;
    event->size_bytes = size_bytes;
    event->status = flags;
}

void record_note(const struct note *note)
{
    struct double_event *event = event_add(MT_RECORD_note, note->text);

    text_keep(event->domain, sizeof(event->domain), note->subject);
    event->place = mt_place_unpack(note->place);
    event->address = note->first;
    event->size_bytes = note->second;
}

void record_tensor_access(struct text pool, const struct tensor_use *use)
{
    record_access(use->address, use->size_bytes, pool, use->flags);
}

void record_sample(struct text counter, uint64_t place, uint64_t value_bytes)
{
    struct double_event *event = event_add(MT_RECORD_sample, counter);

    event->place = mt_place_unpack(place);
    event->size_bytes = value_bytes;
}

void record_device_event(struct text name, uint64_t place, uint64_t status)
{
    struct double_event *event = event_add(MT_RECORD_device_event, name);

    event->place = mt_place_unpack(place);
    event->status = status;
}
