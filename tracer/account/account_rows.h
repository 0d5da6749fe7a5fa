/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rows of an account while they are gathered.
 */
#ifndef LEAKTIDE_TRACER_ACCOUNT_ROWS_H
#define LEAKTIDE_TRACER_ACCOUNT_ROWS_H

#include <stdbool.h>

#include "account.h"

struct account_rows {
    struct account_row *rows;
    size_t count, capacity;
    bool has_failed; /* no memory */
};

/* more: what to add to the row of its part, name and file; its name is not looked at. */
void account_rows_add(struct account_rows *rows, const struct account_row *more, const char *name);

/* One row for each part, name and file; in the order of struct account. */
void account_rows_join(struct account_rows *rows);
void account_rows_release(struct account_rows *rows);

#endif
