/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A thin layer above SQLite.
 */
#include "database.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <sqlite3.h>

#include "database_salvage.h"
#include "path_text.h"

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

static uint64_t big_endian(const unsigned char *bytes, size_t size_bytes)
{
    uint64_t number = 0;

    for (size_t i = 0; i < size_bytes; i++)
        number = number << 8 | bytes[i];
    return number;
}

/* The header says how many pages there are, unless an old version wrote the file last. */
static enum mt_result check_size(const char *path, struct mt_error *error)
{
    unsigned char header[100];
    struct stat status;
    int descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    bool is_read = descriptor >= 0 && fstat(descriptor, &status) == 0 &&
                   read(descriptor, header, sizeof(header)) == (ssize_t)sizeof(header);
    uint64_t page_bytes, whole_bytes;

    if (descriptor >= 0)
        close(descriptor);
    if (!is_read)
        return MT_OK; /* SQLite says it better */
    page_bytes = big_endian(header + 16, 2);
    whole_bytes = big_endian(header + 28, 4) * (page_bytes == 1 ? 65536 : page_bytes);
    if (memcmp(header + 24, header + 92, 4) != 0 || (uint64_t)status.st_size >= whole_bytes)
        return MT_OK;
    return mt_error_set(error, MT_CORRUPT,
                        "%s: the database ends at byte %" PRIu64 " of %" PRIu64
                        ": it was cut short",
                        path, (uint64_t)status.st_size, whole_bytes);
}

/* Of what a row may be made, by a column that is computed: far more than any stack takes. */
enum { ROW_MOST_BYTES = 16 << 20 };

/* All of it: whether it can be opened shows when the first page is read. */
static int open_whole(const char *uri, sqlite3 **handle)
{
    int code = sqlite3_open_v2(uri, handle,
                               SQLITE_OPEN_READONLY | SQLITE_OPEN_URI | SQLITE_OPEN_NOMUTEX, NULL);

    if (code == SQLITE_OK)
        code = sqlite3_exec(*handle, "SELECT count(*) FROM sqlite_master", NULL, NULL, NULL);
    return code;
}

static enum mt_result open_with(const char *path, int (*open_file)(const char *, sqlite3 **),
                                struct database **out, struct mt_error *error)
{
    struct database *database = calloc(1, sizeof(*database));
    char *uri = uri_of(path);
    enum mt_result result = MT_OK;

    if (database)
        database->path = strdup(path);
    if (!database || !uri || !database->path)
        result = mt_error_set(error, MT_NO_MEMORY, "no memory to open %s", path);
    else if (open_file(uri, &database->handle) != SQLITE_OK)
        result = refuse(database, error);
    else
        sqlite3_limit(database->handle, SQLITE_LIMIT_LENGTH, ROW_MOST_BYTES);
    free(uri);
    if (result == MT_OK)
        *out = database;
    else
        database_close(database);
    return result;
}

enum mt_result database_open(const char *path, struct database **out, struct mt_error *error)
{
    enum mt_result result = check_size(path, error);

    return result == MT_OK ? open_with(path, open_whole, out, error) : result;
}

enum mt_result database_open_to_look(const char *path, struct database **out,
                                     struct mt_error *error)
{
    return open_with(path, database_open_cut, out, error);
}

/* --- what is left of a damaged one --------------------------------------------------------- */

/* MT_CORRUPT, and the first of what is wrong, when not all pages are as they should be. */
static enum mt_result check_pages(const struct database *database, struct mt_error *error)
{
    sqlite3_stmt *check = NULL;
    const char *says = NULL;
    enum mt_result result = MT_OK;

    if (sqlite3_prepare_v2(database->handle, "PRAGMA quick_check(1)", -1, &check, NULL) ==
            SQLITE_OK &&
        sqlite3_step(check) == SQLITE_ROW)
        says = (const char *)sqlite3_column_text(check, 0);
    if (says && strncmp(says, "*** ", 4) == 0 && strchr(says, '\n')) /* which database: ours */
        says = strchr(says, '\n') + 1;
    if (!says || strcmp(says, "ok") != 0)
        result = mt_error_set(error, MT_CORRUPT, "%s: the database disk image is malformed: %s",
                              database->path, says ? says : "it cannot be checked");
    sqlite3_finalize(check);
    return result;
}

/* Puts the copy of what can be read in the place of the damaged database; error: the damage. */
static enum mt_result salvage(struct database *database, struct model *model,
                              struct mt_error *error)
{
    struct database_saved saved;
    struct mt_error damage = *error;
    sqlite3 *copy = NULL;
    int code = database_salvage(database->handle, &copy, &saved);

    sqlite3_close_v2(database->handle);
    database->handle = copy;
    if (code != SQLITE_OK)
        return mt_error_set(error, MT_IO, "%s: what can be read of it cannot be copied: %s",
                            database->path, sqlite3_errstr(code));
    if (!saved.row_count)
        return mt_error_set(error, MT_CORRUPT, "%s, and none of its rows can be found",
                            damage.message);
    model_note_damage(model, &damage);
    if (saved.left_out[0])
        model_note(model, 0, "tables of %s that are not whole, and what was read of them: %s",
                   path_base(database->path), saved.left_out);
    return MT_OK;
}

enum mt_result database_open_partial(const char *path, struct model *model, struct database **out,
                                     struct mt_error *error)
{
    struct database *database = NULL;
    struct mt_error damage = {.message = ""};
    bool wants_partial = model && model_wants_partial(model);
    enum mt_result result = database_open(path, &database, &damage);

    if (result == MT_OK && wants_partial)
        result = check_pages(database, &damage);
    if (result == MT_CORRUPT && wants_partial) {
        database_close(database);
        database = NULL;
        if (database_open_to_look(path, &database, NULL) == MT_OK)
            result = salvage(database, model, &damage);
    }
    if (result == MT_OK) {
        *out = database;
        return MT_OK;
    }
    database_close(database);
    return mt_error_set(error, result, "%s", damage.message);
}

void database_close(struct database *database)
{
    if (!database)
        return;
    sqlite3_close_v2(database->handle);
    free(database->path);
    free(database);
}

enum mt_result database_check(const char *path, struct mt_error *error)
{
    struct database *database = NULL;
    enum mt_result result = database_open(path, &database, error);

    database_close(database);
    return result;
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

void database_note_log(const struct database *database, struct model *model)
{
    char path[4096];
    struct stat status;

    if (snprintf(path, sizeof(path), "%s-wal", database->path) >= (int)sizeof(path) ||
        stat(path, &status) != 0 || !status.st_size)
        return;
    model_note(model, 0,
               "%s-wal holds %" PRIu64 " bytes of changes that are not in the database and were "
               "not read; open it once with sqlite3 to take them over",
               path_base(database->path), (uint64_t)status.st_size);
    model_set_incomplete(model);
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

enum mt_result database_each_row(struct database *database, const char *text,
                                 enum mt_result (*visit)(struct database_query *query,
                                                         void *context, struct mt_error *error),
                                 void *context, struct mt_error *error)
{
    struct database_query *query = NULL;
    enum mt_result result = database_query(database, text, &query, NULL);
    bool has_row = true;

    if (result != MT_OK)
        return MT_OK;
    while (result == MT_OK && has_row) {
        result = database_next(query, &has_row, error);
        if (result == MT_OK && has_row)
            result = visit(query, context, error);
    }
    database_query_close(query);
    return result;
}

size_t database_column_count(struct database_query *query)
{
    return (size_t)sqlite3_column_count(query->statement);
}

const char *database_column_name(struct database_query *query, int column)
{
    return sqlite3_column_name(query->statement, column);
}

bool database_is_null(struct database_query *query, int column)
{
    return sqlite3_column_type(query->statement, column) == SQLITE_NULL;
}

bool database_is_number(struct database_query *query, int column)
{
    int type = sqlite3_column_type(query->statement, column);
    size_t size_bytes;
    const char *text;

    if (type != SQLITE_TEXT)
        return type == SQLITE_INTEGER || type == SQLITE_FLOAT;
    text = database_text(query, column, &size_bytes);
    text += *text == '-';
    return *text && !text[strspn(text, "0123456789")];
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
