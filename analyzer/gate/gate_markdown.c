/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A verdict as Markdown: at most some sixty lines, what is wrong above the fold.
 */
#include <inttypes.h>

#include "gate_writers.h"
#include "sentence.h"

enum { FIRST_ROWS = 20, PASSED_ROWS = 25 };

static void add_row(const struct gate_case *row, struct outlet *out)
{
    static const char *const signs[CASE_OUTCOME_COUNT] = {
        [CASE_PASSED] = "✅", [CASE_SUPPRESSED] = "🔕",      [CASE_REMARK] = "ℹ️",
        [CASE_UNSURE] = "❔", [CASE_INCOMPLETE] = "⚠️", [CASE_FAILED] = "❌",
    };

    outlet_format(out, "| %s ", signs[row->outcome]);
    outlet_words(out, translated(case_outcome_name(row->outcome)));
    outlet_add(out, " | ");
    outlet_words(out, row->sentence);
    if (place_has_line(&row->where)) {
        outlet_add(out, " (");
        outlet_words(out, project_path(row->where.file));
        outlet_format(out, ":%" PRIu32 ")", row->where.line);
    }
    outlet_add(out, " |\n");
}

static size_t add_rows(const struct gate_verdict *verdict, enum case_outcome outcome, size_t most,
                       struct outlet *out)
{
    size_t count = 0;

    for (size_t i = 0; i < gate_case_count(verdict); i++) {
        const struct gate_case *row = gate_case_at(verdict, i);

        if (row->outcome != outcome)
            continue;
        if (count++ < most)
            add_row(row, out);
    }
    if (count > most)
        outlet_format(out, "| | … and %zu more |\n", count - most);
    return count < most ? most - count : 0;
}

void gate_write_markdown(const struct gate_verdict *verdict, struct outlet *out)
{
    static const enum case_outcome first[] = {CASE_FAILED, CASE_INCOMPLETE, CASE_UNSURE,
                                              CASE_REMARK, CASE_SUPPRESSED};
    size_t left = FIRST_ROWS, others = 0;

    outlet_add(out, "### ");
    gate_put_headline(verdict, out);
    outlet_add(out, "\n\n");
    for (size_t i = 0; i < sizeof(first) / sizeof(first[0]); i++)
        others += verdict->counts[first[i]];
    if (others) {
        outlet_add(out, "| | |\n|---|---|\n");
        for (size_t i = 0; i < sizeof(first) / sizeof(first[0]); i++)
            left = add_rows(verdict, first[i], left, out);
        outlet_add(out, "\n");
    }
    if (verdict->counts[CASE_PASSED]) {
        outlet_format(out, "<details><summary>%zu passed</summary>\n\n| | |\n|---|---|\n",
                      verdict->counts[CASE_PASSED]);
        add_rows(verdict, CASE_PASSED, PASSED_ROWS, out);
        outlet_add(out, "\n</details>\n\n");
    }
    outlet_add(out, "Policy ");
    outlet_words(out, verdict->policy_path);
    if (verdict->baseline_path) {
        outlet_add(out, ", baseline ");
        outlet_words(out, verdict->baseline_path);
    }
    outlet_format(out, "; %zu recording%s, %" PRIu32 " steps.\n", verdict->recording_count,
                  verdict->recording_count == 1 ? "" : "s", verdict->step_count);
}
