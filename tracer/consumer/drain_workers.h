/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Who empties the rings: the consumer's first thread, and others when that does not keep up.
 *
 * A ring is emptied by one thread at a time. It is emptied when a good chunk has gathered, when its
 * writer waits, or when somebody wants all of it; what is left in it is safe where it is.
 */
#ifndef LEAKTIDE_TRACER_DRAIN_WORKERS_H
#define LEAKTIDE_TRACER_DRAIN_WORKERS_H

#include <stdbool.h>
#include <stdint.h>

#include "recorded.h"
#include "rings_file.h"

/* Once, before the others. worker_max: so many threads may be started. */
void drain_begin(const struct rings_file *file, int descriptor, uint32_t worker_max);

/* The process is known from here on, until drain_forget. */
void drain_remember(struct recorded *recorded);

/* Rings that are ripe. Starts another thread if there were many. Returns whether there were any. */
bool drain_ripe(void);

/* All that the process has written up to now. */
void drain_process(struct recorded *recorded);

/*
 * The process is over: the same, and its rings go to others. Returns how many words were let go, as
 * there is no trace to write them to.
 */
uint64_t drain_forget(struct recorded *recorded);

/* Every thread that wrote into a ring of the process is gone; without_any: if there was none. */
bool drain_has_no_writer(const struct recorded *recorded, bool without_any);

#endif
