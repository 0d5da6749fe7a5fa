/* SPDX-License-Identifier: Apache-2.0 */
/*
 * python_trace of msmemscope: calls of Python functions, in files beside a dump or in tables of
 * its database. Each becomes a range on its thread. "N/A" as end: still open.
 */
#include <stdio.h>
#include <string.h>

#include "csv_number.h"
#include "csv_reader.h"
#include "csv_table.h"
#include "database.h"
#include "memscope_files.h"

enum column { FUNCTION, START, END, THREAD, PROCESS, COLUMN_COUNT };

static const struct csv_column columns[COLUMN_COUNT] = {
    [FUNCTION] = {"FuncInfo", true}, [START] = {"StartTime", true},    [END] = {"EndTime", true},
    [THREAD] = {"Thread Id", true},  [PROCESS] = {"Process Id", true},
};

static bool number_of(struct attr_text cell, uint64_t *number)
{
    return memscope_number(cell.bytes, cell.size_bytes, number);
}

/* False when it makes no sense. */
static bool add_call(struct memscope_rows *rows, const struct attr_text *cells)
{
    struct memscope_call call = {.function = cells[FUNCTION]};
    bool is_open = !number_of(cells[END], &call.end_ns);

    if (!number_of(cells[START], &call.start_ns) || !number_of(cells[THREAD], &call.thread_id) ||
        !number_of(cells[PROCESS], &call.process_id) || (!is_open && call.end_ns < call.start_ns))
        return false;
    if (is_open)
        call.end_ns = 0;
    memscope_rows_add_call(rows, &call);
    return true;
}

static void note_bad(struct model *model, const char *path, uint64_t count)
{
    if (!count)
        return;
    model_set_incomplete(model);
    model_note(model, count, "calls of %s that make no sense, and were left out", path);
}

int memscope_trace_recognises(const char *path)
{
    struct csv_table table;

    if (csv_table_open(&table, path, columns, COLUMN_COUNT, NULL) != MT_OK)
        return 0;
    csv_table_close(&table);
    return 1;
}

static enum mt_result read_csv(struct csv_table *table, struct memscope_rows *rows,
                               uint64_t *bad_count, struct mt_error *error)
{
    struct csv_reader reader;
    struct csv_row row;
    bool has_row = true;
    enum mt_result result = csv_reader_init(&reader, table->descriptor, 1 << 18, error);

    if (result == MT_OK)
        csv_reader_seek(&reader, table->first_row_offset_bytes, table->size_bytes,
                        table->first_row_line);
    while (result == MT_OK && has_row) {
        struct attr_text cells[COLUMN_COUNT];

        result = csv_reader_next(&reader, table->wanted, &row, &has_row, error);
        if (result != MT_OK || !has_row)
            break;
        for (size_t i = 0; i < COLUMN_COUNT && csv_row_has_columns(table, &row); i++) {
            struct csv_field field = csv_trim(csv_at(table, &row, i));

            cells[i] = (struct attr_text){field.bytes, field.size_bytes};
        }
        *bad_count += !csv_row_has_columns(table, &row) || !add_call(rows, cells);
    }
    csv_reader_release(&reader);
    return result;
}

enum mt_result memscope_trace_read(const char *path, struct model *model,
                                   struct memscope_rows *rows, struct mt_error *error)
{
    struct csv_table table;
    struct mt_error why = {.message = ""};
    uint64_t bad_count = 0;
    enum mt_result result = csv_table_open(&table, path, columns, COLUMN_COUNT, error);

    if (result != MT_OK)
        return result;
    result = read_csv(&table, rows, &bad_count, &why);
    note_bad(model, csv_table_name(&table), bad_count);
    csv_table_close(&table);
    return result == MT_OK ? MT_OK : mt_error_set(error, result, "%s: %s", path, why.message);
}

static enum mt_result read_table(struct database *database, const char *table,
                                 struct memscope_rows *rows, uint64_t *bad_count,
                                 struct mt_error *error)
{
    struct database_query *query;
    bool has_row = true;
    char text[256];
    enum mt_result result;

    snprintf(text, sizeof(text),
             "SELECT FuncInfo, \"StartTime(ns)\", \"EndTime(ns)\", \"Thread Id\", \"Process Id\" "
             "FROM \"%s\"",
             table);
    result = database_query(database, text, &query, error);
    if (result != MT_OK)
        return result;
    while ((result = database_next(query, &has_row, error)) == MT_OK && has_row) {
        struct attr_text cells[COLUMN_COUNT];

        for (int i = 0; i < COLUMN_COUNT; i++)
            cells[i].bytes = database_text(query, i, &cells[i].size_bytes);
        *bad_count += !add_call(rows, cells);
    }
    database_query_close(query);
    return result;
}

enum mt_result memscope_trace_tables_read(struct database *database, const char *path,
                                          struct model *model, struct memscope_rows *rows,
                                          struct mt_error *error)
{
    static const char tables[] = "SELECT name FROM sqlite_master WHERE type = 'table' AND name "
                                 "GLOB 'python_trace_[0-9]*'";
    struct database_query *query;
    uint64_t bad_count = 0;
    bool has_row = true;
    enum mt_result result = database_query(database, tables, &query, error);

    if (result != MT_OK)
        return result;
    while ((result = database_next(query, &has_row, error)) == MT_OK && has_row) {
        char name[64];
        size_t size_bytes;

        snprintf(name, sizeof(name), "%s", database_text(query, 0, &size_bytes));
        if (!strchr(name, '"'))
            result = read_table(database, name, rows, &bad_count, error);
        if (result != MT_OK)
            break;
    }
    database_query_close(query);
    note_bad(model, path, bad_count);
    return result;
}
