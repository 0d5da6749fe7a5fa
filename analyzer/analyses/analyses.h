/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What can be asked. A new question is a line in the table of analyses.c.
 */
#ifndef LEAKTIDE_ANALYSES_H
#define LEAKTIDE_ANALYSES_H

#include <stdbool.h>

#include "analysis.h"

/* What can be asked: each a list of analyses, ended by an empty one. */
struct answer_kind {
    const char *name; /* "leaks" */
    const char *meaning;
    size_t top; /* rows of a list on a terminal, if not asked otherwise */
    const struct analysis *analyses;
};

extern const struct answer_kind answer_kinds[]; /* ends with a NULL name */

const struct answer_kind *answer_kind_find(const char *name);
/* It shows sums of processes and pools, and neither sites nor steps that were found. */
bool answer_is_of_totals(const struct answer_kind *kind);
/* It shows call stacks frame by frame, from the program's start. */
bool answer_is_of_frames(const struct answer_kind *kind);
/* It sees blocks, and may see them while its sums are added up. */
bool answer_sees_blocks_early(const struct answer_kind *kind);
/* What else is asked when the answer is drawn; a list as the other. */
const struct analysis *answer_page_analyses(const struct answer_kind *kind);

#endif
