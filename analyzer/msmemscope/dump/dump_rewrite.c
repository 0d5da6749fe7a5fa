/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writes inefficient_type into rows.
 *
 *   csv  {allocation_id:4,size:512}      {allocation_id:4,size:512,inefficient_type:late_...}
 *   db   {"allocation_id":"4"}           {"allocation_id":"4","inefficient_type":"late_..."}
 */
#define _GNU_SOURCE
#include "dump_rewrite.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "csv_reader.h"
#include "inefficiency.h"
#include "memscope_attr.h"
#include "memscope_rows.h"
#include "text_builder.h"

enum { buffer_bytes = 1 << 20 };

/* --- the cell ----------------------------------------------------------------------------------
 */

struct form {
    const char *key;   /* from the comma before it to where the value begins */
    const char *after; /* what follows the value */
};

static const struct form csv_form = {",inefficient_type:", ""};
static const struct form db_form = {",\"inefficient_type\":\"", "\""};

/* Cuts what was there out of attr[0, *size), and gives its types. */
static uint32_t take_old(const struct form *form, char *attr, size_t *size_bytes)
{
    static const char *const names[] = {"early_allocation", "late_deallocation",
                                        "temporary_idleness"};
    char *begin = memmem(attr, *size_bytes, form->key, strlen(form->key)), *end;
    uint32_t types = 0;
    bool has_more = begin != NULL;

    for (end = begin ? begin + strlen(form->key) : NULL; has_more;) {
        has_more = false;
        for (size_t i = 0; i < 3; i++) {
            size_t length = strlen(names[i]), left = (size_t)(attr + *size_bytes - end);
            size_t comma = types && left && *end == ',' ? 1 : 0;

            if (left >= comma + length && memcmp(end + comma, names[i], length) == 0) {
                types |= 1u << i;
                end += comma + length;
                has_more = true;
            }
        }
    }
    if (types) {
        size_t after = strlen(form->after), left = (size_t)(attr + *size_bytes - end);

        end += left >= after && memcmp(end, form->after, after) == 0 ? after : 0;
        memmove(begin, end, (size_t)(attr + *size_bytes - end));
        *size_bytes -= (size_t)(end - begin);
    }
    return types;
}

/* The cell with the types in it; false when it does not end in a brace, or there is no memory. */
static bool add_types(const struct form *form, struct text_builder *out, const char *attr,
                      size_t size_bytes, uint32_t types)
{
    char *copy = malloc(size_bytes + 1), names[INEFFICIENCY_NAMES_BYTES];
    bool is_object;

    if (!copy)
        return false;
    memcpy(copy, attr, size_bytes);
    types |= take_old(form, copy, &size_bytes);
    is_object = size_bytes > 1 && copy[size_bytes - 1] == '}';
    if (is_object) {
        inefficiency_names(types, names);
        text_add_bytes(out, copy, size_bytes - 1);
        text_add_format(out, "%s%s%s}", form->key, names, form->after);
    }
    free(copy);
    return is_object && !out->has_failed;
}

/* --- csv ---------------------------------------------------------------------------------------
 */

struct csv_rewrite {
    const char *path;
    const uint8_t *types;
    size_t row_count;
    bool is_strict;
    int descriptor;
    FILE *out;
    size_t attr_column, column_count;
    struct text_builder raw, cell;
};

/* As Python's csv module: quotes only where they are needed. */
static void write_field(FILE *out, const char *bytes, size_t size_bytes)
{
    bool needs_quotes = false;

    for (size_t i = 0; i < size_bytes && !needs_quotes; i++)
        needs_quotes = strchr(",\"\r\n", bytes[i]) != NULL;
    if (!needs_quotes) {
        fwrite(bytes, 1, size_bytes, out);
        return;
    }
    fputc('"', out);
    for (size_t i = 0; i < size_bytes; i++) {
        if (bytes[i] == '"')
            fputc('"', out);
        fputc(bytes[i], out);
    }
    fputc('"', out);
}

static bool write_strict(struct csv_rewrite *rewrite, const struct csv_row *row, uint32_t types)
{
    for (size_t i = 0; i < row->column_count; i++) {
        struct csv_field field = row->fields[i];

        if (i)
            fputc(',', rewrite->out);
        text_clear(&rewrite->cell);
        if (types && i == rewrite->attr_column &&
            add_types(&csv_form, &rewrite->cell, field.bytes, field.size_bytes, types))
            field = (struct csv_field){rewrite->cell.bytes, rewrite->cell.size_bytes};
        write_field(rewrite->out, field.bytes, field.size_bytes);
    }
    fputs("\r\n", rewrite->out);
    return !ferror(rewrite->out);
}

/* All bytes as they are, but for the cell. */
static bool write_raw(struct csv_rewrite *rewrite, const struct csv_row *row, uint64_t end_bytes,
                      uint32_t types)
{
    size_t size_bytes = (size_t)(end_bytes - row->offset_bytes);
    char *raw = malloc(size_bytes + 1);
    const char *cell = NULL;
    struct csv_field attr = {"", 0};
    bool is_ok = raw && pread(rewrite->descriptor, raw, size_bytes, (off_t)row->offset_bytes) ==
                            (ssize_t)size_bytes;

    text_clear(&rewrite->cell);
    if (is_ok && types && rewrite->attr_column < row->column_count) {
        attr = row->fields[rewrite->attr_column];
        if (add_types(&csv_form, &rewrite->cell, attr.bytes, attr.size_bytes, types))
            cell = memmem(raw, size_bytes, attr.bytes, attr.size_bytes);
    }
    if (is_ok && cell) {
        fwrite(raw, 1, (size_t)(cell - raw), rewrite->out);
        fwrite(rewrite->cell.bytes, 1, rewrite->cell.size_bytes, rewrite->out);
        cell += attr.size_bytes;
        fwrite(cell, 1, (size_t)(raw + size_bytes - cell), rewrite->out);
    } else if (is_ok) {
        fwrite(raw, 1, size_bytes, rewrite->out);
    }
    free(raw);
    return is_ok && !ferror(rewrite->out);
}

static bool write_row(struct csv_rewrite *rewrite, const struct csv_reader *reader,
                      const struct csv_row *row, uint32_t types)
{
    return rewrite->is_strict && row->column_count <= CSV_COLUMNS_MAX
               ? write_strict(rewrite, row, types)
               : write_raw(rewrite, row, reader->offset_bytes, types);
}

static size_t attr_column_of(const struct csv_row *header)
{
    for (size_t i = 0; i < header->column_count && i < CSV_COLUMNS_MAX; i++)
        if (memscope_column_of(header->fields[i].bytes, header->fields[i].size_bytes) ==
            COLUMN_ATTR)
            return i;
    return CSV_COLUMNS_MAX;
}

/* Rows are counted as they were read: short ones make no sense, and have no number. */
static enum mt_result rewrite_rows(struct csv_rewrite *rewrite, struct csv_reader *reader,
                                   struct mt_error *error)
{
    struct csv_row row;
    bool has_row = true, is_header = true;
    size_t number = 0;
    enum mt_result result = csv_reader_next(reader, CSV_COLUMNS_MAX, &row, &has_row, error);

    if (result == MT_OK && has_row) {
        rewrite->attr_column = attr_column_of(&row);
        rewrite->column_count = row.column_count;
    }
    while (result == MT_OK && has_row) {
        bool is_counted = !is_header && row.column_count >= rewrite->column_count;
        uint32_t types = is_counted && number < rewrite->row_count ? rewrite->types[number] : 0;

        number += is_counted;
        is_header = false;
        if (!write_row(rewrite, reader, &row, types))
            return mt_error_set(error, MT_IO, "%s cannot be written anew: %s", rewrite->path,
                                strerror(errno));
        result = csv_reader_next(reader, CSV_COLUMNS_MAX, &row, &has_row, error);
    }
    return result;
}

static enum mt_result rewrite_into(struct csv_rewrite *rewrite, struct mt_error *error)
{
    struct csv_reader reader;
    enum mt_result result = csv_reader_init(&reader, rewrite->descriptor, buffer_bytes, error);

    if (result != MT_OK)
        return result;
    text_init(&rewrite->cell);
    result = rewrite_rows(rewrite, &reader, error);
    text_release(&rewrite->cell);
    csv_reader_release(&reader);
    return result;
}

/* The new file gets the place and the rights of the old one. */
static enum mt_result replace(struct csv_rewrite *rewrite, char *temporary, struct mt_error *error)
{
    struct stat old;
    int file = mkstemp(temporary);
    enum mt_result result = MT_OK;

    rewrite->out = file >= 0 ? fdopen(file, "w") : NULL;
    if (!rewrite->out || fstat(rewrite->descriptor, &old) != 0)
        result = mt_error_set(error, MT_IO, "%s: %s", temporary, strerror(errno));
    else
        result = rewrite_into(rewrite, error);
    if (result == MT_OK && (fchmod(file, old.st_mode & 07777) != 0 || fflush(rewrite->out) != 0))
        result = mt_error_set(error, MT_IO, "%s: %s", temporary, strerror(errno));
    if (rewrite->out)
        fclose(rewrite->out);
    if (result == MT_OK && rename(temporary, rewrite->path) != 0)
        result = mt_error_set(error, MT_IO, "%s: %s", rewrite->path, strerror(errno));
    if (result != MT_OK && file >= 0)
        unlink(temporary);
    return result;
}

enum mt_result dump_rewrite_csv(const char *path, const uint8_t *types, size_t row_count,
                                bool is_strict, struct mt_error *error)
{
    struct csv_rewrite rewrite = {
        .path = path, .types = types, .row_count = row_count, .is_strict = is_strict};
    char temporary[PATH_MAX];
    enum mt_result result;

    if (snprintf(temporary, sizeof(temporary), "%s.XXXXXX", path) >= (int)sizeof(temporary))
        return mt_error_set(error, MT_USAGE, "%s: the path is too long", path);
    rewrite.descriptor = open(path, O_RDONLY | O_CLOEXEC);
    if (rewrite.descriptor < 0)
        return mt_error_set(error, MT_IO, "%s: %s", path, strerror(errno));
    result = replace(&rewrite, temporary, error);
    close(rewrite.descriptor);
    return result;
}

/* --- database -----------------------------------------------------------------------------------
 */

/* One row: the statements are `SELECT Attr` and `UPDATE`, both by the position of the row. */
static int update_row(sqlite3_stmt *read, sqlite3_stmt *write, size_t number, uint32_t types)
{
    struct text_builder cell;
    int status;

    text_init(&cell);
    sqlite3_bind_int64(read, 1, (sqlite3_int64)number);
    status = sqlite3_step(read);
    if (status == SQLITE_ROW && sqlite3_column_text(read, 1) &&
        add_types(&db_form, &cell, (const char *)sqlite3_column_text(read, 1),
                  (size_t)sqlite3_column_bytes(read, 1), types)) {
        sqlite3_bind_text(write, 1, cell.bytes, (int)cell.size_bytes, SQLITE_TRANSIENT);
        sqlite3_bind_int64(write, 2, sqlite3_column_int64(read, 0));
        status = sqlite3_step(write);
        sqlite3_reset(write);
    }
    sqlite3_reset(read);
    text_release(&cell);
    return status == SQLITE_ROW || status == SQLITE_DONE ? SQLITE_OK : status;
}

static int update_table(sqlite3 *database, const char *table, const uint8_t *types,
                        size_t row_count)
{
    sqlite3_stmt *read = NULL, *write = NULL;
    char text[128];
    int status;

    snprintf(text, sizeof(text), "SELECT rowid, Attr FROM %s ORDER BY rowid LIMIT 1 OFFSET ?",
             table);
    status = sqlite3_prepare_v2(database, text, -1, &read, NULL);
    snprintf(text, sizeof(text), "UPDATE %s SET Attr = ? WHERE rowid = ?", table);
    if (status == SQLITE_OK)
        status = sqlite3_prepare_v2(database, text, -1, &write, NULL);
    for (size_t i = 0; status == SQLITE_OK && i < row_count; i++)
        if (types[i])
            status = update_row(read, write, i, types[i]);
    sqlite3_finalize(read);
    sqlite3_finalize(write);
    return status;
}

enum mt_result dump_rewrite_db(const char *path, const uint8_t *types, size_t row_count,
                               struct mt_error *error)
{
    static const char *const tables[] = {"memscope_dump", "leaks_dump"};
    sqlite3 *database = NULL;
    int status = sqlite3_open_v2(path, &database, SQLITE_OPEN_READWRITE, NULL);
    enum mt_result result = MT_OK;

    if (status == SQLITE_OK)
        status = sqlite3_exec(database, "BEGIN IMMEDIATE", NULL, NULL, NULL);
    if (status == SQLITE_OK) {
        status = update_table(database, tables[0], types, row_count);
        if (status == SQLITE_ERROR)
            status = update_table(database, tables[1], types, row_count);
    }
    if (status == SQLITE_OK)
        status = sqlite3_exec(database, "COMMIT", NULL, NULL, NULL);
    if (status != SQLITE_OK)
        result = mt_error_set(error, MT_IO, "%s cannot be written: %s", path,
                              database ? sqlite3_errmsg(database) : "no memory");
    sqlite3_close(database);
    return result;
}
