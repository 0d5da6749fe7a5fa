/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Somebody who watches a recording being read, and may stop it.
 *
 * The watch stands between the events of the inputs and whoever reads them, on the thread that
 * asked: each reading passes through it, the first one and those for an answer. One that was
 * stopped ends with MT_CANCELLED, and stays stopped until reading_watch_allow().
 */
#ifndef LEAKTIDE_RECORDING_READING_WATCH_H
#define LEAKTIDE_RECORDING_READING_WATCH_H

#include <stdbool.h>

#include "event_source.h"
#include "leaktide/analyzer.h"

struct reading_watch {
    struct event_source inner;
    mt_progress_function told;
    void *context;
    struct mt_progress progress;
    uint64_t next_count; /* of events, when it is told again */
    bool is_cancelled;
};

/* The inner source lends its events, and must outlive the watch. */
void reading_watch_init(struct reading_watch *watch, const struct event_source *inner,
                        mt_progress_function told, void *context);
struct event_source reading_watch_events(struct reading_watch *watch);
/* How many events a whole reading has, once it is known. */
void reading_watch_expect(struct reading_watch *watch, uint64_t event_count);
void reading_watch_allow(struct reading_watch *watch);

#endif
