/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the records of a trace mean: a table for those that are events, a function for each of those
 * that are not.
 */
#include "trace_record.h"

#include <string.h>

/* struct record_alloc and so on: only for the positions of their fields. */
#define FIELD(name, encoding) uint64_t name;
#define RECORD(code, name, fields, meaning)                                                        \
    struct record_##name {                                                                         \
        fields                                                                                     \
    };
#include "leaktide/records.def"
#undef RECORD
#undef FIELD

/* Position of a field, from 1, so that 0 is "none". */
#define AT(record, field) (1 + offsetof(struct record_##record, field) / sizeof(uint64_t))

/* Which field of the record goes where in the event. */
struct meaning {
    bool is_event;
    uint8_t kind;
    uint8_t address, value, text, site, pool, place;
};

static const struct meaning meanings[MT_RECORD_CODE_END] = {
    [MT_RECORD_host_alloc] = {true, EVENT_ALLOC, .site = AT(host_alloc, site),
                              .value = AT(host_alloc, size), .address = AT(host_alloc, address)},
    [MT_RECORD_host_free] = {true, EVENT_FREE, .address = AT(host_free, address)},
    [MT_RECORD_alloc] = {true, EVENT_ALLOC, .site = AT(alloc, site), .value = AT(alloc, size),
                         .address = AT(alloc, address), .pool = AT(alloc, pool),
                         .place = AT(alloc, place)},
    [MT_RECORD_free] = {true, EVENT_FREE, .address = AT(free, address), .pool = AT(free, pool)},
    [MT_RECORD_alloc_failed] = {true, EVENT_ALLOC_FAILED, .site = AT(alloc_failed, site),
                                .value = AT(alloc_failed, size), .pool = AT(alloc_failed, pool),
                                .place = AT(alloc_failed, place),
                                .address = AT(alloc_failed, status)},
    [MT_RECORD_pool_reserved] = {true, EVENT_RESERVED, .pool = AT(pool_reserved, pool),
                                 .place = AT(pool_reserved, place),
                                 .value = AT(pool_reserved, size)},
    [MT_RECORD_operator_begin] = {true, EVENT_OPERATOR_BEGIN, .text = AT(operator_begin, name)},
    [MT_RECORD_operator_end] = {true, EVENT_OPERATOR_END, .text = AT(operator_end, name)},
    [MT_RECORD_range_begin] = {true, EVENT_RANGE_BEGIN, .address = AT(range_begin, range),
                               .text = AT(range_begin, name)},
    [MT_RECORD_range_end] = {true, EVENT_RANGE_END, .address = AT(range_end, range)},
    [MT_RECORD_mark] = {true, EVENT_MARK, .text = AT(mark, name)},
    [MT_RECORD_step_begin] = {true, EVENT_STEP_BEGIN, .value = AT(step_begin, step),
                              .address = AT(step_begin, range)},
    [MT_RECORD_step_end] = {true, EVENT_STEP_END, .value = AT(step_end, step)},
    [MT_RECORD_tag_begin] = {true, EVENT_TAG_BEGIN, .text = AT(tag_begin, owner)},
    [MT_RECORD_tag_end] = {true, EVENT_TAG_END, .text = AT(tag_end, owner)},
    [MT_RECORD_launch] = {true, EVENT_LAUNCH, .text = AT(launch, name), .place = AT(launch, place)},
    [MT_RECORD_access] = {true, EVENT_ACCESS, .address = AT(access, address),
                          .value = AT(access, size), .pool = AT(access, pool)},
    [MT_RECORD_tensor_access] = {true, EVENT_ACCESS, .address = AT(tensor_access, address),
                                 .value = AT(tensor_access, size),
                                 .text = AT(tensor_access, operator_name),
                                 .pool = AT(tensor_access, pool)},
    [MT_RECORD_sample] = {true, EVENT_SAMPLE, .text = AT(sample, counter),
                          .place = AT(sample, place), .value = AT(sample, value)},
    [MT_RECORD_device_event] = {true, EVENT_DEVICE, .text = AT(device_event, name),
                                .place = AT(device_event, place),
                                .value = AT(device_event, status)},
    [MT_RECORD_note] = {true, EVENT_NOTE, .text = AT(note, text), .place = AT(note, place),
                        .address = AT(note, first), .value = AT(note, second)},
};

static const struct trace_field *field_at(const struct trace_record *record, uint8_t at)
{
    return at ? &record->fields[at - 1] : NULL;
}

static uint64_t value_at(const struct trace_record *record, uint8_t at)
{
    return at ? record->fields[at - 1].value : 0;
}

static uint32_t text_at(struct trace_context *context, const struct trace_record *record,
                        uint8_t at)
{
    const struct trace_field *field = field_at(record, at);

    if (!field)
        return 0;
    if (*field->index == TRACE_UNRESOLVED)
        *field->index = trace_context_text(context, field->value);
    return *field->index;
}

static uint32_t site_at(struct trace_context *context, const struct trace_record *record,
                        uint8_t at)
{
    const struct trace_field *field = field_at(record, at);

    if (!field)
        return 0;
    if (*field->index == TRACE_UNRESOLVED)
        *field->index = trace_context_site(context, field->value, record->time_ns);
    return *field->index;
}

static uint16_t pool_at(struct trace_context *context, const struct trace_record *record,
                        uint8_t at)
{
    const struct trace_field *field = field_at(record, at);

    if (!field)
        return context->host_pool;
    if (*field->index == TRACE_UNRESOLVED)
        *field->index = trace_context_pool(context, field->value);
    return (uint16_t)*field->index;
}

static uint16_t place_at(struct trace_context *context, const struct trace_record *record,
                         uint8_t at)
{
    const struct trace_field *field = field_at(record, at);

    if (!field)
        return context->host_place;
    if (*field->index == TRACE_UNRESOLVED)
        *field->index = trace_context_place(context, field->value);
    return (uint16_t)*field->index;
}

/* --- definitions --------------------------------------------------------------------------- */

static void define_text(struct trace_context *context, const struct trace_record *record)
{
    uint64_t id = value_at(record, AT(text, id));
    uint32_t text;

    if (trace_texts_find(context->texts, id, &text))
        return;
    text = model_text(context->model, (const char *)record->bytes, record->size_bytes);
    if (!trace_texts_add(context->texts, id, text))
        context->is_out_of_memory = true;
}

static void define_module(struct trace_context *context, const struct trace_record *record)
{
    struct model_module module = {
        .process = context->process,
        .base = value_at(record, AT(module, base)),
        .size_bytes = value_at(record, AT(module, size)),
        .bias = value_at(record, AT(module, bias)),
        .loaded_ns = record->time_ns,
        .unloaded_ns = UINT64_MAX,
        .path = trace_context_text(context, value_at(record, AT(module, path))),
    };

    module.build_id_bytes =
        (uint8_t)(record->size_bytes < sizeof(module.build_id) ? record->size_bytes
                                                               : sizeof(module.build_id));
    if (module.build_id_bytes)
        memcpy(module.build_id, record->bytes, module.build_id_bytes);
    context->site_epoch += model_module(context->model, &module);
}

static void define_thread(struct trace_context *context, uint32_t *thread,
                          const struct trace_record *record)
{
    *thread = model_thread(context->model,
                           (struct model_thread){.process = context->process,
                                                 .thread_id = value_at(record, AT(thread, tid)),
                                                 .name = trace_context_text(
                                                     context, value_at(record, AT(thread, name)))});
}

static void count_lost(struct trace_context *context, const struct trace_record *record)
{
    uint64_t reason = value_at(record, AT(lost, reason));

    context->lost_counts[reason < MT_LOST_KINDS ? reason : MT_LOST_KINDS - 1] +=
        value_at(record, AT(lost, count));
}

void trace_record_stack(struct trace_context *context, const struct trace_record *record)
{
    const struct stack_source source = trace_context_stack_source(context, record->time_ns);
    const struct stack_definition definition = {
        .id = value_at(record, AT(stack, id)),
        .shared_count = value_at(record, AT(stack, shared)),
        .flags = value_at(record, AT(stack, flags)),
        .frames = record->bytes,
        .size_bytes = record->size_bytes,
    };
    enum stack_taken taken = trace_stacks_define(context->stacks, &source, &definition);

    context->bad_stacks += taken == STACK_CORRUPT;
    context->is_out_of_memory |= taken == STACK_NO_MEMORY;
}

static void define_code(struct trace_context *context, const struct trace_record *record)
{
    if (!trace_frames_code(&context->frames, value_at(record, AT(code, id)),
                           trace_context_text(context, value_at(record, AT(code, function))),
                           trace_context_text(context, value_at(record, AT(code, file)))))
        context->is_out_of_memory = true;
}

static void end_process(struct trace_context *context, uint64_t status)
{
    if (status & MT_EXIT_AT_ONCE)
        model_process_ended_at_once(context->model, context->process, (uint8_t)status);
    else
        model_process_exited(context->model, context->process, (uint8_t)status);
}

static void define(struct trace_context *context, uint32_t *thread,
                   const struct trace_record *record)
{
    switch (record->code) {
    case MT_RECORD_text:
        define_text(context, record);
        break;
    case MT_RECORD_module:
        define_module(context, record);
        break;
    case MT_RECORD_module_gone:
        model_module_gone(context->model, context->process, value_at(record, AT(module_gone, base)),
                          record->time_ns);
        break;
    case MT_RECORD_thread:
        define_thread(context, thread, record);
        break;
    case MT_RECORD_lost:
        count_lost(context, record);
        break;
    case MT_RECORD_stack:
        trace_record_stack(context, record);
        break;
    case MT_RECORD_code:
        define_code(context, record);
        break;
    case MT_RECORD_free_site:
        context->stacks->free_site = site_at(context, record, AT(free_site, site));
        break;
    case MT_RECORD_process_exit:
        end_process(context, value_at(record, AT(process_exit, status)));
        break;
    case MT_RECORD_clock: /* the header's readings are as good and span more time */
        break;
    default:
        context->unknown_records++;
    }
}

/* What an access did, and to what. */
static void fill_access(struct trace_context *context, const struct trace_record *record,
                        struct event *event)
{
    bool is_tensor = record->code == MT_RECORD_tensor_access;
    uint64_t flags = value_at(record, is_tensor ? AT(tensor_access, flags) : AT(access, flags));

    event->flags = (uint8_t)((flags & 1 ? EVENT_IS_READ : 0) | (flags & 2 ? EVENT_IS_WRITE : 0));
    if (is_tensor)
        event->detail =
            trace_context_tensor(context, text_at(context, record, AT(tensor_access, dtype)),
                                 text_at(context, record, AT(tensor_access, shape)));
}

/* What a framework would tell, had its version been known. */
static void note_missing(struct trace_context *context, const char *subject, const char *framework)
{
    static const struct {
        const char *subject, *sentence;
    } missing[] = {
        {"no operators", "operators of %s are missing: its version is not known"},
        {"no owners", "weights, gradients and optimizer state of %s have no owners: its version is "
                      "not known"},
        {"no layers", "modules of the model are missing: this version of %s has no hooks for them"},
        {"no accesses", "accesses of tensors of %s are missing: its version is not known"},
    };

    for (size_t i = 0; i < sizeof(missing) / sizeof(missing[0]); i++)
        if (strcmp(subject, missing[i].subject) == 0)
            model_note(context->model, 0, missing[i].sentence, framework);
}

static void fill_note(struct trace_context *context, const struct trace_record *record,
                      struct event *event)
{
    static const struct {
        const char *subject;
        uint8_t kind;
    } kinds[] = {
        {"block owner", EVENT_BLOCK_OWNER},
        {MT_NOTE_NN_MODULE_BEGIN, EVENT_NN_MODULE_BEGIN},
        {MT_NOTE_NN_MODULE_END, EVENT_NN_MODULE_END},
        {MT_NOTE_BLOCK_NN_MODULE, EVENT_BLOCK_NN_MODULE},
    };
    const char *subject;

    event->detail = text_at(context, record, AT(note, subject));
    subject = model_text_at(context->model, event->detail);
    note_missing(context, subject, model_text_at(context->model, event->text));
    if (strcmp(subject, MT_NOTE_PAUSE) == 0) {
        event->kind = EVENT_PAUSE;
        event->value = event->address != 0;
        event->address = event->detail = 0;
        return;
    }
    for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
        if (strcmp(subject, kinds[i].subject) != 0)
            continue;
        event->kind = kinds[i].kind;
        event->detail = 0;
        event->value = 0;
        event->place = 0;
        return;
    }
}

bool trace_record_apply(struct trace_context *context, uint32_t *thread,
                        const struct trace_record *record, struct event *event)
{
    const struct meaning *meaning = &meanings[record->code];

    if (!meaning->is_event) {
        define(context, thread, record);
        return false;
    }
    *event = (struct event){
        .time_ns = record->time_ns,
        .address = value_at(record, meaning->address),
        .value = value_at(record, meaning->value),
        .text = text_at(context, record, meaning->text),
        .site = site_at(context, record, meaning->site),
        .thread = *thread,
        .pool = pool_at(context, record, meaning->pool),
        .place = place_at(context, record, meaning->place),
        .process = context->process,
        .kind = meaning->kind,
    };
    if (event->kind == EVENT_ACCESS)
        fill_access(context, record, event);
    if (event->kind == EVENT_NOTE)
        fill_note(context, record, event);
    if (event->kind == EVENT_STEP_BEGIN && event->address >= MT_RANGE_PROFILER &&
        event->value > context->told_steps)
        return false;
    if (event->kind == EVENT_FREE) {
        event->site = context->stacks->free_site;
        context->stacks->free_site = 0;
    }
    return true;
}
