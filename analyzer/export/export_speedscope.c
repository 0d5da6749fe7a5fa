/* SPDX-License-Identifier: Apache-2.0 */
/*
 * speedscope.app: one profile for each measure. Its file format is documented as a JSON schema,
 * www.speedscope.app/file-format-schema.json.
 */
#include <inttypes.h>

#include "json_text.h"
#include "stack_weights.h"

static void add_frames(struct text_builder *text, const struct stack_weights *weights)
{
    for (uint32_t i = 0; i < weights->lines.count; i++) {
        const struct stack_line *line = stack_line_at(weights, i);

        text_add(text, i ? ",\n{\"name\": " : "\n{\"name\": ");
        text_add_json(text, line->function);
        if (*line->file) {
            text_add(text, ", \"file\": ");
            text_add_json(text, line->file);
        }
        if (line->line)
            text_add_format(text, ", \"line\": %" PRIu32, line->line);
        text_add(text, "}");
    }
}

static void add_samples(struct text_builder *text, const struct stack_weights *weights,
                        enum stack_measure measure)
{
    bool is_first = true;

    for (size_t i = 0; i < weights->count; i++) {
        const struct stack_weight *row = &weights->rows[i];

        if (!row->bytes[measure])
            continue;
        text_add(text, is_first ? "[" : ",\n[");
        is_first = false;
        for (size_t j = 0; j < row->line_count; j++)
            text_add_format(text, "%s%" PRIu32, j ? ", " : "", row->lines[j]);
        text_add(text, "]");
    }
}

/* The sum of all, which is the width of the picture. */
static uint64_t add_weights(struct text_builder *text, const struct stack_weights *weights,
                            enum stack_measure measure)
{
    uint64_t sum = 0;

    for (size_t i = 0; i < weights->count; i++) {
        uint64_t bytes = weights->rows[i].bytes[measure];

        if (bytes)
            text_add_format(text, "%s%" PRIu64, sum ? ", " : "", bytes);
        sum += bytes;
    }
    return sum;
}

static void add_profile(struct text_builder *text, const struct stack_weights *weights,
                        enum stack_measure measure)
{
    uint64_t sum;

    text_add_format(text, "%s\n{\"type\": \"sampled\", \"name\": \"%s\", \"unit\": \"bytes\",",
                    measure ? "," : "", stack_measure_names[measure]);
    text_add(text, "\n\"samples\": [");
    add_samples(text, weights, measure);
    text_add(text, "],\n\"weights\": [");
    sum = add_weights(text, weights, measure);
    text_add_format(text, "],\n\"startValue\": 0, \"endValue\": %" PRIu64 "}", sum);
}

enum mt_result export_speedscope(const struct export_request *request, struct mt_error *error)
{
    struct stack_weights weights;
    struct text_builder text;
    enum mt_result result = stack_weights_init(&weights, request, error);

    text_init(&text);
    if (result == MT_OK) {
        text_add(&text, "{\"$schema\": \"https://www.speedscope.app/file-format-schema.json\",\n"
                        "\"exporter\": \"memtide\", \"activeProfileIndex\": 0,\n"
                        "\"shared\": {\"frames\": [");
        add_frames(&text, &weights);
        text_add(&text, "]},\n\"profiles\": [");
        for (unsigned measure = 0; measure < STACK_MEASURES; measure++)
            add_profile(&text, &weights, measure);
        text_add(&text, "]}\n");
        fwrite(text_get(&text), 1, text.size_bytes, request->out);
        if (text.has_failed)
            result = mt_error_set(error, MT_NO_MEMORY, "no memory for stacks");
    }
    text_release(&text);
    stack_weights_release(&weights);
    return result;
}
