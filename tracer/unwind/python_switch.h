/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Whether the frames of Python may be read while a block is given back.
 *
 * greenlet moves stacks: it copies one away and another one to its place, frees the copy, and only
 * then gives the thread its other state. In 3.11 and 3.12 that state leads through a struct on the
 * stack, whose place something else has taken by then. So a free that comes from code of greenlet,
 * without the interpreter's loop between, has no frames of Python. Allocations are made before.
 *
 * Takes no lock but the loader's, in python_switch_look(); uses no heap.
 */
#ifndef LEAKTIDE_TRACER_PYTHON_SWITCH_H
#define LEAKTIDE_TRACER_PYTHON_SWITCH_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "unwinder.h"

/* Where the code that switches lies, end 0 while there is none; written once, start first. */
struct python_switch {
    uint64_t start;
    _Atomic uint64_t end;
};

extern struct python_switch python_switch;

/* After objects were loaded; outside of hooks. Looks where frames lead through the stack. */
void python_switch_look(void);

static inline bool python_switch_is_here(void)
{
    return atomic_load_explicit(&python_switch.end, memory_order_acquire) != 0;
}

/* Native frames, outermost first: does one switch, inside of all loops of the interpreter? */
bool python_switch_is_under_way(const struct unwind_stack *native);

#endif
