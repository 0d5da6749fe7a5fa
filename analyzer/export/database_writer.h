/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A new database, written in one transaction.
 *
 *     struct database_writer *writer;
 *     struct database_insert *blocks;
 *
 *     database_create(path, "CREATE TABLE blocks (...)", &writer, error);
 *     database_insert_prepare(writer, "blocks", 2, &blocks, error);
 *     insert_number(blocks, 1); insert_text(blocks, "name", 4);
 *     database_insert_row(blocks, error);
 *     database_finish(writer, "CREATE INDEX ...", error);
 *     database_writer_destroy(writer);
 *
 * Cells are given from left to right. One thread at a time.
 */
#ifndef LEAKTIDE_DATABASE_WRITER_H
#define LEAKTIDE_DATABASE_WRITER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "error_sentence.h"

struct database_writer;
struct database_insert;

/* path must not exist; name is what sentences call it. schema runs first. */
enum mt_result database_create(const char *path, const char *name, const char *schema,
                               struct database_writer **out, struct mt_error *error);
enum mt_result database_run(struct database_writer *writer, const char *sql,
                            struct mt_error *error);
/* Ends the transaction. After it, only destroying. */
enum mt_result database_finish(struct database_writer *writer, const char *last_sql,
                               struct mt_error *error);
/* Of all its inserts, too; accepts NULL. */
void database_writer_destroy(struct database_writer *writer);

/* The insert lives as long as the writer. */
enum mt_result database_insert_prepare(struct database_writer *writer, const char *table,
                                       unsigned column_count, struct database_insert **out,
                                       struct mt_error *error);
/* The same for any statement; cells are its parameters, from left to right. */
enum mt_result database_prepare(struct database_writer *writer, const char *sql,
                                struct database_insert **out, struct mt_error *error);
void insert_number(struct database_insert *insert, int64_t number);
void insert_null(struct database_insert *insert);
/* As in the row before; bytes of it must still be there. */
void insert_same(struct database_insert *insert);
/* As they are; bytes must stay until the row is put. */
void insert_bytes(struct database_insert *insert, const char *bytes, size_t size_bytes);
/* The same, but what is no UTF-8 becomes U+FFFD. */
void insert_text(struct database_insert *insert, const char *terminated);
/* MT_USAGE: the disk is full, or the like. */
enum mt_result database_insert_row(struct database_insert *insert, struct mt_error *error);

/*
 * Rows of the new database, handed to `row` one by one. Texts are borrowed until it returns; the
 * first result that is not MT_OK ends it.
 */
struct database_row;
enum mt_result database_each(struct database_writer *writer, const char *sql,
                             enum mt_result (*row)(void *context, const struct database_row *row,
                                                   struct mt_error *error),
                             void *context, struct mt_error *error);
bool row_is_null(const struct database_row *row, int column);
int64_t row_number(const struct database_row *row, int column);
const char *row_text(const struct database_row *row, int column); /* "" for NULL */

#endif
