/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The rows of one or more csv files in the order of a time column.
 *
 * Real files are a few sorted stretches one after the other: blocks of the framework, then those
 * of the graph engine; one stretch per module. A first pass finds where each begins, then they are
 * read side by side and merged, so memory is a few buffers. A file in no order at all costs 24
 * bytes per row. Rows with equal times keep the order of the files.
 *
 * A row whose time cannot be used, or which has not as many columns as the header, is left out
 * and counted as skipped.
 */
#ifndef LEAKTIDE_CSV_SORTED_H
#define LEAKTIDE_CSV_SORTED_H

#include "csv_table.h"

enum { CSV_RUNS_MAX = 512 };

struct csv_run {
    uint32_t table;
    uint64_t begin_bytes, end_bytes, line;
};

struct csv_loose_row {
    uint64_t time_ns, offset_bytes;
    uint32_t line, table;
};

struct csv_cursor {
    struct csv_reader reader;
    struct csv_row row;
    uint64_t time_ns;
    uint32_t run;
};

struct csv_sorted {
    struct csv_table *tables; /* borrowed */
    size_t table_count;
    size_t key_column, fallback_key_column;
    /* After the first pass. */
    struct csv_run *runs;
    size_t run_count, run_capacity;
    uint64_t first_ns, last_ns; /* least and greatest time; UINT64_MAX and 0 without rows */
    uint64_t row_count;
    /* While reading. */
    struct csv_cursor *cursors, **heap;
    size_t heap_count;
    bool is_top_used;
    struct csv_loose_row *loose_rows;
    size_t loose_count, next_loose;
};

/*
 * Finds the sorted stretches. Where a row has no time in key_column, the other column counts (the
 * same column, if there is no other). The tables must outlive it. MT_IO, MT_CORRUPT, MT_NO_MEMORY.
 */
enum mt_result csv_sorted_open(struct csv_sorted *sorted, struct csv_table *tables, size_t count,
                               size_t key_column, size_t fallback_key_column,
                               struct mt_error *error);

/*
 * The next row and its table; *row NULL is the end. Borrowed until the next call.
 */
enum mt_result csv_sorted_next(struct csv_sorted *sorted, const struct csv_row **row,
                               struct csv_table **table, uint64_t *time_ns, struct mt_error *error);
void csv_sorted_close(struct csv_sorted *sorted);

#endif
