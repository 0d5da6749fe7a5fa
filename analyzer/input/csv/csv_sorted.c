/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Two passes: one that finds sorted stretches, one that merges them.
 */
#include "csv_sorted.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "heap.h"
#include "list.h"

enum {
    first_pass_buffer_bytes = 1 << 20,
    all_buffers_bytes = 32 << 20,
    buffer_least_bytes = 16 << 10,
    buffer_most_bytes = 1 << 20
};

/* --- the time of a row --------------------------------------------------------------------- */

static bool is_header_again(const struct csv_table *table, const struct csv_row *row, size_t column)
{
    struct csv_field cell = csv_trim(csv_at(table, row, column));

    for (size_t i = 0; i < cell.size_bytes; i++)
        if (cell.bytes[i] == '(')
            return true;
    return false;
}

/* False when the row has no time; the first pass counts it as skipped then. */
static bool row_time(const struct csv_sorted *sorted, struct csv_table *table,
                     const struct csv_row *row, bool is_counting, uint64_t *time_ns)
{
    uint64_t unit = table->columns[sorted->key_column].unit;
    enum csv_cell cell = csv_time(csv_at(table, row, sorted->key_column), unit ? unit : 1, time_ns);
    enum csv_skip reason = csv_skip_of_time(cell);

    if (cell == CSV_CELL_NUMBER)
        return true;
    if (cell == CSV_CELL_MISSING && csv_has(table, sorted->fallback_key_column)) {
        unit = table->columns[sorted->fallback_key_column].unit;
        cell = csv_time(csv_at(table, row, sorted->fallback_key_column), unit ? unit : 1, time_ns);
        if (cell == CSV_CELL_NUMBER)
            return true;
        reason = csv_skip_of_time(cell);
    }
    if (is_header_again(table, row, sorted->key_column))
        reason = CSV_SKIP_REPEATED_HEADER;
    if (is_counting)
        csv_skip(table, reason, row->line);
    return false;
}

static bool row_fits(struct csv_table *table, const struct csv_row *row, bool is_counting)
{
    if (is_counting)
        return csv_row_fits(table, row);
    return csv_row_is_whole(table, row);
}

/* The reader knows the line only. */
static enum mt_result name_file(const struct csv_table *table, enum mt_result result,
                                struct mt_error *error)
{
    struct mt_error line;

    if (result == MT_OK || !error || strncmp(error->message, "line ", 5) != 0)
        return result;
    line = *error;
    return mt_error_set(error, result, "%s: %.300s", table->path, line.message);
}

/* --- first pass ---------------------------------------------------------------------------- */

static enum mt_result add_run(struct csv_sorted *sorted, struct csv_run run, struct mt_error *error)
{
    if (!list_has_room(&sorted->runs, &sorted->run_capacity, sorted->run_count,
                       sizeof(*sorted->runs)))
        return mt_error_set(error, MT_NO_MEMORY, "no memory to sort a csv file");
    sorted->runs[sorted->run_count++] = run;
    return MT_OK;
}

/* Beyond CSV_RUNS_MAX stretches, it is only known that there are too many. */
static enum mt_result on_first_pass_row(struct csv_sorted *sorted, uint32_t index,
                                        const struct csv_row *row, uint64_t time_ns,
                                        uint64_t *previous_ns, struct mt_error *error)
{
    bool is_new = time_ns < *previous_ns || !sorted->run_count ||
                  sorted->runs[sorted->run_count - 1].table != index;
    struct csv_run run = {index, row->offset_bytes, sorted->tables[index].size_bytes, row->line};

    sorted->row_count++;
    if (time_ns < sorted->first_ns)
        sorted->first_ns = time_ns;
    if (time_ns > sorted->last_ns)
        sorted->last_ns = time_ns;
    *previous_ns = time_ns;
    if (!is_new || sorted->run_count > CSV_RUNS_MAX)
        return MT_OK;
    if (sorted->run_count && sorted->runs[sorted->run_count - 1].table == index)
        sorted->runs[sorted->run_count - 1].end_bytes = row->offset_bytes;
    return add_run(sorted, run, error);
}

static size_t key_columns_end(const struct csv_sorted *sorted, const struct csv_table *table)
{
    int16_t key = table->columns[sorted->key_column].column;
    int16_t fallback = table->columns[sorted->fallback_key_column].column;

    return (size_t)(key > fallback ? key : fallback) + 1;
}

typedef enum mt_result row_visitor(struct csv_sorted *sorted, uint32_t index,
                                   const struct csv_row *row, uint64_t time_ns,
                                   uint64_t *previous_ns, struct mt_error *error);

static enum mt_result visit_rows(struct csv_sorted *sorted, uint32_t index, bool is_counting,
                                 row_visitor *visit, struct mt_error *error)
{
    struct csv_table *table = &sorted->tables[index];
    size_t wanted = key_columns_end(sorted, table);
    struct csv_reader reader;
    struct csv_row row;
    bool has_row = true;
    uint64_t time_ns, previous_ns = 0;
    enum mt_result result =
        csv_reader_init(&reader, table->descriptor, first_pass_buffer_bytes, error);

    if (result != MT_OK)
        return result;
    csv_reader_seek(&reader, table->first_row_offset_bytes, table->size_bytes,
                    table->first_row_line);
    while (result == MT_OK && has_row) {
        result = csv_reader_next(&reader, wanted, &row, &has_row, error);
        if (result == MT_OK && has_row && row_fits(table, &row, is_counting) &&
            row_time(sorted, table, &row, is_counting, &time_ns))
            result = visit(sorted, index, &row, time_ns, &previous_ns, error);
    }
    csv_reader_release(&reader);
    return name_file(table, result, error);
}

/* --- a file without order ------------------------------------------------------------------ */

static enum mt_result add_loose_row(struct csv_sorted *sorted, uint32_t index,
                                    const struct csv_row *row, uint64_t time_ns,
                                    uint64_t *previous_ns, struct mt_error *error)
{
    (void)previous_ns;
    if (sorted->loose_count == sorted->row_count)
        return mt_error_set(error, MT_IO, "%s: changed while it was read",
                            sorted->tables[index].path);
    sorted->loose_rows[sorted->loose_count++] =
        (struct csv_loose_row){time_ns, row->offset_bytes, (uint32_t)row->line, index};
    return MT_OK;
}

static int compare_loose_rows(const void *left, const void *right)
{
    const struct csv_loose_row *a = left, *b = right;

    if (a->time_ns != b->time_ns)
        return a->time_ns < b->time_ns ? -1 : 1;
    if (a->table != b->table)
        return a->table < b->table ? -1 : 1;
    return a->offset_bytes < b->offset_bytes ? -1 : a->offset_bytes > b->offset_bytes;
}

static enum mt_result sort_rows(struct csv_sorted *sorted, struct mt_error *error)
{
    enum mt_result result = MT_OK;

    sorted->loose_rows = malloc((sorted->row_count + 1) * sizeof(*sorted->loose_rows));
    if (!sorted->loose_rows)
        return mt_error_set(error, MT_NO_MEMORY, "no memory to sort %" PRIu64 " rows",
                            sorted->row_count);
    for (size_t i = 0; result == MT_OK && i < sorted->table_count; i++)
        result = visit_rows(sorted, (uint32_t)i, false, add_loose_row, error);
    qsort(sorted->loose_rows, sorted->loose_count, sizeof(*sorted->loose_rows), compare_loose_rows);
    return result;
}

/* --- merging ------------------------------------------------------------------------------- */

static bool comes_first(const void *row, const void *other)
{
    const struct csv_cursor *a = *(struct csv_cursor *const *)row;
    const struct csv_cursor *b = *(struct csv_cursor *const *)other;

    return a->time_ns != b->time_ns ? a->time_ns < b->time_ns : a->run < b->run;
}

/* The next row of a stretch that can be used. */
static enum mt_result advance(struct csv_sorted *sorted, struct csv_cursor *cursor, bool *has_row,
                              struct mt_error *error)
{
    struct csv_table *table = &sorted->tables[sorted->runs[cursor->run].table];

    for (;;) {
        enum mt_result result =
            csv_reader_next(&cursor->reader, table->wanted, &cursor->row, has_row, error);

        if (result != MT_OK || !*has_row)
            return name_file(table, result, error);
        if (row_fits(table, &cursor->row, false) &&
            row_time(sorted, table, &cursor->row, false, &cursor->time_ns))
            return MT_OK;
    }
}

static enum mt_result open_cursors(struct csv_sorted *sorted, struct mt_error *error)
{
    size_t buffer_bytes = all_buffers_bytes / (sorted->run_count + 1);

    if (buffer_bytes < buffer_least_bytes)
        buffer_bytes = buffer_least_bytes;
    if (buffer_bytes > buffer_most_bytes)
        buffer_bytes = buffer_most_bytes;
    sorted->cursors = calloc(sorted->run_count + 1, sizeof(*sorted->cursors));
    sorted->heap = calloc(sorted->run_count + 1, sizeof(struct csv_cursor *));
    if (!sorted->cursors || !sorted->heap)
        return mt_error_set(error, MT_NO_MEMORY, "no memory to sort a csv file");
    for (size_t i = 0; i < sorted->run_count; i++) {
        const struct csv_run *run = &sorted->runs[i];
        struct csv_cursor *cursor = &sorted->cursors[i];
        bool has_row;
        enum mt_result result = csv_reader_init(
            &cursor->reader, sorted->tables[run->table].descriptor, buffer_bytes, error);

        if (result != MT_OK)
            return result;
        cursor->run = (uint32_t)i;
        csv_reader_seek(&cursor->reader, run->begin_bytes, run->end_bytes, run->line);
        result = advance(sorted, cursor, &has_row, error);
        if (result != MT_OK)
            return result;
        if (has_row)
            sorted->heap[sorted->heap_count++] = cursor;
    }
    heap_make(sorted->heap, sorted->heap_count, sizeof(*sorted->heap), comes_first);
    return MT_OK;
}

/* One cursor for all; it jumps to each row. */
static enum mt_result open_loose(struct csv_sorted *sorted, struct mt_error *error)
{
    enum mt_result result = sort_rows(sorted, error);

    if (result != MT_OK)
        return result;
    sorted->cursors = calloc(1, sizeof(*sorted->cursors));
    if (!sorted->cursors)
        return mt_error_set(error, MT_NO_MEMORY, "no memory to sort a csv file");
    sorted->runs[0].table = 0;
    sorted->run_count = 1;
    return csv_reader_init(&sorted->cursors->reader, -1, buffer_least_bytes, error);
}

static enum mt_result next_loose(struct csv_sorted *sorted, const struct csv_row **row,
                                 struct csv_table **table, uint64_t *time_ns,
                                 struct mt_error *error)
{
    struct csv_cursor *cursor = sorted->cursors;

    *row = NULL;
    while (!*row && sorted->next_loose < sorted->loose_count) {
        const struct csv_loose_row *loose = &sorted->loose_rows[sorted->next_loose++];
        enum mt_result result;
        bool has_row;

        *table = &sorted->tables[loose->table];
        cursor->reader.descriptor = (*table)->descriptor;
        csv_reader_seek(&cursor->reader, loose->offset_bytes, loose->offset_bytes + 1, loose->line);
        result = csv_reader_next(&cursor->reader, (*table)->wanted, &cursor->row, &has_row, error);
        if (result != MT_OK)
            return name_file(*table, result, error);
        if (!has_row || !row_fits(*table, &cursor->row, false))
            continue;
        *row = &cursor->row;
        *time_ns = loose->time_ns;
    }
    return MT_OK;
}

/* --- the whole ----------------------------------------------------------------------------- */

enum mt_result csv_sorted_open(struct csv_sorted *sorted, struct csv_table *tables, size_t count,
                               size_t key_column, size_t fallback_key_column,
                               struct mt_error *error)
{
    enum mt_result result = MT_OK;

    *sorted = (struct csv_sorted){.tables = tables,
                                  .table_count = count,
                                  .key_column = key_column,
                                  .fallback_key_column = fallback_key_column,
                                  .first_ns = UINT64_MAX};
    for (size_t i = 0; result == MT_OK && i < count; i++)
        result = visit_rows(sorted, (uint32_t)i, true, on_first_pass_row, error);
    if (result != MT_OK)
        csv_sorted_close(sorted);
    return result;
}

enum mt_result csv_sorted_next(struct csv_sorted *sorted, const struct csv_row **row,
                               struct csv_table **table, uint64_t *time_ns, struct mt_error *error)
{
    struct csv_cursor *top;
    enum mt_result result = MT_OK;

    if (!sorted->cursors)
        result = sorted->run_count > CSV_RUNS_MAX ? open_loose(sorted, error)
                                                  : open_cursors(sorted, error);
    if (result == MT_OK && sorted->loose_rows)
        return next_loose(sorted, row, table, time_ns, error);
    *row = NULL;
    if (result == MT_OK && sorted->is_top_used) {
        bool has_row;

        result = advance(sorted, sorted->heap[0], &has_row, error);
        if (!has_row)
            sorted->heap[0] = sorted->heap[--sorted->heap_count];
        if (result == MT_OK && sorted->heap_count)
            heap_sift_down(sorted->heap, sorted->heap_count, sizeof(*sorted->heap), 0, comes_first);
    }
    sorted->is_top_used = result == MT_OK && sorted->heap_count > 0;
    if (!sorted->is_top_used)
        return result;
    top = sorted->heap[0];
    *row = &top->row;
    *table = &sorted->tables[sorted->runs[top->run].table];
    *time_ns = top->time_ns;
    return MT_OK;
}

void csv_sorted_close(struct csv_sorted *sorted)
{
    if (sorted->cursors) {
        for (size_t i = 0; i < sorted->run_count; i++)
            csv_reader_release(&sorted->cursors[i].reader);
    }
    free(sorted->cursors);
    free(sorted->heap);
    free(sorted->runs);
    free(sorted->loose_rows);
    memset(sorted, 0, sizeof(*sorted));
}
