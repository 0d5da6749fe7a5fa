/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The end of a range has its number only, so those that are open keep their names.
 */
#include "viz_annotations.h"

#include <inttypes.h>
#include <stdlib.h>

#include "leaktide/profiler_step.h"
#include "list.h"
#include "lives.h"

static const char key_annotations[] = "external_annotations";
static const char key_device[] = "device";
static const char key_name[] = "name";
static const char key_stage[] = "stage";
static const char key_time_us[] = "time_us";

struct open_range {
    uint64_t id;
    uint32_t name; /* text */
};

struct annotations {
    const struct export_request *request;
    struct snapshot_writer *writer;
    struct open_range *open;
    size_t open_count, open_capacity;
    uint64_t step; /* the newest of this process */
    bool has_failed;
};

/* As ledgers are devices: the first of the process. */
static uint16_t device_of(const struct annotations *annotations, uint16_t process)
{
    const struct tally *tally = annotations->request->question->tally;

    for (uint16_t i = 0; i < tally_ledger_count(tally); i++)
        if (tally_ledger_at(tally, i)->process == process)
            return i;
    return 0;
}

static void put_annotation(struct annotations *annotations, const struct event *event,
                           bool is_start, const char *name)
{
    struct snapshot_writer *writer = annotations->writer;
    uint64_t base_ns =
        export_realtime_base(model_process_at(annotations->request->model, event->process));

    put_map_begin(writer);
    put_key(writer, key_stage);
    put_text(writer, is_start ? "START" : "END");
    put_key(writer, key_name);
    put_text(writer, name);
    put_key(writer, key_device);
    put_number(writer, device_of(annotations, event->process));
    put_key(writer, key_time_us);
    put_number(writer, (base_ns + event->time_ns) / 1000);
    put_end(writer);
}

/* By their period: nobody annotated them. */
static bool are_steps_found(const struct annotations *annotations, uint16_t process)
{
    const struct step_rule *steps = annotations->request->question->steps;

    return steps && process < steps->found_count && steps->found[process].token.kind != TOKEN_NONE;
}

static void take_step(struct annotations *annotations, const struct event *event)
{
    bool is_start = event->kind == EVENT_STEP_BEGIN;
    char name[40];

    if (are_steps_found(annotations, event->process))
        return;
    if (is_start)
        annotations->step = event->value;
    snprintf(name, sizeof(name), MT_PROFILER_STEP "%" PRIu64, annotations->step);
    put_annotation(annotations, event, is_start, name);
}

static void take_range(struct annotations *annotations, const struct event *event)
{
    const struct model *model = annotations->request->model;
    size_t i = annotations->open_count;

    if (event->kind == EVENT_RANGE_BEGIN) {
        if (!list_has_room(&annotations->open, &annotations->open_capacity, annotations->open_count,
                           sizeof(*annotations->open))) {
            annotations->has_failed = true;
            return;
        }
        annotations->open[annotations->open_count++] =
            (struct open_range){event->address, event->text};
        put_annotation(annotations, event, true, model_text_at(model, event->text));
        return;
    }
    while (i && annotations->open[i - 1].id != event->address)
        i--;
    if (!i)
        return; /* it began before the recording */
    put_annotation(annotations, event, false, model_text_at(model, annotations->open[i - 1].name));
    annotations->open[i - 1] = annotations->open[--annotations->open_count];
}

static bool on_event(void *context, const struct event *event)
{
    struct annotations *annotations = context;

    if (event->kind == EVENT_STEP_BEGIN || event->kind == EVENT_STEP_END)
        take_step(annotations, event);
    else
        take_range(annotations, event);
    return !annotations->has_failed;
}

enum mt_result viz_put_annotations(const struct export_request *request,
                                   struct snapshot_writer *writer, struct mt_error *error)
{
    static const enum event_kind kinds[] = {EVENT_STEP_BEGIN, EVENT_STEP_END, EVENT_RANGE_BEGIN,
                                            EVENT_RANGE_END};
    struct annotations annotations = {.request = request, .writer = writer};
    struct life_visitor visitor = {.context = &annotations, .event = on_event};
    uint64_t count = tally_step_count(request->question->tally);
    enum mt_result result;

    for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
        visitor.event_kinds |= 1u << kinds[i];
        count += tally_event_count(request->question->tally, kinds[i]);
    }
    if (!count)
        return MT_OK;
    put_key(writer, key_annotations);
    put_list_begin(writer);
    result = lives_read(request->question->events, request->model, &visitor, error);
    put_end(writer);
    if (result == MT_OK && annotations.has_failed)
        result = mt_error_set(error, MT_NO_MEMORY, "no memory to write a snapshot");
    free(annotations.open);
    return result;
}
