/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The calls of functions of Python, as msmemscope has them: python_trace_<time>.csv, or the table
 * python_trace_<pid> of its database.
 *
 *   FuncInfo,StartTime(ns),EndTime(ns),Thread Id,Process Id
 *
 * A call that has no end says N/A. Rows are in the order of ends; those without come last.
 */
#ifndef LEAKTIDE_PYTHON_TRACE_H
#define LEAKTIDE_PYTHON_TRACE_H

#include <stdbool.h>
#include <stdio.h>

#include "leaktide/analyzer.h"

/* Whether there is anything: neither the file nor the table may be without rows. */
bool python_trace_is_there(const struct mt_trace *trace);

enum mt_result python_trace_write_csv(struct mt_trace *trace, FILE *out, struct mt_error *error);
/* Into a database that exists. */
enum mt_result python_trace_write_table(struct mt_trace *trace, const char *path,
                                        uint64_t process_id, struct mt_error *error);

#endif
