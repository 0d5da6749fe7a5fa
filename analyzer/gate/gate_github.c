/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A verdict as workflow commands: GitHub shows them at the line of the change.
 */
#include <inttypes.h>

#include "gate_writers.h"

static void add_command(const struct gate_verdict *verdict, struct outlet *out, const char *command,
                        const struct gate_case *row)
{
    const struct gate_place place = gate_place_of(verdict, row);

    outlet_format(out, "::%s file=", command);
    outlet_words_for(out, FOR_GITHUB_PROPERTY, place.file);
    outlet_format(out, ",line=%" PRIu32 ",title=leaktide ", place.line);
    outlet_words_for(out, FOR_GITHUB_PROPERTY, case_name(row));
    outlet_format(out, "::%s\n", row->sentence);
}

void gate_write_github(const struct gate_verdict *verdict, struct outlet *out)
{
    static const char *const commands[CASE_OUTCOME_COUNT] = {
        [CASE_REMARK] = "notice",
        [CASE_UNSURE] = "error",
        [CASE_INCOMPLETE] = "error",
        [CASE_FAILED] = "error",
    };

    for (size_t i = 0; i < gate_case_count(verdict); i++) {
        const struct gate_case *row = gate_case_at(verdict, i);

        if (commands[row->outcome])
            add_command(verdict, out, commands[row->outcome], row);
    }
}
