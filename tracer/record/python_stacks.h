/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Frames of Python in the stacks of a stream: each call of the interpreter's loop stands in a
 * native stack as one frame, and the frames of Python that it runs go outside of that.
 *
 *     native   main  run  LOOP  call  LOOP  array_new  malloc's caller
 *     Python                │a b        │c
 *     merged   main  run a b LOOP call c LOOP  array_new  malloc's caller
 *
 * A code object becomes a number and a `code` record the first time it is met; it is known again by
 * its texts, so a number never means another one. What is forgotten for lack of room gets a second
 * number and a second record.
 */
#ifndef LEAKTIDE_TRACER_PYTHON_STACKS_H
#define LEAKTIDE_TRACER_PYTHON_STACKS_H

#include <stdint.h>

#include "leaktide/frames.h"
#include "python_frames.h"
#include "unwinder.h"

enum { CODE_SLOTS = 8192, CODE_PROBES = 8, LINE_SLOTS = 4096 };

struct code_slot {
    struct python_identity identity;
    uint64_t id; /* 0: empty */
};

struct line_slot {
    uint64_t code_id, key;
    uint32_t line;
};

/* Of one stream; zeros at first, touched as it is used. */
struct python_stacks {
    struct python_frame frames[PYTHON_FRAMES_MAX];
    struct code_slot codes[CODE_SLOTS];
    struct line_slot lines[LINE_SLOTS];
    char text[PYTHON_TEXT_MAX];
    uint64_t merged[MT_STACK_FRAMES_MAX]; /* of the last stack, outermost first */
    uint32_t merged_count;
    uint64_t number; /* of merged stacks */
};

/*
 * Puts up to `most` frames of Python into the stack, whose pcs are then in stacks->merged. Writes
 * `code` records. Without an interpreter on this thread the stack stays what it is.
 */
void python_stacks_merge(struct python_stacks *stacks, uint32_t most, struct unwind_stack *stack);

#endif
