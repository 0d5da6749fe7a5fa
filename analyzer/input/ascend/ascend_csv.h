/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The csv files of an Ascend profile as streams. Each takes all slices of one kind.
 *
 * A stream closes what it opened. What is skipped becomes notes of the model when it is closed.
 */
#ifndef LEAKTIDE_ASCEND_CSV_H
#define LEAKTIDE_ASCEND_CSV_H

#include "ascend_stream.h"
#include "csv_sorted.h"

struct ascend_paths {
    char **paths;
    size_t count;
};

/* rank is borrowed until the stream is closed. MT_IO, MT_CORRUPT, MT_NO_MEMORY, MT_NO_DATA. */
enum mt_result ascend_operator_csv(const struct ascend_rank *rank, struct ascend_paths paths,
                                   struct ascend_stream *stream, struct mt_error *error);
enum mt_result ascend_record_csv(const struct ascend_rank *rank, struct ascend_paths paths,
                                 struct ascend_stream *stream, struct mt_error *error);
enum mt_result ascend_module_csv(const struct ascend_rank *rank, struct ascend_paths paths,
                                 struct ascend_stream *stream, struct mt_error *error);
enum mt_result ascend_npu_mem_csv(const struct ascend_rank *rank, struct ascend_paths paths,
                                  struct ascend_stream *stream, struct mt_error *error);
/* Node numbers instead of times: not to be merged with the others. */
enum mt_result ascend_static_csv(const struct ascend_rank *rank, struct ascend_paths paths,
                                 struct ascend_stream *stream, struct mt_error *error);

/* Ticks instead of times: not to be merged with the others. */
enum mt_result ascend_block_csv(const struct ascend_rank *rank, struct ascend_paths paths,
                                struct ascend_stream *stream, struct mt_error *error);

/*
 * What the other streams have to know of a memory_record: whether it is MindSpore's, how large its
 * MB is (proved with the reserved bytes of operator_memory, where given), and when the workspace
 * was used (*times on the heap, sorted).
 */
struct ascend_record_facts {
    bool is_mindspore;
    uint64_t megabyte;
    uint64_t *workspace_times;
    size_t workspace_count, workspace_capacity;
};
enum mt_result ascend_record_look(struct model *model, struct ascend_paths paths,
                                  struct ascend_total operator_reserved,
                                  struct ascend_record_facts *facts, struct mt_error *error);

/* From the first row: the pool's reserved bytes, and whether cells say N/A as MindSpore's do. */
enum mt_result ascend_operator_look(const char *path, struct ascend_total *reserved,
                                    bool *is_mindspore, struct mt_error *error);

/* --- shared by the readers ----------------------------------------------------------------- */

struct ascend_files {
    struct csv_table *tables;
    size_t count;
    struct csv_sorted sorted;
    uint64_t row_count; /* of all tables, skipped ones too */
};

struct ascend_csv;

/* One kind of csv file: its columns, and what becomes of its rows. */
struct ascend_csv_kind {
    const char *name; /* "operator_memory" */
    const struct csv_column *columns;
    size_t column_count, time_column, other_time_column;
    size_t state_bytes;                    /* of a struct that begins with a struct ascend_csv */
    void (*begin)(struct ascend_csv *csv); /* before the first row; may be NULL */
    /* A row with its time and id filled in; false: it is of no use. */
    bool (*fill)(struct ascend_csv *csv, struct csv_table *table, const struct csv_row *cells,
                 struct ascend_row *row);
    void (*end)(struct ascend_csv *csv); /* may be NULL */
};

/* A stream of rows of one kind; all else is zero before begin(). */
struct ascend_csv {
    const struct ascend_csv_kind *kind;
    const struct ascend_rank *rank;
    struct ascend_files files;
};

enum mt_result ascend_csv_open(const struct ascend_csv_kind *kind, const struct ascend_rank *rank,
                               struct ascend_paths paths, struct ascend_stream *stream,
                               struct mt_error *error);

/* Opens all paths and finds their order. */
enum mt_result ascend_files_open(struct ascend_files *files, struct ascend_paths paths,
                                 const struct csv_column *columns, size_t column_count,
                                 size_t time_column, size_t other_time_column, struct model *model,
                                 struct mt_error *error);
void ascend_files_close(struct ascend_files *files, struct model *model);

/* The cell as bytes; not known when it is missing, negative or no number. */
struct ascend_total ascend_bytes(const struct csv_table *table, const struct csv_row *row,
                                 size_t column, uint64_t megabyte);

/* Which cells rows of one kind have; zeroed before the first. */
struct ascend_given {
    uint8_t cells;      /* a bit for each column that is asked for */
    uint64_t row_count; /* that have these and no others; where the first is: */
    struct csv_table *table;
    uint64_t line;
};

/*
 * Rows of one kind have the same cells. False: a cell that a row before has is missing, or a cell
 * is no number; the row is counted as skipped. So are rows before that lack what this one has:
 * these were used without it. Up to eight columns; one that the file does not have does not matter.
 */
bool ascend_cells_are_given(struct csv_table *table, const struct csv_row *row,
                            const uint8_t *columns, size_t count, struct ascend_given *given);
/* The same for cells that may be missing. */
bool ascend_cells_are_numbers(struct csv_table *table, const struct csv_row *row,
                              const uint8_t *columns, size_t count);
/* Whether the cell names a device, or the file has no such column; else the row is counted. */
bool ascend_device_is_sound(struct csv_table *table, const struct csv_row *row, size_t column);

/* The counters of a component, named once: there is one row of it after the other. */
struct ascend_counters {
    char component[64];
    size_t size_bytes;
    bool is_filled;
    uint32_t allocated, reserved, active; /* texts */
    struct ascend_given given;
};

enum { ASCEND_COMPONENTS = 8 };

/* The cell as a text; 0 when it is missing. */
uint32_t ascend_stream_name(struct model *model, struct csv_field stream);

/* Finds the component among ASCEND_COMPONENTS, or adds it in the place of the last. */
struct ascend_counters *ascend_counters_of(struct model *model, struct ascend_counters *components,
                                           struct csv_field component);
static inline void ascend_total_add(struct ascend_row *row, uint32_t text,
                                    struct ascend_total value)
{
    if (value.is_known && row->counter_count < ASCEND_COUNTERS_MAX)
        row->counters[row->counter_count++] = (struct ascend_counter){text, value.bytes};
}

/* Appends a counter "PTA reserved" to the row when its value is known. */
void ascend_counter_add(struct model *model, struct ascend_row *row, struct csv_field component,
                        const char *what, struct ascend_total value);

#endif
