/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A snapshot as JSON: values go on a stack, and a list or dict takes its items from there.
 */
#include "snapshot_json.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include <yajl/yajl_parse.h>

#include "list.h"
#include "sentence.h"

enum { depth_max = 64, values_max = 1 << 25 };

struct json {
    struct snapshot_tables *tables;
    struct snapshot_value *values;
    size_t count, capacity;
    size_t marks[depth_max];
    bool is_dict[depth_max]; /* of each mark */
    unsigned depth;
    enum mt_result result; /* why the reading was stopped */
    struct mt_error error;
};

static int stop(struct json *json, enum mt_result result, const char *why)
{
    json->result = mt_error_set(&json->error, result, "%s", translated(why));
    return 0;
}

static int push(struct json *json, struct snapshot_value value)
{
    if (json->count >= values_max)
        return stop(json, MT_UNSUPPORTED, "a list that is too long");
    if (!list_has_room(&json->values, &json->capacity, json->count, sizeof(value)))
        return stop(json, MT_NO_MEMORY, "no memory for the values of a snapshot");
    json->values[json->count++] = value;
    return 1;
}

static int on_other(void *context)
{
    return push(context, value_other());
}

static int on_boolean(void *context, int value)
{
    return push(context, value_number(value != 0));
}

/* Digits, as a double would lose the end of an address. */
static int on_number(void *context, const char *bytes, size_t size_bytes)
{
    bool is_negative = size_bytes && bytes[0] == '-';
    uint64_t number = 0;

    for (size_t i = is_negative; i < size_bytes; i++) {
        unsigned digit = (unsigned char)bytes[i] - (unsigned)'0';

        if (digit > 9) /* a fraction: nothing that is needed is one */
            return push(context, value_other());
        if (number > (UINT64_MAX - digit) / 10)
            return stop(context, MT_UNSUPPORTED, "a number of more than 64 bits");
        number = number * 10 + digit;
    }
    return push(context, value_number(is_negative ? 0 - number : number));
}

static int on_string(void *context, const unsigned char *bytes, size_t size_bytes)
{
    struct json *json = context;
    const struct snapshot_value *top = json->count ? &json->values[json->count - 1] : NULL;

    if (top && top->kind == VALUE_TEXT && word_is_dropped_key((enum word)top->word))
        return push(json, value_other());
    return push(json, snapshot_text(json->tables, (const char *)bytes, size_bytes));
}

static int on_begin(struct json *json, bool is_dict)
{
    if (json->depth == depth_max)
        return stop(json, MT_UNSUPPORTED, "lists and dicts nested too deep");
    json->is_dict[json->depth] = is_dict;
    json->marks[json->depth++] = json->count;
    return 1;
}

static int on_map_begin(void *context)
{
    return on_begin(context, true);
}

static int on_array_begin(void *context)
{
    return on_begin(context, false);
}

static int on_end(struct json *json, bool is_dict)
{
    size_t mark = json->marks[--json->depth];
    const struct snapshot_value *items = json->values + mark;
    size_t count = json->count - mark;
    struct snapshot_value made =
        is_dict ? snapshot_dict(json->tables) : snapshot_list(json->tables);

    if (made.kind != VALUE_OBJECT)
        return stop(json, MT_NO_MEMORY, "no memory for the values of a snapshot");
    json->result = is_dict ? snapshot_set(json->tables, made, items, count, &json->error)
                           : snapshot_append(json->tables, made, items, count, &json->error);
    if (json->result != MT_OK)
        return 0;
    json->count = mark;
    return push(json, made);
}

static int on_map_end(void *context)
{
    return on_end(context, true);
}

static int on_array_end(void *context)
{
    return on_end(context, false);
}

static const yajl_callbacks callbacks = {
    .yajl_null = on_other,
    .yajl_boolean = on_boolean,
    .yajl_number = on_number,
    .yajl_string = on_string,
    .yajl_start_map = on_map_begin,
    .yajl_map_key = on_string,
    .yajl_end_map = on_map_end,
    .yajl_start_array = on_array_begin,
    .yajl_end_array = on_array_end,
};

static enum mt_result explain(const struct json *json, const struct byte_stream *stream,
                              yajl_handle parser, enum mt_result result, struct mt_error *error)
{
    uint64_t offset = byte_stream_offset(stream) + yajl_get_bytes_consumed(parser);
    const char *why = translated("it is not JSON");

    if (byte_stream_status(stream, error) != MT_OK)
        return byte_stream_status(stream, error);
    if (json->result != MT_OK)
        why = json->error.message;
    else if (result == MT_NO_DATA)
        why = translated("the JSON ends too early");
    return mt_error_set(error, json->result != MT_OK ? json->result : MT_CORRUPT,
                        "%s: JSON near byte %" PRIu64 ": %s", stream->path, offset, why);
}

static enum mt_result parse(struct json *json, struct byte_stream *stream, yajl_handle parser,
                            struct mt_error *error)
{
    yajl_status status = yajl_status_ok;
    size_t size_bytes;

    while ((size_bytes = byte_stream_fill(stream, 1)) != 0) {
        status = yajl_parse(parser, stream->bytes + stream->position, size_bytes);
        if (status != yajl_status_ok)
            return explain(json, stream, parser, MT_CORRUPT, error);
        stream->position += size_bytes;
    }
    if (yajl_complete_parse(parser) != yajl_status_ok || json->count != 1)
        return explain(json, stream, parser, MT_NO_DATA, error);
    return byte_stream_status(stream, error);
}

/* After damage, what is open is closed; an item that is itself unfinished is left out. */
static void close_open(struct json *json)
{
    while (json->depth) {
        bool is_dict = json->is_dict[json->depth - 1];
        size_t mark = json->marks[--json->depth];
        struct snapshot_value made =
            is_dict ? snapshot_dict(json->tables) : snapshot_list(json->tables);

        snapshot_fill_open(json->tables, made, json->values + mark, json->count - mark);
        json->count = mark;
        json->values[json->count++] = made; /* there was room: the mark had a value or its parent */
    }
}

enum mt_result snapshot_json_read(struct byte_stream *stream, struct snapshot_tables *tables,
                                  struct snapshot_value *root, struct mt_error *error)
{
    struct json json = {.tables = tables, .capacity = 1024};
    yajl_handle parser = yajl_alloc(&callbacks, NULL, &json);
    enum mt_result result;

    /* The stack is there before the first value: lists and dicts may be empty. */
    json.values = malloc(json.capacity * sizeof(*json.values));
    if (!parser || !json.values) {
        if (parser)
            yajl_free(parser);
        free(json.values);
        return mt_error_set(error, MT_NO_MEMORY, "no memory to read %s", stream->path);
    }
    yajl_config(parser, yajl_dont_validate_strings, 1);
    result = parse(&json, stream, parser, error);
    if (result == MT_CORRUPT && json.depth && model_wants_partial(tables->model) &&
        push(&json, value_other())) {
        json.count--; /* room for one more, whatever is closed */
        model_note_damage(tables->model, error);
        close_open(&json);
        result = MT_OK;
    }
    if (result == MT_OK)
        *root = json.values[0];
    yajl_free(parser);
    free(json.values);
    return result;
}
