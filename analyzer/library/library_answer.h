/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A report becomes an answer of the library.
 */
#ifndef LEAKTIDE_LIBRARY_ANSWER_H
#define LEAKTIDE_LIBRARY_ANSWER_H

#include "leaktide/answer.h"
#include "report.h"
#include "report_writers.h"

/* Takes the report. result: of what filled it; is returned, unless the report itself failed. */
enum mt_result answer_give(struct report *report, enum mt_result result, struct mt_answer **out,
                           struct mt_error *error);

/* options NULL: none; else as options_take(). */
enum mt_result shown_take(const struct mt_write_options *options, struct report_shown *shown,
                          struct mt_error *error);

#endif
