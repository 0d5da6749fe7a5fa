/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Summaries for a gate: runs of a job that are judged, and good runs that are its baseline.
 */
#ifndef LEAKTIDE_LIBRARY_GATE_RUNS_H
#define LEAKTIDE_LIBRARY_GATE_RUNS_H

#include "judge.h"
#include "rank_run.h"

/* With the columns that a gate needs. Release in either case. */
enum mt_result gate_run_read(struct rank_run *run, const char *path, struct mt_error *error);

/*
 * The last good runs in a folder (docs/history.md) as a baseline; those that are judged are none.
 *
 * most    runs, at most; 0: as many as a history compares with
 * judged  judged_count paths of runs
 *
 * *out is NULL where there is no good run. MT_NOT_FOUND, MT_IO, MT_NO_DATA: of the folder;
 * MT_NO_MEMORY.
 */
enum mt_result gate_baseline_of_runs(const char *folder, size_t most, const char *const *judged,
                                     size_t judged_count, struct baseline_file **out,
                                     struct mt_error *error);

#endif
