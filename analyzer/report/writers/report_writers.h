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

/* How much of it, and for what terminal. All 0: everything, for a file. */
struct report_shown {
    struct terminal_look look;
    size_t lines;      /* the least important is only named after so many; 0: all is shown */
    bool is_wide;      /* tables keep all columns, whatever the terminal's width */
    bool has_sources;  /* a page has lines of source files, as far as they are here */
    const char *table; /* this table alone; NULL: all that the format has */
};

/* One per output format; A writer sees nothing but an outlet. */
struct report_writer {
    const char *name; /* "text" */
    const char *meaning;
    enum audience audience;
    void (*write)(const struct report *report, const struct report_shown *shown,
                  struct outlet *out);
};

extern const struct report_writer report_writers[]; /* ends with a NULL name */

const struct report_writer *report_writer_find(const char *name);
/* shown NULL: all 0. False when the file could not be written; errno tells. */
bool report_write(const struct report_writer *writer, const struct report *report,
                  const struct report_shown *shown, FILE *out);

void report_write_text(const struct report *report, const struct report_shown *shown,
                       struct outlet *out);
/*
 * Tables for spreadsheets: keys as titles, numbers in their unit. Tables of one name are one, with
 * the ledger as a column; before each of several stands its name, "# blocks".
 */
void report_write_csv(const struct report *report, const struct report_shown *shown,
                      struct outlet *out);
/* A page of Markdown: what the text has, for comments and notes. */
void report_write_markdown(const struct report *report, const struct report_shown *shown,
                           struct outlet *out);

/* What the writers share. */

bool report_shows_table(const struct report_shown *shown, const struct report_table_view *view);
/* To people: it is shown, has rows or says that there are none, and is not for data alone. */
bool report_tells_table(const struct report_shown *shown, const struct report_table_view *view);
/* As people read it: 1.50 GiB, 12.3 ms; series_most bars of a series. Nothing for a stack. */
void report_put_value(struct outlet *out, const struct value *value, size_t series_most);

#endif
