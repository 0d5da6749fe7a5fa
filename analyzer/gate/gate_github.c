/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A verdict as workflow commands: GitHub shows them at the line of the change.
 */
#include <inttypes.h>
#include <string.h>

#include "gate_writers.h"

/* In a property of a command : and , end it too. */
static void add_escaped(struct text_builder *text, const char *words, const char *ends)
{
    for (; *words; words++)
        if (strchr(ends, *words))
            text_add_format(text, "%%%02X", (unsigned char)*words);
        else
            text_add_char(text, *words, 1);
}

static void add_command(const struct gate_verdict *verdict, struct text_builder *text,
                        const char *command, const struct gate_case *row)
{
    const struct gate_place place = gate_place_of(verdict, row);

    text_add_format(text, "::%s file=", command);
    add_escaped(text, place.file, "%\r\n:,");
    text_add_format(text, ",line=%" PRIu32 ",title=memtide ", place.line);
    add_escaped(text, row->rule, "%\r\n:,");
    text_add(text, "::");
    add_escaped(text, row->sentence, "%\r\n");
    text_add(text, "\n");
}

void gate_write_github(const struct gate_verdict *verdict, struct text_builder *text)
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
            add_command(verdict, text, commands[row->outcome], row);
    }
}
