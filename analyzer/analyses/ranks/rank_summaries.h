/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Summaries from disk, as a set of ranks; what cannot be read is named, and nothing stops.
 */
#ifndef LEAKTIDE_ANALYSES_RANK_SUMMARIES_H
#define LEAKTIDE_ANALYSES_RANK_SUMMARIES_H

#include "rank_answer.h"
#include "rank_layout.h"

struct rank_sources {
    const char *const *paths;
    size_t count;
    struct rank_layout layout;
};

/* Answers "ranks". MT_NO_DATA: there is no summary at these paths; else as summary_files.h. */
enum mt_result rank_summaries_answer(const struct rank_sources *sources,
                                     const struct rank_question *question, struct report *report,
                                     struct mt_error *error);

#endif
