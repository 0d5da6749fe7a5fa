/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How wide the columns of a table are: as their cells, or as much of them as a terminal has room
 * for.
 */
#ifndef LEAKTIDE_REPORT_TABLE_LAYOUT_H
#define LEAKTIDE_REPORT_TABLE_LAYOUT_H

#include "alike_rows.h"
#include "report.h"

enum { LAYOUT_GAP = 2, LAYOUT_INDENT = 2, SERIES_MOST = 48 };

struct table_layout {
    size_t *widths; /* in columns of the terminal; 0: left out */
    bool *lefts;    /* words; numbers stand on the right */
    size_t count;
    size_t prose; /* the last column, if its cells are sentences: they go on below; else count */
    size_t dropped_count; /* left out, as there is no room for them */
    bool is_shortened;    /* so are parts of cells */
};

/*
 * alike: what sites have beside their names. columns: of the terminal; 0: all the room they need.
 * scratch: an outlet without a file, for the reader of the table. Columns in which nothing is known
 * are left out in any case. False: no memory.
 */
bool table_layout_make(struct table_layout *layout, const struct report *report, size_t table,
                       const struct alike_rows *alike, size_t columns, struct outlet *scratch);
/* Asserts that what is shown has a width, and what is left out none. */
void table_layout_check(const struct table_layout *layout);
void table_layout_release(struct table_layout *layout);

#endif
