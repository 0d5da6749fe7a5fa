/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a row of msleaks and msmemscope is made of, and the names that its columns have had.
 */
#ifndef LEAKTIDE_INPUT_MEMSCOPE_COLUMNS_H
#define LEAKTIDE_INPUT_MEMSCOPE_COLUMNS_H

#include <stdbool.h>
#include <stddef.h>

/* A file may lack some of them. */
enum memscope_input_column {
    COLUMN_ID,
    COLUMN_EVENT,
    COLUMN_TYPE,
    COLUMN_NAME,
    COLUMN_TIME,
    COLUMN_PROCESS,
    COLUMN_THREAD,
    COLUMN_DEVICE,
    COLUMN_POINTER,
    COLUMN_ATTR,
    COLUMN_PYTHON_STACK,
    COLUMN_C_STACK,
    COLUMN_SIZE,     /* of old files, which have no Attr */
    COLUMN_RESERVED, /* the same */
    MEMSCOPE_COLUMNS
};

/*
 * The column of that name: "Timestamp(ns)", "timestamp"; case, blanks and signs do not matter.
 * MEMSCOPE_COLUMNS if it is none.
 */
enum memscope_input_column memscope_column_of(const char *name, size_t size_bytes);

/* Which columns a header has. */
struct memscope_header {
    bool has[MEMSCOPE_COLUMNS + 1];
};

/* Whether it is one of theirs, whole or not. */
bool memscope_header_is_ours(const struct memscope_header *header);
/* The first column without which rows make no sense; NULL: all are there. Static. */
const char *memscope_header_lacks(const struct memscope_header *header);
/* A column that others of its generation have, and that is only missed; NULL: none. Static. */
const char *memscope_header_misses(const struct memscope_header *header);

#endif
