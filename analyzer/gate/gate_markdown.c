/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A verdict as Markdown: at most some sixty lines, what is wrong above the fold.
 */
#include <inttypes.h>

#include "gate_writers.h"

enum { FIRST_ROWS = 20, PASSED_ROWS = 25 };

/* Names come from strangers: nothing in them may end a cell or begin markup. */
static void add_cell(struct text_builder *text, const char *words)
{
    for (; *words; words++) {
        switch (*words) {
        case '|':
        case '\\':
        case '`':
        case '*':
        case '_':
        case '[':
        case ']':
            text_add_char(text, '\\', 1);
            text_add_char(text, *words, 1);
            break;
        case '<':
            text_add(text, "&lt;");
            break;
        case '>':
            text_add(text, "&gt;");
            break;
        case '&':
            text_add(text, "&amp;");
            break;
        case '\n':
        case '\r':
            text_add(text, " ");
            break;
        default:
            text_add_char(text, *words, 1);
        }
    }
}

static void add_row(const struct gate_case *row, struct text_builder *text)
{
    static const char *const signs[CASE_OUTCOME_COUNT] = {
        [CASE_PASSED] = "✅", [CASE_SUPPRESSED] = "🔕",      [CASE_REMARK] = "ℹ️",
        [CASE_UNSURE] = "❔", [CASE_INCOMPLETE] = "⚠️", [CASE_FAILED] = "❌",
    };

    text_add_format(text, "| %s ", signs[row->outcome]);
    text_add(text, case_outcome_name(row->outcome));
    text_add(text, " | ");
    add_cell(text, row->sentence);
    if (row->where.file[0] && row->where.line) {
        text_add(text, " (");
        add_cell(text, project_path(row->where.file));
        text_add_format(text, ":%" PRIu32 ")", row->where.line);
    }
    text_add(text, " |\n");
}

static size_t add_rows(const struct gate_verdict *verdict, enum case_outcome outcome, size_t most,
                       struct text_builder *text)
{
    size_t count = 0;

    for (size_t i = 0; i < gate_case_count(verdict); i++) {
        const struct gate_case *row = gate_case_at(verdict, i);

        if (row->outcome != outcome)
            continue;
        if (count++ < most)
            add_row(row, text);
    }
    if (count > most)
        text_add_format(text, "| | … and %zu more |\n", count - most);
    return count < most ? most - count : 0;
}

void gate_write_markdown(const struct gate_verdict *verdict, struct text_builder *text)
{
    static const enum case_outcome first[] = {CASE_FAILED, CASE_INCOMPLETE, CASE_UNSURE,
                                              CASE_REMARK, CASE_SUPPRESSED};
    size_t left = FIRST_ROWS, others = 0;

    text_add(text, "### ");
    gate_add_headline(verdict, text);
    text_add(text, "\n\n");
    for (size_t i = 0; i < sizeof(first) / sizeof(first[0]); i++)
        others += verdict->counts[first[i]];
    if (others) {
        text_add(text, "| | |\n|---|---|\n");
        for (size_t i = 0; i < sizeof(first) / sizeof(first[0]); i++)
            left = add_rows(verdict, first[i], left, text);
        text_add(text, "\n");
    }
    if (verdict->counts[CASE_PASSED]) {
        text_add_format(text, "<details><summary>%zu passed</summary>\n\n| | |\n|---|---|\n",
                        verdict->counts[CASE_PASSED]);
        add_rows(verdict, CASE_PASSED, PASSED_ROWS, text);
        text_add(text, "\n</details>\n\n");
    }
    text_add(text, "Policy ");
    add_cell(text, verdict->policy_path);
    if (verdict->baseline_path) {
        text_add(text, ", baseline ");
        add_cell(text, verdict->baseline_path);
    }
    text_add_format(text, "; %zu recording%s, %" PRIu32 " steps.\n", verdict->recording_count,
                    verdict->recording_count == 1 ? "" : "s", verdict->step_count);
}
