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
#include <strings.h>

#include "ascend_csv.h"

enum module_column { COMPONENT, TIMESTAMP, RESERVED, DEVICE, MODULE_COLUMNS };

static const struct csv_column module_columns[MODULE_COLUMNS] = {
    [COMPONENT] = {"Component", true},
    [TIMESTAMP] = {"Timestamp", true},
    [RESERVED] = {"Total Reserved", true},
    [DEVICE] = {"Device|Device Type|Device_id", CSV_EXPECTED},
};

enum npu_column { EVENT, NPU_TIMESTAMP, DDR, HBM, MEMORY, NPU_DEVICE, NPU_COLUMNS };

static const struct csv_column npu_columns[NPU_COLUMNS] = {
    [EVENT] = {"event", true},           [NPU_TIMESTAMP] = {"timestamp", true},
    [DDR] = {"ddr", CSV_EXPECTED},       [HBM] = {"hbm", CSV_EXPECTED},
    [MEMORY] = {"memory", CSV_EXPECTED}, [NPU_DEVICE] = {"Device_id|Device", CSV_EXPECTED},
};

struct npu_csv {
    struct ascend_csv csv;
    struct ascend_given given;
};

struct module_csv {
    struct ascend_csv csv;
    uint64_t free_only_count; /* rows of modules that say -1 */
};

static void end(struct ascend_csv *csv)
{
    const struct module_csv *file = (const struct module_csv *)csv;

    if (file->free_only_count)
        model_note(csv->rank->model, file->free_only_count,
                   "%s: rows of modules that only showed frees in the window",
                   csv_table_name(&csv->files.tables[0]));
}

static bool fill_module(struct ascend_csv *csv, struct csv_table *table,
                        const struct csv_row *cells, struct ascend_row *row)
{
    struct module_csv *file = (struct module_csv *)csv;
    struct model *model = csv->rank->model;
    struct csv_field component = csv_trim(csv_at(table, cells, COMPONENT));
    struct ascend_total reserved = {.is_known = true};
    enum csv_cell cell =
        csv_size(csv_at(table, cells, RESERVED), table->columns[RESERVED].unit, &reserved.bytes);
    char name[80];

    if (cell == CSV_CELL_NEGATIVE || cell == CSV_CELL_TOO_LARGE) {
        file->free_only_count++;
        return false;
    }
    if (!ascend_device_is_sound(table, cells, DEVICE))
        return false;
    if (cell != CSV_CELL_NUMBER) {
        csv_skip(table, CSV_SKIP_BAD_SIZE, cells->line);
        return false;
    }
    component.size_bytes = (size_t)snprintf(
        name, sizeof(name), "module %.*s",
        component.size_bytes < 64 ? (int)component.size_bytes : 64, component.bytes);
    component.bytes = name;
    row->kind = ASCEND_COUNTERS;
    row->place = ascend_place(model, csv_device(csv_at(table, cells, DEVICE)));
    ascend_counter_add(model, row, component, "reserved", reserved);
    return true;
}

/* The process's or the card's: a word, or the number that older versions write. */
static bool whose_account(struct csv_field *event)
{
    static const struct {
        char number;
        const char *word;
    } events[] = {{'0', "APP"}, {'1', "Device"}};

    for (size_t i = 0; i < sizeof(events) / sizeof(events[0]); i++) {
        size_t length = strlen(events[i].word);

        if ((event->size_bytes == 1 && *event->bytes == events[i].number) ||
            (event->size_bytes == length &&
             strncasecmp(event->bytes, events[i].word, length) == 0)) {
            *event = (struct csv_field){events[i].word, length};
            return true;
        }
    }
    return false;
}

static bool fill_npu(struct ascend_csv *csv, struct csv_table *table, const struct csv_row *cells,
                     struct ascend_row *row)
{
    static const uint8_t sizes[] = {DDR, HBM, MEMORY};
    struct npu_csv *file = (struct npu_csv *)csv;
    struct model *model = csv->rank->model;
    struct csv_field event = csv_trim(csv_at(table, cells, EVENT));

    if (!ascend_device_is_sound(table, cells, NPU_DEVICE) ||
        !ascend_cells_are_given(table, cells, sizes, sizeof(sizes), &file->given))
        return false;
    if (!whose_account(&event)) {
        csv_skip(table, CSV_SKIP_BAD_CELL, cells->line);
        return false;
    }
    row->kind = ASCEND_COUNTERS;
    row->place = ascend_place(model, csv_device(csv_at(table, cells, NPU_DEVICE)));
    ascend_counter_add(model, row, event, "reserved", ascend_bytes(table, cells, MEMORY, 0));
    ascend_counter_add(model, row, event, "ddr", ascend_bytes(table, cells, DDR, 0));
    ascend_counter_add(model, row, event, "hbm", ascend_bytes(table, cells, HBM, 0));
    return true;
}

enum mt_result ascend_module_csv(const struct ascend_rank *rank, struct ascend_paths paths,
                                 struct ascend_stream *stream, struct mt_error *error)
{
    static const struct ascend_csv_kind kind = {
        .name = "npu_module_mem",
        .columns = module_columns,
        .column_count = MODULE_COLUMNS,
        .time_column = TIMESTAMP,
        .other_time_column = TIMESTAMP,
        .state_bytes = sizeof(struct module_csv),
        .fill = fill_module,
        .end = end,
    };

    return ascend_csv_open(&kind, rank, paths, stream, error);
}

enum mt_result ascend_npu_mem_csv(const struct ascend_rank *rank, struct ascend_paths paths,
                                  struct ascend_stream *stream, struct mt_error *error)
{
    static const struct ascend_csv_kind kind = {
        .name = "npu_mem",
        .columns = npu_columns,
        .column_count = NPU_COLUMNS,
        .time_column = NPU_TIMESTAMP,
        .other_time_column = NPU_TIMESTAMP,
        .state_bytes = sizeof(struct npu_csv),
        .fill = fill_npu,
    };

    return ascend_csv_open(&kind, rank, paths, stream, error);
}
