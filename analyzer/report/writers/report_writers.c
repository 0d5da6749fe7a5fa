/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The output formats.
 */
#include "report_writers.h"

#include <string.h>

#include "report_html.h"
#include "report_json.h"

static void write_json(const struct report *report, const struct report_shown *shown,
                       struct outlet *out)
{
    (void)shown;
    report_write_json(report, out);
}

static void write_html(const struct report *report, const struct report_shown *shown,
                       struct outlet *out)
{
    report_write_html(report, shown->has_sources, out);
}

const struct report_writer report_writers[] = {
    {"text", "for a terminal, verdict first", FOR_TERMINAL, report_write_text},
    {"json", "for programs; docs/json-schema.md", FOR_JSON, write_json},
    {"html", "one page for a browser, with pictures", FOR_HTML, write_html},
    {"csv", "its tables, for spreadsheets", FOR_CSV, report_write_csv},
    {"md", "a page of Markdown", FOR_MARKDOWN, report_write_markdown},
    {NULL, NULL, FOR_TERMINAL, NULL},
};

const struct report_writer *report_writer_find(const char *name)
{
    for (const struct report_writer *writer = report_writers; writer->name; writer++)
        if (strcmp(writer->name, name) == 0)
            return writer;
    return NULL;
}

bool report_write(const struct report_writer *writer, const struct report *report,
                  const struct report_shown *shown, FILE *out)
{
    static const struct report_shown everything = {.lines = 0};
    struct outlet *outlet = outlet_create(writer->audience, out);

    if (!shown)
        shown = &everything;
    outlet_show(outlet, &shown->look);
    if (outlet)
        writer->write(report, shown, outlet);
    return outlet_destroy(outlet);
}

bool report_shows_table(const struct report_shown *shown, const struct report_table_view *view)
{
    return !shown->table || strcmp(shown->table, view->name) == 0;
}

bool report_tells_table(const struct report_shown *shown, const struct report_table_view *view)
{
    bool has_title = !view->row_count;

    for (size_t i = 0; i < view->column_count; i++)
        has_title |= view->columns[i].title != NULL;
    return has_title && (view->row_count || view->when_empty) && report_shows_table(shown, view);
}
