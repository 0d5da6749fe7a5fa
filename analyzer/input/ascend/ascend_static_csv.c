/* SPDX-License-Identifier: Apache-2.0 */
/*
 * static_op_mem.csv: the plan of static graphs, one row per buffer.
 *
 * There is no time, only the order of nodes: a node's number is taken as its nanosecond, and each
 * graph is a pool. A buffer that is kept to the end of its graph ends at node 4294967295.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ascend_csv.h"

enum column { OP_NAME, GRAPH, NODE_BEGIN, NODE_END, SIZE, DEVICE, COLUMN_COUNT };

#define LAST_NODE_RAW UINT64_C(4294967294)

static const struct csv_column columns[COLUMN_COUNT] = {
    [OP_NAME] = {"Op Name", true},
    [GRAPH] = {"Graph ID", true},
    [NODE_BEGIN] = {"Node Index Start", true},
    [NODE_END] = {"Node Index End", true},
    [SIZE] = {"Size", true},
    [DEVICE] = {"Device_id", false},
};

/* The row TOTAL is no buffer, it is what the whole graph takes. */
static void fill_total(struct model *model, const char *graph, struct ascend_row *row)
{
    row->kind = ASCEND_COUNTERS;
    ascend_counter_add(model, row, (struct csv_field){graph, strlen(graph)}, "total",
                       (struct ascend_total){row->size_bytes, true});
}

static bool fill(struct ascend_csv *csv, struct csv_table *table, const struct csv_row *cells,
                 struct ascend_row *row)
{
    struct model *model = csv->rank->model;
    struct csv_field name = csv_at(table, cells, OP_NAME);
    struct csv_field graph = csv_trim(csv_at(table, cells, GRAPH));
    const struct pool *plan = pool_by_id(POOL_STATIC_GRAPH);
    char pool[64];

    if (csv_size(csv_at(table, cells, SIZE), table->columns[SIZE].unit, &row->size_bytes) !=
            CSV_CELL_NUMBER ||
        csv_time(csv_at(table, cells, NODE_END), 1, &row->release_ns) != CSV_CELL_NUMBER) {
        csv_skip(table, CSV_SKIP_BAD_SIZE, cells->line);
        return false;
    }
    snprintf(pool, sizeof(pool), "%.*s%.*s", (int)pool_stem_bytes(plan), plan->name,
             graph.size_bytes < 32 ? (int)graph.size_bytes : 32, graph.bytes);
    row->place = ascend_place(model, csv_device(csv_at(table, cells, DEVICE)));
    if (row->release_ns == LAST_NODE_RAW)
        row->release_ns++;
    if (name.size_bytes == 5 && memcmp(name.bytes, "TOTAL", 5) == 0) {
        fill_total(model, pool, row);
        return true;
    }
    if (row->release_ns < row->time_ns) {
        csv_skip(table, CSV_SKIP_RELEASED_BEFORE, cells->line);
        return false;
    }
    row->kind = ASCEND_BLOCK;
    row->name = model_text(model, name.bytes, name.size_bytes);
    row->pool = ascend_pool(model, pool);
    return true;
}

static void begin(struct ascend_csv *csv)
{
    model_note(csv->rank->model, 0, "times in pools of static graphs are numbers of nodes");
}

enum mt_result ascend_static_csv(const struct ascend_rank *rank, struct ascend_paths paths,
                                 struct ascend_stream *stream, struct mt_error *error)
{
    static const struct ascend_csv_kind kind = {
        .name = "static_op_mem",
        .columns = columns,
        .column_count = COLUMN_COUNT,
        .time_column = NODE_BEGIN,
        .other_time_column = NODE_BEGIN,
        .state_bytes = sizeof(struct ascend_csv),
        .begin = begin,
        .fill = fill,
    };

    return ascend_csv_open(&kind, rank, paths, stream, error);
}
