/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A verdict as Markdown: at most some sixty lines, what is wrong above the fold.
 */
#include <inttypes.h>

#include "gate_writers.h"
#include "sentence.h"

enum { FIRST_ROWS = 15, FIRST_SENTENCES = 5, PASSED_ROWS = 15 };

static const char *const signs[CASE_OUTCOME_COUNT] = {
    [CASE_PASSED] = "✅", [CASE_SUPPRESSED] = "🔕",      [CASE_REMARK] = "ℹ️",
    [CASE_UNSURE] = "❔", [CASE_INCOMPLETE] = "⚠️", [CASE_FAILED] = "❌",
};

static void add_amount(struct outlet *out, const struct gate_case *row, bool is_known,
                       uint64_t amount)
{
    struct arena arena;

    outlet_add(out, " | ");
    if (!is_known)
        return;
    arena_init(&arena);
    outlet_words(out, gate_amount(&arena, row, amount));
    arena_release(&arena);
}

static void add_place(struct outlet *out, const struct gate_case *row)
{
    outlet_add(out, " | ");
    if (!place_has_line(&row->where))
        return;
    outlet_words(out, project_path(row->where.file));
    outlet_format(out, ":%" PRIu32, row->where.line);
}

/* check | now | limit | was | where */
static void add_row(const struct gate_case *row, struct outlet *out)
{
    outlet_format(out, "| %s ", signs[row->outcome]);
    outlet_words(out, case_name(row));
    add_amount(out, row, row->unit != NULL, row->value);
    add_amount(out, row, row->has_limit, row->limit);
    add_amount(out, row, row->has_base, row->base);
    add_place(out, row);
    outlet_add(out, " |\n");
}

static void add_table(struct outlet *out)
{
    outlet_add(out, "| check | now | limit | was | where |\n|---|--:|--:|--:|---|\n");
}

/* The sentences of what did not pass: the cause stands in them. */
static void add_sentences(const struct gate_verdict *verdict, enum case_outcome outcome,
                          size_t most, struct outlet *out)
{
    for (size_t i = 0; i < gate_case_count(verdict); i++) {
        const struct gate_case *row = gate_case_at(verdict, i);

        if (row->outcome != outcome || !most)
            continue;
        outlet_format(out, "- %s ", signs[outcome]);
        outlet_words(out, row->sentence);
        outlet_add(out, "\n");
        most--;
    }
}

static void add_command(struct outlet *out, const char *command)
{
    outlet_add(out, "\n\n```sh\n");
    outlet_words_for(out, FOR_TERMINAL, command);
}

/* What to do: the fix first. */
static void add_next(const struct gate_verdict *verdict, struct outlet *out)
{
    struct arena arena;
    const char *growth, *leaks;

    arena_init(&arena);
    growth = gate_accept_growth(verdict, &arena);
    leaks = gate_accept_leaks(verdict, &arena);
    if (growth) {
        outlet_sentence(out, "To agree to what grew, write the baseline again and commit it:");
        add_command(out, growth);
        outlet_add(out, " && git add ");
        outlet_words_for(out, FOR_TERMINAL, project_path(verdict->baseline_path));
        outlet_add(out, "\n```\n\n");
    }
    if (leaks) {
        outlet_sentence(out, "A leak is fixed at its line. To let a known one pass for a time, "
                             "add what this writes to the file of suppressions:");
        add_command(out, leaks);
        outlet_add(out, "\n```\n\n");
    }
    arena_release(&arena);
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
        outlet_format(out, "| … and %zu more | | | | |\n", count - most);
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
        add_table(out);
        for (size_t i = 0; i < sizeof(first) / sizeof(first[0]); i++)
            left = add_rows(verdict, first[i], left, out);
        outlet_add(out, "\n");
        for (size_t i = 0; i < sizeof(first) / sizeof(first[0]); i++)
            add_sentences(verdict, first[i], FIRST_SENTENCES, out);
        outlet_add(out, "\n");
        add_next(verdict, out);
    }
    if (verdict->counts[CASE_PASSED]) {
        outlet_format(out, "<details><summary>%zu passed</summary>\n\n",
                      verdict->counts[CASE_PASSED]);
        add_table(out);
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
