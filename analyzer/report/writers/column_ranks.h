/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which columns of a table go first where a terminal is too narrow.
 */
#ifndef LEAKTIDE_REPORT_COLUMN_RANKS_H
#define LEAKTIDE_REPORT_COLUMN_RANKS_H

#include <stdbool.h>

enum column_rank {
    RANK_WHO,
    RANK_HOW_MUCH,
    RANK_USUAL,
    RANK_DETAIL,
    RANK_REPEATS, /* another column, mostly: goes before a name is cut */
    RANK_PICTURE
};

/* By the column's key. The highest goes first, and of the same rank the rightmost; 0 stays. */
enum column_rank column_rank(const char *key);
/* Its cells are sentences: cut, they say nothing. */
bool column_is_prose(const char *key);

#endif
