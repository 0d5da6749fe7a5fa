/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Call stacks of the events of a stream: walked, named, and written down when they are new.
 *
 *   hook's caller ─► unwind_capture ─► stack_set_find ─► id for the event
 *                                            └─► when it is new: a `stack` record in the ring
 *
 * What one stream needs lies in one mapping that belongs to its ring, and goes on with the ring
 * when another thread takes that. It is touched as it is used: about 240 KiB for the walk, then 12
 * bytes for each frame that a new stack does not share with the one before and 28 a stack, up to
 * the budget (--stack-memory). When that is full, the set begins anew and stacks are written
 * again; ids go on, so an id never means two stacks.
 */
#ifndef LEAKTIDE_TRACER_CALL_STACKS_H
#define LEAKTIDE_TRACER_CALL_STACKS_H

#include <stdbool.h>
#include <stdint.h>

#include "thread_state.h"
#include "unwinder.h"

struct call_stacks;

/*
 * Gets the unwinder ready if stacks are asked for. May be called often, from anywhere but inside
 * of the recorder: asks the C library for a symbol, and on old ones for the list of objects.
 */
void call_stacks_prepare(void);

/*
 * So many frames from the next event on. Only where stacks were asked for at the start: the
 * unwinder is made ready before the first event, and Python is looked for when objects are loaded.
 */
enum call_stacks_change { CALL_STACKS_CHANGED, CALL_STACKS_ARE_OFF, CALL_STACKS_HAVE_NO_PYTHON };
enum call_stacks_change call_stacks_set_frames(uint32_t frames, uint32_t python_frames);

/* Asked for, and ready. */
bool call_stacks_are_on(void);

/* For one stream. NULL: no memory. */
struct call_stacks *call_stacks_create(void);
void call_stacks_destroy(struct call_stacks *stacks);

/* Its ring goes on with another thread. */
void call_stacks_hand_over(struct call_stacks *stacks);

/* Different for any two of a process and of its children: ids are good in their own only. */
uint32_t call_stacks_number(const struct call_stacks *stacks);

/*
 * The id of the stack that begins with `from`, in the thread's stream; 0 if there is none, and the
 * call site has to do. from: of a function that has not returned yet.
 */
uint32_t call_stacks_capture(struct thread_state *thread, const struct unwind_registers *from);

/* The same, of who gives a block back. */
uint32_t call_stacks_capture_free(struct thread_state *thread, const struct unwind_registers *from);

/* Of what the thread has captured; stack 0: the return address alone. */
struct call_site call_stacks_site(const struct thread_state *thread, uint32_t stack, uint64_t pc);

/* After objects were loaded; before and after some are unloaded. Both take the loader's lock. */
void call_stacks_objects_came(void);
void call_stacks_objects_left(void);

#endif
