/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Two recordings as a csv in the form of msmemscope's compare: a line for each operator that ended,
 * or for each kernel that was launched, lined up by name.
 */
#ifndef LEAKTIDE_COMPARE_CSV_H
#define LEAKTIDE_COMPARE_CSV_H

#include <stdio.h>

#include "error_sentence.h"

struct mt_trace;

enum compare_level { COMPARE_OPERATORS, COMPARE_KERNELS };

/*
 * What was allocated in the operator, or on the device since the kernel before.
 *
 * Returns as mt_trace_open(), and MT_NO_DATA when a recording has no operators, or no kernels.
 */
enum mt_result compare_csv_write(const struct mt_trace *base, const struct mt_trace *current,
                                 enum compare_level level, FILE *out, struct mt_error *error);

/*
 * With the numbers of that tool itself, from two csv files of msleaks or msmemscope: the size of
 * the first allocation or release of a pool at or after the element.
 */
enum mt_result compare_csv_write_strict(const char *base, const char *current,
                                        enum compare_level level, FILE *out,
                                        struct mt_error *error);

#endif
