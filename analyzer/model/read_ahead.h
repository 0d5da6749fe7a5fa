/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The events of a source, read ahead on a thread of its own while others are added up.
 *
 *   inner source --> [ batch | batch | batch | ... ] --> next()
 *        its thread      a ring of them, in order         the caller's thread
 *
 * To whoever reads it, it is that source: the same events in the same order, the same end, the same
 * error at the same place. The thread lives from the first batch after `alone_events` to the end,
 * the next rewind, or the last call below; meanwhile the inner source belongs to it. So a short
 * recording has no second thread, and none has where the process may use one processor only.
 */
#ifndef LEAKTIDE_MODEL_READ_AHEAD_H
#define LEAKTIDE_MODEL_READ_AHEAD_H

#include <stdint.h>

#include "event_source.h"

struct read_ahead;

/* inner must outlive it. NULL without memory. */
struct read_ahead *read_ahead_create(const struct event_source *inner, uint64_t alone_events);
/* NULL is fine. */
void read_ahead_destroy(struct read_ahead *ahead);

/* Lives as long as that; one thread at a time. */
struct event_source read_ahead_events(struct read_ahead *ahead);

#endif
