/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A report as one page for a browser.
 */
#ifndef LEAKTIDE_REPORT_HTML_H
#define LEAKTIDE_REPORT_HTML_H

#include "outlet.h"
#include "report.h"

/* has_sources: with lines of source files beside frames, as far as they are on this machine. */
void report_write_html(const struct report *report, bool has_sources, struct outlet *out);

#endif
