/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The columns of msmemscope: what they are called, and what stands in them.
 */
#ifndef LEAKTIDE_MEMSCOPE_COLUMNS_H
#define LEAKTIDE_MEMSCOPE_COLUMNS_H

#include "memscope_writer.h"
#include "outlet.h"

enum { MEMSCOPE_COLUMNS_MOST = 16 };

/* One of number, text and the two others. */
struct memscope_column {
    const char *name, *type; /* in a database */
    uint64_t (*number)(const struct memscope_row *row);
    const char *(*text)(const struct memscope_row *row); /* needs no quotes anywhere */
    void (*put_csv)(struct outlet *out, const struct memscope_row *row);
    void (*add_db)(struct text_builder *cell, const struct memscope_row *row);
};

extern const struct memscope_column memscope_columns[];
extern const size_t memscope_column_count;

#endif
