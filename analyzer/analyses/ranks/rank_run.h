/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The summaries of one run of a job, as a set of ranks.
 *
 *     rank_run_init(&run);
 *     rank_run_read(&run, folder, &error);
 *     rank_run_release(&run);
 */
#ifndef LEAKTIDE_ANALYSES_RANK_RUN_H
#define LEAKTIDE_ANALYSES_RANK_RUN_H

#include "error_sentence.h"
#include "rank_set.h"

struct rank_run {
    struct rank_set set;
    size_t unread_count;      /* summaries */
    const char *first_unread; /* in the arena of the set */
};

void rank_run_init(struct rank_run *run);
void rank_run_release(struct rank_run *run);
/* Finishes the set. What cannot be read is counted. MT_NOT_FOUND, MT_IO: of the path;
 * MT_NO_MEMORY. */
enum mt_result rank_run_read(struct rank_run *run, const char *path, struct mt_error *error);
/* NULL: all ranks are there, and were recorded whole; else what is missing, for people. */
const char *rank_run_missing(const struct rank_run *run, struct arena *arena);

#endif
