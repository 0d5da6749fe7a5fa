/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What an engine returned for the query of rank_sql.h, as an answer.
 */
#ifndef LEAKTIDE_ANALYSES_RANK_RETURNED_H
#define LEAKTIDE_ANALYSES_RANK_RETURNED_H

#include "error_sentence.h"
#include "report.h"

/* path: of the rows, a file of Parquet. As parquet.h; MT_CORRUPT: a column is missing. */
enum mt_result rank_returned_answer(const char *path, const char *engine, struct report *report,
                                    struct mt_error *error);

#endif
