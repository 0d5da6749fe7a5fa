/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The database of msleaks and msmemscope. Columns go by their names; which there are, and in what
 * order, differs between versions.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "csv_reader.h"
#include "database.h"
#include "memscope_files.h"

/* All rows of the first table there is; NULL if there is none. */
static struct database_query *dump_of(struct database *database)
{
    static const char *const tables[] = {"memscope_dump", "leaks_dump"};
    struct database_query *query;
    struct mt_error ignored;

    for (size_t i = 0; i < sizeof(tables) / sizeof(tables[0]); i++) {
        char text[64];

        snprintf(text, sizeof(text), "SELECT * FROM %s", tables[i]);
        if (database_has_table(database, tables[i]) &&
            database_query(database, text, &query, &ignored) == MT_OK)
            return query;
    }
    return NULL;
}

int memscope_db_recognises(const char *path)
{
    struct database *database = NULL;
    struct database_query *query = NULL;
    struct mt_error ignored;

    if (database_recognises(path) && database_open_to_look(path, &database, &ignored) == MT_OK)
        query = dump_of(database);
    database_query_close(query);
    database_close(database);
    return query != NULL;
}

/* Names and stacks keep the quotes that they have in a csv. */
static struct attr_text without_quotes(struct attr_text text)
{
    if (text.size_bytes > 1 && text.bytes[0] == '"' && text.bytes[text.size_bytes - 1] == '"')
        return (struct attr_text){text.bytes + 1, text.size_bytes - 2};
    return text;
}

struct dump {
    struct database_query *query;
    int columns[CSV_COLUMNS_MAX]; /* enum memscope_input_column of each, or MEMSCOPE_COLUMNS */
    size_t column_count;
    struct memscope_header header;
};

static struct dump dump_begin(struct database_query *query)
{
    struct dump dump = {.query = query, .column_count = database_column_count(query)};

    if (dump.column_count > CSV_COLUMNS_MAX)
        dump.column_count = CSV_COLUMNS_MAX;
    for (size_t i = 0; i < dump.column_count; i++) {
        const char *name = database_column_name(query, (int)i);

        dump.columns[i] = name ? (int)memscope_column_of(name, strlen(name)) : MEMSCOPE_COLUMNS;
        dump.header.has[dump.columns[i]] = true;
    }
    return dump;
}

static bool take_row(const struct dump *dump, struct memscope_rows *rows)
{
    struct attr_text cells[MEMSCOPE_COLUMNS + 1];

    for (size_t i = 0; i <= MEMSCOPE_COLUMNS; i++)
        cells[i] = (struct attr_text){"", 0};
    for (size_t i = 0; i < dump->column_count; i++) {
        struct attr_text cell;

        cell.bytes = database_text(dump->query, (int)i, &cell.size_bytes);
        cells[dump->columns[i]] = without_quotes(cell);
    }
    return memscope_rows_add(rows, cells);
}

static enum mt_result read_table(const char *path, const struct dump *dump, struct model *model,
                                 struct memscope_rows *rows, struct mt_error *error)
{
    const char *lacking = memscope_header_lacks(&dump->header);
    uint64_t bad_count = 0, row = 0, first_bad = 0;
    bool has_row = true;
    enum mt_result result = MT_OK;

    if (lacking)
        return mt_error_set(error, MT_CORRUPT, "%s: no column \"%s\"", path, lacking);
    if (memscope_header_misses(&dump->header))
        model_lack(model, "%s has no column \"%s\"", path, memscope_header_misses(&dump->header));
    memscope_rows_begin_file(rows, 0);
    while ((result = database_next(dump->query, &has_row, error)) == MT_OK && has_row) {
        row++;
        if (take_row(dump, rows))
            continue;
        first_bad = bad_count++ ? first_bad : row;
    }
    model_add_share(model, PART_ROWS, (struct model_share){bad_count, row});
    if (bad_count)
        model_note(model, bad_count,
                   "rows of %s that make no sense, and were left out; the first is row %" PRIu64,
                   path, first_bad);
    return result;
}

static enum mt_result read_dump(struct database *database, const char *path, struct model *model,
                                struct memscope_rows *rows, struct mt_error *error)
{
    struct database_query *query = dump_of(database);
    struct dump dump;
    enum mt_result result;

    if (!query)
        return mt_error_set(error, MT_CORRUPT, "%s: no table of msmemscope", path);
    dump = dump_begin(query);
    result = read_table(path, &dump, model, rows, error);
    database_query_close(query);
    return result;
}

enum mt_result memscope_db_read(const char *path, struct model *model, struct memscope_rows *rows,
                                struct mt_error *error)
{
    struct database *database = NULL;
    enum mt_result result = database_open_partial(path, model, &database, error);

    if (result != MT_OK)
        return result;
    database_note_log(database, model);
    result = read_dump(database, path, model, rows, error);
    if (result == MT_OK)
        result = memscope_trace_tables_read(database, path, model, rows, error);
    database_close(database);
    return result;
}
