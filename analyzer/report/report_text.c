/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A report for a terminal: verdict first, then what was looked at, findings, tables, and what is
 * missing. Numbers to the right, words to the left, two blanks between columns.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "cxx_name.h"
#include "report.h"
#include "text_builder.h"

enum { stacks_most = 3, stack_indent = 6, function_most_bytes = 120 };
enum { gap = 2, sparkline_most = 48 };

/* A bar for each number; where there are too many, each bar is the highest of its share. */
static void add_sparkline(struct text_builder *text, const struct report_series *series)
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
        text_add(text, bars[highest ? (unsigned __int128)high * 7 / highest : 0]);
    }
}

static void add_change(struct text_builder *text, const struct value *value)
{
    uint64_t magnitude = value->change < 0 ? 0 - (uint64_t)value->change : (uint64_t)value->change;

    text_add(text, value->change < 0 ? "-" : value->change > 0 ? "+" : "");
    if (value->kind == VALUE_BYTES_CHANGE)
        text_add_size(text, magnitude);
    else
        text_add_count(text, magnitude);
}

/* Names come from the program: what would move the cursor is shown as a question mark. */
static void add_words(struct text_builder *text, const char *words)
{
    for (; *words; words++)
        text_add_char(text, (unsigned char)*words < 0x20 || *words == 0x7f ? '?' : *words, 1);
}

static void add_value(struct text_builder *text, const struct value *value)
{
    switch (value->kind) {
    case VALUE_NONE:
        text_add(text, "-");
        break;
    case VALUE_TEXT:
        add_words(text, value->text);
        break;
    case VALUE_BYTES:
        text_add_size(text, value->number);
        break;
    case VALUE_COUNT:
        text_add_count(text, value->number);
        break;
    case VALUE_BYTES_CHANGE:
    case VALUE_COUNT_CHANGE:
        add_change(text, value);
        break;
    case VALUE_TIME_NS:
        text_add_time(text, value->number);
        break;
    case VALUE_DURATION_NS:
        text_add_duration(text, value->number);
        break;
    case VALUE_STEP:
        text_add_format(text, "%" PRIu64, value->number);
        break;
    case VALUE_PERCENT:
        text_add_format(text, "%" PRIu64 " %%", value->number);
        break;
    case VALUE_SERIES:
        add_sparkline(text, value->series);
        break;
    case VALUE_FLAG:
        text_add(text, value->number ? "yes" : "no");
        break;
    case VALUE_STACK:
        break; /* has lines of its own: add_stack() */
    }
}

/* Names of C++ fill pages; the whole is in the JSON. */
static void add_function(struct text_builder *text, const char *function)
{
    struct text_builder name;

    text_init(&name);
    add_short_name(&name, function, function_most_bytes);
    add_words(text, text_get(&name));
    text_release(&name);
}

/* "forward  net.py:12", "forward  (net.so)" */
static void add_frame(struct text_builder *text, const struct report_frame *frame)
{
    add_function(text, frame->function);
    if (*frame->file) {
        text_add(text, "  ");
        add_words(text, frame->file);
        if (frame->line)
            text_add_format(text, ":%" PRIu32, frame->line);
    } else if (*frame->module &&
               strncmp(frame->function, frame->module, strlen(frame->module)) != 0) {
        text_add(text, "  (");
        add_words(text, frame->module);
        text_add(text, ")");
    }
    text_add(text, frame->is_inlined ? "  inlined\n" : "\n");
}

/* "... 12 frames of the allocator, the C and C++ libraries": each of them once. */
static void add_folded(struct text_builder *text, const struct report_frame *frames, size_t count)
{
    text_add_format(text, "... %zu frame%s of ", count, count == 1 ? "" : "s");
    for (size_t i = 0; i < count; i++) {
        bool is_new = true;

        for (size_t before = 0; before < i && is_new; before++)
            is_new = strcmp(frames[before].folded_as, frames[i].folded_as) != 0;
        if (is_new)
            text_add_format(text, "%s%s", i ? ", " : "", frames[i].folded_as);
    }
    text_add(text, "\n");
}

/* One frame in a line, innermost first; stretches of what is folded are one line. */
static void add_stack(struct text_builder *text, const struct report_stack *stack, size_t indent)
{
    size_t count, next;
    const struct report_frame *frames = report_stack_frames(stack, &count);

    for (size_t i = 0; i < count; i = next) {
        for (next = i; next < count && frames[next].folded_as;)
            next++;
        text_add_char(text, ' ', indent);
        if (next > i)
            add_folded(text, frames + i, next - i);
        else
            add_frame(text, &frames[next++]);
    }
}

/* Facts have room for the exact number. */
static void add_fact_value(struct text_builder *text, const struct value *value)
{
    if (value->kind == VALUE_BYTES)
        text_add_size_exact(text, value->number);
    else
        add_value(text, value);
}

static bool is_word(const struct value *value)
{
    return value->kind == VALUE_TEXT || value->kind == VALUE_SERIES || value->kind == VALUE_FLAG;
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
                           struct text_builder *scratch)
{
    struct report_table_view view = report_table_at(report, table);
    size_t width = text_width(view.columns[column].title);

    for (size_t i = 0; i < view.row_count; i++) {
        size_t cell;

        text_clear(scratch);
        add_value(scratch, &report_row_at(report, table, i)[column]);
        cell = text_width(text_get(scratch));
        width = cell > width ? cell : width;
    }
    return width;
}

struct layout {
    size_t *widths; /* 0: left out, as nothing is known */
    bool *lefts;
    size_t count;
};

static void add_cell(struct text_builder *text, const struct layout *layout, size_t column,
                     const char *cell)
{
    size_t blanks = layout->widths[column] - text_width(cell);

    if (!layout->widths[column])
        return;
    if (!layout->lefts[column])
        text_add_char(text, ' ', blanks);
    text_add(text, cell);
    if (layout->lefts[column] && column + 1 < layout->count)
        text_add_char(text, ' ', blanks);
    if (column + 1 < layout->count)
        text_add_char(text, ' ', gap);
}

static void end_line(struct text_builder *text)
{
    while (text->size_bytes && text->bytes[text->size_bytes - 1] == ' ')
        text->bytes[--text->size_bytes] = 0;
    text_add(text, "\n");
}

static void add_rows(struct text_builder *text, const struct report *report, size_t table,
                     const struct layout *layout)
{
    struct report_table_view view = report_table_at(report, table);
    struct text_builder cell;

    text_init(&cell);
    text_add(text, "  ");
    for (size_t c = 0; c < view.column_count; c++)
        add_cell(text, layout, c, view.columns[c].title ? view.columns[c].title : "");
    end_line(text);
    for (size_t r = 0; r < view.row_count; r++) {
        text_add(text, "  ");
        for (size_t c = 0; c < view.column_count; c++) {
            text_clear(&cell);
            add_value(&cell, &report_row_at(report, table, r)[c]);
            add_cell(text, layout, c, text_get(&cell));
        }
        end_line(text);
    }
    text_release(&cell);
}

static bool is_column(const struct report_table_view *view, size_t column, const char *key)
{
    return strcmp(view->columns[column].key, key) == 0;
}

/* Where the first rows come from: "From line 1, train (net.py:12)" and its frames. */
static void add_stacks(struct text_builder *text, const struct report *report, size_t table)
{
    struct report_table_view view = report_table_at(report, table);

    for (size_t r = 0; r < view.row_count && r < stacks_most; r++) {
        const struct value *row = report_row_at(report, table, r);

        for (size_t c = 0; c < view.column_count; c++) {
            if (row[c].kind != VALUE_STACK)
                continue;
            text_add_format(text, "  Stack of line %zu", r + 1);
            for (size_t site = 0; site < view.column_count; site++)
                if (is_column(&view, site, "site") && row[site].kind == VALUE_TEXT) {
                    text_add(text, ": ");
                    add_words(text, row[site].text);
                }
            text_add(text, "\n");
            add_stack(text, row[c].stack, stack_indent);
        }
    }
}

static void add_filled_table(struct text_builder *text, const struct report *report, size_t table)
{
    struct report_table_view view = report_table_at(report, table);
    size_t count = view.column_count;
    struct layout layout = {.widths = calloc(count, sizeof(size_t)),
                            .lefts = calloc(count, sizeof(bool)),
                            .count = count};
    struct text_builder scratch;

    text_init(&scratch);
    if (layout.widths && layout.lefts) {
        for (size_t c = 0; c < count; c++) {
            const struct value *known =
                view.columns[c].title ? first_known(report, table, c) : NULL;

            if (!known)
                continue;
            layout.widths[c] = column_width(report, table, c, &scratch);
            layout.lefts[c] = is_word(known);
        }
        add_rows(text, report, table, &layout);
        add_stacks(text, report, table);
    } else {
        text->has_failed = true;
    }
    text_release(&scratch);
    free(layout.widths);
    free(layout.lefts);
}

static void add_table(struct text_builder *text, const struct report *report, size_t table)
{
    struct report_table_view view = report_table_at(report, table);

    if (!view.row_count && !view.when_empty)
        return;
    text_add_format(text, "\n%s\n", view.title);
    if (view.row_count)
        add_filled_table(text, report, table);
    else
        text_add_format(text, "  %s\n", view.when_empty);
    for (size_t i = 0; i < view.remark_count; i++)
        text_add_format(text, "  %s\n", report_remark_at(report, table, i));
}

static void add_facts(struct text_builder *text, const struct report *report)
{
    size_t width = 0;

    for (size_t i = 0; i < report_fact_count(report); i++) {
        const struct fact *fact = report_fact_at(report, i);

        if (fact->title && text_width(fact->title) > width)
            width = text_width(fact->title);
    }
    for (size_t i = 0; i < report_fact_count(report); i++) {
        const struct fact *fact = report_fact_at(report, i);

        if (!fact->title)
            continue;
        text_add(text, i ? "" : "\n");
        text_add(text, fact->title);
        text_add_char(text, ' ', width - text_width(fact->title) + gap);
        add_fact_value(text, &fact->value);
        end_line(text);
    }
}

static void add_findings(struct text_builder *text, const struct report *report)
{
    if (!report_finding_count(report))
        return;
    text_add(text, "\nFindings\n");
    for (size_t i = 0; i < report_finding_count(report); i++) {
        const struct finding *finding = report_finding_at(report, i);

        text_add_format(text, "  %zu. %s\n", i + 1, finding->sentence);
        for (size_t f = 0; f < finding->fact_count && i < stacks_most; f++)
            if (finding->facts[f].value.kind == VALUE_STACK)
                add_stack(text, finding->facts[f].value.stack, stack_indent);
    }
}

/* Counts in a column of their own: a sentence then needs no singular and no plural. */
static void add_notes(struct text_builder *text, const struct report *report)
{
    struct text_builder count_text;
    size_t width = 0;

    if (!report_note_count(report))
        return;
    text_init(&count_text);
    text_add(text, "\nLost, skipped or guessed\n");
    for (int pass = 0; pass < 2; pass++) { /* measure, then write */
        for (size_t i = 0; i < report_note_count(report); i++) {
            uint64_t count;
            const char *sentence = report_note_at(report, i, &count);

            text_clear(&count_text);
            if (count)
                text_add_count(&count_text, count);
            if (pass == 0) {
                width = count_text.size_bytes > width ? count_text.size_bytes : width;
                continue;
            }
            text_add_char(text, ' ', 2 + width - count_text.size_bytes);
            text_add_format(text, "%s%s%s\n", text_get(&count_text), width ? "  " : "", sentence);
        }
    }
    text_release(&count_text);
}

bool report_write_text(const struct report *report, FILE *out)
{
    struct text_builder text;
    bool is_ok;

    text_init(&text);
    for (size_t i = 0; i < report_verdict_count(report); i++)
        text_add_format(&text, "%s\n", report_verdict_at(report, i));
    add_facts(&text, report);
    add_findings(&text, report);
    for (size_t i = 0; i < report_table_count(report); i++)
        add_table(&text, report, i);
    add_notes(&text, report);
    is_ok = !text.has_failed && fwrite(text_get(&text), 1, text.size_bytes, out) == text.size_bytes;
    text_release(&text);
    return is_ok;
}
