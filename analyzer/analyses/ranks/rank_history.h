/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Runs of a job over time, each a folder of summaries: whether the newest holds more than the good
 * runs before it, or leaks.
 *
 * A run is good if it is there whole, nothing leaked, no request was refused, no rank died, and its
 * peak did not grow. One run is in memory at a time; of the others, their figures are kept.
 */
#ifndef LEAKTIDE_ANALYSES_RANK_HISTORY_H
#define LEAKTIDE_ANALYSES_RANK_HISTORY_H

#include <stddef.h>
#include <stdint.h>

#include "arena.h"
#include "error_sentence.h"
#include "report.h"

enum { HISTORY_LAST_USUAL = 5 };

enum history_state {
    HISTORY_GOOD,
    HISTORY_INCOMPLETE, /* a summary cannot be read, or a recording was not whole */
    HISTORY_GREW,
    HISTORY_DIED,
    HISTORY_REFUSED,
    HISTORY_LEAKS
};

struct history_site {
    const char *name;
    uint64_t bytes;
};

/* What is kept of a run. */
struct history_run {
    const char *path, *name;
    uint64_t start_realtime_ns; /* of its first rank; 0: not known */
    const char *pool;           /* that holds most */
    const char *highest;        /* label of the rank with the highest peak */
    uint64_t peak_bytes, median_bytes, growth_bytes_per_step, step_count;
    size_t rank_count;
    struct history_site *sites; /* at the peak of that rank */
    size_t site_count;
    const char **leaks; /* their sites, the largest first */
    size_t leak_count;
    enum history_state state;
    /* Of the good runs before it, the last few of the same pool. */
    size_t base_count, base_last; /* index of the newest of them */
    uint64_t base_low, base_median, base_high;
};

struct history {
    struct arena arena;
    struct history_run *runs; /* by time, then by name */
    size_t count;
    size_t unread_count; /* summaries */
    const char *first_unread;
};

/*
 * Reads and judges all runs: each folder in the paths is one, or a path that is itself a summary.
 *
 * last  good runs that are compared with, at most; > 0
 *
 * MT_NOT_FOUND, MT_IO; MT_NO_DATA: there is no summary; MT_NO_MEMORY. Release it in any case.
 */
enum mt_result history_read(const char *const *paths, size_t count, size_t last,
                            struct history *history, struct mt_error *error);
void history_release(struct history *history);

/* Asserts that runs are in order, and that each has what it is compared with before it. */
void history_check(const struct history *history);

/* top  newest runs that are listed; 0: all */
void history_answer(struct history *history, size_t top, struct report *report);

#endif
