/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pprof: a profile of stacks with five sample types. Source: profile.proto of
 * github.com/google/pprof.
 *
 * A location is a line of a stack; each has one function. Their numbers are those of the line + 1.
 * All are of one mapping, the program, or pprof complains that it does not know it. Functions have
 * no system name: pprof would take Python's <module> for an argument of a C++ template, and remove
 * it.
 */
#include <string.h>
#include <zlib.h>

#include "hash.h"
#include "protobuf_writer.h"
#include "stack_weights.h"

/* Fields of the messages. */
enum {
    PROFILE_SAMPLE_TYPE = 1,
    PROFILE_SAMPLE = 2,
    PROFILE_MAPPING = 3,
    PROFILE_LOCATION = 4,
    PROFILE_FUNCTION = 5,
    PROFILE_STRING = 6,
    PROFILE_TIME_NANOS = 9,
    PROFILE_DURATION_NANOS = 10,
    PROFILE_DEFAULT_SAMPLE_TYPE = 14,
    VALUE_TYPE_TYPE = 1,
    VALUE_TYPE_UNIT = 2,
    SAMPLE_LOCATION = 1,
    SAMPLE_VALUE = 2,
    SAMPLE_LABEL = 3,
    LABEL_KEY = 1,
    LABEL_TEXT = 2,
    MAPPING_ID = 1,
    MAPPING_FILE = 5,
    MAPPING_HAS_FUNCTIONS = 7,
    MAPPING_HAS_FILES = 8,
    MAPPING_HAS_LINES = 9,
    LOCATION_ID = 1,
    LOCATION_MAPPING = 2,
    LOCATION_LINE = 4,
    LINE_FUNCTION = 1,
    LINE_LINE = 2,
    FUNCTION_ID = 1,
    FUNCTION_NAME = 2,
    FUNCTION_FILE = 4
};

enum { the_mapping = 1, gzip_window_bits = 15 + 16, memory_level = 8, out_bytes = 1 << 16 };

/* In the order of the values of each sample. */
static const struct {
    const char *name, *unit;
    enum stack_measure measure;
    bool is_count;
} sample_types[] = {
    {"live_at_peak_objects", "count", AT_PEAK, true},
    {"live_at_peak_space", "bytes", AT_PEAK, false},
    {"live_at_end_objects", "count", AT_END, true},
    {"live_at_end_space", "bytes", AT_END, false},
    {"growth_per_step_space", "bytes", GROWTH_PER_STEP, false},
};

enum { sample_type_count = sizeof(sample_types) / sizeof(sample_types[0]) };

struct pprof {
    const struct stack_weights *weights;
    struct text_builder profile, inner, innermost;
    /* Texts, by number; 0 is "". */
    struct arena arena;
    struct table strings; /* const char * */
    struct hash_index string_index;
    bool has_failed;
};

static uint64_t string_number(struct pprof *pprof, const char *text)
{
    uint64_t hash = hash_bytes(text, strlen(text));
    const char **row;
    size_t probe = 0;
    uint32_t found;

    while (hash_index_next(&pprof->string_index, hash, &probe, &found))
        if (strcmp(*(const char **)table_at(&pprof->strings, found), text) == 0)
            return found;
    row = hash_index_add_row(&pprof->string_index, hash, &pprof->strings);
    if (!row) {
        pprof->has_failed = true;
        return 0;
    }
    *row = text;
    return (uint32_t)(pprof->strings.count - 1);
}

static void add_sample_types(struct pprof *pprof)
{
    for (size_t i = 0; i < sample_type_count; i++) {
        text_clear(&pprof->inner);
        proto_number(&pprof->inner, VALUE_TYPE_TYPE, string_number(pprof, sample_types[i].name));
        proto_number(&pprof->inner, VALUE_TYPE_UNIT, string_number(pprof, sample_types[i].unit));
        proto_message(&pprof->profile, PROFILE_SAMPLE_TYPE, &pprof->inner);
    }
    proto_number(&pprof->profile, PROFILE_DEFAULT_SAMPLE_TYPE,
                 string_number(pprof, "live_at_peak_space"));
}

/* Innermost first, as pprof wants it. */
static void add_sample(struct pprof *pprof, const struct stack_weight *row)
{
    struct text_builder *sample = &pprof->inner, *list = &pprof->innermost;

    text_clear(sample);
    text_clear(list);
    for (size_t i = row->line_count; i-- > 0;)
        proto_varint(list, row->lines[i] + UINT64_C(1));
    proto_message(sample, SAMPLE_LOCATION, list);
    text_clear(list);
    for (size_t i = 0; i < sample_type_count; i++)
        proto_varint(list, sample_types[i].is_count ? row->counts[sample_types[i].measure]
                                                    : row->bytes[sample_types[i].measure]);
    proto_message(sample, SAMPLE_VALUE, list);
    text_clear(list);
    proto_number(list, LABEL_KEY, string_number(pprof, "ledger"));
    proto_number(list, LABEL_TEXT,
                 string_number(pprof, stack_line_at(pprof->weights, row->lines[0])->function));
    proto_message(sample, SAMPLE_LABEL, list);
    proto_message(&pprof->profile, PROFILE_SAMPLE, sample);
}

static void add_samples(struct pprof *pprof)
{
    for (size_t i = 0; i < pprof->weights->count; i++) {
        const struct stack_weight *row = &pprof->weights->rows[i];

        if (row->bytes[AT_PEAK] || row->bytes[AT_END] || row->counts[AT_PEAK] ||
            row->counts[AT_END] || row->bytes[GROWTH_PER_STEP])
            add_sample(pprof, row);
    }
}

static void add_lines(struct pprof *pprof)
{
    for (uint32_t i = 0; i < pprof->weights->lines.count; i++) {
        const struct stack_line *line = stack_line_at(pprof->weights, i);
        uint64_t name = string_number(pprof, line->function);

        text_clear(&pprof->innermost);
        proto_number(&pprof->innermost, LINE_FUNCTION, i + UINT64_C(1));
        proto_number(&pprof->innermost, LINE_LINE, line->line);
        text_clear(&pprof->inner);
        proto_number(&pprof->inner, LOCATION_ID, i + UINT64_C(1));
        proto_number(&pprof->inner, LOCATION_MAPPING, the_mapping);
        proto_message(&pprof->inner, LOCATION_LINE, &pprof->innermost);
        proto_message(&pprof->profile, PROFILE_LOCATION, &pprof->inner);
        text_clear(&pprof->inner);
        proto_number(&pprof->inner, FUNCTION_ID, i + UINT64_C(1));
        proto_number(&pprof->inner, FUNCTION_NAME, name);
        proto_number(&pprof->inner, FUNCTION_FILE, string_number(pprof, line->file));
        proto_message(&pprof->profile, PROFILE_FUNCTION, &pprof->inner);
    }
}

/* Names are known: there is nothing to look up in the program. */
static void add_mapping(struct pprof *pprof, const struct export_request *request)
{
    static const unsigned has[] = {MAPPING_HAS_FUNCTIONS, MAPPING_HAS_FILES, MAPPING_HAS_LINES};
    const struct model *model = request->question->model;
    const struct model_process *first =
        model_process_count(model) ? model_process_at(request->model, 0) : NULL;
    uint32_t name = !first ? 0 : first->executable ? first->executable : first->source;

    text_clear(&pprof->inner);
    proto_number(&pprof->inner, MAPPING_ID, the_mapping);
    proto_number(&pprof->inner, MAPPING_FILE, string_number(pprof, model_text_at(model, name)));
    for (size_t i = 0; i < sizeof(has) / sizeof(has[0]); i++)
        proto_number(&pprof->inner, has[i], 1);
    proto_message(&pprof->profile, PROFILE_MAPPING, &pprof->inner);
}

static void add_time(struct pprof *pprof, const struct export_request *request)
{
    const struct model_process *first;

    if (!model_process_count(request->question->model))
        return;
    first = model_process_at(request->model, 0);
    proto_number(&pprof->profile, PROFILE_TIME_NANOS, first->start_realtime_ns);
    if (first->end_ns > first->start_ns)
        proto_number(&pprof->profile, PROFILE_DURATION_NANOS, first->end_ns - first->start_ns);
}

static void add_strings(struct pprof *pprof)
{
    for (uint32_t i = 0; i < pprof->strings.count; i++)
        proto_text(&pprof->profile, PROFILE_STRING, *(const char **)table_at(&pprof->strings, i));
}

/* pprof reads profiles as gzip. */
static bool write_gzip(FILE *out, const struct text_builder *text)
{
    unsigned char bytes[out_bytes];
    z_stream stream = {.next_in = (unsigned char *)(uintptr_t)text_get(text),
                       .avail_in = (uInt)text->size_bytes};
    int code = Z_OK;

    if (deflateInit2(&stream, Z_DEFAULT_COMPRESSION, Z_DEFLATED, gzip_window_bits, memory_level,
                     Z_DEFAULT_STRATEGY) != Z_OK)
        return false;
    while (code == Z_OK) {
        stream.next_out = bytes;
        stream.avail_out = sizeof(bytes);
        code = deflate(&stream, Z_FINISH);
        fwrite(bytes, 1, sizeof(bytes) - stream.avail_out, out);
    }
    deflateEnd(&stream);
    return code == Z_STREAM_END;
}

static void build(struct pprof *pprof, const struct export_request *request)
{
    string_number(pprof, "");
    add_sample_types(pprof);
    add_samples(pprof);
    add_mapping(pprof, request);
    add_lines(pprof);
    add_time(pprof, request);
    add_strings(pprof);
}

enum mt_result export_pprof(const struct export_request *request, struct mt_error *error)
{
    struct stack_weights weights;
    struct pprof pprof = {.weights = &weights};
    enum mt_result result = stack_weights_init(&weights, request, error);

    arena_init(&pprof.arena);
    table_init(&pprof.strings, &pprof.arena, sizeof(const char *));
    text_init(&pprof.profile);
    text_init(&pprof.inner);
    text_init(&pprof.innermost);
    if (result == MT_OK) {
        build(&pprof, request);
        if (pprof.has_failed || pprof.profile.has_failed || pprof.inner.has_failed ||
            pprof.innermost.has_failed || !write_gzip(request->out, &pprof.profile))
            result = mt_error_set(error, MT_NO_MEMORY, "no memory for a profile");
    }
    text_release(&pprof.profile);
    text_release(&pprof.inner);
    text_release(&pprof.innermost);
    hash_index_release(&pprof.string_index);
    arena_release(&pprof.arena);
    stack_weights_release(&weights);
    return result;
}
