/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A verdict for a terminal: the headline, what is wrong, what is right.
 */
#include <inttypes.h>

#include "gate_writers.h"

enum { outcome_width = 14 };

/* Where to go: the line of the program, and the rule. */
static void add_pointers(const struct gate_verdict *verdict, const struct gate_case *row,
                         struct text_builder *text)
{
    text_add_char(text, ' ', outcome_width);
    text_add_format(text, "key %s", row->key);
    if (row->policy_line)
        text_add_format(text, ", rule %s:%u", verdict->policy_path, row->policy_line);
    if (row->where.file[0] && row->where.line)
        text_add_format(text, ", code %s:%" PRIu32, project_path(row->where.file), row->where.line);
    text_add(text, "\n");
}

static void add_cases(const struct gate_verdict *verdict, enum case_outcome outcome,
                      bool has_pointers, struct text_builder *text)
{
    for (size_t i = 0; i < gate_case_count(verdict); i++) {
        const struct gate_case *row = gate_case_at(verdict, i);

        if (row->outcome != outcome)
            continue;
        text_add_format(text, "%-*s%s\n", (int)outcome_width, case_outcome_name(outcome),
                        row->sentence);
        if (has_pointers)
            add_pointers(verdict, row, text);
    }
}

void gate_write_text(const struct gate_verdict *verdict, struct text_builder *text)
{
    gate_add_headline(verdict, text);
    text_add(text, "\n\n");
    add_cases(verdict, CASE_FAILED, true, text);
    add_cases(verdict, CASE_INCOMPLETE, false, text);
    add_cases(verdict, CASE_UNSURE, true, text);
    add_cases(verdict, CASE_REMARK, false, text);
    add_cases(verdict, CASE_SUPPRESSED, false, text);
    add_cases(verdict, CASE_PASSED, false, text);
}
