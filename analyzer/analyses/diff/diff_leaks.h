/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Leaks side by side: which are gone, which are new, which are still there and how fast.
 *
 * Each side is judged by itself, as `leaktide leaks` does: by its steps where somebody marked them,
 * else by its overdue survivors. A leak is the same on two sides by its ledger and its site's id.
 * Where a side cannot be judged, nothing is called gone or new.
 */
#ifndef LEAKTIDE_ANALYSES_DIFF_LEAKS_H
#define LEAKTIDE_ANALYSES_DIFF_LEAKS_H

#include "diff_join.h"

/* Of the sentences: on leaks, and that there are none or nobody can tell. */
struct diff_leak_ranks {
    int found, nothing;
};

/* Adds sentences, findings for new leaks, and a table; reads recordings without marks once more.
 * False without memory. */
bool diff_leaks(const struct diff_join *join, struct report *report, struct diff_leak_ranks ranks);

#endif
