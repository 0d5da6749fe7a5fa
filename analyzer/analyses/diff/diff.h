/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What changed? Between recordings, or between steps of one.
 */
#ifndef LEAKTIDE_ANALYSES_DIFF_H
#define LEAKTIDE_ANALYSES_DIFF_H

#include "analysis.h"
#include "held.h"

struct diff_question {
    /* Bases, then the current one; at least two. Steps of one recording name it on every side. */
    const struct question *const *sides;
    const char *const *names; /* for people */
    const struct held_stretch *stretches;
    size_t side_count;
};

/*
 * Fills the report; it is found when a peak, or what is kept at the end, grew beyond what the
 * bases differ in among themselves. The lists are as long as the current side's question says.
 * Errors as held_read().
 */
enum mt_result analyse_diff(const struct diff_question *question, struct report *report,
                            struct mt_error *error);

#endif
