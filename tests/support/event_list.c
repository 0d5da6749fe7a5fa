/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A recording made of a list of events.
 */
#include "event_list.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void must(bool is_good)
{
    if (is_good)
        return;
    fputs("event_list: failed\n", stderr);
    abort();
}

static enum mt_result rewind_events(void *context, struct mt_error *error)
{
    struct event_list *list = context;

    (void)error;
    list->given = 0;
    return MT_OK;
}

static enum mt_result next_events(void *context, struct event *batch, size_t capacity,
                                  size_t *count, struct mt_error *error)
{
    struct event_list *list = context;

    (void)error;
    *count = 0;
    while (list->given < list->count && *count < capacity &&
           (!*count || list->events[list->given].process == batch[0].process))
        batch[(*count)++] = list->events[list->given++];
    return MT_OK;
}

void event_list_init(struct event_list *list)
{
    struct model_process process = {.process_id = 4711, .rank = -1, .is_complete = true};
    struct mt_place place = {.device = 0, .kind = MT_KIND_DEVICE, .module = -1};

    memset(list, 0, sizeof(*list));
    must(model_create(&list->model, NULL) == MT_OK);
    must(tally_create(list->model, &list->tally, NULL) == MT_OK);
    must(symbols_create(list->model, &list->symbols, NULL) == MT_OK);
    model_process(list->model, &process);
    list->pool = model_pool(list->model, event_list_text(list, "pta"));
    list->device = model_place(list->model, place);
    list->source = (struct event_source){list, rewind_events, next_events, NULL};
}

void event_list_release(struct event_list *list)
{
    symbols_destroy(list->symbols);
    tally_destroy(list->tally);
    model_destroy(list->model);
    free(list->events);
}

uint32_t event_list_text(struct event_list *list, const char *text)
{
    return model_text(list->model, text, strlen(text));
}

uint32_t event_list_site(struct event_list *list, const char *name)
{
    return model_site(list->model, (struct model_site){.label = event_list_text(list, name)});
}

void event_list_add(struct event_list *list, struct event event)
{
    if (list->count == list->capacity) {
        list->capacity = list->capacity ? list->capacity * 2 : 256;
        list->events = realloc(list->events, list->capacity * sizeof(*list->events));
        must(list->events != NULL);
    }
    list->time_ns = event.time_ns ? event.time_ns : list->time_ns + 1000;
    event.time_ns = list->time_ns;
    if (!event.process)
        event.process = list->process;
    if (!event.place)
        event.place = list->device;
    if (!event.pool)
        event.pool = list->pool;
    list->events[list->count++] = event;
}

void event_list_alloc(struct event_list *list, uint64_t address, uint64_t size_bytes, uint32_t site)
{
    event_list_add(
        list,
        (struct event){.kind = EVENT_ALLOC, .address = address, .value = size_bytes, .site = site});
}

void event_list_free(struct event_list *list, uint64_t address)
{
    event_list_add(list, (struct event){.kind = EVENT_FREE, .address = address});
}

void event_list_access(struct event_list *list, uint64_t address)
{
    event_list_add(list, (struct event){.kind = EVENT_ACCESS, .address = address});
}

void event_list_step(struct event_list *list, enum event_kind kind, uint64_t number)
{
    event_list_add(list, (struct event){.kind = (uint8_t)kind, .value = number});
}

void event_list_operator(struct event_list *list, enum event_kind kind, const char *name)
{
    event_list_add(list,
                   (struct event){.kind = (uint8_t)kind, .text = event_list_text(list, name)});
}

/* A batch never mixes two. */
static void feed_by_process(const struct event_list *list)
{
    size_t end;

    for (size_t begin = 0; begin < list->count; begin = end) {
        for (end = begin + 1; end < list->count; end++)
            if (list->events[end].process != list->events[begin].process)
                break;
        must(tally_feed(list->tally, list->events + begin, end - begin, NULL) == MT_OK);
    }
}

const struct question *event_list_question(struct event_list *list)
{
    struct model_process *process = model_process_at(list->model, 0);

    process->end_ns = list->time_ns;
    process->event_count = list->count;
    feed_by_process(list);
    tally_finish(list->tally);
    list->question = (struct question){
        .tally = list->tally,
        .model = list->model,
        .symbols = list->symbols,
        .events = &list->source,
        .source_kind = "list",
        .warm_up_steps = WARM_UP_DEFAULT,
        .margin_percent = NEAR_PEAK_PERCENT,
    };
    return &list->question;
}
