/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How a job's ranks are numbered: "tp=2,dp=8,pp=4", the dimension that changes fastest first, as
 * Megatron and its kin count.
 */
#ifndef LEAKTIDE_ANALYSES_RANK_LAYOUT_H
#define LEAKTIDE_ANALYSES_RANK_LAYOUT_H

#include "error_sentence.h"
#include "summary.h"

enum { RANK_DIMENSIONS_MOST = 4 };

struct rank_layout {
    struct rank_dimension {
        enum summary_column column;
        uint64_t size;
    } dimensions[RANK_DIMENSIONS_MOST];
    size_t count; /* 0: not known */
};

/* text NULL: not known. MT_USAGE says what is wrong. */
enum mt_result rank_layout_read(const char *text, struct rank_layout *layout,
                                struct mt_error *error);

/* Puts the places of each rank whose number is known into the table of ranks. */
void rank_layout_apply(const struct rank_layout *layout, struct summary *summary);

#endif
