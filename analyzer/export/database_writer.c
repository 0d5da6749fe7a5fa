/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A new database, written in one transaction.
 *
 * Nothing is synced and no journal is kept: a database that is not finished is thrown away.
 */
#include "database_writer.h"

#include <sqlite3.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "json_text.h"

enum { inserts_max = 24, sql_max_bytes = 512 };

struct database_insert {
    struct database_writer *writer;
    sqlite3_stmt *statement;
    int next_column;
    bool has_failed;
};

struct database_writer {
    sqlite3 *database;
    const char *name;
    struct database_insert inserts[inserts_max];
    size_t insert_count;
};

static enum mt_result say_trouble(const struct database_writer *writer, struct mt_error *error)
{
    int code = sqlite3_errcode(writer->database);
    int cause = sqlite3_system_errno(writer->database);

    if (code == SQLITE_NOMEM)
        return mt_error_set(error, MT_NO_MEMORY, "no memory to write %s", writer->name);
    if ((code == SQLITE_CANTOPEN || code == SQLITE_IOERR) && cause)
        return mt_error_set(error, MT_USAGE, "%s: %s", writer->name, strerror(cause));
    return mt_error_set(error, MT_USAGE, "%s: %s", writer->name, sqlite3_errmsg(writer->database));
}

enum mt_result database_run(struct database_writer *writer, const char *sql, struct mt_error *error)
{
    if (sqlite3_exec(writer->database, sql, NULL, NULL, NULL) != SQLITE_OK)
        return say_trouble(writer, error);
    return MT_OK;
}

enum mt_result database_create(const char *path, const char *name, const char *schema,
                               struct database_writer **out, struct mt_error *error)
{
    static const char settings[] = "PRAGMA page_size=4096; PRAGMA journal_mode=OFF;"
                                   "PRAGMA synchronous=OFF; PRAGMA locking_mode=EXCLUSIVE;"
                                   "PRAGMA cache_size=-16384; PRAGMA temp_store=FILE; BEGIN;";
    struct database_writer *writer = calloc(1, sizeof(*writer));
    enum mt_result result = MT_OK;

    if (!writer)
        return mt_error_set(error, MT_NO_MEMORY, "no memory to write %s", name);
    writer->name = name;
    if (sqlite3_open_v2(path, &writer->database,
                        SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX,
                        NULL) != SQLITE_OK)
        result = say_trouble(writer, error);
    if (result == MT_OK)
        result = database_run(writer, settings, error);
    if (result == MT_OK)
        result = database_run(writer, schema, error);
    if (result != MT_OK) {
        database_writer_destroy(writer);
        return result;
    }
    *out = writer;
    return MT_OK;
}

enum mt_result database_finish(struct database_writer *writer, const char *last_sql,
                               struct mt_error *error)
{
    enum mt_result result = database_run(writer, last_sql, error);

    return result == MT_OK ? database_run(writer, "COMMIT", error) : result;
}

void database_writer_destroy(struct database_writer *writer)
{
    if (!writer)
        return;
    for (size_t i = 0; i < writer->insert_count; i++)
        sqlite3_finalize(writer->inserts[i].statement);
    sqlite3_close(writer->database);
    free(writer);
}

enum mt_result database_insert_prepare(struct database_writer *writer, const char *table,
                                       unsigned column_count, struct database_insert **out,
                                       struct mt_error *error)
{
    char sql[sql_max_bytes];
    int length = snprintf(sql, sizeof(sql), "INSERT INTO \"%s\" VALUES (?", table);

    for (unsigned i = 1; i < column_count; i++)
        length += snprintf(sql + length, sizeof(sql) - (size_t)length, ",?");
    snprintf(sql + length, sizeof(sql) - (size_t)length, ")");
    return database_prepare(writer, sql, out, error);
}

enum mt_result database_prepare(struct database_writer *writer, const char *sql,
                                struct database_insert **out, struct mt_error *error)
{
    struct database_insert *insert = &writer->inserts[writer->insert_count];

    if (writer->insert_count == inserts_max)
        return mt_error_set(error, MT_NO_MEMORY, "%s: too many tables", writer->name);
    if (sqlite3_prepare_v2(writer->database, sql, -1, &insert->statement, NULL) != SQLITE_OK)
        return say_trouble(writer, error);
    writer->insert_count++;
    insert->writer = writer;
    *out = insert;
    return MT_OK;
}

static void check(struct database_insert *insert, int code)
{
    if (code != SQLITE_OK)
        insert->has_failed = true;
}

void insert_number(struct database_insert *insert, int64_t number)
{
    check(insert, sqlite3_bind_int64(insert->statement, ++insert->next_column, number));
}

void insert_null(struct database_insert *insert)
{
    check(insert, sqlite3_bind_null(insert->statement, ++insert->next_column));
}

void insert_same(struct database_insert *insert)
{
    insert->next_column++;
}

void insert_bytes(struct database_insert *insert, const char *bytes, size_t size_bytes)
{
    check(insert, sqlite3_bind_text64(insert->statement, ++insert->next_column, bytes, size_bytes,
                                      SQLITE_STATIC, SQLITE_UTF8));
}

static size_t valid_length(const char *text)
{
    size_t length = 0, step;

    while (text[length] && (step = utf8_length((const unsigned char *)text + length)))
        length += step;
    return length;
}

/* Readers refuse texts that are no UTF-8. */
static void insert_mended(struct database_insert *insert, const char *text)
{
    struct text_builder mended;

    text_init(&mended);
    for (;;) {
        size_t length = valid_length(text);

        text_add_bytes(&mended, text, length);
        text += length;
        if (!*text)
            break;
        text_add(&mended, "\xef\xbf\xbd"); /* U+FFFD */
        text++;
    }
    check(insert, sqlite3_bind_text64(insert->statement, ++insert->next_column, text_get(&mended),
                                      mended.size_bytes, SQLITE_TRANSIENT, SQLITE_UTF8));
    text_release(&mended);
}

void insert_text(struct database_insert *insert, const char *terminated)
{
    size_t length = valid_length(terminated);

    if (terminated[length])
        insert_mended(insert, terminated);
    else
        insert_bytes(insert, terminated, length);
}

enum mt_result database_insert_row(struct database_insert *insert, struct mt_error *error)
{
    bool is_done = !insert->has_failed && sqlite3_step(insert->statement) == SQLITE_DONE;

    insert->next_column = 0;
    if (!is_done || sqlite3_reset(insert->statement) != SQLITE_OK)
        return say_trouble(insert->writer, error);
    return MT_OK;
}

/* --- reading again ------------------------------------------------------------------------- */

static sqlite3_stmt *statement_of(const struct database_row *row)
{
    return (sqlite3_stmt *)(uintptr_t)row; /* a row is where its statement stands */
}

bool row_is_null(const struct database_row *row, int column)
{
    return sqlite3_column_type(statement_of(row), column) == SQLITE_NULL;
}

int64_t row_number(const struct database_row *row, int column)
{
    return sqlite3_column_int64(statement_of(row), column);
}

const char *row_text(const struct database_row *row, int column)
{
    const unsigned char *text = sqlite3_column_text(statement_of(row), column);

    return text ? (const char *)text : "";
}

enum mt_result database_each(struct database_writer *writer, const char *sql,
                             enum mt_result (*visit)(void *context, const struct database_row *row,
                                                     struct mt_error *error),
                             void *context, struct mt_error *error)
{
    enum mt_result result = MT_OK;
    sqlite3_stmt *statement;
    int code = SQLITE_ROW;

    if (sqlite3_prepare_v2(writer->database, sql, -1, &statement, NULL) != SQLITE_OK)
        return say_trouble(writer, error);
    while (result == MT_OK && (code = sqlite3_step(statement)) == SQLITE_ROW)
        result = visit(context, (const struct database_row *)statement, error);
    if (result == MT_OK && code != SQLITE_DONE)
        result = say_trouble(writer, error);
    sqlite3_finalize(statement);
    return result;
}
