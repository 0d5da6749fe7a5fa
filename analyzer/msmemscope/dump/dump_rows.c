/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads the rows of one msleaks or msmemscope file.
 */
#define _GNU_SOURCE
#include "dump_rows.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "compare.h"
#include "database.h"
#include "list.h"
#include "memscope_attr.h"
#include "memscope_files.h"

static bool is(struct attr_text cell, const char *word)
{
    return cell.size_bytes == strlen(word) && memcmp(cell.bytes, word, cell.size_bytes) == 0;
}

static uint64_t number_of(struct attr_text cell)
{
    uint64_t number = 0;

    return memscope_number(cell.bytes, cell.size_bytes, &number) ? number : 0;
}

static enum dump_event event_of(struct attr_text event, struct attr_text type)
{
    static const struct {
        const char *event, *type; /* type NULL: any */
        enum dump_event is;
    } table[] = {
        {"MALLOC", NULL, DUMP_MALLOC},
        {"FREE", NULL, DUMP_FREE},
        {"ACCESS", NULL, DUMP_ACCESS},
        {"OP_LAUNCH", "ATEN_START", DUMP_OPERATOR_BEGIN},
        {"OP_LAUNCH", "ATB_START", DUMP_OPERATOR_BEGIN},
        {"OP_LAUNCH", "ATEN_END", DUMP_OPERATOR_END},
        {"OP_LAUNCH", "ATB_END", DUMP_OPERATOR_END},
        {"MSTX", "Mark", DUMP_MARK},
        {"SYSTEM", "START_TRACE", DUMP_TRACE_BEGIN},
        {"SYSTEM", "STOP_TRACE", DUMP_TRACE_END},
    };

    for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++)
        if (is(event, table[i].event) && (!table[i].type || is(type, table[i].type)))
            return table[i].is;
    return DUMP_OTHER;
}

static enum dump_pool pool_of(struct attr_text type)
{
    static const struct {
        const char *type;
        enum dump_pool is;
    } table[] = {
        {"PTA", DUMP_POOL_PTA},
        {"PTA_WORKSPACE", DUMP_POOL_PTA},
        {"HAL", DUMP_POOL_HAL},
        {"ATEN_START", DUMP_POOL_PTA},
        {"ATB", DUMP_POOL_ATB},
        {"ATEN_END", DUMP_POOL_PTA},
        {"ATB_END", DUMP_POOL_ATB},
        {"ATB_START", DUMP_POOL_ATB},
        {"MINDSPORE", DUMP_POOL_MINDSPORE},
    };

    for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++)
        if (is(type, table[i].type))
            return table[i].is;
    return DUMP_POOL_OTHER;
}

enum dump_event dump_event_named(const char *event, const char *type)
{
    return event_of((struct attr_text){event, strlen(event)},
                    (struct attr_text){type, strlen(type)});
}

enum dump_pool dump_pool_named(const char *type)
{
    return pool_of((struct attr_text){type, strlen(type)});
}

static struct dump_row *row_add(struct dump_rows *rows)
{
    if (!list_has_room(&rows->rows, &rows->capacity, rows->count, sizeof(*rows->rows)))
        return NULL;
    return &rows->rows[rows->count++];
}

static bool has_minus(struct attr_text attr)
{
    return memmem(attr.bytes, attr.size_bytes, ",size:-", 7) ||
           memmem(attr.bytes, attr.size_bytes, "\"size\":\"-", 9);
}

/* The first key of every block and access, where there is one. */
static uint64_t allocation_id_of(struct attr_text attr)
{
    static const char *const keys[] = {"{allocation_id:", "{\"allocation_id\":\""};
    uint64_t id = 0;

    for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
        size_t at = strlen(keys[i]);

        if (attr.size_bytes < at || memcmp(attr.bytes, keys[i], at) != 0)
            continue;
        for (; at < attr.size_bytes && attr.bytes[at] >= '0' && attr.bytes[at] <= '9'; at++)
            id = id * 10 + (uint64_t)(attr.bytes[at] - '0');
    }
    return id;
}

/* False when there is no memory. */
static bool take_cells(struct dump_rows *rows, const struct attr_text *cells, uint32_t number)
{
    struct dump_row *row;
    struct memscope_attr attr;
    struct attr_text name = cells[COLUMN_NAME], device = cells[COLUMN_DEVICE];
    uint64_t time_ns;

    if (!memscope_number(cells[COLUMN_TIME].bytes, cells[COLUMN_TIME].size_bytes, &time_ns)) {
        rows->bad_count++;
        return true;
    }
    row = row_add(rows);
    if (!row)
        return false;
    memscope_attr_read(&attr, cells[COLUMN_ATTR].bytes, cells[COLUMN_ATTR].size_bytes, NULL);
    *row = (struct dump_row){
        .id = number_of(cells[COLUMN_ID]),
        .time_ns = time_ns,
        .address = attr.has_address ? attr.address : number_of(cells[COLUMN_POINTER]),
        .size_bytes = attr.has_size ? attr.size_bytes : number_of(cells[COLUMN_SIZE]),
        .process_id = number_of(cells[COLUMN_PROCESS]),
        .thread_id = number_of(cells[COLUMN_THREAD]),
        .name = model_text(rows->model, name.bytes, name.size_bytes),
        .device = model_text(rows->model, device.bytes, device.size_bytes),
        .allocation_id = allocation_id_of(cells[COLUMN_ATTR]),
        .number = number,
        .event = (uint8_t)event_of(cells[COLUMN_EVENT], cells[COLUMN_TYPE]),
        .pool = (uint8_t)pool_of(cells[COLUMN_TYPE]),
        .is_negative = has_minus(cells[COLUMN_ATTR]) ||
                       (cells[COLUMN_SIZE].size_bytes && *cells[COLUMN_SIZE].bytes == '-'),
        .is_shadow = attr.is_shadow,
    };
    if (row->event == DUMP_ACCESS)
        row->pool = (uint8_t)pool_of(attr.pool);
    return true;
}

/* --- csv -------------------------------------------------------------------------------------- */

struct csv_taking {
    struct dump_rows *rows;
    uint32_t number;
    bool has_failed;
};

static bool take_csv_row(void *context, const struct attr_text *cells)
{
    struct csv_taking *taking = context;

    if (!taking->has_failed && !take_cells(taking->rows, cells, taking->number))
        taking->has_failed = true;
    taking->number++;
    return true;
}

static enum mt_result read_csv(struct dump_rows *rows, const char *path, struct mt_error *error)
{
    struct csv_taking taking = {.rows = rows};
    const struct memscope_row_visitor visitor = {&taking, take_csv_row};
    struct memscope_csv_facts facts;
    enum mt_result result = memscope_csv_visit(path, &visitor, &facts, error);

    if (result == MT_OK && taking.has_failed)
        return mt_error_set(error, MT_NO_MEMORY, "no memory for the rows of %s", path);
    if (result == MT_OK)
        rows->bad_count += facts.bad_count;
    return result;
}

/* --- database --------------------------------------------------------------------------------- */

static const char db_columns[] =
    "ID, Event, \"Event Type\", Name, \"Timestamp(ns)\", \"Process Id\", \"Thread Id\", "
    "\"Device Id\", Ptr, Attr";

/* Names keep the quotes that they have in a csv. */
static struct attr_text without_quotes(struct attr_text text)
{
    if (text.size_bytes > 1 && text.bytes[0] == '"' && text.bytes[text.size_bytes - 1] == '"')
        return (struct attr_text){text.bytes + 1, text.size_bytes - 2};
    return text;
}

static bool take_db_row(struct dump_rows *rows, struct database_query *query, uint32_t number)
{
    struct attr_text cells[MEMSCOPE_COLUMNS + 1];

    for (size_t i = 0; i <= MEMSCOPE_COLUMNS; i++)
        cells[i] = (struct attr_text){"", 0};
    for (int i = COLUMN_ID; i <= COLUMN_ATTR; i++)
        cells[i].bytes = database_text(query, i, &cells[i].size_bytes);
    cells[COLUMN_NAME] = without_quotes(cells[COLUMN_NAME]);
    return take_cells(rows, cells, number);
}

static enum mt_result read_table(struct dump_rows *rows, struct database *database,
                                 const char *table, struct mt_error *error)
{
    struct database_query *query = NULL;
    char text[512];
    bool has_row = true;
    enum mt_result result;

    snprintf(text, sizeof(text), "SELECT %s FROM %s ORDER BY rowid", db_columns, table);
    result = database_query(database, text, &query, error);
    for (uint32_t number = 0; result == MT_OK; number++) {
        result = database_next(query, &has_row, error);
        if (result != MT_OK || !has_row)
            break;
        if (!take_db_row(rows, query, number))
            result = mt_error_set(error, MT_NO_MEMORY, "no memory for its rows");
    }
    database_query_close(query);
    return result;
}

static enum mt_result read_database(struct dump_rows *rows, const char *path,
                                    struct mt_error *error)
{
    static const char *const tables[] = {"memscope_dump", "leaks_dump"};
    struct database *database = NULL;
    struct mt_error why = {.message = ""};
    enum mt_result result = database_open(path, &database, error);

    if (result != MT_OK)
        return result;
    result = mt_error_set(&why, MT_UNSUPPORTED, "no table of msleaks or msmemscope");
    for (size_t i = 0; i < sizeof(tables) / sizeof(tables[0]); i++)
        if (database_has_table(database, tables[i])) {
            result = read_table(rows, database, tables[i], &why);
            break;
        }
    database_close(database);
    return result == MT_OK ? MT_OK : mt_error_set(error, result, "%s: %s", path, why.message);
}

enum mt_result dump_rows_read(struct dump_rows *rows, const char *path, struct model *model,
                              struct mt_error *error)
{
    enum mt_result result;

    *rows = (struct dump_rows){.model = model};
    result =
        database_recognises(path) ? read_database(rows, path, error) : read_csv(rows, path, error);
    if (result == MT_OK)
        result = model_status(model, error);
    if (result == MT_OK && !rows->count)
        result = mt_error_set(error, MT_NO_DATA, "%s: no events", path);
    if (result != MT_OK)
        dump_rows_release(rows);
    return result;
}

void dump_rows_release(struct dump_rows *rows)
{
    free(rows->rows);
    rows->rows = NULL;
    rows->count = rows->capacity = 0;
}

/* --- order ------------------------------------------------------------------------------------ */

static int compare_ids(const void *a, const void *b)
{
    const struct dump_row *first = a, *second = b;
    int order = compare_numbers(first->id, second->id);

    return order ? order : compare_numbers(first->number, second->number);
}

static int compare_times(const void *a, const void *b)
{
    int order = compare_numbers(((const struct dump_row *)a)->time_ns,
                                ((const struct dump_row *)b)->time_ns);

    return order ? order : compare_ids(a, b);
}

void dump_rows_by_time(struct dump_rows *rows)
{
    qsort(rows->rows, rows->count, sizeof(*rows->rows), compare_times);
}

void dump_rows_by_id(struct dump_rows *rows)
{
    qsort(rows->rows, rows->count, sizeof(*rows->rows), compare_ids);
}
