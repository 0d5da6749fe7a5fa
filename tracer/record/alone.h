/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A process that nobody watches over: it was only preloaded.
 *
 * Its rings lie in a file of its own, <pid>-<start>.rings. A ring is emptied by its own thread when
 * it is full, and by the last thread at exit; nobody ever waits for a disk longer than for its own
 * words. What cannot be written is counted as lost.
 */
#ifndef LEAKTIDE_TRACER_ALONE_H
#define LEAKTIDE_TRACER_ALONE_H

#include <stdbool.h>
#include <stdint.h>

#include "recording.h"
#include "ring.h"

/*
 * Makes the two files, in a forked child its own. Returns the header of the trace, or NULL: the
 * folder cannot be written.
 */
struct mt_file_header *alone_begin(const struct recording_setup *setup,
                                   const struct mt_file_header *of_parent);

/* A new ring for the calling thread; NULL: no memory. */
struct ring *alone_ring_create(void);

/* Returns when the ring's tail has reached the position: empties it, or waits for who does. */
void alone_drain_until(struct ring *ring, uint64_t position);

/* Every ring up to where its head is now. */
void alone_drain_all(void);

/* All that is left; writes the index and marks the file closed. */
void alone_end(void);

#endif
