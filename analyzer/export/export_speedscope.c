/* SPDX-License-Identifier: Apache-2.0 */
/*
 * speedscope.app: one profile for each measure. Its file format is documented as a JSON schema,
 * www.speedscope.app/file-format-schema.json.
 */
#include <inttypes.h>

#include "stack_weights.h"

static void add_frames(struct outlet *out, const struct stack_weights *weights)
{
    for (uint32_t i = 0; i < weights->lines.count; i++) {
        const struct stack_line *line = stack_line_at(weights, i);

        outlet_add_either(out, i, ",\n{\"name\": ", "\n{\"name\": ");
        outlet_words(out, line->function);
        if (*line->file) {
            outlet_add(out, ", \"file\": ");
            outlet_words(out, line->file);
        }
        if (line->line)
            outlet_format(out, ", \"line\": %" PRIu32, line->line);
        outlet_add(out, "}");
    }
}

static void add_samples(struct outlet *out, const struct stack_weights *weights,
                        enum stack_measure measure)
{
    bool is_first = true;

    for (size_t i = 0; i < weights->count; i++) {
        const struct stack_weight *row = &weights->rows[i];

        if (!row->bytes[measure])
            continue;
        outlet_add_either(out, is_first, "[", ",\n[");
        is_first = false;
        for (size_t j = 0; j < row->line_count; j++) {
            outlet_add_either(out, j, ", ", "");
            outlet_number(out, row->lines[j]);
        }
        outlet_add(out, "]");
    }
}

/* The sum of all, which is the width of the picture. */
static uint64_t add_weights(struct outlet *out, const struct stack_weights *weights,
                            enum stack_measure measure)
{
    uint64_t sum = 0;

    for (size_t i = 0; i < weights->count; i++) {
        uint64_t bytes = weights->rows[i].bytes[measure];

        if (!bytes)
            continue;
        outlet_add_either(out, sum, ", ", "");
        outlet_number(out, bytes);
        sum += bytes;
    }
    return sum;
}

static void add_profile(struct outlet *out, const struct stack_weights *weights,
                        enum stack_measure measure)
{
    uint64_t sum;

    outlet_add_either(out, measure, ",", "");
    outlet_format(out, "\n{\"type\": \"sampled\", \"name\": %s, \"unit\": \"bytes\",",
                  stack_measure_names[measure]);
    outlet_add(out, "\n\"samples\": [");
    add_samples(out, weights, measure);
    outlet_add(out, "],\n\"weights\": [");
    sum = add_weights(out, weights, measure);
    outlet_format(out, "],\n\"startValue\": 0, \"endValue\": %" PRIu64 "}", sum);
}

enum mt_result export_speedscope(const struct export_request *request, struct mt_error *error)
{
    struct outlet *out = request->text;
    struct stack_weights weights;
    enum mt_result result = stack_weights_init(&weights, request, error);

    if (result == MT_OK) {
        outlet_add(out, "{\"$schema\": \"https://www.speedscope.app/file-format-schema.json\",\n"
                        "\"exporter\": \"leaktide\", \"activeProfileIndex\": 0,\n"
                        "\"shared\": {\"frames\": [");
        add_frames(out, &weights);
        outlet_add(out, "]},\n\"profiles\": [");
        for (unsigned measure = 0; measure < STACK_MEASURES; measure++)
            add_profile(out, &weights, measure);
        outlet_add(out, "]}\n");
    }
    stack_weights_release(&weights);
    return result;
}
