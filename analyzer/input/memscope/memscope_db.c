/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The database of msleaks and msmemscope, opened read-only and immutable: nothing is written
 * beside it, and it may lie in a folder that cannot be written.
 */
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <sqlite3.h>

#include "memscope_files.h"
#include "text_builder.h"

static const char *const tables[] = {"memscope_dump", "leaks_dump"};

static bool is_database(const char *path)
{
    static const char magic[] = "SQLite format 3";
    char bytes[sizeof(magic)];
    int descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    bool is_one = descriptor >= 0 &&
                  read(descriptor, bytes, sizeof(bytes)) == (ssize_t)sizeof(bytes) &&
                  memcmp(bytes, magic, sizeof(bytes)) == 0;

    if (descriptor >= 0)
        close(descriptor);
    return is_one;
}

/* A path as SQLite wants it in a URI. */
static sqlite3 *open_database(const char *path)
{
    struct text_builder uri;
    sqlite3 *database = NULL;

    text_init(&uri);
    text_add(&uri, "file:");
    for (; *path; path++) {
        if (strchr("?#%", *path))
            text_add_format(&uri, "%%%02x", (unsigned char)*path);
        else
            text_add_char(&uri, *path, 1);
    }
    text_add(&uri, "?mode=ro&immutable=1");
    if (!uri.has_failed &&
        sqlite3_open_v2(text_get(&uri), &database, SQLITE_OPEN_READONLY | SQLITE_OPEN_URI, NULL) !=
            SQLITE_OK) {
        sqlite3_close(database);
        database = NULL;
    }
    text_release(&uri);
    return database;
}

/* All rows of the first table there is; NULL if there is none. */
static sqlite3_stmt *prepare(sqlite3 *database)
{
    sqlite3_stmt *statement = NULL;

    for (size_t i = 0; i < sizeof(tables) / sizeof(tables[0]) && !statement; i++) {
        char query[64];

        snprintf(query, sizeof(query), "SELECT * FROM %s", tables[i]);
        if (sqlite3_prepare_v2(database, query, -1, &statement, NULL) != SQLITE_OK)
            statement = NULL;
    }
    return statement;
}

int memscope_db_recognises(const char *path)
{
    sqlite3 *database = is_database(path) ? open_database(path) : NULL;
    sqlite3_stmt *statement = database ? prepare(database) : NULL;
    int is_ours = statement != NULL;

    sqlite3_finalize(statement);
    sqlite3_close(database);
    return is_ours;
}

/* Names and stacks keep the quotes that they have in a csv. */
static struct attr_text without_quotes(struct attr_text text)
{
    if (text.size_bytes > 1 && text.bytes[0] == '"' && text.bytes[text.size_bytes - 1] == '"')
        return (struct attr_text){text.bytes + 1, text.size_bytes - 2};
    return text;
}

static uint64_t take_rows(sqlite3_stmt *statement, struct memscope_rows *rows, int *status)
{
    int count = sqlite3_column_count(statement);
    uint64_t bad_count = 0;

    while ((*status = sqlite3_step(statement)) == SQLITE_ROW) {
        struct attr_text cells[MEMSCOPE_COLUMNS + 1];

        for (size_t i = 0; i <= MEMSCOPE_COLUMNS; i++)
            cells[i] = (struct attr_text){"", 0};
        for (int i = 0; i < count; i++) {
            const char *name = sqlite3_column_name(statement, i);
            const char *bytes = (const char *)sqlite3_column_text(statement, i);
            struct attr_text cell = {bytes ? bytes : "",
                                     bytes ? (size_t)sqlite3_column_bytes(statement, i) : 0};

            if (name)
                cells[memscope_column_of(name, strlen(name))] = without_quotes(cell);
        }
        bad_count += !memscope_rows_add(rows, cells);
    }
    return bad_count;
}

static enum mt_result read_table(const char *path, sqlite3 *database, struct model *model,
                                 struct memscope_rows *rows, struct mt_error *error)
{
    sqlite3_stmt *statement = prepare(database);
    int status = SQLITE_ERROR;
    uint64_t bad_count;

    if (!statement)
        return mt_error_set(error, MT_CORRUPT, "%s: %s", path, sqlite3_errmsg(database));
    memscope_rows_begin_file(rows, 0);
    bad_count = take_rows(statement, rows, &status);
    if (bad_count) {
        model_set_incomplete(model);
        model_note(model, bad_count, "rows of %s that make no sense, and were left out", path);
    }
    if (status != SQLITE_DONE)
        mt_error_set(error, MT_CORRUPT, "%s: %s", path, sqlite3_errmsg(database));
    sqlite3_finalize(statement);
    return status == SQLITE_DONE ? MT_OK : MT_CORRUPT;
}

enum mt_result memscope_db_read(const char *path, struct model *model, struct memscope_rows *rows,
                                struct mt_error *error)
{
    sqlite3 *database = open_database(path);
    enum mt_result result;

    if (!database)
        return mt_error_set(error, MT_IO, "%s: cannot be opened as a database", path);
    result = read_table(path, database, model, rows, error);
    sqlite3_close(database);
    return result;
}
