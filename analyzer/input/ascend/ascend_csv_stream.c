/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What every csv of a profile has in common as a stream: its slices are opened together and read
 * in order of time; a row that its kind cannot use is passed over.
 */
#include <stdlib.h>
#include <string.h>

#include "ascend_csv.h"

static void stream_close(void *state)
{
    struct ascend_csv *csv = state;

    if (csv->kind->end)
        csv->kind->end(csv);
    ascend_files_close(&csv->files, csv->rank->model);
    free(csv);
}

static enum mt_result stream_next(void *state, struct ascend_row *row, bool *has_row,
                                  struct mt_error *error)
{
    struct ascend_csv *csv = state;
    const struct csv_row *cells;
    struct csv_table *table;

    *has_row = false;
    while (!*has_row) {
        enum mt_result result;

        memset(row, 0, sizeof(*row));
        result = csv_sorted_next(&csv->files.sorted, &cells, &table, &row->time_ns, error);
        if (result != MT_OK || !cells)
            return result;
        row->id = (uint64_t)(table - csv->files.tables) << 40 | (cells->line - 1);
        *has_row = csv->kind->fill(csv, table, cells, row);
    }
    return MT_OK;
}

enum mt_result ascend_csv_open(const struct ascend_csv_kind *kind, const struct ascend_rank *rank,
                               struct ascend_paths paths, struct ascend_stream *stream,
                               struct mt_error *error)
{
    struct ascend_csv *csv = calloc(1, kind->state_bytes);
    enum mt_result result;

    if (!csv)
        return mt_error_set(error, MT_NO_MEMORY, "no memory to open %s", kind->name);
    csv->kind = kind;
    csv->rank = rank;
    result = ascend_files_open(&csv->files, paths, kind->columns, kind->column_count,
                               kind->time_column, kind->other_time_column, rank->model, error);
    if (result != MT_OK) {
        free(csv);
        return result;
    }
    if (kind->begin)
        kind->begin(csv);
    *stream = (struct ascend_stream){.state = csv,
                                     .next = stream_next,
                                     .close = stream_close,
                                     .first_ns = csv->files.sorted.first_ns,
                                     .last_ns = csv->files.sorted.last_ns};
    return MT_OK;
}
