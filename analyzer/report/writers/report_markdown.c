/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A report as Markdown, for a comment, an issue or a note: verdict, facts, tables, data quality.
 */
#include <string.h>

#include "alike_rows.h"
#include "report_writers.h"
#include "sentence.h"

static void put_headline(struct outlet *out, const char *sentence)
{
    enum style style;
    size_t length = headline_style(sentence, &style);

    if (length) {
        outlet_add(out, "**");
        outlet_format(out, "%.*s", (int)length, sentence);
        outlet_add(out, "**");
    }
    outlet_words(out, sentence + length);
    outlet_add(out, "\n\n");
}

static void put_facts(struct outlet *out, const struct report *report)
{
    for (size_t i = 0; i < report_fact_count(report); i++) {
        const struct field *fact = report_fact_at(report, i);

        if (!fact->title)
            continue;
        outlet_format(out, "- %s: ", fact->title);
        report_put_value(out, &fact->value, 0);
        outlet_add(out, "\n");
    }
}

static bool is_shown(const struct report_column *column, const struct value *value)
{
    return column->title && value->kind != VALUE_STACK && value->kind != VALUE_SERIES;
}

static bool is_number(const struct value *value)
{
    return value->kind != VALUE_NONE && value->kind != VALUE_FLAG && !value_is_text(value);
}

/* Titles, and the line below that says on which side cells stand; by the first row. */
static void put_titles(struct outlet *out, const struct report_table_view *view,
                       const struct value *first)
{
    outlet_add(out, "|");
    for (size_t c = 0; c < view->column_count; c++)
        if (is_shown(&view->columns[c], &first[c]))
            outlet_format(out, " %s |", view->columns[c].title);
    outlet_add(out, "\n|");
    for (size_t c = 0; c < view->column_count; c++)
        if (is_shown(&view->columns[c], &first[c]))
            outlet_add_either(out, is_number(&first[c]), "---:|", "---|");
    outlet_add(out, "\n");
}

static void put_table(struct outlet *out, const struct report *report, size_t table)
{
    struct report_table_view view = report_table_at(report, table);
    struct alike_rows alike;

    if (!alike_rows_make(&alike, report, table))
        outlet_fail(out);
    outlet_format(out, "\n### %s\n\n", view.title);
    if (!view.row_count)
        outlet_format(out, "%s\n", view.when_empty);
    for (size_t r = 0; r < view.row_count; r++) {
        const struct value *first = report_row_at(report, table, 0);
        const struct value *row = report_row_at(report, table, r);

        if (!r)
            put_titles(out, &view, first);
        outlet_add(out, "|");
        for (size_t c = 0; c < view.column_count; c++) {
            if (!is_shown(&view.columns[c], &first[c]))
                continue;
            outlet_add(out, " ");
            report_put_value(out, &row[c], 0);
            alike_rows_put(&alike, r, c, out);
            outlet_add(out, " |");
        }
        outlet_add(out, "\n");
    }
    for (size_t i = 0; i < view.remark_count; i++)
        outlet_format(out, "\n%s\n", report_remark_at(report, table, i));
    alike_rows_release(&alike);
}

static void put_notes(struct outlet *out, const struct report *report)
{
    if (report_note_count(report))
        outlet_sentence(out, "\n### Data quality\n\n");
    for (size_t i = 0; i < report_note_count(report); i++) {
        uint64_t count;
        const char *sentence = report_note_at(report, i, &count);

        outlet_add(out, "- ");
        if (count) {
            outlet_amount(out, text_add_count, count);
            outlet_add(out, " × ");
        }
        outlet_format(out, "%s\n", sentence);
    }
}

void report_write_markdown(const struct report *report, const struct report_shown *shown,
                           struct outlet *out)
{
    for (size_t i = 0; i < report_verdict_count(report) && !shown->table; i++)
        put_headline(out, report_verdict_at(report, i));
    if (!shown->table)
        put_facts(out, report);
    for (size_t i = 0; i < report_table_count(report); i++) {
        struct report_table_view view = report_table_at(report, i);

        if (report_tells_table(shown, &view))
            put_table(out, report, i);
    }
    if (!shown->table)
        put_notes(out, report);
}
