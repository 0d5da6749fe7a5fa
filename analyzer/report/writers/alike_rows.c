/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rows that read the same, and who called them.
 */
#include "alike_rows.h"

#include <stdlib.h>
#include <string.h>

/* A row, the text of its site, and the frame that this is named after. */
struct alike {
    const char *label;
    const struct report_stack *site; /* NULL: not known */
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

static struct site_callers callers_of(const struct report_stack *site)
{
    struct site_callers callers = {.count = 0};

    for (const struct report_stack *at = site ? site->caller : NULL; at; at = at->caller) {
        const struct report_frame *frame = at->frame;

        if (!frame->folded_as &&
            !site_callers_add(&callers, (struct site_caller){frame->function, frame->file,
                                                             frame->module, frame->line}))
            break;
    }
    if (site && !site->frame->is_python)
        site_callers_leave_helpers(&callers, site->frame->file);
    return callers;
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
    return (struct alike){.label = label, .site = site, .row = row};
}

static int alike_compare(const void *left, const void *right)
{
    const struct alike *a = left, *b = right;
    int order = strcmp(a->label, b->label);

    return order ? order : (a->row > b->row) - (a->row < b->row);
}

static void distinguish(struct alike_rows *alike, const struct alike *rows, size_t count)
{
    struct site_callers callers[SITES_ALIKE_MOST];

    if (count < 2 || count > SITES_ALIKE_MOST || !*rows->label)
        return;
    for (size_t i = 0; i < count; i++)
        callers[i] = callers_of(rows[i].site);
    for (size_t i = 0; i < count; i++) {
        const struct site_caller *own = site_callers_own(callers, count, i);

        if (own)
            alike->callers[rows[i].row] = *own;
    }
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
    struct text_builder words;

    if (!alike->callers || column != alike->column || !alike->callers[row].function)
        return;
    text_init(&words);
    site_caller_add_words(&words, &alike->callers[row]);
    outlet_add(out, " < ");
    outlet_words(out, text_get(&words));
    text_release(&words);
}
