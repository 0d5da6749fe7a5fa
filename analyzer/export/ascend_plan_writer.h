/* SPDX-License-Identifier: Apache-2.0 */
/*
 * static_op_mem.csv: the plan of static graphs, a row for each buffer, as msprof writes it.
 *
 * Rows are collected, as a plan is small, and come out graph by graph in their old order, each
 * graph with its TOTAL at the end.
 */
#ifndef LEAKTIDE_ASCEND_PLAN_WRITER_H
#define LEAKTIDE_ASCEND_PLAN_WRITER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "error_sentence.h"

struct plan_row {
    uint64_t row; /* order; UINT64_MAX for a total */
    const char *graph, *name;
    uint64_t first_node, last_node, size_bytes;
    int32_t device; /* -1: the host's */
};

struct plan {
    struct plan_row *rows;
    size_t count, capacity;
};

/* Texts are borrowed until the plan is released. False: no memory. */
bool plan_add(struct plan *plan, const struct plan_row *row);
void plan_release(struct plan *plan);

/* path: of the file; name: of what is written, for sentences. MT_USAGE. */
enum mt_result plan_write(struct plan *plan, const char *path, const char *name,
                          struct mt_error *error);

#endif
