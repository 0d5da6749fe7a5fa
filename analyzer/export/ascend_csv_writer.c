/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The csv files of an Ascend profile, cell by cell as the profilers write them.
 *
 *                times                missing  MB in memory_record
 *   torch_npu    1736405443871.720<TAB>          1,048,576 B
 *   MindSpore    1736405443871.720      N/A      1,024,000 B
 *
 * Blocks of the graph engine come after the others; their durations are floats without a tab.
 */
#include "ascend_csv_writer.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "outlet.h"
#include "python_float.h"
#include "text_builder.h"

enum { kilobyte = 1024, megabyte = 1 << 20, mindspore_megabyte = 1024000 };

struct csv_out {
    struct outlet *out;
    bool is_mindspore;
    uint64_t record_megabyte;
};

struct csv_file {
    const char *name;
    void (*head)(const struct csv_out *csv);
    const char *count_sql, *sql, *mindspore_sql;
    enum mt_result (*row)(void *context, const struct database_row *row, struct mt_error *error);
};

/* --- cells --------------------------------------------------------------------------------- */

/* The comma before the cell, and whether there is something to say. */
static bool put_comma(struct csv_out *csv, const struct database_row *row, int column,
                      bool says_missing)
{
    outlet_add(csv->out, ",");
    if (!row_is_null(row, column))
        return true;
    if (says_missing)
        outlet_add(csv->out, "N/A");
    return false;
}

/* torch_npu has three decimals and a tab, MindSpore as many as are needed. */
static void put_microseconds(struct csv_out *csv, const struct database_row *row, int column)
{
    uint64_t ns = (uint64_t)row_number(row, column);
    char text[32];
    int length = snprintf(text, sizeof(text), "%" PRIu64 ".%03" PRIu64, ns / 1000, ns % 1000);

    if (!put_comma(csv, row, column, csv->is_mindspore))
        return;
    while (csv->is_mindspore && text[length - 1] == '0' && text[length - 2] != '.')
        text[--length] = '\0';
    outlet_words(csv->out, text);
    outlet_add_either(csv->out, csv->is_mindspore, "", "\t");
}

static void put_float(struct csv_out *csv, const struct database_row *row, int column,
                      uint64_t unit, bool says_missing)
{
    char text[PYTHON_FLOAT_MOST];

    if (!put_comma(csv, row, column, says_missing))
        return;
    python_float(text, (uint64_t)row_number(row, column), unit);
    outlet_words(csv->out, text);
}

static void put_cell(struct csv_out *csv, const struct database_row *row, int column)
{
    if (put_comma(csv, row, column, false))
        outlet_words(csv->out, row_text(row, column));
}

static const char *device_word(const struct database_row *row, int column)
{
    return row_number(row, column) < 0 ? "CPU:" : "NPU:";
}

static void put_device(struct csv_out *csv, const struct database_row *row, int column)
{
    int64_t device = row_number(row, column);

    outlet_format(csv->out, ",%s%" PRId64, device_word(row, column), device < 0 ? 0 : device);
}

/* --- rows ---------------------------------------------------------------------------------- */

enum operator_column {
    OP_NAME,
    OP_SIZE,
    OP_BORN,
    OP_FREED,
    OP_RETURNED,
    OP_DURATION,
    OP_ACTIVE_DURATION,
    OP_BORN_ALLOCATED,
    OP_FREED_ACTIVE = OP_BORN_ALLOCATED + 5,
    OP_STREAM,
    OP_DEVICE,
    OP_IS_GRAPH
};

static enum mt_result operator_row(void *context, const struct database_row *row,
                                   struct mt_error *error)
{
    struct csv_out *csv = context;
    bool is_graph = row_number(row, OP_IS_GRAPH) != 0;

    (void)error;
    outlet_words(csv->out, row_text(row, OP_NAME));
    put_float(csv, row, OP_SIZE, kilobyte, false);
    for (int column = OP_BORN; column <= OP_RETURNED; column++)
        put_microseconds(csv, row, column);
    for (int column = OP_DURATION; column <= OP_ACTIVE_DURATION; column++)
        if (is_graph)
            put_float(csv, row, column, 1000, csv->is_mindspore);
        else
            put_microseconds(csv, row, column);
    for (int column = OP_BORN_ALLOCATED; column <= OP_FREED_ACTIVE; column++)
        put_float(csv, row, column, megabyte, csv->is_mindspore);
    put_cell(csv, row, OP_STREAM);
    put_device(csv, row, OP_DEVICE);
    outlet_add(csv->out, "\r\n");
    return MT_OK;
}

/* MindSpore says 0.0 of what the driver does not know. */
static void put_record_cell(struct csv_out *csv, const struct database_row *row, int column)
{
    if (csv->is_mindspore && row_is_null(row, column))
        outlet_add(csv->out, ",0.0");
    else
        put_float(csv, row, column, csv->record_megabyte, false);
}

static enum mt_result record_row(void *context, const struct database_row *row,
                                 struct mt_error *error)
{
    enum { COMPONENT, TIME, ALLOCATED, ACTIVE = ALLOCATED + 2, STREAM, DEVICE };
    struct csv_out *csv = context;

    (void)error;
    outlet_words(csv->out, row_text(row, COMPONENT));
    put_microseconds(csv, row, TIME);
    for (int column = ALLOCATED; column <= ACTIVE; column++)
        put_record_cell(csv, row, column);
    if (!csv->is_mindspore)
        put_cell(csv, row, STREAM);
    put_device(csv, row, DEVICE);
    outlet_add(csv->out, "\r\n");
    return MT_OK;
}

static enum mt_result module_row(void *context, const struct database_row *row,
                                 struct mt_error *error)
{
    enum { DEVICE, COMPONENT, TIME, BYTES };
    struct csv_out *csv = context;

    (void)error;
    outlet_format(csv->out, "%" PRId64 ",", row_number(row, DEVICE));
    outlet_words(csv->out, row_text(row, COMPONENT));
    outlet_format(csv->out, ",%" PRId64 ".%03" PRId64 "\t", row_number(row, TIME) / 1000,
                  row_number(row, TIME) % 1000);
    if (csv->is_mindspore && row_number(row, BYTES) % kilobyte == 0)
        outlet_format(csv->out, ",%" PRId64, row_number(row, BYTES) / kilobyte);
    else
        put_float(csv, row, BYTES, csv->is_mindspore ? kilobyte : megabyte, false);
    put_device(csv, row, DEVICE);
    outlet_add(csv->out, "\n");
    return MT_OK;
}

/* --- files --------------------------------------------------------------------------------- */

static void operator_head(const struct csv_out *csv)
{
    outlet_add(csv->out,
               "Name,Size(KB),Allocation Time(us),Release Time(us),Active Release Time(us),"
               "Duration(us),Active Duration(us),Allocation Total Allocated(MB),Allocation Total "
               "Reserved(MB),Allocation Total Active(MB),Release Total Allocated(MB),Release Total "
               "Reserved(MB),Release Total Active(MB),Stream Ptr,Device Type\r\n");
}

static void record_head(const struct csv_out *csv)
{
    outlet_add(csv->out, "Component,Timestamp(us),Total Allocated(MB),Total Reserved(MB),"
                         "Total Active(MB),");
    outlet_add_either(csv->out, csv->is_mindspore, "Device Type\r\n", "Stream Ptr,Device Type\r\n");
}

static void module_head(const struct csv_out *csv)
{
    outlet_add(csv->out, "Device_id,Component,Timestamp(us),Total Reserved(");
    outlet_add_either(csv->out, csv->is_mindspore, "KB),Device\n", "MB),Device\n");
}

static const struct csv_file files[] = {
    {
        .name = "operator_memory.csv",
        .head = operator_head,
        .count_sql = "SELECT 1 FROM blocks LIMIT 1",
        .sql = "SELECT name, size, born, freed, returned, freed - born, returned - born,"
               " born_allocated, born_reserved, born_active, freed_allocated, freed_reserved,"
               " freed_active, stream, device, is_graph FROM blocks"
               " ORDER BY is_graph, CASE WHEN is_graph THEN 0 ELSE born END, row",
        .row = operator_row,
    },
    {
        .name = "memory_record.csv",
        .head = record_head,
        .count_sql = "SELECT 1 FROM records LIMIT 1",
        .sql = "SELECT component, time, allocated, reserved, active, stream, device FROM records"
               " WHERE component <> 'Device' ORDER BY component <> 'APP', time, id",
        .mindspore_sql = "SELECT component, time, allocated, reserved, active, stream, device"
                         " FROM records WHERE component <> 'Device'"
                         " ORDER BY component = 'APP', time, id",
        .row = record_row,
    },
    {
        .name = "npu_module_mem.csv",
        .head = module_head,
        .count_sql = "SELECT 1 FROM modules LIMIT 1",
        .sql = "SELECT modules.device, name, time, bytes FROM modules JOIN"
               " (SELECT name, min(id) AS first FROM modules GROUP BY name) USING (name)"
               " ORDER BY first, time, id",
        .row = module_row,
    },
};

static enum mt_result count_row(void *context, const struct database_row *row,
                                struct mt_error *error)
{
    bool *has_rows = context;

    (void)row;
    (void)error;
    *has_rows = true;
    return MT_OK;
}

static enum mt_result say_errno(const char *name, struct mt_error *error)
{
    return mt_error_set(error, MT_USAGE, "%s: %s", name, strerror(errno ? errno : EIO));
}

static enum mt_result write_file(struct database_writer *tables, const struct csv_file *file,
                                 const char *folder, const char *name, struct csv_out *csv,
                                 struct mt_error *error)
{
    bool has_rows = false, is_written;
    FILE *file_out;
    struct text_builder path;
    enum mt_result result = database_each(tables, file->count_sql, count_row, &has_rows, error);

    if (result != MT_OK || !has_rows)
        return result;
    text_init(&path);
    text_add_format(&path, "%s/%s", folder, file->name);
    file_out = fopen(text_get(&path), "w");
    text_release(&path);
    if (!file_out)
        return say_errno(name, error);
    csv->out = outlet_create(FOR_CSV, file_out);
    file->head(csv);
    result = database_each(
        tables, csv->is_mindspore && file->mindspore_sql ? file->mindspore_sql : file->sql,
        file->row, csv, error);
    is_written = outlet_destroy(csv->out);
    if ((fclose(file_out) != 0 || !is_written) && result == MT_OK)
        result = say_errno(name, error);
    return result;
}

enum mt_result ascend_csv_write(struct database_writer *tables, const char *folder,
                                const char *name, bool is_mindspore, struct mt_error *error)
{
    struct csv_out csv = {.is_mindspore = is_mindspore,
                          .record_megabyte = is_mindspore ? mindspore_megabyte : megabyte};
    enum mt_result result = MT_OK;

    for (size_t i = 0; result == MT_OK && i < sizeof(files) / sizeof(files[0]); i++)
        result = write_file(tables, &files[i], folder, name, &csv, error);
    return result;
}
