/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rows of what the program runs and says: operators, kernels, ranges, marks, the runtime itself.
 */
#include <stdlib.h>
#include <string.h>

#include "list.h"

#include "memscope_source.h"

/* --- what runs ------------------------------------------------------------------------------ */

static int32_t device_of(const struct memscope_source *source, const struct event *event)
{
    int32_t device = model_place_at(source->question->model, event->place).device;

    return device >= 0 ? device : source->main_device;
}

static struct memscope_operator_note *note_of(struct memscope_source *source, uint32_t thread)
{
    return &source->notes[thread % MEMSCOPE_NOTES];
}

void memscope_take_note(struct memscope_source *source, const struct event *event)
{
    const char *subject = model_text_at(source->question->model, event->detail);

    if (strcmp(subject, "atb operator") == 0)
        *note_of(source, event->thread) = (struct memscope_operator_note){
            true, event->thread, event->text, event->address, event->value};
}

static void add_note(struct memscope_source *source, struct memscope_row *row, uint32_t thread)
{
    struct memscope_operator_note *note = note_of(source, thread);

    if (!note->is_told || note->thread != thread)
        return;
    note->is_told = false;
    if (note->path)
        memscope_text(row, "path", model_text_at(source->question->model, note->path));
    memscope_address(row, "workspace_ptr", note->workspace_address);
    memscope_number(row, "workspace_size", note->workspace_bytes);
}

/* "aten::add.Tensor" as Python has it: "torch._ops.aten.add.Tensor". */
static const char *name_in_python(const char *name, char *room, size_t room_bytes)
{
    const char *colons = strstr(name, "::");

    if (!colons || strstr(colons + 2, "::") || strpbrk(name, " #"))
        return name;
    snprintf(room, room_bytes, "torch._ops.%.*s.%s%s", (int)(colons - name), name, colons + 2,
             strchr(colons, '.') ? "" : ".default");
    return room;
}

/* Operators of ATB have a prefix, and a type of their own. */
void memscope_take_operator(struct memscope_source *source, const struct event *event)
{
    static const char prefix[] = "atb::";
    static const char *const types[2][2] = {{"ATEN_END", "ATB_END"}, {"ATEN_START", "ATB_START"}};
    const char *name = model_text_at(source->question->model, event->text);
    bool is_atb = strncmp(name, prefix, sizeof(prefix) - 1) == 0;
    char room[MEMSCOPE_OPERATOR_BYTES];
    struct memscope_row row;

    memscope_row_begin(source, &row, "OP_LAUNCH",
                       types[event->kind == EVENT_OPERATOR_BEGIN][is_atb], event->time_ns,
                       event->thread);
    if (event->text)
        row.name = is_atb ? name + sizeof(prefix) - 1 : name_in_python(name, room, sizeof(room));
    if (is_atb)
        add_note(source, &row, event->thread);
    row.device = device_of(source, event);
    memscope_row_send(source, &row);
}

void memscope_take_launch(struct memscope_source *source, const struct event *event)
{
    struct memscope_row row;

    memscope_row_begin(source, &row, "KERNEL_LAUNCH", "KERNEL_LAUNCH", event->time_ns,
                       event->thread);
    row.name = event->text ? model_text_at(source->question->model, event->text) : NULL;
    row.device = device_of(source, event);
    memscope_row_send(source, &row);
}

/* --- ranges --------------------------------------------------------------------------------- */

static void send_mstx(struct memscope_source *source, const struct event *event, const char *type,
                      const char *name)
{
    struct memscope_row row;

    memscope_row_begin(source, &row, "MSTX", type, event->time_ns, event->thread);
    row.name = name;
    row.name_is_quoted = true;
    row.device = source->main_device;
    memscope_row_send(source, &row);
}

static bool range_push(struct memscope_source *source, uint64_t id, bool is_step)
{
    if (!list_has_room(&source->ranges, &source->range_capacity, source->range_count,
                       sizeof(*source->ranges)))
        return false;
    source->ranges[source->range_count++] =
        (struct memscope_range){id, ++source->begun_ranges, is_step};
    return true;
}

static void range_begin(struct memscope_source *source, const struct event *event, uint64_t id,
                        const char *step)
{
    if (range_push(source, id, step != NULL))
        send_mstx(source, event, "Range_start",
                  step ? step : model_text_at(source->question->model, event->text));
    else
        source->result = mt_error_set(source->error, MT_NO_MEMORY, "no memory for open ranges");
}

static void range_end(struct memscope_source *source, const struct event *event,
                      struct memscope_range *range)
{
    char name[48];

    snprintf(name, sizeof(name), "Range end from id %llu", (unsigned long long)range->number);
    *range = source->ranges[--source->range_count];
    send_mstx(source, event, "Range_end", name);
}

/* The newest that is open; NULL: none. */
static struct memscope_range *range_find(struct memscope_source *source, uint64_t id, bool is_step)
{
    for (size_t i = source->range_count; i-- > 0;)
        if (source->ranges[i].is_step == is_step && source->ranges[i].id == id)
            return &source->ranges[i];
    return NULL;
}

void memscope_take_range_begin(struct memscope_source *source, const struct event *event)
{
    range_begin(source, event, event->address, NULL);
}

/* An end without a beginning is not told. */
void memscope_take_range_end(struct memscope_source *source, const struct event *event)
{
    struct memscope_range *range = range_find(source, event->address, false);

    if (range)
        range_end(source, event, range);
}

/* One that is a range of the program has a row already. A step ends where the next one begins. */
void memscope_take_step_begin(struct memscope_source *source, const struct event *event)
{
    if (event->address == MT_RANGE_TOLD) {
        source->told_step = event->value;
        if (source->sink->told_step)
            source->sink->told_step(source->sink->context);
    }
    if (event->address)
        return;
    for (size_t i = source->range_count; i-- > 0;)
        if (source->ranges[i].is_step)
            range_end(source, event, &source->ranges[i]);
    range_begin(source, event, event->value, "step start");
}

static void send_told_step(struct memscope_source *source, const struct event *event)
{
    struct memscope_row row;
    char number[24];

    snprintf(number, sizeof(number), "%llu", (unsigned long long)event->value);
    memscope_row_begin(source, &row, "SYSTEM", "STEP", event->time_ns, event->thread);
    row.name = number;
    row.device = source->main_device;
    source->told_step = 0;
    memscope_row_send(source, &row);
}

void memscope_take_step_end(struct memscope_source *source, const struct event *event)
{
    struct memscope_range *range = range_find(source, event->value, true);

    if (event->value == source->told_step)
        send_told_step(source, event);
    else if (range)
        range_end(source, event, range);
}

/* --- marks ---------------------------------------------------------------------------------- */

static void send_system(struct memscope_source *source, const struct event *event, const char *type)
{
    struct memscope_row row;

    memscope_row_begin(source, &row, "SYSTEM", type, event->time_ns, event->thread);
    memscope_row_send(source, &row);
}

/* Rows of the tool itself, when the recording came from it. */
static bool is_of_system(const char *name)
{
    static const char *const names[] = {"ACL_INIT", "ACL_FINI", "START_TRACE", "STOP_TRACE"};

    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        if (strcmp(names[i], name) == 0)
            return true;
    return false;
}

bool memscope_is_start(const struct memscope_source *source, const struct event *event)
{
    return event->kind == EVENT_MARK &&
           strcmp(model_text_at(source->question->model, event->text), "START_TRACE") == 0;
}

/* The program, or leaktide ctl, asked for one: the mark is the recorder's. */
static bool is_asked_snapshot(struct memscope_source *source, const struct event *event,
                              const char *name)
{
    return strcmp(model_text_at(source->question->model, event->detail), "leaktide") == 0 &&
           memscope_send_snapshot(source, event, source->main_device, 0, name);
}

void memscope_take_mark(struct memscope_source *source, const struct event *event)
{
    const char *name = model_text_at(source->question->model, event->text);

    if (source->is_history)
        memscope_history_ends(source, event);
    if (is_of_system(name))
        send_system(source, event, name);
    else if (!is_asked_snapshot(source, event, name))
        send_mstx(source, event, "Mark", name);
}

/* Only the beginning and the end of the runtime are told. */
void memscope_take_device(struct memscope_source *source, const struct event *event)
{
    static const struct {
        const char *call, *type;
    } calls[] = {{"aclInit", "ACL_INIT"}, {"aclFinalize", "ACL_FINI"}};
    const char *name = model_text_at(source->question->model, event->text);

    for (size_t i = 0; i < sizeof(calls) / sizeof(calls[0]); i++)
        if (strcmp(name, calls[i].call) == 0)
            send_system(source, event, calls[i].type);
}
