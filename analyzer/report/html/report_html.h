/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A report as one page for a browser.
 */
#ifndef LEAKTIDE_REPORT_HTML_H
#define LEAKTIDE_REPORT_HTML_H

#include "outlet.h"
#include "report.h"

void report_write_html(const struct report *report, struct outlet *out);

#endif
