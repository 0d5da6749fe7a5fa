/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rows of a table that read the same: a function that allocates for many is the site of each. They
 * are distinguished by the first caller that only one of them has.
 */
#ifndef LEAKTIDE_REPORT_ALIKE_ROWS_H
#define LEAKTIDE_REPORT_ALIKE_ROWS_H

#include "outlet.h"
#include "report.h"
#include "site_callers.h"

struct alike_rows {
    struct site_caller *callers; /* by row; no function: the site is enough, or nobody can tell */
    size_t column;               /* of the sites; that of no column: there is none */
};

/* False: no memory, and none is distinguished. Release in either case. */
bool alike_rows_make(struct alike_rows *alike, const struct report *report, size_t table);
void alike_rows_release(struct alike_rows *alike);

/* " < train:12", after the value of that cell; nothing where none is needed. */
void alike_rows_put(const struct alike_rows *alike, size_t row, size_t column, struct outlet *out);

#endif
