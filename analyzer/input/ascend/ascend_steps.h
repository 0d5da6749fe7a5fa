/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The steps of a rank, from where they are known best:
 *
 *   STEP_TIME of a database       host clock
 *   ProfilerStep#N in trace_view  host clock
 *   ranges of mstx                host clock: ascend_mstx.h
 *   Step Id in kernel_details     device clock: late, so only used between two or more steps
 */
#ifndef LEAKTIDE_ASCEND_STEPS_H
#define LEAKTIDE_ASCEND_STEPS_H

#include "ascend_stream.h"

struct csv_column;
struct csv_row;
struct csv_table;

struct ascend_step {
    uint64_t number, begin_ns, end_ns;
};

struct ascend_steps {
    struct ascend_step *rows;
    size_t count, capacity;
    struct model *model; /* of the recording, or NULL; borrowed */
};

bool ascend_step_add(struct ascend_steps *steps, struct ascend_step step);
void ascend_steps_release(struct ascend_steps *steps);

/* Appends what the file tells. MT_IO, MT_NO_MEMORY; MT_CORRUPT for a header without the columns. */
enum mt_result ascend_steps_from_trace_view(const char *path, struct ascend_steps *steps,
                                            struct mt_error *error);
enum mt_result ascend_steps_from_kernels(const char *path, struct ascend_steps *steps,
                                         struct mt_error *error);

/* Hands each whole row of a csv file with these columns to `add`, which returns false when there is
 * no memory. Errors as above. */
enum mt_result
ascend_steps_from_csv(const char *path, const struct csv_column *columns, size_t column_count,
                      bool (*add)(struct ascend_steps *steps, const struct csv_table *table,
                                  const struct csv_row *row),
                      struct ascend_steps *steps, struct mt_error *error);

/* Sorts the steps and makes a stream of them, which then owns them. MT_NO_MEMORY. */
enum mt_result ascend_steps_stream(struct model *model, struct ascend_steps *steps,
                                   struct ascend_stream *stream, struct mt_error *error);

#endif
