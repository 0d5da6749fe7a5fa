/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A thin layer above SQLite.
 */
#include "database.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <sqlite3.h>

struct database {
    char *path;
    sqlite3 *handle;
};

struct database_query {
    const struct database *database;
    sqlite3_stmt *statement;
};

bool database_recognises(const char *path)
{
    static const char magic[] = "SQLite format 3";
    char bytes[sizeof(magic)];
    int descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    bool is_one = descriptor >= 0 &&
                  read(descriptor, bytes, sizeof(bytes)) == (ssize_t)sizeof(bytes) &&
                  memcmp(bytes, magic, sizeof(magic)) == 0;

    if (descriptor >= 0)
        close(descriptor);
    return is_one;
}

/* "file:/a%3fb?mode=ro&immutable=1"; NULL when there is no memory. */
static char *uri_of(const char *path)
{
    static const char head[] = "file:", tail[] = "?mode=ro&immutable=1";
    char *uri = malloc(sizeof(head) + sizeof(tail) + 3 * strlen(path));
    char *at = uri;

    if (!uri)
        return NULL;
    at += sprintf(at, "%s", head);
    for (; *path; path++) {
        if (strchr("?#%", *path))
            at += sprintf(at, "%%%02x", (unsigned char)*path);
        else
            *at++ = *path;
    }
    memcpy(at, tail, sizeof(tail));
    return uri;
}

static enum mt_result refuse(const struct database *database, struct mt_error *error)
{
    int code = sqlite3_errcode(database->handle);
    enum mt_result result = code == SQLITE_NOMEM      ? MT_NO_MEMORY
                            : code == SQLITE_IOERR    ? MT_IO
                            : code == SQLITE_CANTOPEN ? MT_IO
                                                      : MT_CORRUPT;

    return mt_error_set(error, result, "%s: %s", database->path, sqlite3_errmsg(database->handle));
}

enum mt_result database_open(const char *path, struct database **out, struct mt_error *error)
{
    struct database *database = calloc(1, sizeof(*database));
    char *uri = uri_of(path);
    enum mt_result result = MT_OK;

    if (database)
        database->path = strdup(path);
    if (!database || !uri || !database->path)
        result = mt_error_set(error, MT_NO_MEMORY, "no memory to open %s", path);
    else if (sqlite3_open_v2(uri, &database->handle,
                             SQLITE_OPEN_READONLY | SQLITE_OPEN_URI | SQLITE_OPEN_NOMUTEX,
                             NULL) != SQLITE_OK ||
             sqlite3_exec(database->handle, "SELECT count(*) FROM sqlite_master", NULL, NULL,
                          NULL) != SQLITE_OK)
        result = refuse(database, error);
    free(uri);
    if (result == MT_OK)
        *out = database;
    else
        database_close(database);
    return result;
}

void database_close(struct database *database)
{
    if (!database)
        return;
    sqlite3_close_v2(database->handle);
    free(database->path);
    free(database);
}

bool database_has_table(struct database *database, const char *table)
{
    return sqlite3_table_column_metadata(database->handle, NULL, table, NULL, NULL, NULL, NULL,
                                         NULL, NULL) == SQLITE_OK;
}

bool database_has_column(struct database *database, const char *table, const char *column)
{
    return sqlite3_table_column_metadata(database->handle, NULL, table, column, NULL, NULL, NULL,
                                         NULL, NULL) == SQLITE_OK;
}

bool database_has_log(const struct database *database)
{
    char path[4096];
    struct stat status;

    return snprintf(path, sizeof(path), "%s-wal", database->path) < (int)sizeof(path) &&
           stat(path, &status) == 0 && status.st_size > 0;
}

enum mt_result database_query(struct database *database, const char *text,
                              struct database_query **out, struct mt_error *error)
{
    struct database_query *query = calloc(1, sizeof(*query));

    if (!query)
        return mt_error_set(error, MT_NO_MEMORY, "no memory to read %s", database->path);
    query->database = database;
    if (sqlite3_prepare_v2(database->handle, text, -1, &query->statement, NULL) != SQLITE_OK) {
        free(query);
        return refuse(database, error);
    }
    *out = query;
    return MT_OK;
}

enum mt_result database_next(struct database_query *query, bool *has_row, struct mt_error *error)
{
    int code = sqlite3_step(query->statement);

    *has_row = code == SQLITE_ROW;
    return code == SQLITE_ROW || code == SQLITE_DONE ? MT_OK : refuse(query->database, error);
}

void database_query_close(struct database_query *query)
{
    if (!query)
        return;
    sqlite3_finalize(query->statement);
    free(query);
}

bool database_is_null(struct database_query *query, int column)
{
    return sqlite3_column_type(query->statement, column) == SQLITE_NULL;
}

int64_t database_integer(struct database_query *query, int column)
{
    return sqlite3_column_int64(query->statement, column);
}

const char *database_text(struct database_query *query, int column, size_t *size_bytes)
{
    const char *text = (const char *)sqlite3_column_text(query->statement, column);

    *size_bytes = text ? (size_t)sqlite3_column_bytes(query->statement, column) : 0;
    return text ? text : "";
}
