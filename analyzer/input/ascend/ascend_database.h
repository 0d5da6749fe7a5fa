/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ascend_pytorch_profiler*.db, ascend_mindspore_profiler*.db and msprof_*.db as streams.
 *
 * The schemas of 2024 (ENUM_MEMORY) and of today (STRING_IDS) differ in where the words are that
 * say what a row is. Bytes and nanoseconds are integers already.
 */
#ifndef LEAKTIDE_ASCEND_DATABASE_H
#define LEAKTIDE_ASCEND_DATABASE_H

#include "ascend_csv.h"
#include "ascend_steps.h"
#include "ascend_stream.h"

/* Whether the file is a database that tells of memory. */
bool ascend_database_recognises(const char *path);

enum { ASCEND_DATABASE_STREAMS = 4 };

/*
 * What the streams have to know; rank is of the database itself, -1 where it does not tell.
 * MT_IO, MT_CORRUPT, MT_NO_MEMORY.
 */
enum mt_result ascend_database_look(const char *path, struct model *model,
                                    struct ascend_record_facts *facts, bool *has_record,
                                    int32_t *rank, struct mt_error *error);

/* Opens a stream for each table of memory there is; *count of them. */
enum mt_result ascend_database_streams(const char *path, const struct ascend_rank *rank,
                                       struct ascend_stream *streams, size_t *count,
                                       struct mt_error *error);

/* STEP_TIME, if there is one. */
enum mt_result ascend_steps_from_database(const char *path, struct ascend_steps *steps,
                                          struct mt_error *error);

#endif
