/* SPDX-License-Identifier: Apache-2.0 */
/*
 * npu_module_mem.csv, the driver's account by module, and npu_mem.csv, the process and the card.
 *
 * A module's counter is called "module HCCL reserved": memory_record has an APP and a GE of its
 * own, which are other things. -1 is no value: the module only showed frees in the window.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ascend_csv.h"

enum module_column { COMPONENT, TIMESTAMP, RESERVED, DEVICE, MODULE_COLUMNS };

static const struct csv_column module_columns[MODULE_COLUMNS] = {
    [COMPONENT] = {"Component", true},
    [TIMESTAMP] = {"Timestamp", true},
    [RESERVED] = {"Total Reserved", true},
    [DEVICE] = {"Device|Device Type|Device_id", false},
};

enum npu_column { EVENT, NPU_TIMESTAMP, DDR, HBM, MEMORY, NPU_DEVICE, NPU_COLUMNS };

static const struct csv_column npu_columns[NPU_COLUMNS] = {
    [EVENT] = {"event", true},    [NPU_TIMESTAMP] = {"timestamp", true},
    [DDR] = {"ddr", false},       [HBM] = {"hbm", false},
    [MEMORY] = {"memory", false}, [NPU_DEVICE] = {"Device_id|Device", false},
};

struct sample_csv {
    const struct ascend_rank *rank;
    struct ascend_files files;
    uint64_t free_only_count; /* rows of modules that say -1 */
};

static void sample_close(void *state)
{
    struct sample_csv *file = state;

    if (file->free_only_count)
        model_note(file->rank->model, file->free_only_count,
                   "%s: rows of modules that only showed frees in the window",
                   csv_table_name(&file->files.tables[0]));
    ascend_files_close(&file->files, file->rank->model);
    free(file);
}

static enum mt_result module_next(void *state, struct ascend_row *row, bool *has_row,
                                  struct mt_error *error)
{
    struct sample_csv *file = state;
    struct model *model = file->rank->model;
    const struct csv_row *cells;
    struct csv_table *table;

    *has_row = false;
    while (!*has_row) {
        enum mt_result result;
        struct csv_field component;
        enum csv_cell cell;
        char name[80];
        struct ascend_total reserved = {0};

        memset(row, 0, sizeof(*row));
        result = csv_sorted_next(&file->files.sorted, &cells, &table, &row->time_ns, error);
        if (result != MT_OK || !cells)
            return result;
        cell = csv_size(csv_at(table, cells, RESERVED), table->columns[RESERVED].unit,
                        &reserved.bytes);
        if (cell == CSV_CELL_NEGATIVE || cell == CSV_CELL_TOO_LARGE) {
            file->free_only_count++;
            continue;
        }
        if (cell != CSV_CELL_NUMBER) {
            csv_skip(table, CSV_SKIP_BAD_SIZE, cells->line);
            continue;
        }
        component = csv_trim(csv_at(table, cells, COMPONENT));
        reserved.is_known = true;
        component.size_bytes = (size_t)snprintf(
            name, sizeof(name), "module %.*s",
            component.size_bytes < 64 ? (int)component.size_bytes : 64, component.bytes);
        component.bytes = name;
        row->kind = ASCEND_COUNTERS;
        row->place = ascend_place(model, csv_device(csv_at(table, cells, DEVICE)));
        ascend_counter_add(model, row, component, "reserved", reserved);
        *has_row = true;
    }
    return MT_OK;
}

static enum mt_result npu_next(void *state, struct ascend_row *row, bool *has_row,
                               struct mt_error *error)
{
    struct sample_csv *file = state;
    struct model *model = file->rank->model;
    const struct csv_row *cells;
    struct csv_table *table;
    struct csv_field event;
    enum mt_result result;

    memset(row, 0, sizeof(*row));
    *has_row = false;
    result = csv_sorted_next(&file->files.sorted, &cells, &table, &row->time_ns, error);
    if (result != MT_OK || !cells)
        return result;
    event = csv_trim(csv_at(table, cells, EVENT));
    if (event.size_bytes == 1 && *event.bytes == '0')
        event = (struct csv_field){"APP", 3};
    else if (event.size_bytes == 1 && *event.bytes == '1')
        event = (struct csv_field){"Device", 6};
    row->kind = ASCEND_COUNTERS;
    row->place = ascend_place(model, csv_device(csv_at(table, cells, NPU_DEVICE)));
    ascend_counter_add(model, row, event, "reserved", ascend_bytes(table, cells, MEMORY, 0));
    ascend_counter_add(model, row, event, "ddr", ascend_bytes(table, cells, DDR, 0));
    ascend_counter_add(model, row, event, "hbm", ascend_bytes(table, cells, HBM, 0));
    *has_row = true;
    return MT_OK;
}

static enum mt_result sample_open(const struct ascend_rank *rank, struct ascend_paths paths,
                                  const struct csv_column *columns, size_t column_count,
                                  size_t time_column, struct ascend_stream *stream,
                                  struct mt_error *error)
{
    struct sample_csv *file = calloc(1, sizeof(*file));
    enum mt_result result;

    if (!file)
        return mt_error_set(error, MT_NO_MEMORY, "no memory to open npu_module_mem");
    file->rank = rank;
    result = ascend_files_open(&file->files, paths, columns, column_count, time_column, time_column,
                               rank->model, error);
    if (result != MT_OK) {
        free(file);
        return result;
    }
    *stream = (struct ascend_stream){.state = file,
                                     .close = sample_close,
                                     .first_ns = file->files.sorted.first_ns,
                                     .last_ns = file->files.sorted.last_ns};
    return MT_OK;
}

enum mt_result ascend_module_csv(const struct ascend_rank *rank, struct ascend_paths paths,
                                 struct ascend_stream *stream, struct mt_error *error)
{
    enum mt_result result =
        sample_open(rank, paths, module_columns, MODULE_COLUMNS, TIMESTAMP, stream, error);

    if (result == MT_OK)
        stream->next = module_next;
    return result;
}

enum mt_result ascend_npu_mem_csv(const struct ascend_rank *rank, struct ascend_paths paths,
                                  struct ascend_stream *stream, struct mt_error *error)
{
    enum mt_result result =
        sample_open(rank, paths, npu_columns, NPU_COLUMNS, NPU_TIMESTAMP, stream, error);

    if (result == MT_OK)
        stream->next = npu_next;
    return result;
}
