/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The output formats of a report: one file and one line of the table each.
 */
#ifndef LEAKTIDE_REPORT_WRITERS_H
#define LEAKTIDE_REPORT_WRITERS_H

#include <stdbool.h>
#include <stdio.h>

#include "outlet.h"
#include "report.h"

/* One per output format; A writer sees nothing but an outlet. */
struct report_writer {
    const char *name; /* "text" */
    const char *meaning;
    enum audience audience;
    void (*write)(const struct report *report, struct outlet *out);
};

extern const struct report_writer report_writers[]; /* ends with a NULL name */

const struct report_writer *report_writer_find(const char *name);
/* False when the file could not be written; errno tells. */
bool report_write(const struct report_writer *writer, const struct report *report, FILE *out);

void report_write_text(const struct report *report, struct outlet *out);

#endif
