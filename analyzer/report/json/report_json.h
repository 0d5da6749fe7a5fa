/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A report for programs: docs/json-schema.md.
 */
#ifndef LEAKTIDE_REPORT_JSON_H
#define LEAKTIDE_REPORT_JSON_H

#include "outlet.h"
#include "report.h"

struct json_page;

void report_write_json(const struct report *report, struct outlet *out);
/* As a page carries it: a stack is its node in `page`, a table says how many rows it has
 * (row_count), and holds as many as the page takes. */
void report_write_page_json(const struct report *report, struct json_page *page,
                            struct outlet *out);

#endif
