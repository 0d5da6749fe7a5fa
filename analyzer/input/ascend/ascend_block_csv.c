/* SPDX-License-Identifier: Apache-2.0 */
/*
 * memory_block.csv of MindSpore's memory tracker: one row per block, with its last use.
 *
 * Times are ticks of the tracker, taken as nanoseconds. A block that ends at 2^63-1 was never
 * freed; members of a whole graph (-1, -1) have no time of their own. Nothing is quoted, and the
 * Python stack, in the last column, may hold commas.
 */
#include <string.h>

#include "ascend_csv.h"

enum column {
    START,
    END,
    POOL_TYPE,
    SIZE,
    FILE_NAME,
    LINE,
    TASK,
    NODE,
    LAST_USE,
    PYTHON_STACK,
    COLUMN_COUNT
};

static const struct csv_column columns[COLUMN_COUNT] = {
    [START] = {"start_time_stamp", true},   [END] = {"end_time_stamp", true},
    [POOL_TYPE] = {"pool_type", false},     [SIZE] = {"size", true},
    [FILE_NAME] = {"file_name", false},     [LINE] = {"line_num", false},
    [TASK] = {"task_name", false},          [NODE] = {"node_name", false},
    [LAST_USE] = {"last_user_task", false}, [PYTHON_STACK] = {"python_stack", CSV_REST},
};

static const uint64_t never = INT64_MAX;

/* "model.py:12"; 0 where the tracker does not know. */
static uint32_t site_of(struct model *model, const struct csv_table *table,
                        const struct csv_row *cells)
{
    struct csv_field file = csv_trim(csv_at(table, cells, FILE_NAME));
    struct csv_field line = csv_trim(csv_at(table, cells, LINE));
    char label[512];

    if (!file.size_bytes || file.size_bytes + line.size_bytes + 2 > sizeof(label))
        return 0;
    memcpy(label, file.bytes, file.size_bytes);
    label[file.size_bytes] = ':';
    memcpy(label + file.size_bytes + 1, line.bytes, line.size_bytes);
    return model_site(
        model, (struct model_site){
                   .label = model_text(model, label, file.size_bytes + 1 + line.size_bytes)});
}

static bool fill(struct ascend_csv *csv, struct csv_table *table, const struct csv_row *cells,
                 struct ascend_row *row)
{
    struct model *model = csv->rank->model;
    struct csv_field name = csv_trim(csv_at(table, cells, TASK));
    enum csv_cell end = csv_time(csv_at(table, cells, END), 1, &row->release_ns);

    if (!name.size_bytes)
        name = csv_trim(csv_at(table, cells, NODE));
    if (csv_size(csv_at(table, cells, SIZE), 1, &row->size_bytes) != CSV_CELL_NUMBER) {
        csv_skip(table, CSV_SKIP_BAD_SIZE, cells->line);
        return false;
    }
    if (end != CSV_CELL_NUMBER && end != CSV_CELL_TOO_LARGE) {
        csv_skip(table, CSV_SKIP_BAD_TIME, cells->line);
        return false;
    }
    if (end == CSV_CELL_TOO_LARGE || row->release_ns >= never)
        row->release_ns = 0;
    if (row->release_ns && row->release_ns < row->time_ns) {
        csv_skip(table, CSV_SKIP_RELEASED_BEFORE, cells->line);
        return false;
    }
    if (csv_time(csv_at(table, cells, LAST_USE), 1, &row->last_use_ns) != CSV_CELL_NUMBER ||
        row->last_use_ns < row->time_ns)
        row->last_use_ns = 0;
    row->kind = ASCEND_BLOCK;
    row->name = model_text(model, name.bytes, name.size_bytes);
    row->site = site_of(model, table, cells);
    row->pool = model_known_pool(model, POOL_MINDSPORE);
    row->place = ascend_place(model, -1);
    return true;
}

static void begin(struct ascend_csv *csv)
{
    model_note(csv->rank->model, 0, "times of memory_block.csv are ticks of the memory tracker");
}

enum mt_result ascend_block_csv(const struct ascend_rank *rank, struct ascend_paths paths,
                                struct ascend_stream *stream, struct mt_error *error)
{
    static const struct ascend_csv_kind kind = {
        .name = "memory_block",
        .columns = columns,
        .column_count = COLUMN_COUNT,
        .time_column = START,
        .other_time_column = START,
        .state_bytes = sizeof(struct ascend_csv),
        .begin = begin,
        .fill = fill,
    };

    return ascend_csv_open(&kind, rank, paths, stream, error);
}
