/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Databases of other tools, only ever read: opened read-only and as immutable, so that nothing is
 * written beside them and no lock is taken. What a write-ahead log holds is not seen.
 *
 * Tables and columns are asked for by name; what is not known is left alone.
 */
#ifndef LEAKTIDE_DATABASE_H
#define LEAKTIDE_DATABASE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "error_sentence.h"
#include "model.h"

struct database;
struct database_query;

/* Whether the file begins like a database. */
bool database_recognises(const char *path);

/* MT_OK, or what is wrong with the whole of the file: MT_CORRUPT, MT_IO, MT_NO_MEMORY. */
enum mt_result database_check(const char *path, struct mt_error *error);

/* MT_IO, MT_NO_MEMORY; MT_CORRUPT when it is no database, or one that was cut short. */
enum mt_result database_open(const char *path, struct database **out, struct mt_error *error);
/*
 * The same where there is no model, or it wants no part of a recording. Where it does and the
 * database is damaged, the damage becomes a note, and a private copy of the rows that can be read
 * is opened.
 */
enum mt_result database_open_partial(const char *path, struct model *model, struct database **out,
                                     struct mt_error *error);
/* To see which tables there are: one that was cut short is opened, too. */
enum mt_result database_open_to_look(const char *path, struct database **out,
                                     struct mt_error *error);
void database_close(struct database *database);

bool database_has_table(struct database *database, const char *table);
/* Whether the table is there and has the column. */
bool database_has_column(struct database *database, const char *table, const char *column);
/*
 * Opened immutable, a database is read without its write-ahead log: nothing is written beside it.
 * A note says so where changes wait in one.
 */
void database_note_log(const struct database *database, struct model *model);

/* MT_CORRUPT when the tables are not as the text takes them to be. */
enum mt_result database_query(struct database *database, const char *text,
                              struct database_query **out, struct mt_error *error);
/* *has_row false is the end. MT_CORRUPT, MT_IO, MT_NO_MEMORY. */
enum mt_result database_next(struct database_query *query, bool *has_row, struct mt_error *error);
void database_query_close(struct database_query *query);
/* Calls visit for each row. A text that asks for what is not there finds none, and is no error. */
enum mt_result database_each_row(struct database *database, const char *text,
                                 enum mt_result (*visit)(struct database_query *query,
                                                         void *context, struct mt_error *error),
                                 void *context, struct mt_error *error);

size_t database_column_count(struct database_query *query);
const char *database_column_name(struct database_query *query, int column);

/* Cells of the current row. Texts are borrowed until the next call; "" for NULL. */
bool database_is_null(struct database_query *query, int column);
/* A number, or a text that is one. */
bool database_is_number(struct database_query *query, int column);
int64_t database_integer(struct database_query *query, int column);
const char *database_text(struct database_query *query, int column, size_t *size_bytes);

#endif
