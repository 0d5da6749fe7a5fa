/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include "account_rows.h"

#include <stdlib.h>
#include <string.h>

#include "leaktide/invariant.h"

enum { CAPACITY_FIRST = 64 };

static void row_add(struct account_row *row, const struct account_row *more)
{
    row->size_bytes += more->size_bytes;
    row->resident_bytes += more->resident_bytes;
    row->proportional_bytes += more->proportional_bytes;
    row->swapped_bytes += more->swapped_bytes;
    row->count += more->count;
}

static bool is_of(const struct account_row *row, const struct account_row *more, const char *name)
{
    return row->part == more->part && row->inode == more->inode && row->device == more->device &&
           strcmp(row->name, name) == 0;
}

void account_rows_add(struct account_rows *rows, const struct account_row *more, const char *name)
{
    struct account_row *last = rows->count ? &rows->rows[rows->count - 1] : NULL;

    if (last && is_of(last, more, name)) { /* mappings of a file are neighbours */
        row_add(last, more);
        return;
    }
    if (rows->count == rows->capacity) {
        size_t capacity = rows->capacity ? rows->capacity * 2 : CAPACITY_FIRST;
        struct account_row *bigger = realloc(rows->rows, capacity * sizeof(*bigger));

        rows->has_failed |= !bigger;
        if (!bigger)
            return;
        rows->rows = bigger;
        rows->capacity = capacity;
    }
    rows->rows[rows->count] = *more;
    rows->rows[rows->count].name = strdup(name);
    rows->has_failed |= !rows->rows[rows->count].name;
    rows->count += rows->rows[rows->count].name != NULL;
}

static int key_compare(const void *left, const void *right)
{
    const struct account_row *a = left, *b = right;

    if (a->part != b->part)
        return a->part < b->part ? -1 : 1;
    if (a->device != b->device)
        return a->device < b->device ? -1 : 1;
    if (a->inode != b->inode)
        return a->inode < b->inode ? -1 : 1;
    return strcmp(a->name, b->name);
}

static int size_compare(const void *left, const void *right)
{
    const struct account_row *a = left, *b = right;

    if (a->part != b->part)
        return a->part < b->part ? -1 : 1;
    if (a->resident_bytes != b->resident_bytes)
        return a->resident_bytes > b->resident_bytes ? -1 : 1;
    return key_compare(left, right);
}

void account_rows_join(struct account_rows *rows)
{
    size_t kept = 0;

    MT_ASSERT(rows->count <= rows->capacity);
    if (!rows->count)
        return;
    qsort(rows->rows, rows->count, sizeof(*rows->rows), key_compare);
    for (size_t i = 1; i < rows->count; i++) {
        if (key_compare(&rows->rows[kept], &rows->rows[i]) == 0) {
            row_add(&rows->rows[kept], &rows->rows[i]);
            free(rows->rows[i].name);
        } else {
            rows->rows[++kept] = rows->rows[i];
        }
    }
    rows->count = kept + 1;
    qsort(rows->rows, rows->count, sizeof(*rows->rows), size_compare);
}

void account_rows_release(struct account_rows *rows)
{
    for (size_t i = 0; i < rows->count; i++)
        free(rows->rows[i].name);
    free(rows->rows);
    memset(rows, 0, sizeof(*rows));
}
