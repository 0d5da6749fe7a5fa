/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A report for programs: docs/json-schema.md.
 */
#ifndef LEAKTIDE_REPORT_JSON_H
#define LEAKTIDE_REPORT_JSON_H

#include "outlet.h"
#include "report.h"

void report_write_json(const struct report *report, struct outlet *out);

#endif
