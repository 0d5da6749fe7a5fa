/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Ranks as two pictures of a page: rank by step, and rank by site. A cell tells how far a rank is
 * from the median of its peers. Where there are more ranks or steps than a picture has rows or
 * columns, a cell shows the one of its ranks and steps that is farthest away.
 */
#ifndef LEAKTIDE_ANALYSES_RANK_HEAT_H
#define LEAKTIDE_ANALYSES_RANK_HEAT_H

#include "rank_set.h"
#include "report.h"

/* Where pages of ranks may lie: below a folder of summaries, by the key of the process. */
#define RANK_PAGES_FOLDER "pages"

enum { RANK_HEAT_ROWS_MOST = 1000, RANK_HEAT_STEPS_MOST = 200, RANK_HEAT_SITES_MOST = 40 };

/* Pages of ranks: in which folders with summaries they are looked for, and from which folder links
 * lead to them. */
struct rank_pages {
    const char *const *folders;
    size_t folder_count;
    const char *from;
};

/*
 * Adds the datasets of ranks that are compared; of fewer than two none. What has no memory is left
 * out, and the report says so.
 */
void rank_heat_add(struct rank_set *set, const struct rank_pages *pages, struct report *report);

#endif
