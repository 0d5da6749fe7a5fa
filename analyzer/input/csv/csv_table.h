/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A csv file with a header: columns by name, units from the header's own text.
 *
 * "Allocation Time(us)" is the column "Allocation Time", and its cells count in microseconds. A
 * caller lists the columns it wants; the reader splits no more of a row than it takes to get them.
 */
#ifndef LEAKTIDE_CSV_TABLE_H
#define LEAKTIDE_CSV_TABLE_H

#include "csv_number.h"
#include "csv_reader.h"
#include "model.h"

enum { CSV_WANTED_MAX = 24 };

struct csv_column {
    const char *names; /* alternatives, "Device Type|Device"; case does not matter */
    enum csv_need {
        CSV_OPTIONAL = false,
        CSV_REQUIRED = true,
        CSV_EXPECTED, /* every version has it; without it the rest is read, and said to be a part */
        CSV_REST      /* optional, the last, and not quoted: it may hold commas */
    } need;
};

struct csv_skips {
    enum csv_skip {
        CSV_SKIP_COLUMNS, /* another number of columns than the header */
        CSV_SKIP_CUT,     /* the last line, ended early */
        CSV_SKIP_ROUNDED_TIME,
        CSV_SKIP_BAD_TIME,
        CSV_SKIP_BEFORE_START,
        CSV_SKIP_BAD_SIZE,
        CSV_SKIP_BAD_CELL,
        CSV_SKIP_REPEATED_HEADER,
        CSV_SKIP_RELEASED_BEFORE,
        CSV_SKIP_COUNT
    } unused;
    uint64_t counts[CSV_SKIP_COUNT], first_lines[CSV_SKIP_COUNT];
};

struct csv_table {
    char *path;
    int descriptor;
    uint64_t size_bytes;
    uint64_t first_row_offset_bytes, first_row_line;
    size_t column_count; /* of the header */
    bool has_rest;       /* CSV_REST: a row may have more */
    size_t wanted;       /* how many columns have to be split */
    struct csv_wanted {
        int16_t column; /* -1: there is none */
        uint64_t unit;  /* of a time in ns, of a size in bytes; 0: the header names none */
    } columns[CSV_WANTED_MAX];
    const char *lacking; /* names of a CSV_EXPECTED column that is not there; NULL: none */
    struct csv_skips skips;
};

/*
 * Opens path and finds `count` columns in its header. MT_IO, MT_NO_MEMORY; MT_NO_DATA when the
 * file is empty; MT_CORRUPT when it has no header or a required column is missing.
 */
enum mt_result csv_table_open(struct csv_table *table, const char *path,
                              const struct csv_column *columns, size_t count,
                              struct mt_error *error);
void csv_table_close(struct csv_table *table);

/* The cell of the column with this number; empty when the file has no such column. */
static inline struct csv_field csv_at(const struct csv_table *table, const struct csv_row *row,
                                      size_t column)
{
    int16_t index = table->columns[column].column;

    return index >= 0 ? row->fields[index] : (struct csv_field){"", 0};
}

static inline bool csv_has(const struct csv_table *table, size_t column)
{
    return table->columns[column].column >= 0;
}

/* Whether the row has as many columns as the header. */
static inline bool csv_row_has_columns(const struct csv_table *table, const struct csv_row *row)
{
    return row->column_count == table->column_count ||
           (table->has_rest && row->column_count > table->column_count);
}

/* A last line without an end may have lost a part of its last cell, which nobody can see: who
 * writes these files ends each line. */
static inline bool csv_row_is_whole(const struct csv_table *table, const struct csv_row *row)
{
    return csv_row_has_columns(table, row) && !row->is_cut;
}

/* The same; counts it as skipped where not. */
bool csv_row_fits(struct csv_table *table, const struct csv_row *row);

void csv_skip(struct csv_table *table, enum csv_skip reason, uint64_t line);

/* Why a time cannot be used; for counting. */
enum csv_skip csv_skip_of_time(enum csv_cell cell);

/* Why the first row that is damaged was skipped, and its line; NULL: none is. */
const char *csv_table_first_damage(const struct csv_table *table, uint64_t *line);

/* How many rows were skipped so far: all of them, or those that are damaged; not the one in which
 * the file ends, after which nobody knows how many are missing. */
uint64_t csv_table_skipped(const struct csv_table *table, bool is_damaged);

/* What was skipped becomes notes of the model. */
void csv_table_report(const struct csv_table *table, struct model *model);

/* "operator_memory.csv" */
const char *csv_table_name(const struct csv_table *table);

#endif
