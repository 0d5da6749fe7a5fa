/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Elements of any recording: what was allocated while an operator was the innermost of its thread,
 * or since the kernel before.
 */
#include <stdlib.h>
#include <string.h>

#include "compare_list.h"
#include "list.h"
#include "lives.h"

struct open_operator {
    uint32_t thread, text;
    int32_t device; /* -1: not known yet */
    uint64_t bytes;
};

struct reading {
    const struct question *question;
    enum compare_level level;
    struct compare_list *list;
    struct open_operator *open; /* the newest last */
    size_t open_count, open_capacity;
    uint64_t *since_launch; /* by ledger: bytes allocated */
    bool has_framework;     /* then what the driver hands out is counted there already */
    bool has_failed;
};

/* Pools that others hand out from. */
static bool is_from_below(const struct question *question, uint16_t pool)
{
    const struct pool *known = model_pool_at(question->model, pool);

    return pool_is_of_device(known) || known->role == POOL_ROLE_HOST;
}

static bool has_framework(const struct question *question)
{
    for (size_t i = 0; i < tally_ledger_count(question->tally); i++) {
        const struct ledger *ledger = tally_ledger_at(question->tally, i);

        if (ledger->alloc_count && !is_from_below(question, ledger->pool))
            return true;
    }
    return false;
}

static struct open_operator *innermost(struct reading *reading, uint32_t thread)
{
    for (size_t i = reading->open_count; i-- > 0;)
        if (reading->open[i].thread == thread)
            return &reading->open[i];
    return NULL;
}

static void put(struct reading *reading, uint32_t text, int32_t device, uint64_t bytes)
{
    struct compare_element element = {model_text_at(reading->question->model, text), device,
                                      (int64_t)bytes};

    if (!compare_list_device(reading->list, device) || !compare_list_add(reading->list, element))
        reading->has_failed = true;
}

static void operator_begin(struct reading *reading, const struct event *event, int32_t device)
{
    if (!list_has_room(&reading->open, &reading->open_capacity, reading->open_count,
                       sizeof(*reading->open))) {
        reading->has_failed = true;
        return;
    }
    reading->open[reading->open_count++] =
        (struct open_operator){event->thread, event->text, device, 0};
}

static void operator_end(struct reading *reading, const struct event *event)
{
    struct open_operator *current = innermost(reading, event->thread);

    if (!current)
        return;
    put(reading, current->text, current->device, current->bytes);
    memmove(current, current + 1,
            (size_t)(reading->open + reading->open_count - current - 1) * sizeof(*current));
    reading->open_count--;
}

static void launch(struct reading *reading, const struct event *event, int32_t device)
{
    uint64_t bytes = 0;

    for (size_t i = 0; i < tally_ledger_count(reading->question->tally); i++) {
        const struct ledger *ledger = tally_ledger_at(reading->question->tally, i);

        if (ledger->process != event->process || ledger->device != device)
            continue;
        bytes += reading->since_launch[i];
        reading->since_launch[i] = 0;
    }
    put(reading, event->text, device, bytes);
}

static bool on_event(void *context, const struct event *event)
{
    struct reading *reading = context;
    int32_t device = model_place_at(reading->question->model, event->place).device;

    if (reading->level == COMPARE_KERNELS) {
        if (event->kind == EVENT_LAUNCH)
            launch(reading, event, device);
        return !reading->has_failed;
    }
    if (event->kind == EVENT_OPERATOR_BEGIN)
        operator_begin(reading, event, device);
    else if (event->kind == EVENT_OPERATOR_END)
        operator_end(reading, event);
    return !reading->has_failed;
}

static bool on_born(void *context, const struct life *life)
{
    struct reading *reading = context;
    const struct ledger *ledger = tally_ledger_at(reading->question->tally, life->ledger);
    struct open_operator *current;

    if (ledger->kind != LEDGER_MEMORY ||
        (reading->has_framework && is_from_below(reading->question, ledger->pool)))
        return true;
    reading->since_launch[life->ledger] += life->size_bytes;
    current = innermost(reading, life->thread);
    if (!current)
        return true;
    current->bytes += life->size_bytes;
    if (current->device < 0)
        current->device = ledger->device;
    return true;
}

static bool on_process_over(void *context, uint16_t process)
{
    struct reading *reading = context;

    (void)process;
    reading->open_count = 0;
    return true;
}

enum mt_result compare_read(const struct question *question, enum compare_level level,
                            struct compare_list *list, struct mt_error *error)
{
    struct reading reading = {.question = question, .level = level, .list = list};
    struct life_visitor visitor = {
        .context = &reading, .born = on_born, .event = on_event, .process_over = on_process_over};
    enum mt_result result = MT_OK;

    memset(list, 0, sizeof(*list));
    reading.has_framework = has_framework(question);
    reading.since_launch =
        calloc(tally_ledger_count(question->tally) + 1, sizeof(*reading.since_launch));
    if (!reading.since_launch)
        result = mt_error_set(error, MT_NO_MEMORY, "no memory to compare operators");
    if (result == MT_OK)
        result = lives_read(question->events, tally_model(question->tally), &visitor, error);
    if (result == MT_OK && reading.has_failed)
        result = mt_error_set(error, MT_NO_MEMORY, "no memory for the operators of a recording");
    if (result == MT_OK && !list->count)
        result = mt_error_set(error, MT_NO_DATA, "no %s were recorded, so none can be compared",
                              level == COMPARE_OPERATORS ? "operators" : "kernels");
    free(reading.open);
    free(reading.since_launch);
    return result;
}
