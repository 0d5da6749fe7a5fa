/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Does a process grow by what no recorded block explains?
 *
 * Its accounts (docs/process-account.md) say how much was resident; the blocks that were alive at
 * the same moments say how much of that the recording knows. What is freed and kept by an
 * allocator, and files, are no doubt. What a program maps or allocates past the hooks is.
 */
#ifndef LEAKTIDE_ANALYSES_UNSEEN_GROWTH_H
#define LEAKTIDE_ANALYSES_UNSEEN_GROWTH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "resident_rise.h"
#include "tally.h"

struct unseen_growth {
    uint64_t bytes;            /* that no block explains; 0: nothing to say */
    struct resident_part part; /* the largest that may be a leak */
    uint64_t duration_ns;
    uint64_t births; /* of the process, meanwhile */
};

/* What was alive at one account, and how many blocks had been made. */
struct seen_moment {
    uint64_t alive_bytes, births;
};

/* Of one process at a time. */
struct unseen_watch {
    const struct tally *tally;
    struct seen_moment *moments; /* by account of the tally; NULL: there is none */
    size_t next;                 /* account that has not come */
    bool has_process;
    uint16_t process;
    struct seen_moment now;
};

/* False without memory. The tally must outlive it. */
bool unseen_watch_init(struct unseen_watch *watch, const struct tally *tally);
void unseen_watch_release(struct unseen_watch *watch);

/* By time, process after process. */
void unseen_watch_born(struct unseen_watch *watch, uint16_t ledger, uint64_t time_ns,
                       uint64_t size_bytes);
void unseen_watch_gone(struct unseen_watch *watch, uint16_t ledger, uint64_t time_ns,
                       uint64_t size_bytes);

/* Of the process that is over. */
struct unseen_growth unseen_watch_end(struct unseen_watch *watch, uint16_t process,
                                      struct arena *arena);

#endif
