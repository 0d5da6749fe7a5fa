/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Takes words out of the rings and appends them to the trace file as chunks.
 *
 *   ring ─► chunk_encode ─► zstd ─► one pwrite ─► ring's tail moves on
 *
 * A ring is drained by the drain thread when a good chunk has gathered, or by its own thread when
 * it is full. What cannot be written is counted as lost; nobody ever waits for a disk.
 */
#ifndef MEMTIDE_TRACER_DRAIN_H
#define MEMTIDE_TRACER_DRAIN_H

#include <stdint.h>

#include "ring.h"

/* A ring for the thread: one whose thread is gone, or a new one. NULL: no memory. */
struct ring *drain_ring_take(uint32_t thread_id);

/* A ring is full: whoever drains hurries from now on. */
void drain_fell_behind(void);

/* Returns when the ring's tail has reached the position: drains it, or waits for who does. */
void drain_ring_until(struct ring *ring, uint64_t position);

/* Drains every ring up to where its head is now. */
void drain_all(void);

/* Tells the drain thread that a ring has half filled. */
void drain_wake(void);

/* Starts the thread; it calls `tick` every tick_ms. False when there can be no thread. */
bool drain_thread_start(uint32_t tick_ms, void (*tick)(void));
void drain_thread_stop(void);

/* In a forked child: there are no rings, no drainers and no drain thread yet. */
void drain_forget(void);

#endif
