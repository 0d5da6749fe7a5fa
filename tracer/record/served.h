/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A process whose run has a consumer: it takes places and rings in the file of the run, and leaves
 * all else to the consumer.
 *
 *   at load        open run.rings, map what stands before the rings, close
 *   process, fork  a process's place by compare-and-swap; who it is, written there
 *   thread         a ring by compare-and-swap, mapped without a descriptor
 *   full ring      wait for the consumer, as patience.h says; then count what is lost
 *
 * No thread, no descriptor and no signal of ours is in the program. These functions may be called
 * from any thread and signal handler, and leave errno changed.
 */
#ifndef LEAKTIDE_TRACER_SERVED_H
#define LEAKTIDE_TRACER_SERVED_H

#include <stdbool.h>
#include <stdint.h>

#include "recording.h"
#include "ring.h"

/* Looks for the run's file. False: there is none that a consumer serves. */
bool served_open(const struct recording_setup *setup);

/*
 * A place for this process image. of_parent: what the parent of a forked child says of itself, or
 * NULL. NULL: there is no room, or the consumer has ended.
 */
struct mt_rings_process *served_begin(const struct recording_setup *setup,
                                      const struct mt_file_header *of_parent);

/* A new ring for the calling thread; NULL: there is no room for one. */
struct ring *served_ring_create(void);

/*
 * Until the ring's tail has reached the position. False: there is no room, and the consumer was
 * waited for as long as patience.h says, by this thread or another.
 */
bool served_wait_for_room(struct ring *ring, uint64_t position);

/* Why: of the events that find no room now. */
enum mt_lost served_lost_reason(void);

/* There is something to take. */
void served_wake(void);

/* For accounts at the ends of steps: tells the consumer of this one, if it wants one. */
void served_step_ended(uint64_t step);

/* At its exit: waits until the consumer has taken an account, if it wants one, and for so long only
 * as it allows. */
void served_exiting(void);

/* An account of the process as it is now is wanted. It is read later, by somebody else. */
void served_want_account(void);

/* Until the consumer has written all that was recorded so far; false: not within a second. */
bool served_flush(void);

/* From here on only what needs no system call. Rings for threads to come are mapped now. */
void served_avoid_calls(void);

bool served_avoids_calls(void);

/* Of this process, or NULL. */
struct mt_rings_process *served_process(void);

/* A program that is started without the tracer: enum mt_program_kind. */
void served_count_left_out(uint32_t kind);

/* Events of a process that has no place. */
void served_count_homeless(uint64_t count);

#endif
