/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rows of numbers that become the columns of a dataset.
 */
#ifndef LEAKTIDE_ANALYSES_SHEET_H
#define LEAKTIDE_ANALYSES_SHEET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "report.h"

enum { SHEET_COLUMNS_MOST = 12 };

struct sheet {
    const char *const *keys; /* of the columns */
    size_t column_count;
    uint64_t *columns[SHEET_COLUMNS_MOST];
    size_t row_count, capacity;
    bool has_failed; /* no memory */
};

/* keys ends with NULL and lives as long as the sheet. */
struct sheet sheet_of(const char *const *keys);
/* As many values as there are keys. */
void sheet_add(struct sheet *sheet, const uint64_t *values);
/* Hands the sheet over to the report, and releases it. */
void sheet_to_report(struct sheet *sheet, struct report *report, const char *name);

#endif
