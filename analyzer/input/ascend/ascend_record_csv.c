/* SPDX-License-Identifier: Apache-2.0 */
/*
 * memory_record.csv: counters of the pools and of the process, over time.
 *
 * MindSpore's MB is 1000 KB there, while it is 1024 KB in its operator_memory.csv.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "ascend_csv.h"
#include "compare.h"
#include "list.h"

enum column { COMPONENT, TIMESTAMP, ALLOCATED, RESERVED, ACTIVE, DEVICE, STREAM, COLUMN_COUNT };

enum { mindspore_megabyte = 1024000, megabyte = 1 << 20 };

static const struct csv_column columns[COLUMN_COUNT] = {
    [COMPONENT] = {"Component", false},      [TIMESTAMP] = {"Timestamp", true},
    [ALLOCATED] = {"Total Allocated", true}, [RESERVED] = {"Total Reserved", true},
    [ACTIVE] = {"Total Active", false},      [DEVICE] = {"Device Type|Device", CSV_OPTIONAL},
    [STREAM] = {"Stream Ptr", false},
};

struct record_csv {
    struct ascend_csv csv;
    struct ascend_counters components[ASCEND_COMPONENTS];
};

static bool is_component(struct csv_field component, const char *name)
{
    return component.size_bytes == strlen(name) &&
           memcmp(component.bytes, name, component.size_bytes) == 0;
}

/* The early txt files of MindSpore have no such column. */
static struct csv_field component_of(const struct csv_table *table, const struct csv_row *row)
{
    return csv_has(table, COMPONENT) ? csv_trim(csv_at(table, row, COMPONENT))
                                     : (struct csv_field){"MindSpore", 9};
}

/* The early files have neither component nor device, and say bytes. */
static void begin(struct ascend_csv *csv)
{
    for (size_t i = 0; i < csv->files.count; i++) {
        struct csv_table *table = &csv->files.tables[i];
        bool is_early = table->columns[RESERVED].unit == 1;

        if (!csv_has(table, COMPONENT) && !is_early)
            table->lacking = columns[COMPONENT].names;
        else if (!csv_has(table, DEVICE) && !is_early)
            table->lacking = columns[DEVICE].names;
        else if ((csv_has(table, STREAM) || csv->rank->is_mindspore) && !csv_has(table, ACTIVE))
            table->lacking = columns[ACTIVE].names;
    }
}

static bool fill(struct ascend_csv *csv, struct csv_table *table, const struct csv_row *cells,
                 struct ascend_row *row)
{
    static const uint8_t numbers[] = {ALLOCATED, RESERVED, ACTIVE};
    struct record_csv *file = (struct record_csv *)csv;
    struct model *model = csv->rank->model;
    struct csv_field component = component_of(table, cells);
    uint64_t unit = csv->rank->record_megabyte;
    struct ascend_counters *counters = ascend_counters_of(model, file->components, component);

    if (!ascend_cells_are_given(table, cells, numbers, sizeof(numbers), &counters->given) ||
        !ascend_device_is_sound(table, cells, DEVICE))
        return false;
    row->kind = ASCEND_COUNTERS;
    row->stream_name = ascend_stream_name(model, csv_at(table, cells, STREAM));
    row->place = ascend_place(model, csv_device(csv_at(table, cells, DEVICE)));
    ascend_total_add(row, counters->reserved, ascend_bytes(table, cells, RESERVED, unit));
    if (!is_component(component, "APP")) { /* the driver knows no more than that */
        ascend_total_add(row, counters->allocated, ascend_bytes(table, cells, ALLOCATED, unit));
        ascend_total_add(row, counters->active, ascend_bytes(table, cells, ACTIVE, unit));
    }
    if (!row->counter_count)
        csv_skip(table, CSV_SKIP_BAD_SIZE, cells->line);
    return row->counter_count > 0;
}

enum mt_result ascend_record_csv(const struct ascend_rank *rank, struct ascend_paths paths,
                                 struct ascend_stream *stream, struct mt_error *error)
{
    static const struct ascend_csv_kind kind = {
        .name = "memory_record",
        .columns = columns,
        .column_count = COLUMN_COUNT,
        .time_column = TIMESTAMP,
        .other_time_column = TIMESTAMP,
        .state_bytes = sizeof(struct record_csv),
        .begin = begin,
        .fill = fill,
    };

    return ascend_csv_open(&kind, rank, paths, stream, error);
}

/* --- looking ahead ------------------------------------------------------------------------- */

static void decide_megabyte(struct model *model, const struct csv_table *table,
                            const struct csv_row *row, struct ascend_total operator_reserved,
                            struct ascend_record_facts *facts)
{
    uint64_t plain = ascend_bytes(table, row, RESERVED, megabyte).bytes;
    uint64_t small = ascend_bytes(table, row, RESERVED, mindspore_megabyte).bytes;

    facts->is_mindspore = true;
    if (table->columns[RESERVED].unit != megabyte)
        return;
    if (operator_reserved.is_known && plain == operator_reserved.bytes && plain != small) {
        model_note(model, 0, "%s: MB is 1,048,576 B, as operator_memory.csv proves",
                   csv_table_name(table));
        return;
    }
    facts->megabyte = mindspore_megabyte;
    model_note(model, 0, "%s: MindSpore's MB is 1,024,000 B; corrected by 1.024, %s",
               csv_table_name(table),
               !operator_reserved.is_known        ? "without operator_memory.csv to prove it"
               : small == operator_reserved.bytes ? "as operator_memory.csv proves"
                                                  : "though operator_memory.csv differs");
}

static enum mt_result add_workspace_time(struct ascend_record_facts *facts, uint64_t time_ns,
                                         struct mt_error *error)
{
    if (!list_has_room(&facts->workspace_times, &facts->workspace_capacity, facts->workspace_count,
                       sizeof(*facts->workspace_times)))
        return mt_error_set(error, MT_NO_MEMORY, "no memory for workspace rows");
    facts->workspace_times[facts->workspace_count++] = time_ns;
    return MT_OK;
}

static enum mt_result look_at(struct model *model, const struct csv_table *table,
                              struct ascend_total operator_reserved,
                              struct ascend_record_facts *facts, struct mt_error *error)
{
    struct csv_reader reader;
    struct csv_row row;
    bool has_row = true;
    enum mt_result result = csv_reader_init(&reader, table->descriptor, 1 << 18, error);

    csv_reader_seek(&reader, table->first_row_offset_bytes, table->size_bytes, 2);
    while (result == MT_OK && has_row) {
        struct csv_field component;
        uint64_t time_ns;

        result = csv_reader_next(&reader, table->wanted, &row, &has_row, error);
        if (result != MT_OK || !has_row || row.column_count != table->column_count)
            continue;
        component = component_of(table, &row);
        if (!facts->is_mindspore && is_component(component, "MindSpore"))
            decide_megabyte(model, table, &row, operator_reserved, facts);
        if (is_component(component, "WORKSPACE") &&
            csv_time(csv_at(table, &row, TIMESTAMP), table->columns[TIMESTAMP].unit, &time_ns) ==
                CSV_CELL_NUMBER)
            result = add_workspace_time(facts, time_ns, error);
    }
    csv_reader_release(&reader);
    return result;
}

enum mt_result ascend_record_look(struct model *model, struct ascend_paths paths,
                                  struct ascend_total operator_reserved,
                                  struct ascend_record_facts *facts, struct mt_error *error)
{
    enum mt_result result = MT_OK;

    *facts = (struct ascend_record_facts){.megabyte = megabyte};
    for (size_t i = 0; result == MT_OK && i < paths.count; i++) {
        struct csv_table table;

        result = csv_table_open(&table, paths.paths[i], columns, COLUMN_COUNT, error);
        if (result != MT_OK)
            break;
        result = look_at(model, &table, operator_reserved, facts, error);
        csv_table_close(&table);
    }
    if (result != MT_OK) {
        free(facts->workspace_times);
        facts->workspace_times = NULL;
        facts->workspace_count = 0;
        return result;
    }
    if (facts->workspace_count)
        qsort(facts->workspace_times, facts->workspace_count, sizeof(uint64_t),
              compare_number_rows);
    return MT_OK;
}
