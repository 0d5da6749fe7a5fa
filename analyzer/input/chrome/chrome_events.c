/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A Chrome trace, read value by value.
 *
 * Depth 1 is the list or the object of the file; an event is an object in the list, and its
 * arguments are the object "args" in it. Whatever is deeper is passed over.
 */
#include "chrome_events.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include <yajl/yajl_parse.h>

#include "leaktide/profiler_step.h"
#include "list.h"
#include "sentence.h"

enum { depth_max = 200, name_most_bytes = 256, device_most = 4096 };

enum chrome_key {
    KEY_NONE,
    KEY_TRACE_EVENTS,
    KEY_BASE_TIME,
    KEY_DISTRIBUTED,
    KEY_RANK,
    KEY_PHASE,
    KEY_NAME,
    KEY_CATEGORY,
    KEY_TIME,
    KEY_DURATION,
    KEY_PROCESS,
    KEY_THREAD,
    KEY_ARGUMENTS,
    KEY_DEVICE_TYPE,
    KEY_DEVICE,
    KEY_ADDRESS,
    KEY_BYTES,
    KEY_ALLOCATED,
    KEY_RESERVED,
    KEY_WORKING_DEVICE,
    KEY_COUNT
};

static const char *const key_names[KEY_COUNT] = {"",
                                                 "traceEvents",
                                                 "baseTimeNanoseconds",
                                                 "distributedInfo",
                                                 "rank",
                                                 "ph",
                                                 "name",
                                                 "cat",
                                                 "ts",
                                                 "dur",
                                                 "pid",
                                                 "tid",
                                                 "args",
                                                 "Device Type",
                                                 "Device Id",
                                                 "Addr",
                                                 "Bytes",
                                                 "Total Allocated",
                                                 "Total Reserved",
                                                 "device"};

/* What events of a category may be. One that is not here is nothing: ranges of the host come again
 * on the line of the device, and formats grow. */
enum category {
    CATEGORY_OTHER,
    CATEGORY_OPERATOR,
    CATEGORY_RANGE,
    CATEGORY_KERNEL,
    CATEGORY_FUNCTION
};

static const struct {
    const char *name;
    enum category category;
} categories[] = {
    {"cpu_op", CATEGORY_OPERATOR},
    {"Operator", CATEGORY_OPERATOR},
    {"user_annotation", CATEGORY_RANGE},
    {"", CATEGORY_RANGE},
    {"kernel", CATEGORY_KERNEL},
    {"Kernel", CATEGORY_KERNEL},
    {"python_function", CATEGORY_FUNCTION},
};

struct number {
    uint64_t thousandths; /* for times in us */
    uint64_t value;
    bool is_negative, is_there;
    bool is_wrong; /* something that is no number stands in its place */
};

struct parser {
    struct chrome_events *events;
    unsigned depth;
    unsigned event_depth; /* of the objects in the list of events; 0: not there yet */
    enum chrome_key key;
    bool in_list, is_object_form, in_arguments, in_rank;
    struct number numbers[KEY_COUNT];
    uint32_t name;
    bool is_memory, is_failed, is_step;
    enum category category;
    char phase;
    enum mt_result result;
    struct mt_error error;
};

static int stop(struct parser *parser, enum mt_result result, const char *why)
{
    parser->result = mt_error_set(&parser->error, result, "%s", translated(why));
    return 0;
}

/* --- records ------------------------------------------------------------------------------- */

static struct chrome_record *record_add(struct parser *parser)
{
    struct chrome_events *events = parser->events;

    if (!list_has_room(&events->records, &events->capacity, events->count,
                       sizeof(*events->records))) {
        stop(parser, MT_NO_MEMORY, "no memory for the events of a trace");
        return NULL;
    }
    return &events->records[events->count++];
}

static uint64_t value_of(const struct parser *parser, enum chrome_key key)
{
    return parser->numbers[key].is_there ? parser->numbers[key].value : 0;
}

static uint64_t told_of(const struct parser *parser, enum chrome_key key)
{
    return parser->numbers[key].is_there ? parser->numbers[key].value + 1 : 0;
}

static uint32_t thread_of(const struct parser *parser)
{
    return model_thread(parser->events->model,
                        (struct model_thread){.process = parser->events->process,
                                              .thread_id = value_of(parser, KEY_THREAD)});
}

/* What an event need not have is a number where it stands. */
static bool is_sound(const struct parser *parser)
{
    return !parser->numbers[KEY_ADDRESS].is_wrong && !parser->numbers[KEY_ALLOCATED].is_wrong &&
           !parser->numbers[KEY_RESERVED].is_wrong;
}

static int add_memory(struct parser *parser)
{
    struct chrome_record *record;
    uint64_t type = value_of(parser, KEY_DEVICE_TYPE), device = value_of(parser, KEY_DEVICE);

    parser->events->told_count++;
    if (!parser->numbers[KEY_BYTES].is_there || !parser->numbers[KEY_TIME].is_there ||
        !parser->numbers[KEY_DEVICE_TYPE].is_there || type > 255 ||
        (type && !parser->numbers[KEY_DEVICE].is_there) || device > device_most ||
        !is_sound(parser)) {
        parser->events->bad_count++;
        return 1;
    }
    record = record_add(parser);
    if (!record)
        return 0;
    parser->events->memory_count++;
    *record = (struct chrome_record){
        .time_ns = parser->numbers[KEY_TIME].thousandths,
        .kind = parser->is_failed ? CHROME_FAILED : CHROME_MEMORY,
        .address = value_of(parser, KEY_ADDRESS),
        .has_address = parser->numbers[KEY_ADDRESS].is_there,
        .size_bytes = value_of(parser, KEY_BYTES),
        .is_free = parser->numbers[KEY_BYTES].is_negative,
        .allocated_bytes = told_of(parser, KEY_ALLOCATED),
        .reserved_bytes = told_of(parser, KEY_RESERVED),
        .device = type && !parser->numbers[KEY_DEVICE].is_negative ? (int32_t)device : -1,
        .device_type = (uint8_t)type,
        .thread = thread_of(parser),
    };
    return 1;
}

/* An operator is a begin and an end. */
static int add_span(struct parser *parser)
{
    uint64_t begin_ns = parser->numbers[KEY_TIME].thousandths;
    uint64_t end_ns = begin_ns + parser->numbers[KEY_DURATION].thousandths;
    struct chrome_record *record;

    parser->events->told_count++;
    if (!parser->numbers[KEY_TIME].is_there || !parser->numbers[KEY_DURATION].is_there ||
        end_ns < begin_ns) {
        parser->events->bad_count++;
        return 1;
    }
    for (int is_end = 0; is_end < 2; is_end++) {
        record = record_add(parser);
        if (!record)
            return 0;
        *record = (struct chrome_record){
            .time_ns = is_end ? end_ns : begin_ns,
            .other_ns = is_end ? begin_ns : end_ns,
            .kind = !is_end              ? CHROME_BEGIN
                    : end_ns == begin_ns ? CHROME_INSTANT_END
                                         : CHROME_END,
            .text = parser->name,
            .is_step = parser->is_step,
            .thread = thread_of(parser),
        };
    }
    return 1;
}

/* One without times encloses nothing. */
static int add_function(struct parser *parser)
{
    uint64_t begin_ns = parser->numbers[KEY_TIME].thousandths;
    uint64_t end_ns = begin_ns + parser->numbers[KEY_DURATION].thousandths;
    struct chrome_span span = {begin_ns, end_ns, parser->name, 0};

    if (!parser->numbers[KEY_TIME].is_there || !parser->numbers[KEY_DURATION].is_there ||
        end_ns < begin_ns)
        return 1;
    span.thread = thread_of(parser);
    return chrome_stacks_add(&parser->events->stacks, span)
               ? 1
               : stop(parser, MT_NO_MEMORY, "no memory for the events of a trace");
}

/* In a trace the number of a device stands for a process. */
static void note_kernel(struct parser *parser)
{
    const struct number *told = &parser->numbers[KEY_WORKING_DEVICE];
    const struct number *device = told->is_there ? told : &parser->numbers[KEY_PROCESS];

    if (device->is_there && !device->is_negative && device->value <= device_most)
        model_device_worked(parser->events->model,
                            (struct model_worked_device){.process = parser->events->process,
                                                         .device = (int32_t)device->value,
                                                         .kernel_count = 1});
}

static int event_end(struct parser *parser)
{
    if (parser->is_memory || parser->is_failed)
        return add_memory(parser);
    if (parser->phase == 'X' && parser->category == CATEGORY_KERNEL)
        note_kernel(parser);
    if (parser->phase == 'X' && parser->category == CATEGORY_FUNCTION)
        return add_function(parser);
    if (parser->phase == 'X' && (parser->category == CATEGORY_OPERATOR ||
                                 (parser->is_step && parser->category == CATEGORY_RANGE)))
        return add_span(parser);
    /* What only events of memory have, under another name. */
    if (parser->numbers[KEY_BYTES].is_there && parser->numbers[KEY_DEVICE_TYPE].is_there) {
        parser->events->told_count++;
        parser->events->bad_count++;
    }
    return 1;
}

static void event_begin(struct parser *parser)
{
    memset(parser->numbers, 0, sizeof(parser->numbers));
    parser->name = 0;
    parser->phase = 0;
    parser->category = CATEGORY_RANGE;
    parser->is_memory = parser->is_failed = parser->is_step = false;
}

/* --- values -------------------------------------------------------------------------------- */

static bool is_event(const struct parser *parser)
{
    return parser->in_list && parser->depth == parser->event_depth;
}

/* Is a scalar at this depth one of an event or of its arguments? */
static bool is_wanted(const struct parser *parser)
{
    if (is_event(parser))
        return parser->key >= KEY_PHASE && parser->key <= KEY_THREAD;
    return parser->in_arguments && parser->depth == parser->event_depth + 1 &&
           parser->key >= KEY_DEVICE_TYPE;
}

/* Digits, with up to three after the point: no double comes near them. */
static struct number number_of(const char *bytes, size_t size_bytes)
{
    struct number number = {.is_there = size_bytes > 0};
    unsigned decimals = 0;
    bool is_fraction = false;

    for (size_t i = 0; i < size_bytes && number.is_there; i++) {
        unsigned digit = (unsigned char)bytes[i] - (unsigned)'0';

        if (!i && bytes[i] == '-' && size_bytes > 1) {
            number.is_negative = true;
        } else if (bytes[i] == '.' && !is_fraction) {
            is_fraction = true;
        } else if (digit > 9 || number.value > (UINT64_MAX - 9) / 10) {
            number.is_there = false;
        } else if (!is_fraction) {
            number.value = number.value * 10 + digit;
        } else if (decimals < 3) {
            number.thousandths = number.thousandths * 10 + digit;
            decimals++;
        }
    }
    for (; decimals < 3; decimals++)
        number.thousandths *= 10;
    if (number.value < UINT64_MAX / 1000 - 1)
        number.thousandths += number.value * 1000;
    else
        number.thousandths = 0;
    number.is_wrong = !number.is_there;
    return number;
}

static void note_no_number(struct parser *parser)
{
    if (is_wanted(parser))
        parser->numbers[parser->key].is_wrong = true;
}

static int on_null(void *context)
{
    note_no_number(context);
    return 1;
}

static int on_boolean(void *context, int value)
{
    (void)value;
    note_no_number(context);
    return 1;
}

static int on_number(void *context, const char *bytes, size_t size_bytes)
{
    struct parser *parser = context;
    struct number number;

    if (is_wanted(parser)) {
        parser->numbers[parser->key] = number_of(bytes, size_bytes);
        return 1;
    }
    number = number_of(bytes, size_bytes);
    if (parser->is_object_form && parser->depth == 1 && parser->key == KEY_BASE_TIME)
        parser->events->base_time_ns = number.value;
    if (parser->in_rank && parser->depth == 2 && parser->key == KEY_RANK && number.is_there &&
        number.value < INT32_MAX)
        parser->events->rank = (int32_t)number.value;
    return 1;
}

static bool is(const unsigned char *bytes, size_t size_bytes, const char *word)
{
    return size_bytes == strlen(word) && memcmp(bytes, word, size_bytes) == 0;
}

static void take_name(struct parser *parser, const unsigned char *bytes, size_t size_bytes)
{
    uint64_t number;

    parser->is_memory = is(bytes, size_bytes, "[memory]");
    parser->is_failed = is(bytes, size_bytes, "[OutOfMemory]");
    parser->is_step = mt_profiler_step((const char *)bytes, size_bytes, &number);
    if (!parser->is_memory && !parser->is_failed)
        parser->name = model_text(parser->events->model, (const char *)bytes,
                                  size_bytes < name_most_bytes ? size_bytes : name_most_bytes);
}

static enum category category_of(const unsigned char *bytes, size_t size_bytes)
{
    for (size_t i = 0; i < sizeof(categories) / sizeof(categories[0]); i++)
        if (is(bytes, size_bytes, categories[i].name))
            return categories[i].category;
    return CATEGORY_OTHER;
}

static int on_string(void *context, const unsigned char *bytes, size_t size_bytes)
{
    struct parser *parser = context;

    if (!is_wanted(parser))
        return 1;
    if (!is_event(parser) || parser->key == KEY_THREAD || parser->key == KEY_TIME)
        parser->numbers[parser->key] = number_of((const char *)bytes, size_bytes);
    else if (parser->key == KEY_NAME)
        take_name(parser, bytes, size_bytes);
    else if (parser->key == KEY_PHASE)
        parser->phase = size_bytes ? (char)bytes[0] : 0;
    else if (parser->key == KEY_CATEGORY)
        parser->category = category_of(bytes, size_bytes);
    return 1;
}

static int on_key(void *context, const unsigned char *bytes, size_t size_bytes)
{
    struct parser *parser = context;

    parser->key = KEY_NONE;
    if (parser->in_list ? parser->depth > parser->event_depth + 1 : parser->depth > 2)
        return 1;
    for (int i = KEY_NONE + 1; i < KEY_COUNT; i++)
        if (key_names[i][0] == (size_bytes ? (char)bytes[0] : 0) &&
            is(bytes, size_bytes, key_names[i]))
            parser->key = (enum chrome_key)i;
    return 1;
}

static int deeper(struct parser *parser)
{
    if (++parser->depth > depth_max)
        return stop(parser, MT_UNSUPPORTED, "lists and objects nested too deep");
    return 1;
}

static int on_map_begin(void *context)
{
    struct parser *parser = context;

    note_no_number(parser);
    if (is_event(parser) && parser->key == KEY_ARGUMENTS)
        parser->in_arguments = true;
    if (!parser->depth)
        parser->is_object_form = true;
    if (parser->is_object_form && parser->depth == 1 && parser->key == KEY_DISTRIBUTED)
        parser->in_rank = true;
    if (!deeper(parser))
        return 0;
    if (is_event(parser))
        event_begin(parser);
    parser->key = KEY_NONE;
    return 1;
}

static int on_map_end(void *context)
{
    struct parser *parser = context;
    int go_on = is_event(parser) ? event_end(parser) : 1;

    parser->depth--;
    if (parser->depth <= parser->event_depth)
        parser->in_arguments = false;
    if (parser->depth == 1)
        parser->in_rank = false;
    parser->key = KEY_NONE;
    return go_on;
}

static int on_list_begin(void *context)
{
    struct parser *parser = context;
    bool is_list_form = !parser->depth;
    bool is_events =
        parser->is_object_form && parser->depth == 1 && parser->key == KEY_TRACE_EVENTS;

    note_no_number(parser);
    if (!deeper(parser))
        return 0;
    if (is_list_form || is_events) {
        parser->in_list = true;
        parser->event_depth = parser->depth + 1;
    }
    parser->key = KEY_NONE;
    return 1;
}

static int on_list_end(void *context)
{
    struct parser *parser = context;

    if (parser->in_list && parser->depth + 1 == parser->event_depth)
        parser->in_list = false;
    parser->depth--;
    parser->key = KEY_NONE;
    return 1;
}

static const yajl_callbacks callbacks = {
    .yajl_null = on_null,
    .yajl_boolean = on_boolean,
    .yajl_number = on_number,
    .yajl_string = on_string,
    .yajl_start_map = on_map_begin,
    .yajl_map_key = on_key,
    .yajl_end_map = on_map_end,
    .yajl_start_array = on_list_begin,
    .yajl_end_array = on_list_end,
};

/* --- the file ------------------------------------------------------------------------------ */

static enum mt_result explain(const struct parser *parser, const struct byte_stream *stream,
                              yajl_handle handle, const char *otherwise, struct mt_error *error)
{
    enum mt_result result = byte_stream_status(stream, error);

    if (result != MT_OK)
        return result;
    result = parser->result != MT_OK ? parser->result : MT_CORRUPT;
    return mt_error_set(error, result, "%s: JSON near byte %" PRIu64 ": %s", stream->path,
                        byte_stream_offset(stream) + yajl_get_bytes_consumed(handle),
                        parser->result != MT_OK ? parser->error.message : otherwise);
}

static enum mt_result parse(const struct parser *parser, struct byte_stream *stream,
                            yajl_handle handle, struct mt_error *error)
{
    size_t size_bytes;

    while ((size_bytes = byte_stream_fill(stream, 1)) != 0) {
        if (yajl_parse(handle, stream->bytes + stream->position, size_bytes) != yajl_status_ok)
            return explain(parser, stream, handle, translated("it is not JSON"), error);
        stream->position += size_bytes;
    }
    /* A trace in list form may lack its last bracket: the format allows it. */
    if (yajl_complete_parse(handle) != yajl_status_ok &&
        (parser->is_object_form || parser->depth != 1))
        return explain(parser, stream, handle, translated("the trace ends in the middle of it"),
                       error);
    return byte_stream_status(stream, error);
}

enum mt_result chrome_events_read(struct chrome_events *events, struct byte_stream *stream,
                                  struct mt_error *error)
{
    struct parser parser = {.events = events};
    yajl_handle handle = yajl_alloc(&callbacks, NULL, &parser);
    enum mt_result result;

    if (!handle)
        return mt_error_set(error, MT_NO_MEMORY, "no memory to read %s", stream->path);
    yajl_config(handle, yajl_dont_validate_strings, 1);
    events->rank = -1;
    result = parse(&parser, stream, handle, error);
    yajl_free(handle);
    return result;
}

void chrome_events_release(struct chrome_events *events)
{
    chrome_stacks_release(&events->stacks);
    free(events->records);
    events->records = NULL;
}
