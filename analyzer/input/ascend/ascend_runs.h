/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Ranks that were recorded together, and those that only lie in one folder.
 */
#ifndef LEAKTIDE_ASCEND_RUNS_H
#define LEAKTIDE_ASCEND_RUNS_H

#include "ascend_rank.h"

/* MT_USAGE, and how many there are, if the ranks are of several runs. Leaves them in order of their
 * beginnings. path is what was given. */
enum mt_result ascend_runs_check(const struct model *model, struct ascend_rank_files **ranks,
                                 size_t count, const char *path, struct mt_error *error);

#endif
