/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a set of ranks says: sentences, findings, and the tables side by side.
 */
#ifndef LEAKTIDE_ANALYSES_RANK_ANSWER_H
#define LEAKTIDE_ANALYSES_RANK_ANSWER_H

#include "rank_heat.h"
#include "rank_set.h"
#include "report.h"

struct rank_question {
    size_t top;             /* rows of a list; 0: all */
    bool is_part_of_report; /* leaks and refused requests are reported elsewhere */
    bool has_pictures;      /* rank_heat.h */
    struct rank_pages pages;
};

/* Of a finished set. False without memory. */
bool rank_answer(struct rank_set *set, const struct rank_question *question, struct report *report);

#endif
