/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The output formats.
 */
#include "report.h"

const struct report_writer report_writers[] = {
    {"text", "for a terminal, verdict first", report_write_text},
    {"json", "for programs; docs/json-schema.md", report_write_json},
    {"html", "one page for a browser, with pictures", report_write_html},
    {NULL, NULL, NULL},
};
