/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Flat tables as Apache Parquet: columns of integers and of texts, of which values may be missing.
 *
 * Written: INT64 and BYTE_ARRAY (UTF-8), PLAIN, pages of version 1, zstd, row groups of
 * PARQUET_GROUP_ROWS rows. Read: the same, dictionaries and pages without compression as well, so
 * also what other writers make of such a table. docs/summaries.md says why this is not a library.
 */
#ifndef LEAKTIDE_PARQUET_H
#define LEAKTIDE_PARQUET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "error_sentence.h"

/* As engines like them: DuckDB works on 122,880 rows at once. */
enum { PARQUET_GROUP_ROWS = 131072 };

enum parquet_kind { PARQUET_INTEGER, PARQUET_TEXT };

struct parquet_column {
    const char *name;
    enum parquet_kind kind;
    bool is_optional;
    const int64_t *numbers; /* a row each; of texts, what text_at() takes */
    const uint8_t *known;   /* a row each, 0: missing; NULL: all are there */
};

struct parquet_property {
    const char *key, *value;
};

struct parquet_table {
    const struct parquet_column *columns;
    size_t column_count, row_count;
    const char *(*text_at)(void *context, int64_t number); /* terminated */
    void *context;
    const struct parquet_property *properties;
    size_t property_count;
};

/* A new file. MT_IO, MT_NO_MEMORY: what is there of it is the caller's to remove. */
enum mt_result parquet_write(const char *path, const struct parquet_table *table,
                             struct mt_error *error);

/* Reads one file after the other, in memory that is used again. One thread at a time. */
struct parquet_reader;

/* Of a row; bytes are not terminated. */
struct parquet_text {
    size_t offset, size_bytes; /* from parquet_values.bytes */
};

/* Borrowed until the next call. Either numbers or texts are there, a row each. */
struct parquet_values {
    size_t count;
    const uint8_t *known;
    const int64_t *numbers;
    const struct parquet_text *texts;
    const char *bytes;
};

enum mt_result parquet_reader_create(struct parquet_reader **out, struct mt_error *error);
void parquet_reader_destroy(struct parquet_reader *reader);

/* MT_NOT_FOUND, MT_IO; MT_CORRUPT: damaged, cut, or no Parquet; MT_UNSUPPORTED: of a kind that is
 * not read here. */
enum mt_result parquet_reader_open(struct parquet_reader *reader, const char *path,
                                   struct mt_error *error);

/* Of the open file. Names and properties are terminated. */
size_t parquet_reader_group_count(const struct parquet_reader *reader);
size_t parquet_reader_group_rows(const struct parquet_reader *reader, size_t group);
/* SIZE_MAX: there is none. */
size_t parquet_reader_column(const struct parquet_reader *reader, const char *name,
                             enum parquet_kind *kind);
/* NULL: there is none. */
const char *parquet_reader_property(const struct parquet_reader *reader, const char *key);

/* As parquet_reader_open(). */
enum mt_result parquet_reader_read(struct parquet_reader *reader, size_t group, size_t column,
                                   struct parquet_values *values, struct mt_error *error);

#endif
