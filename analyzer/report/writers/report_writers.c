/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The output formats.
 */
#include "report_writers.h"

#include <string.h>

#include "report_html.h"
#include "report_json.h"

const struct report_writer report_writers[] = {
    {"text", "for a terminal, verdict first", FOR_TERMINAL, report_write_text},
    {"json", "for programs; docs/json-schema.md", FOR_JSON, report_write_json},
    {"html", "one page for a browser, with pictures", FOR_HTML, report_write_html},
    {NULL, NULL, FOR_TERMINAL, NULL},
};

const struct report_writer *report_writer_find(const char *name)
{
    for (const struct report_writer *writer = report_writers; writer->name; writer++)
        if (strcmp(writer->name, name) == 0)
            return writer;
    return NULL;
}

bool report_write(const struct report_writer *writer, const struct report *report, FILE *out)
{
    struct outlet *outlet = outlet_create(writer->audience, out);

    if (outlet)
        writer->write(report, outlet);
    return outlet_destroy(outlet);
}
