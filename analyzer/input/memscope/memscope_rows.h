/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rows of msleaks and msmemscope, from csv or database, and their events.
 *
 * The tool writes the rows of a block when the block is freed, so the order of a file is not that
 * of time, and one recording is several files: memscope_runs.h sorts them.
 */
#ifndef LEAKTIDE_INPUT_MEMSCOPE_ROWS_H
#define LEAKTIDE_INPUT_MEMSCOPE_ROWS_H

#include "error_sentence.h"
#include "event.h"
#include "memscope_attr.h"
#include "memscope_columns.h"
#include "model.h"

struct memscope_rows;

/* Source: text, the file or folder. */
enum mt_result memscope_rows_create(struct model *model, uint32_t source,
                                    struct memscope_rows **out, struct mt_error *error);
void memscope_rows_destroy(struct memscope_rows *rows);

/* Before the rows of a file: what its times count in is found out from the first. */
void memscope_rows_begin_file(struct memscope_rows *rows, uint64_t time_unit);

/*
 * cells: MEMSCOPE_COLUMNS texts. False when it makes no sense: a time or a block without a number.
 * Running out of memory is told by memscope_rows_sort().
 */
bool memscope_rows_add(struct memscope_rows *rows, const struct attr_text *cells);

/* A call of a Python function; end_ns 0: it did not end. */
struct memscope_call {
    struct attr_text function;
    uint64_t start_ns, end_ns, thread_id, process_id;
};
void memscope_rows_add_call(struct memscope_rows *rows, const struct memscope_call *call);

/* After the last row. MT_NO_DATA if there is none. */
enum mt_result memscope_rows_sort(struct memscope_rows *rows, const char *path,
                                  struct mt_error *error);
/* *count 0 is the end; a batch never mixes two processes. MT_IO: what was sorted is lost. */
enum mt_result memscope_rows_next(struct memscope_rows *rows, struct event *batch, size_t capacity,
                                  size_t *count, struct mt_error *error);

#endif
