/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Folded stacks, for flame graphs: a line for each stack, with what it held at the peak.
 *
 *   pta device 0;main;train;layer 4096
 */
#include <inttypes.h>

#include "stack_weights.h"

static void put_row(struct outlet *out, const struct stack_weights *weights,
                    const struct stack_weight *row)
{
    for (size_t i = 0; i < row->line_count; i++) {
        outlet_add_either(out, i, ";", "");
        outlet_words(out, stack_line_at(weights, row->lines[i])->function);
    }
    outlet_format(out, " %" PRIu64 "\n", row->bytes[AT_PEAK]);
}

enum mt_result export_folded(const struct export_request *request, struct mt_error *error)
{
    struct stack_weights weights;
    enum mt_result result = stack_weights_init(&weights, request, error);

    for (size_t i = 0; result == MT_OK && i < weights.count; i++)
        if (weights.rows[i].bytes[AT_PEAK])
            put_row(request->text, &weights, &weights.rows[i]);
    stack_weights_release(&weights);
    return result;
}
