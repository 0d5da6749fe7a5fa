/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rows that read the same, and who called them.
 */
#include "alike_rows.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "cxx_name.h"
#include "text_builder.h"

enum {
    ALIKE_MOST = 64,     /* rows: more are a list that nobody reads line by line */
    CALLERS_MOST = 16,   /* that are looked at */
    NAME_MOST_BYTES = 40 /* of a caller */
};

/* A row, the text of its site, and who called that: helpers of it say less than who called them. */
struct alike {
    const char *label;
    const struct report_stack *caller; /* NULL: not known */
    size_t row;
};

static size_t column_of_sites(const struct report_table_view *view)
{
    size_t column = 0;

    while (column < view->column_count && strcmp(view->columns[column].key, "site") != 0)
        column++;
    return column;
}

/* "train (net.py:12)" is named after the frame of train. */
static bool is_named_after(const char *label, const struct report_frame *frame)
{
    size_t length = strlen(frame->function);

    return length && strncmp(label, frame->function, length) == 0 &&
           (!label[length] || strchr(" +", label[length]));
}

/* The next outward that people are shown. */
static const struct report_stack *caller_of(const struct report_stack *stack)
{
    do
        stack = stack ? stack->caller : NULL;
    while (stack && stack->frame->folded_as);
    return stack;
}

/* "base/list.h" and "base/list.c". */
static bool are_of_one_unit(const struct report_frame *a, const struct report_frame *b)
{
    const char *end = strrchr(a->file, '.');
    size_t length = end ? (size_t)(end - a->file) : 0;

    return length && strncmp(a->file, b->file, length) == 0 && b->file[length] == '.';
}

/* The first caller outside of its unit; where there is none, the first. */
static const struct report_stack *caller_of_site(const struct report_stack *site)
{
    const struct report_stack *first = caller_of(site), *at = first;

    while (at && are_of_one_unit(at->frame, site->frame))
        at = caller_of(at);
    return at ? at : first;
}

static struct alike alike_of(const struct report_table_view *view, const struct value *values,
                             size_t column, size_t row)
{
    const char *label = value_is_text(&values[column]) ? values[column].text : "";
    const struct report_stack *site = NULL;

    for (size_t c = 0; c < view->column_count && !site; c++)
        if (values[c].kind == VALUE_STACK)
            site = values[c].stack;
    while (site && !is_named_after(label, site->frame))
        site = site->caller;
    return (struct alike){.label = label, .caller = caller_of_site(site), .row = row};
}

static int alike_compare(const void *left, const void *right)
{
    const struct alike *a = left, *b = right;
    int order = strcmp(a->label, b->label);

    return order ? order : (a->row > b->row) - (a->row < b->row);
}

/* How many callers two rows have in common, outward. */
static size_t common_callers(const struct alike *a, const struct alike *b)
{
    const struct report_stack *at = a->caller, *other = b->caller;
    size_t count = 0;

    while (at && other && at->frame == other->frame && count < CALLERS_MOST) {
        at = caller_of(at);
        other = caller_of(other);
        count++;
    }
    return count;
}

/* NULL: its callers are those of another row, or part of them. */
static const struct report_frame *own_caller(const struct alike *rows, size_t count,
                                             const struct alike *row)
{
    const struct report_stack *at = row->caller;
    size_t most = 0;

    for (size_t i = 0; i < count; i++) {
        size_t common = &rows[i] == row ? 0 : common_callers(&rows[i], row);

        most = common > most ? common : most;
    }
    while (at && most--)
        at = caller_of(at);
    return at ? at->frame : NULL;
}

static void distinguish(struct alike_rows *alike, const struct alike *rows, size_t count)
{
    if (count < 2 || count > ALIKE_MOST || !*rows->label)
        return;
    for (size_t i = 0; i < count; i++)
        alike->callers[rows[i].row] = own_caller(rows, count, &rows[i]);
}

/* The rows of one site stand next to each other. */
static void distinguish_all(struct alike_rows *alike, const struct alike *rows, size_t count)
{
    size_t end;

    for (size_t begin = 0; begin < count; begin = end) {
        for (end = begin; end < count && strcmp(rows[end].label, rows[begin].label) == 0;)
            end++;
        distinguish(alike, &rows[begin], end - begin);
    }
}

bool alike_rows_make(struct alike_rows *alike, const struct report *report, size_t table)
{
    struct report_table_view view = report_table_at(report, table);
    struct alike *rows = calloc(view.row_count + 1, sizeof(*rows));
    bool has_memory, has_sites;

    *alike = (struct alike_rows){.callers = calloc(view.row_count + 1, sizeof(*alike->callers)),
                                 .column = column_of_sites(&view)};
    has_memory = rows && alike->callers;
    has_sites = has_memory && alike->column < view.column_count;
    for (size_t r = 0; has_sites && r < view.row_count; r++)
        rows[r] = alike_of(&view, report_row_at(report, table, r), alike->column, r);
    if (has_sites) {
        qsort(rows, view.row_count, sizeof(*rows), alike_compare);
        distinguish_all(alike, rows, view.row_count);
    }
    free(rows);
    return has_memory;
}

void alike_rows_release(struct alike_rows *alike)
{
    free(alike->callers);
}

void alike_rows_put(const struct alike_rows *alike, size_t row, size_t column, struct outlet *out)
{
    const struct report_frame *caller = alike->callers ? alike->callers[row] : NULL;
    struct text_builder name;

    if (!caller || column != alike->column)
        return;
    text_init(&name);
    add_short_name(&name, caller->function, NAME_MOST_BYTES);
    outlet_add(out, " < ");
    outlet_words(out, text_get(&name));
    if (caller->line)
        outlet_format(out, ":%" PRIu32, caller->line);
    text_release(&name);
}
