/* SPDX-License-Identifier: Apache-2.0 */
/*
 * operator_memory.csv of every producer: one row is the life of one block.
 *
 * Blocks of the graph engine are those named cann::, and all in msprof's own file, whose totals
 * are in KB and which has no release time. A row of the graph engine without duration and without
 * release totals was not released, whatever its release time says.
 */
#include <stdlib.h>
#include <string.h>

#include "ascend_csv.h"
#include "compare.h"

enum column {
    NAME,
    SIZE,
    ALLOCATION_TIME,
    RELEASE_TIME,
    ACTIVE_RELEASE_TIME,
    DURATION,
    ALLOCATED,
    RESERVED,
    ACTIVE,
    RELEASE_ALLOCATED,
    RELEASE_RESERVED,
    STREAM,
    DEVICE,
    COLUMN_COUNT
};

static const struct csv_column columns[COLUMN_COUNT] = {
    [NAME] = {"Name", true},
    [SIZE] = {"Size", true},
    [ALLOCATION_TIME] = {"Allocation Time", true},
    [RELEASE_TIME] = {"Release Time", false},
    [ACTIVE_RELEASE_TIME] = {"Active Release Time", false},
    [DURATION] = {"Duration", CSV_EXPECTED},
    [ALLOCATED] = {"Allocation Total Allocated|Total Allocated", CSV_EXPECTED},
    [RESERVED] = {"Allocation Total Reserved|Total Reserved", CSV_EXPECTED},
    [ACTIVE] = {"Allocation Total Active|Total Active", false},
    [RELEASE_ALLOCATED] = {"Release Total Allocated", CSV_EXPECTED},
    [RELEASE_RESERVED] = {"Release Total Reserved", CSV_EXPECTED},
    [STREAM] = {"Stream Ptr", false},
    [DEVICE] = {"Device Type|Device", CSV_EXPECTED},
};

struct operator_csv {
    struct ascend_csv csv;
    uint16_t framework_pool, graph_pool, workspace_pool;
    struct place_cache {
        char text[16];
        size_t size_bytes;
        uint16_t place;
    } newest;
    struct ascend_counters framework, graph;
    struct ascend_given at_allocation, at_release;
};

static uint16_t place_of(struct operator_csv *file, struct csv_field device)
{
    struct place_cache *newest = &file->newest;

    if (device.size_bytes && device.size_bytes == newest->size_bytes &&
        memcmp(device.bytes, newest->text, device.size_bytes) == 0)
        return newest->place;
    newest->place = ascend_place(file->csv.rank->model, csv_device(device));
    newest->size_bytes = device.size_bytes <= sizeof(newest->text) ? device.size_bytes : 0;
    memcpy(newest->text, device.bytes, newest->size_bytes);
    return newest->place;
}

static bool begins_with_cann(struct csv_field name)
{
    return name.size_bytes >= 6 && memcmp(name.bytes, "cann::", 6) == 0;
}

static bool is_of_graph_engine(const struct csv_table *table, struct csv_field name)
{
    return begins_with_cann(name) || !csv_has(table, RELEASE_TIME);
}

static enum csv_cell time_at(const struct csv_table *table, const struct csv_row *row,
                             size_t column, uint64_t *time_ns)
{
    uint64_t unit = table->columns[column].unit;

    return csv_time(csv_at(table, row, column), unit ? unit : 1, time_ns);
}

/* Of a block that was made at time_ns; 0: none, or not told. */
static uint64_t duration_of(const struct csv_table *table, const struct csv_row *row,
                            uint64_t time_ns)
{
    uint64_t ns = 0;

    if (csv_has(table, DURATION))
        return time_at(table, row, DURATION, &ns) == CSV_CELL_NUMBER ? ns : 0;
    return time_at(table, row, RELEASE_TIME, &ns) == CSV_CELL_NUMBER && ns > time_ns ? ns - time_ns
                                                                                     : 0;
}

/* Duration 0 and release totals 0: CANN saw no release. */
static bool is_release_made_up(const struct csv_table *table, const struct csv_row *row,
                               uint64_t time_ns)
{
    struct ascend_total allocated = ascend_bytes(table, row, RELEASE_ALLOCATED, 0);
    struct ascend_total reserved = ascend_bytes(table, row, RELEASE_RESERVED, 0);

    if (duration_of(table, row, time_ns))
        return false;
    return !allocated.bytes && !reserved.bytes;
}

/* When the block was given up; 0 when it was not. False when that cannot be said. */
static bool release_of(const struct csv_table *table, const struct csv_row *row, bool is_graph,
                       uint64_t time_ns, uint64_t *release_ns)
{
    uint64_t duration_ns = 0;
    enum csv_cell cell;

    *release_ns = 0;
    if (is_graph && is_release_made_up(table, row, time_ns))
        return true;
    if (!csv_has(table, RELEASE_TIME)) {
        cell = time_at(table, row, DURATION, &duration_ns);
        if (cell == CSV_CELL_NUMBER)
            *release_ns = time_ns + duration_ns;
        return cell == CSV_CELL_NUMBER || cell == CSV_CELL_MISSING;
    }
    cell = time_at(table, row, RELEASE_TIME, release_ns);
    if (cell == CSV_CELL_MISSING)
        cell = time_at(table, row, ACTIVE_RELEASE_TIME, release_ns);
    return cell == CSV_CELL_NUMBER || cell == CSV_CELL_MISSING;
}

/* When the block was back in its pool; 0 where the file does not tell. */
static uint64_t return_of(const struct csv_table *table, const struct csv_row *row,
                          uint64_t time_ns, uint64_t release_ns)
{
    uint64_t return_ns;

    if (!release_ns || !csv_has(table, ACTIVE_RELEASE_TIME) ||
        time_at(table, row, ACTIVE_RELEASE_TIME, &return_ns) != CSV_CELL_NUMBER)
        return 0;
    return return_ns >= time_ns ? return_ns : 0;
}

static bool is_workspace(const struct ascend_rank *rank, uint64_t time_ns)
{
    return rank->workspace_count && bsearch(&time_ns, rank->workspace_times, rank->workspace_count,
                                            sizeof(time_ns), compare_number_rows);
}

/* Without a memory_record, the counters of the rows are the only ones. */
static void add_counters(const struct operator_csv *file, const struct csv_table *table,
                         const struct csv_row *cells, bool is_graph, struct ascend_row *row)
{
    const struct ascend_counters *counters = is_graph ? &file->graph : &file->framework;

    if (file->csv.rank->has_record || row->is_workspace)
        return;
    ascend_total_add(row, counters->allocated, row->allocated);
    ascend_total_add(row, counters->reserved, row->reserved);
    ascend_total_add(row, counters->active, ascend_bytes(table, cells, ACTIVE, 0));
}

/* The row of a block; false when it has to be left out. */
static bool block_of(struct operator_csv *file, struct csv_table *table,
                     const struct csv_row *cells, struct ascend_row *row)
{
    struct csv_field name = csv_at(table, cells, NAME);
    bool is_graph = is_of_graph_engine(table, name);
    uint64_t unit = table->columns[SIZE].unit;

    if (csv_size(csv_at(table, cells, SIZE), unit ? unit : 1, &row->size_bytes) !=
        CSV_CELL_NUMBER) {
        csv_skip(table, CSV_SKIP_BAD_SIZE, cells->line);
        return false;
    }
    if (!release_of(table, cells, is_graph, row->time_ns, &row->release_ns)) {
        csv_skip(table, CSV_SKIP_BAD_TIME, cells->line);
        return false;
    }
    if (row->release_ns && row->release_ns < row->time_ns) {
        csv_skip(table, CSV_SKIP_RELEASED_BEFORE, cells->line);
        return false;
    }
    row->kind = ASCEND_BLOCK;
    row->returned_ns = return_of(table, cells, row->time_ns, row->release_ns);
    row->stream_name = ascend_stream_name(file->csv.rank->model, csv_at(table, cells, STREAM));
    row->name = model_text(file->csv.rank->model, name.bytes, name.size_bytes);
    row->pool = is_graph ? file->graph_pool : file->framework_pool;
    row->allocated = ascend_bytes(table, cells, ALLOCATED, 0);
    row->reserved = ascend_bytes(table, cells, RESERVED, 0);
    if (!is_graph)
        row->release_allocated = ascend_bytes(table, cells, RELEASE_ALLOCATED, 0);
    if (!is_graph && is_workspace(file->csv.rank, row->time_ns)) {
        row->is_workspace = true;
        row->pool = file->workspace_pool;
        csv_size(csv_at(table, cells, STREAM), 1, &row->stream);
    }
    add_counters(file, table, cells, is_graph, row);
    return true;
}

/* Old files have rows of releases only: no name, a negative size, no allocation. */
static bool older_release_of(struct operator_csv *file, struct csv_table *table,
                             const struct csv_row *cells, struct ascend_row *row)
{
    uint64_t unit = table->columns[SIZE].unit;
    enum csv_cell cell = csv_size(csv_at(table, cells, SIZE), unit ? unit : 1, &row->size_bytes);

    if (cell != CSV_CELL_NEGATIVE && cell != CSV_CELL_NUMBER) {
        csv_skip(table, CSV_SKIP_BAD_SIZE, cells->line);
        return false;
    }
    row->kind = ASCEND_OLDER_RELEASE;
    row->release_allocated = ascend_bytes(table, cells, RELEASE_ALLOCATED, 0);
    row->pool = is_of_graph_engine(table, csv_at(table, cells, NAME)) ? file->graph_pool
                                                                      : file->framework_pool;
    return true;
}

static bool is_given(const struct csv_table *table, const struct csv_row *cells, size_t column)
{
    return csv_has(table, column) && !csv_is_missing(csv_at(table, cells, column));
}

/* Totals or a duration of something that has no time: the time was lost. */
static bool lacks_time(const struct csv_table *table, const struct csv_row *cells)
{
    bool has_time = !csv_has(table, RELEASE_TIME) || is_given(table, cells, RELEASE_TIME);

    if (!is_given(table, cells, ALLOCATION_TIME) && is_given(table, cells, ALLOCATED))
        return true;
    if (has_time)
        return false;
    return is_given(table, cells, DURATION) || (!is_given(table, cells, ACTIVE_RELEASE_TIME) &&
                                                is_given(table, cells, RELEASE_ALLOCATED));
}

/* Totals stand beside each allocation, and beside each release by the framework. */
static bool is_sound(struct operator_csv *file, struct csv_table *table,
                     const struct csv_row *cells)
{
    static const uint8_t numbers[] = {ACTIVE_RELEASE_TIME, DURATION, ACTIVE, RELEASE_RESERVED};
    static const uint8_t at_allocation[] = {ALLOCATED, RESERVED},
                         at_release[] = {RELEASE_ALLOCATED};
    bool is_graph = is_of_graph_engine(table, csv_at(table, cells, NAME));
    bool is_allocated = is_given(table, cells, ALLOCATION_TIME);
    bool is_released = is_given(table, cells, RELEASE_TIME);

    if (lacks_time(table, cells)) {
        csv_skip(table, CSV_SKIP_BAD_TIME, cells->line);
        return false;
    }
    if (!ascend_cells_are_numbers(table, cells, numbers, sizeof(numbers)))
        return false;
    if (is_allocated && !ascend_cells_are_given(table, cells, at_allocation, sizeof(at_allocation),
                                                &file->at_allocation))
        return false;
    if (is_released && !is_graph &&
        !ascend_cells_are_given(table, cells, at_release, sizeof(at_release), &file->at_release))
        return false;
    return ascend_device_is_sound(table, cells, DEVICE);
}

static bool fill(struct ascend_csv *csv, struct csv_table *table, const struct csv_row *cells,
                 struct ascend_row *row)
{
    struct operator_csv *file = (struct operator_csv *)csv;

    if (!is_sound(file, table, cells))
        return false;
    row->place = place_of(file, csv_at(table, cells, DEVICE));
    if (csv_is_missing(csv_at(table, cells, ALLOCATION_TIME)))
        return older_release_of(file, table, cells, row);
    return block_of(file, table, cells, row);
}

/* Of the columns that come together; only msprof's own file has no release time, and totals in KB.
 */
static void check_columns(struct csv_table *table)
{
    bool has_active = csv_has(table, ACTIVE_RELEASE_TIME) || csv_has(table, ACTIVE);

    if (!csv_has(table, RELEASE_TIME) &&
        (has_active || csv_has(table, STREAM) || table->columns[ALLOCATED].unit == 1 << 20))
        table->lacking = columns[RELEASE_TIME].names;
    else if (has_active && !csv_has(table, ACTIVE_RELEASE_TIME))
        table->lacking = columns[ACTIVE_RELEASE_TIME].names;
    else if ((has_active || csv_has(table, STREAM)) && !csv_has(table, ACTIVE))
        table->lacking = columns[ACTIVE].names;
}

static void begin(struct ascend_csv *csv)
{
    struct operator_csv *file = (struct operator_csv *)csv;
    const struct ascend_rank *rank = csv->rank;

    for (size_t i = 0; i < csv->files.count; i++)
        check_columns(&csv->files.tables[i]);

    ascend_counters_of(rank->model, &file->framework,
                       rank->is_mindspore ? (struct csv_field){"MindSpore", 9}
                                          : (struct csv_field){"PTA", 3});
    ascend_counters_of(rank->model, &file->graph, (struct csv_field){"GE", 2});
    file->framework_pool =
        model_known_pool(rank->model, rank->is_mindspore ? POOL_MINDSPORE : POOL_PTA);
    file->graph_pool = model_known_pool(rank->model, POOL_GE);
    if (rank->workspace_count)
        file->workspace_pool = model_known_pool(rank->model, POOL_PTA_WORKSPACE);
}

enum mt_result ascend_operator_csv(const struct ascend_rank *rank, struct ascend_paths paths,
                                   struct ascend_stream *stream, struct mt_error *error)
{
    static const struct ascend_csv_kind kind = {
        .name = "operator_memory",
        .columns = columns,
        .column_count = COLUMN_COUNT,
        .time_column = ALLOCATION_TIME,
        .other_time_column = RELEASE_TIME,
        .state_bytes = sizeof(struct operator_csv),
        .begin = begin,
        .fill = fill,
    };

    return ascend_csv_open(&kind, rank, paths, stream, error);
}

enum mt_result ascend_operator_look(const char *path, struct ascend_total *reserved,
                                    bool *is_mindspore, struct mt_error *error)
{
    struct csv_table table;
    struct csv_reader reader;
    struct csv_row row;
    bool has_row;
    enum mt_result result = csv_table_open(&table, path, columns, COLUMN_COUNT, error);

    *reserved = (struct ascend_total){0};
    *is_mindspore = false;
    if (result != MT_OK)
        return result;
    result = csv_reader_init(&reader, table.descriptor, 0, error);
    csv_reader_seek(&reader, table.first_row_offset_bytes, table.size_bytes, 2);
    if (result == MT_OK)
        result = csv_reader_next(&reader, table.wanted, &row, &has_row, error);
    if (result == MT_OK && has_row && row.column_count == table.column_count) {
        struct csv_field active = csv_trim(csv_at(&table, &row, ACTIVE_RELEASE_TIME));

        *reserved = ascend_bytes(&table, &row, RESERVED, 0);
        *is_mindspore = active.size_bytes == 3 && memcmp(active.bytes, "N/A", 3) == 0;
    }
    csv_reader_release(&reader);
    csv_table_close(&table);
    return result;
}
