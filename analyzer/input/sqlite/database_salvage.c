/* SPDX-License-Identifier: Apache-2.0 */
/*
 * SQLite refuses a file with fewer pages than its header says, unless its schema may be written;
 * that may be said of a file that is opened read-only. A page that is there in part would be filled
 * with zeros, so the size of such a file is told in whole pages.
 */
#include "database_salvage.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include <sqlite3.h>

static const char vfs_name[] = "leaktide-whole-pages";

/* --- files of whole pages ------------------------------------------------------------------ */

/* Set once, before the first file is opened with them: SQLite has one set of methods for all. */
static sqlite3_vfs vfs;
static sqlite3_io_methods methods;
static const sqlite3_io_methods *real_methods;
static const sqlite3_vfs *real_vfs;
static pthread_mutex_t setting = PTHREAD_MUTEX_INITIALIZER;
static bool is_registered;

static int size_in_pages(sqlite3_file *file, sqlite3_int64 *size_bytes)
{
    unsigned char bytes[2];
    int code = real_methods->xFileSize(file, size_bytes);
    sqlite3_int64 page_bytes;

    if (code != SQLITE_OK || real_methods->xRead(file, bytes, sizeof(bytes), 16) != SQLITE_OK)
        return code;
    page_bytes = bytes[0] << 8 | bytes[1];
    if (page_bytes == 1)
        page_bytes = 65536;
    if (page_bytes >= 512)
        *size_bytes -= *size_bytes % page_bytes;
    return SQLITE_OK;
}

static int open_file(sqlite3_vfs *unused, const char *name, sqlite3_file *file, int flags,
                     int *flags_out)
{
    int code = real_vfs->xOpen((sqlite3_vfs *)real_vfs, name, file, flags, flags_out);

    (void)unused;
    if (code != SQLITE_OK || !file->pMethods || !(flags & SQLITE_OPEN_MAIN_DB))
        return code;
    pthread_mutex_lock(&setting);
    if (!real_methods) {
        real_methods = file->pMethods;
        methods = *real_methods;
        methods.xFileSize = size_in_pages;
    }
    pthread_mutex_unlock(&setting);
    if (file->pMethods == real_methods)
        file->pMethods = &methods;
    return code;
}

static void vfs_register(void)
{
    real_vfs = sqlite3_vfs_find(NULL);
    if (!real_vfs)
        return;
    vfs = *real_vfs;
    vfs.zName = vfs_name;
    vfs.pNext = NULL;
    vfs.xOpen = open_file;
    is_registered = sqlite3_vfs_register(&vfs, 0) == SQLITE_OK;
}

int database_open_cut(const char *uri, struct sqlite3 **handle)
{
    enum { flags = SQLITE_OPEN_READONLY | SQLITE_OPEN_URI | SQLITE_OPEN_NOMUTEX };
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    int code;

    *handle = NULL;
    pthread_once(&once, vfs_register);
    if (!is_registered)
        return SQLITE_NOMEM;
    code = sqlite3_open_v2(uri, handle, flags, vfs_name);
    if (code == SQLITE_OK)
        code = sqlite3_exec(*handle, "PRAGMA writable_schema = ON", NULL, NULL, NULL);
    if (code == SQLITE_OK)
        code = sqlite3_exec(*handle, "SELECT count(*) FROM sqlite_master", NULL, NULL, NULL);
    return code;
}

/* --- copying ------------------------------------------------------------------------------- */

/* INSERT OR IGNORE INTO "t" VALUES (?, ?, ...) */
static sqlite3_stmt *prepare_insert(sqlite3 *copy, const char *table, int column_count)
{
    sqlite3_str *text = sqlite3_str_new(copy);
    sqlite3_stmt *insert = NULL;
    char *finished;

    sqlite3_str_appendf(text, "INSERT OR IGNORE INTO \"%w\" VALUES (", table);
    for (int i = 0; i < column_count; i++)
        sqlite3_str_appendall(text, i ? ", ?" : "?");
    sqlite3_str_appendall(text, ")");
    finished = sqlite3_str_finish(text);
    if (finished)
        sqlite3_prepare_v2(copy, finished, -1, &insert, NULL);
    sqlite3_free(finished);
    return insert;
}

static int copy_row(sqlite3_stmt *select, sqlite3_stmt *insert)
{
    for (int i = 0; i < sqlite3_column_count(select); i++)
        sqlite3_bind_value(insert, i + 1, sqlite3_column_value(select, i));
    sqlite3_step(insert);
    return sqlite3_reset(insert);
}

/* Rows up to the first that cannot be read; *is_whole: that was none. SQLite's code of the copy. */
static int copy_rows(sqlite3 *damaged, sqlite3 *copy, const char *table, sqlite3_int64 *row_count,
                     bool *is_whole)
{
    char *text = sqlite3_mprintf("SELECT * FROM \"%w\"", table);
    sqlite3_stmt *select = NULL, *insert = NULL;
    int code = SQLITE_OK, read = SQLITE_NOMEM;

    *row_count = 0;
    if (text)
        read = sqlite3_prepare_v2(damaged, text, -1, &select, NULL);
    sqlite3_free(text);
    if (select)
        insert = prepare_insert(copy, table, sqlite3_column_count(select));
    while (select && insert && code == SQLITE_OK && (read = sqlite3_step(select)) == SQLITE_ROW) {
        code = copy_row(select, insert);
        *row_count += code == SQLITE_OK;
    }
    *is_whole = read == SQLITE_DONE;
    sqlite3_finalize(select);
    sqlite3_finalize(insert);
    return code;
}

static int copy_tables(sqlite3 *damaged, sqlite3 *copy, struct database_saved *saved)
{
    static const char tables[] = "SELECT name, sql FROM sqlite_master WHERE type = 'table' AND "
                                 "name NOT LIKE 'sqlite\\_%' ESCAPE '\\' AND sql NOT NULL";
    sqlite3_stmt *table = NULL;
    int code = SQLITE_OK;
    size_t length = 0;

    sqlite3_prepare_v2(damaged, tables, -1, &table, NULL);
    while (table && code == SQLITE_OK && sqlite3_step(table) == SQLITE_ROW) {
        const char *name = (const char *)sqlite3_column_text(table, 0);
        const char *made = (const char *)sqlite3_column_text(table, 1);
        sqlite3_int64 row_count;
        bool is_whole;

        /* What cannot be made again, a table of an extension, is left out. */
        if (!name || !made || sqlite3_exec(copy, made, NULL, NULL, NULL) != SQLITE_OK)
            continue;
        code = copy_rows(damaged, copy, name, &row_count, &is_whole);
        saved->row_count += (uint64_t)row_count;
        if (!is_whole && length < sizeof(saved->left_out))
            length +=
                (size_t)snprintf(saved->left_out + length, sizeof(saved->left_out) - length,
                                 "%s%s: %lld rows", length ? "; " : "", name, (long long)row_count);
    }
    sqlite3_finalize(table);
    return code;
}

int database_salvage(struct sqlite3 *damaged, struct sqlite3 **copy, struct database_saved *saved)
{
    int code = sqlite3_open_v2("", copy, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, NULL);

    *saved = (struct database_saved){0};
    if (code == SQLITE_OK)
        code = sqlite3_exec(*copy, "PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; BEGIN",
                            NULL, NULL, NULL);
    if (code == SQLITE_OK)
        code = copy_tables(damaged, *copy, saved);
    if (code == SQLITE_OK)
        code = sqlite3_exec(*copy, "COMMIT", NULL, NULL, NULL);
    return code;
}
