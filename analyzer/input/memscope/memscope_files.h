/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The two forms of file that msleaks and msmemscope write.
 */
#ifndef LEAKTIDE_INPUT_MEMSCOPE_FILES_H
#define LEAKTIDE_INPUT_MEMSCOPE_FILES_H

#include "memscope_rows.h"

struct database;

/* 1 if the first bytes of a file are a header of theirs. */
int memscope_csv_recognises(const char *path);
/* 1 if the database has their table. */
int memscope_db_recognises(const char *path);

/*
 * Rows as they stand in a csv, in the order of the file; cells: MEMSCOPE_COLUMNS texts, valid
 * during the call. False: the row makes no sense.
 */
struct memscope_row_visitor {
    void *context;
    bool (*row)(void *context, const struct attr_text *cells);
};

struct memscope_csv_facts {
    uint64_t row_count;
    uint64_t bad_count, bad_line; /* rows that make no sense, or are cut; the first */
    uint64_t cut_line;            /* in which the file ends; 0: it ends after a row */
    bool counts_microseconds;     /* says the header */
    const char *missed_column;    /* NULL: none; static */
};

/* facts->counts_microseconds is known before the first row. */
enum mt_result memscope_csv_visit(const char *path, const struct memscope_row_visitor *visitor,
                                  struct memscope_csv_facts *facts, struct mt_error *error);

/* All rows of a file. Rows that make no sense are counted in a note of the model. */
enum mt_result memscope_csv_read(const char *path, struct model *model, struct memscope_rows *rows,
                                 struct mt_error *error);
enum mt_result memscope_db_read(const char *path, struct model *model, struct memscope_rows *rows,
                                struct mt_error *error);

/* Calls of Python functions: 1 if it is a csv of them; all of a csv; all tables of a database. */
int memscope_trace_recognises(const char *path);
enum mt_result memscope_trace_read(const char *path, struct model *model,
                                   struct memscope_rows *rows, struct mt_error *error);
enum mt_result memscope_trace_tables_read(struct database *database, const char *path,
                                          struct model *model, struct memscope_rows *rows,
                                          struct mt_error *error);

#endif
