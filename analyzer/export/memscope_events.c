/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The events of a recording as rows of msmemscope: each goes to the function of its kind.
 */
#include "memscope_events.h"

#include <stdlib.h>
#include <string.h>

#include "memscope_source.h"

static memscope_take *const takers[EVENT_KIND_COUNT] = {
    [EVENT_FREE] = memscope_take_older_free,
    [EVENT_ALLOC_FAILED] = memscope_take_failed_alloc,
    [EVENT_RESERVED] = memscope_take_reserved,
    [EVENT_OPERATOR_BEGIN] = memscope_take_operator,
    [EVENT_OPERATOR_END] = memscope_take_operator,
    [EVENT_RANGE_BEGIN] = memscope_take_range_begin,
    [EVENT_RANGE_END] = memscope_take_range_end,
    [EVENT_MARK] = memscope_take_mark,
    [EVENT_STEP_BEGIN] = memscope_take_step_begin,
    [EVENT_STEP_END] = memscope_take_step_end,
    [EVENT_LAUNCH] = memscope_take_launch,
    [EVENT_ACCESS] = memscope_take_access,
    [EVENT_DEVICE] = memscope_take_device,
    [EVENT_NOTE] = memscope_take_note,
    [EVENT_SAMPLE] = memscope_take_sample,
};

/* --- rows ----------------------------------------------------------------------------------- */

/* Attributes after the count are not read, and stay as they are. */
void memscope_row_begin(const struct memscope_source *source, struct memscope_row *row,
                        const char *event, const char *type, uint64_t time_ns, uint32_t thread)
{
    row->event = event;
    row->type = type;
    row->name = NULL;
    row->name_is_quoted = false;
    row->time_ns = source->base_ns + time_ns;
    row->process_id = source->process_id;
    row->thread_id = model_thread_at(source->question->model, thread)->thread_id;
    row->device = MEMSCOPE_DEVICE_NONE;
    row->has_pointer = false;
    row->attribute_count = 0;
    row->python_stack = row->c_stack = "";
}

void memscope_row_send(struct memscope_source *source, struct memscope_row *row)
{
    row->id = source->next_id++;
    if (source->result == MT_OK)
        source->result = source->sink->row(source->sink->context, row, source->error);
}

void memscope_row_send_held(struct memscope_source *source)
{
    if (source->is_holding)
        memscope_row_send(source, &source->held);
    source->is_holding = false;
}

/* --- events --------------------------------------------------------------------------------- */

static int32_t first_device(const struct memscope_source *source, uint16_t process)
{
    for (size_t i = 0; i < source->ledger_count; i++) {
        const struct ledger *ledger = tally_ledger_at(source->question->tally, i);

        if (ledger->process == process && ledger->device >= 0)
            return ledger->device;
    }
    return MEMSCOPE_DEVICE_NONE;
}

/* Recorded before the program says start as well, and nobody asked for that. */
static bool is_deferred(const struct model *model, const struct model_process *process)
{
    return strstr(model_text_at(model, process->options), "--collect-mode=history") != NULL;
}

/* Those that have no row before the program says start, but are needed after it. */
static bool is_early(const struct memscope_source *source, const struct event *event)
{
    return event->kind == EVENT_RESERVED || event->kind == EVENT_SAMPLE ||
           (event->kind == EVENT_STEP_BEGIN && event->address == MT_RANGE_TOLD) ||
           memscope_is_start(source, event);
}

static bool has_torch_npu(const struct model *model, uint16_t process)
{
    for (size_t i = 0; i < model_module_count(model); i++) {
        const struct model_module *module = model_module_at(model, i);

        if (module->process == process &&
            strstr(model_text_at(model, module->path), "/libtorch_npu.so"))
            return true;
    }
    return false;
}

static void process_begin(struct memscope_source *source, uint16_t index)
{
    const struct model *model = source->question->model;
    const struct model_process *process = model_process_at(source->request->model, index);

    source->has_process = true;
    source->process = index;
    /* Where the recording does not tell: a number that keeps processes apart. */
    source->process_id = process->process_id ? process->process_id : index + 1u;
    source->base_ns = export_realtime_base(process);
    if (!source->base_ns)
        source->base_ns = 1; /* readers want times greater than 0 */
    source->main_device = first_device(source, index);
    source->has_torch_npu = has_torch_npu(model, index);
    source->range_count = 0;
    source->begun_ranges = 0;
    source->told_step = 0;
    source->early_count = 0;
    source->is_history = is_deferred(model, process);
    memset(source->notes, 0, sizeof(source->notes));
    memset(&source->readings, 0, sizeof(source->readings));
}

/* The size of a pool belongs to the row that is held, and a reading has no row; everything else
 * stands after that. */
static bool on_event(void *context, const struct event *event)
{
    struct memscope_source *source = context;
    memscope_take *take = takers[event->kind];

    if (!source->has_process || source->process != event->process)
        process_begin(source, event->process);
    source->newest_ns = event->time_ns;
    if (source->is_history && !is_early(source, event))
        return true;
    if (event->kind == EVENT_SAMPLE && event->flags & EVENT_IS_OLDER)
        take = memscope_take_older;
    if (take && take != memscope_take_reserved && take != memscope_take_sample)
        memscope_row_send_held(source);
    if (take)
        take(source, event);
    return source->result == MT_OK;
}

static bool on_born(void *context, const struct life *life)
{
    return memscope_block_born(context, life);
}

static bool on_over(void *context, const struct life *life)
{
    return memscope_block_over(context, life);
}

/* Blocks that are left end with the process. */
static bool on_process_over(void *context, uint16_t process)
{
    struct memscope_source *source = context;
    uint64_t end_ns = model_process_at(source->request->model, process)->end_ns;

    memscope_row_send_held(source);
    if (end_ns > source->newest_ns)
        source->newest_ns = end_ns;
    memscope_older_over(source, process);
    return source->result == MT_OK;
}

enum mt_result memscope_rows_read(const struct export_request *request,
                                  const struct memscope_sink *sink, struct mt_error *error)
{
    struct memscope_source source = {
        .request = request, .question = request->question, .sink = sink, .error = error};
    const struct life_visitor visitor = {
        .context = &source,
        .born = on_born,
        .over = on_over,
        .event = on_event,
        .process_over = on_process_over,
    };
    struct mt_error trouble = {.message = ""};
    enum mt_result result = MT_NO_MEMORY;

    memscope_stacks_init(&source.stacks, request->question);
    ordered_set_init(&source.holders);
    source.has_accesses = tally_event_count(request->question->tally, EVENT_ACCESS) > 0;
    if (memscope_ledgers_init(&source) && live_set_init(&source.live)) {
        result = lives_read(request->question->events, request->model, &visitor, &trouble);
        memscope_row_send_held(&source);
    } else {
        mt_error_set(&trouble, MT_NO_MEMORY, "no memory for ledgers");
    }
    if (source.result == MT_OK && result != MT_OK)
        source.result = mt_error_set(error, result, "%s", trouble.message);
    memscope_stacks_release(&source.stacks);
    live_set_release(&source.live);
    ordered_set_release(&source.holders);
    free(source.ledgers);
    free(source.ranges);
    free(source.early);
    return source.result;
}
