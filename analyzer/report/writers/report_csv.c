/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tables of a report as csv. A column is called as in JSON and has its unit in its name; what is
 * not known is empty.
 */
#include <inttypes.h>
#include <string.h>

#include "report_writers.h"
#include "text_builder.h"

/* "1 2 3" */
static void put_series(struct outlet *out, const struct report_series *series)
{
    size_t count;
    enum value_kind kind;
    const uint64_t *numbers = report_series_numbers(series, &count, &kind);

    for (size_t i = 0; i < count; i++)
        outlet_format(out, "%s%" PRIu64, i ? " " : "", numbers[i]);
}

/* "forward (net.py:12) < main (net.py:40)", innermost first; one cell. */
static void put_stack(struct outlet *out, const struct report_stack *stack)
{
    struct text_builder text;

    text_init(&text);
    for (const struct report_stack *at = stack; at; at = at->caller) {
        text_add_format(&text, "%s%s", at != stack ? " < " : "", at->frame->function);
        if (*at->frame->file && at->frame->line)
            text_add_format(&text, " (%s:%" PRIu32 ")", at->frame->file, at->frame->line);
    }
    if (text.has_failed)
        outlet_fail(out);
    outlet_words(out, text_get(&text));
    text_release(&text);
}

static void put_value(struct outlet *out, const struct value *value)
{
    switch (value->kind) {
    case VALUE_NONE:
    case VALUE_UNKNOWN:
        break;
    case VALUE_TEXT:
    case VALUE_WORD:
        outlet_words(out, value->text);
        break;
    case VALUE_BYTES_CHANGE:
    case VALUE_COUNT_CHANGE:
        outlet_format(out, "%" PRId64, value->change);
        break;
    case VALUE_SERIES:
        put_series(out, value->series);
        break;
    case VALUE_FLAG:
        outlet_add_either(out, value->number, "true", "false");
        break;
    case VALUE_STACK:
        put_stack(out, value->stack);
        break;
    default:
        outlet_number(out, value->number);
        break;
    }
}

/* The rows do not say it themselves. */
static bool needs_ledger(const struct report_table_view *view)
{
    for (size_t c = 0; c < view->column_count; c++)
        if (strcmp(view->columns[c].key, "ledger") == 0)
            return false;
    return view->ledger != NULL;
}

static void put_titles(struct outlet *out, const struct report_table_view *view)
{
    if (needs_ledger(view))
        outlet_add(out, "ledger,");
    for (size_t c = 0; c < view->column_count; c++) {
        outlet_add_either(out, c, ",", "");
        outlet_words(out, view->columns[c].key);
    }
    outlet_add(out, "\n");
}

static void put_rows(struct outlet *out, const struct report *report, size_t table)
{
    struct report_table_view view = report_table_at(report, table);

    for (size_t r = 0; r < view.row_count; r++) {
        if (needs_ledger(&view))
            outlet_format(out, "%s,", view.ledger);
        for (size_t c = 0; c < view.column_count; c++) {
            outlet_add_either(out, c, ",", "");
            put_value(out, &report_row_at(report, table, r)[c]);
        }
        outlet_add(out, "\n");
    }
}

static bool has_rows(const struct report *report, const struct report_shown *shown, size_t table)
{
    struct report_table_view view = report_table_at(report, table);

    return view.row_count && report_shows_table(shown, &view);
}

/* No table before it has its name. */
static bool is_first_of_name(const struct report *report, const struct report_shown *shown,
                             size_t table)
{
    const char *name = report_table_at(report, table).name;

    for (size_t i = 0; i < table; i++)
        if (has_rows(report, shown, i) && strcmp(report_table_at(report, i).name, name) == 0)
            return false;
    return true;
}

static size_t name_count(const struct report *report, const struct report_shown *shown)
{
    size_t count = 0;

    for (size_t i = 0; i < report_table_count(report); i++)
        count += has_rows(report, shown, i) && is_first_of_name(report, shown, i);
    return count;
}

void report_write_csv(const struct report *report, const struct report_shown *shown,
                      struct outlet *out)
{
    bool is_one = name_count(report, shown) == 1, is_begun = false;

    for (size_t i = 0; i < report_table_count(report); i++) {
        struct report_table_view view = report_table_at(report, i);

        if (!has_rows(report, shown, i) || !is_first_of_name(report, shown, i))
            continue;
        outlet_add_either(out, is_begun, "\n", "");
        if (!is_one)
            outlet_format(out, "# %s\n", view.name);
        put_titles(out, &view);
        for (size_t same = i; same < report_table_count(report); same++)
            if (has_rows(report, shown, same) &&
                strcmp(report_table_at(report, same).name, view.name) == 0)
                put_rows(out, report, same);
        is_begun = true;
    }
}
