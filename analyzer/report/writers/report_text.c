/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A report for a terminal: verdict first, then what was looked at, findings, tables, and what is
 * missing. Numbers to the right, words to the left, two blanks between columns.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "cxx_name.h"
#include "report_writers.h"
#include "text_builder.h"

enum { stacks_most = 3, stack_indent = 6, function_most_bytes = 120 };
enum { gap = 2, sparkline_most = 48 };

/* A bar for each number; where there are too many, each bar is the highest of its share. */
static void add_sparkline(struct outlet *out, const struct report_series *series)
{
    static const char *const bars[] = {"▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
    size_t count, shown;
    enum value_kind kind;
    const uint64_t *numbers = report_series_numbers(series, &count, &kind);
    uint64_t highest = 0;

    for (size_t i = 0; i < count; i++)
        highest = numbers[i] > highest ? numbers[i] : highest;
    shown = count < sparkline_most ? count : sparkline_most;
    for (size_t bar = 0; bar < shown; bar++) {
        uint64_t high = 0;

        for (size_t i = bar * count / shown; i < (bar + 1) * count / shown; i++)
            high = numbers[i] > high ? numbers[i] : high;
        outlet_words(out, bars[highest ? (unsigned __int128)high * 7 / highest : 0]);
    }
}

static void add_change(struct outlet *out, const struct value *value)
{
    uint64_t magnitude = value->change < 0 ? 0 - (uint64_t)value->change : (uint64_t)value->change;

    outlet_words(out, value->change < 0 ? "-" : value->change > 0 ? "+" : "");
    if (value->kind == VALUE_BYTES_CHANGE)
        outlet_amount(out, text_add_size, magnitude);
    else
        outlet_amount(out, text_add_count, magnitude);
}

static void add_value(struct outlet *out, const struct value *value)
{
    switch (value->kind) {
    case VALUE_NONE:
        outlet_add(out, "-");
        break;
    case VALUE_TEXT:
    case VALUE_WORD:
    case VALUE_UNKNOWN:
        outlet_words(out, value->text);
        break;
    case VALUE_BYTES:
        outlet_amount(out, text_add_size, value->number);
        break;
    case VALUE_COUNT:
        outlet_amount(out, text_add_count, value->number);
        break;
    case VALUE_BYTES_CHANGE:
    case VALUE_COUNT_CHANGE:
        add_change(out, value);
        break;
    case VALUE_TIME_NS:
        outlet_amount(out, text_add_time, value->number);
        break;
    case VALUE_DURATION_NS:
        outlet_amount(out, text_add_duration, value->number);
        break;
    case VALUE_STEP:
        outlet_format(out, "%" PRIu64, value->number);
        break;
    case VALUE_PERCENT:
        outlet_format(out, "%" PRIu64 " %%", value->number);
        break;
    case VALUE_SERIES:
        add_sparkline(out, value->series);
        break;
    case VALUE_FLAG:
        outlet_add_either(out, value->number, "yes", "no");
        break;
    case VALUE_STACK:
        break; /* has lines of its own: add_stack() */
    }
}

/* Names of C++ fill pages; the whole is in the JSON. */
static void add_function(struct outlet *out, const char *function)
{
    struct text_builder name;

    text_init(&name);
    add_short_name(&name, function, function_most_bytes);
    outlet_words(out, text_get(&name));
    text_release(&name);
}

/* "forward  net.py:12", "forward  (net.so)" */
static void add_frame(struct outlet *out, const struct report_frame *frame)
{
    add_function(out, frame->function);
    if (*frame->file) {
        outlet_add(out, "  ");
        outlet_words(out, frame->file);
        if (frame->line)
            outlet_format(out, ":%" PRIu32, frame->line);
    } else if (*frame->module &&
               strncmp(frame->function, frame->module, strlen(frame->module)) != 0) {
        outlet_add(out, "  (");
        outlet_words(out, frame->module);
        outlet_add(out, ")");
    }
    outlet_add_either(out, frame->is_inlined, "  inlined\n", "\n");
}

/* "... 12 frames of the allocator, the C and C++ libraries": each of them once. */
static void add_folded(struct outlet *out, const struct report_frame *frames, size_t count)
{
    outlet_format(out, "... %zu frame%s of ", count, count == 1 ? "" : "s");
    for (size_t i = 0; i < count; i++) {
        bool is_new = true;

        for (size_t before = 0; before < i && is_new; before++)
            is_new = strcmp(frames[before].folded_as, frames[i].folded_as) != 0;
        if (is_new)
            outlet_format(out, "%s%s", i ? ", " : "", frames[i].folded_as);
    }
    outlet_add(out, "\n");
}

/* One frame in a line, innermost first; stretches of what is folded are one line. */
static void add_stack(struct outlet *out, const struct report_stack *stack, size_t indent)
{
    size_t count, next;
    const struct report_frame *frames = report_stack_frames(stack, &count);

    for (size_t i = 0; i < count; i = next) {
        for (next = i; next < count && frames[next].folded_as;)
            next++;
        outlet_blanks(out, indent);
        if (next > i)
            add_folded(out, frames + i, next - i);
        else
            add_frame(out, &frames[next++]);
    }
}

/* Facts have room for the exact number. */
static void add_fact_value(struct outlet *out, const struct value *value)
{
    if (value->kind == VALUE_BYTES)
        outlet_amount(out, text_add_size_exact, value->number);
    else
        add_value(out, value);
}

static bool is_word(const struct value *value)
{
    return value_is_text(value) || value->kind == VALUE_SERIES || value->kind == VALUE_FLAG;
}

/* The first value of a column that is known; NULL when none is. */
static const struct value *first_known(const struct report *report, size_t table, size_t column)
{
    struct report_table_view view = report_table_at(report, table);

    for (size_t i = 0; i < view.row_count; i++) {
        const struct value *value = &report_row_at(report, table, i)[column];

        if (value->kind != VALUE_NONE && value->kind != VALUE_STACK)
            return value;
    }
    return NULL;
}

static size_t column_width(const struct report *report, size_t table, size_t column,
                           struct outlet *scratch)
{
    struct report_table_view view = report_table_at(report, table);
    size_t width = text_width(view.columns[column].title);

    for (size_t i = 0; i < view.row_count; i++) {
        size_t cell;

        outlet_clear(scratch);
        add_value(scratch, &report_row_at(report, table, i)[column]);
        cell = outlet_width(scratch);
        width = cell > width ? cell : width;
    }
    return width;
}

struct layout {
    size_t *widths; /* 0: left out, as nothing is known */
    bool *lefts;
    size_t count;
};

static void add_cell(struct outlet *out, const struct layout *layout, size_t column,
                     const struct outlet *cell)
{
    size_t blanks = layout->widths[column] - outlet_width(cell);

    if (!layout->widths[column])
        return;
    if (!layout->lefts[column])
        outlet_blanks(out, blanks);
    outlet_append(out, cell);
    if (layout->lefts[column] && column + 1 < layout->count)
        outlet_blanks(out, blanks);
    if (column + 1 < layout->count)
        outlet_blanks(out, gap);
}

static void add_titles(struct outlet *out, const struct report_table_view *view,
                       const struct layout *layout, struct outlet *cell)
{
    outlet_add(out, "  ");
    for (size_t c = 0; c < view->column_count; c++) {
        outlet_clear(cell);
        outlet_words(cell, view->columns[c].title ? view->columns[c].title : "");
        add_cell(out, layout, c, cell);
    }
    outlet_end_line(out);
}

static void add_rows(struct outlet *out, const struct report *report, size_t table,
                     const struct layout *layout, struct outlet *cell)
{
    struct report_table_view view = report_table_at(report, table);

    for (size_t r = 0; r < view.row_count; r++) {
        outlet_add(out, "  ");
        for (size_t c = 0; c < view.column_count; c++) {
            outlet_clear(cell);
            add_value(cell, &report_row_at(report, table, r)[c]);
            add_cell(out, layout, c, cell);
        }
        outlet_end_line(out);
    }
}

static bool is_column(const struct report_table_view *view, size_t column, const char *key)
{
    return strcmp(view->columns[column].key, key) == 0;
}

/* Where the first rows come from: "From line 1, train (net.py:12)" and its frames. */
static void add_stacks(struct outlet *out, const struct report *report, size_t table)
{
    struct report_table_view view = report_table_at(report, table);

    for (size_t r = 0; r < view.row_count && r < stacks_most; r++) {
        const struct value *row = report_row_at(report, table, r);

        for (size_t c = 0; c < view.column_count; c++) {
            if (row[c].kind != VALUE_STACK)
                continue;
            outlet_sentence(out, "  Stack of line %zu", r + 1);
            for (size_t site = 0; site < view.column_count; site++)
                if (is_column(&view, site, "site") && value_is_text(&row[site])) {
                    outlet_add(out, ": ");
                    outlet_words(out, row[site].text);
                }
            outlet_add(out, "\n");
            add_stack(out, row[c].stack, stack_indent);
        }
    }
}

static void add_filled_table(struct outlet *out, const struct report *report, size_t table,
                             struct outlet *cell)
{
    struct report_table_view view = report_table_at(report, table);
    size_t count = view.column_count;
    struct layout layout = {.widths = calloc(count, sizeof(size_t)),
                            .lefts = calloc(count, sizeof(bool)),
                            .count = count};

    if (layout.widths && layout.lefts) {
        for (size_t c = 0; c < count; c++) {
            const struct value *known =
                view.columns[c].title ? first_known(report, table, c) : NULL;

            if (!known)
                continue;
            layout.widths[c] = column_width(report, table, c, cell);
            layout.lefts[c] = is_word(known);
        }
        add_titles(out, &view, &layout, cell);
        add_rows(out, report, table, &layout, cell);
        add_stacks(out, report, table);
    } else {
        outlet_fail(out);
    }
    free(layout.widths);
    free(layout.lefts);
}

static void add_table(struct outlet *out, const struct report *report, size_t table,
                      struct outlet *cell)
{
    struct report_table_view view = report_table_at(report, table);

    if (!view.row_count && !view.when_empty)
        return;
    outlet_format(out, "\n%s\n", view.title);
    if (view.row_count)
        add_filled_table(out, report, table, cell);
    else
        outlet_format(out, "  %s\n", view.when_empty);
    for (size_t i = 0; i < view.remark_count; i++)
        outlet_format(out, "  %s\n", report_remark_at(report, table, i));
}

static void add_facts(struct outlet *out, const struct report *report)
{
    size_t width = 0;

    for (size_t i = 0; i < report_fact_count(report); i++) {
        const struct field *fact = report_fact_at(report, i);

        if (fact->title && text_width(fact->title) > width)
            width = text_width(fact->title);
    }
    for (size_t i = 0; i < report_fact_count(report); i++) {
        const struct field *fact = report_fact_at(report, i);

        if (!fact->title)
            continue;
        outlet_add_either(out, i, "", "\n");
        outlet_words(out, fact->title);
        outlet_blanks(out, width - text_width(fact->title) + gap);
        add_fact_value(out, &fact->value);
        outlet_end_line(out);
    }
}

static void add_findings(struct outlet *out, const struct report *report)
{
    if (!report_finding_count(report))
        return;
    outlet_add(out, "\nFindings\n");
    for (size_t i = 0; i < report_finding_count(report); i++) {
        const struct finding *finding = report_finding_at(report, i);

        outlet_format(out, "  %zu. %s\n", i + 1, finding->sentence);
        for (size_t f = 0; f < finding->fact_count && i < stacks_most; f++)
            if (finding->facts[f].value.kind == VALUE_STACK)
                add_stack(out, finding->facts[f].value.stack, stack_indent);
    }
}

/* Counts in a column of their own: a sentence then needs no singular and no plural. */
static void add_notes(struct outlet *out, const struct report *report, struct outlet *counted)
{
    size_t width = 0;

    if (!report_note_count(report))
        return;
    outlet_sentence(out, "\nLost, skipped or guessed\n");
    for (int pass = 0; pass < 2; pass++) { /* measure, then write */
        for (size_t i = 0; i < report_note_count(report); i++) {
            uint64_t count;
            const char *sentence = report_note_at(report, i, &count);

            outlet_clear(counted);
            if (count)
                outlet_amount(counted, text_add_count, count);
            if (pass == 0) {
                width = outlet_width(counted) > width ? outlet_width(counted) : width;
                continue;
            }
            outlet_blanks(out, 2 + width - outlet_width(counted));
            outlet_append(out, counted);
            outlet_format(out, "%s%s\n", width ? "  " : "", sentence);
        }
    }
}

void report_write_text(const struct report *report, struct outlet *out)
{
    struct outlet *cell = outlet_create(FOR_TERMINAL, NULL);

    for (size_t i = 0; i < report_verdict_count(report); i++)
        outlet_format(out, "%s\n", report_verdict_at(report, i));
    add_facts(out, report);
    add_findings(out, report);
    for (size_t i = 0; i < report_table_count(report); i++)
        add_table(out, report, i, cell);
    add_notes(out, report, cell);
    if (!outlet_destroy(cell))
        outlet_fail(out);
}
