/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A verdict for a terminal: the headline, what is wrong, what is right.
 */
#include <inttypes.h>

#include "gate_writers.h"
#include "sentence.h"

enum { outcome_width = 14 };

/* Where to go: the line of the program, and the rule. */
static void add_pointers(const struct gate_verdict *verdict, const struct gate_case *row,
                         struct outlet *out)
{
    outlet_fill_begin(out);
    outlet_blanks(out, outcome_width);
    outlet_sentence(out, "key %s", row->key);
    if (row->policy_line)
        outlet_sentence(out, ", rule %s:%u", verdict->policy_path, row->policy_line);
    if (place_has_line(&row->where)) {
        outlet_sentence(out, ", code ");
        outlet_place(out, project_path(row->where.file), row->where.line, 0);
    }
    outlet_add(out, "\n");
    outlet_fill_end(out, outcome_width);
}

static void put_outcome(enum case_outcome outcome, struct outlet *out)
{
    const char *name = translated(case_outcome_name(outcome));
    size_t width = text_width(name);

    outlet_words(out, name);
    outlet_blanks(out, width < outcome_width ? outcome_width - width : 1);
}

static void add_cases(const struct gate_verdict *verdict, enum case_outcome outcome,
                      bool has_pointers, struct outlet *out)
{
    static const enum style styles[CASE_OUTCOME_COUNT] = {
        [CASE_PASSED] = STYLE_GOOD,       [CASE_SUPPRESSED] = STYLE_FAINT,
        [CASE_REMARK] = STYLE_STRONG,     [CASE_UNSURE] = STYLE_UNSURE,
        [CASE_INCOMPLETE] = STYLE_UNSURE, [CASE_FAILED] = STYLE_BAD,
    };

    for (size_t i = 0; i < gate_case_count(verdict); i++) {
        const struct gate_case *row = gate_case_at(verdict, i);

        if (row->outcome != outcome)
            continue;
        outlet_fill_begin(out);
        outlet_style(out, styles[outcome]);
        put_outcome(outcome, out);
        outlet_style(out, STYLE_PLAIN);
        outlet_format(out, "%s\n", row->sentence);
        outlet_fill_end(out, outcome_width);
        if (has_pointers)
            add_pointers(verdict, row, out);
    }
}

/* What to type to agree to it. */
static void add_next(const struct gate_verdict *verdict, struct outlet *out)
{
    struct arena arena;
    const char *growth, *leaks;

    arena_init(&arena);
    growth = gate_accept_growth(verdict, &arena);
    leaks = gate_accept_leaks(verdict, &arena);
    outlet_add_either(out, growth || leaks, "\n", "");
    if (growth)
        outlet_sentence(out, "To agree to what grew: %s\n", growth);
    if (leaks)
        outlet_sentence(out, "To let these leaks pass for a time: %s\n", leaks);
    arena_release(&arena);
}

void gate_write_text(const struct gate_verdict *verdict, struct outlet *out)
{
    outlet_fill_begin(out);
    gate_put_headline(verdict, out);
    outlet_add(out, "\n\n");
    outlet_fill_end(out, 2);
    add_cases(verdict, CASE_FAILED, true, out);
    add_cases(verdict, CASE_INCOMPLETE, false, out);
    add_cases(verdict, CASE_UNSURE, true, out);
    add_cases(verdict, CASE_REMARK, false, out);
    add_cases(verdict, CASE_SUPPRESSED, false, out);
    add_cases(verdict, CASE_PASSED, false, out);
    add_next(verdict, out);
}
