/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Ranks of one recording, and a recording as a summary.
 */
#ifndef LEAKTIDE_ANALYSES_RANK_ANALYSES_H
#define LEAKTIDE_ANALYSES_RANK_ANALYSES_H

#include "analysis.h"

extern const struct block_analysis ranks_analysis;
/* In a report of everything: programs that merely run beside each other are not compared. */
void analyse_known_ranks(const struct question *question, struct report *report);

/* Into the summary of question->wish, where there is one. */
extern const struct block_analysis summary_analysis;

#endif
