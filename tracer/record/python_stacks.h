/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Frames of Python in the stacks of a stream: each call of the interpreter's loop stands in a
 * native stack as one frame, and the frames of Python that it runs go outside of that.
 *
 *     native   main  run  LOOP  call  LOOP  array_new  malloc's caller
 *     Python                │a b        │c
 *     merged   main  run a b LOOP call c LOOP  array_new  malloc's caller
 *
 * What one loop runs is a group. The innermost loop runs the innermost group; groups that have no
 * loop stand outside of everything, and loops without a group are frames like others.
 *
 * A stack is merged from where it differs from the one before: the outer part of the native stack
 * and that of the frames of Python are known to be as they were, and how many groups had no loop.
 *
 * A native stack that is known again (unwind_stack.name) keeps the name of what it was merged to,
 * with the frames of Python that it was merged with. While these are there nothing is merged.
 */
#ifndef LEAKTIDE_TRACER_PYTHON_STACKS_H
#define LEAKTIDE_TRACER_PYTHON_STACKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "leaktide/frames.h"
#include "python_frames.h"
#include "python_words.h"
#include "unwinder.h"

/* How far the merged stack and the frames of Python in it were. */
struct merge_point {
    uint16_t count, python_count;
};

/* Of one stream; zeros at first, touched as it is used. */
struct python_stacks {
    struct python_frames frames;
    struct python_words words;
    uint16_t python_before[PYTHON_FRAMES_MAX + 1]; /* frames of Python among the first n frames */
    uint64_t python[PYTHON_FRAMES_MAX];            /* their words */
    uint16_t groups[PYTHON_FRAMES_MAX + 1];        /* that begin among the first n of them */
    uint16_t loops[MT_STACK_FRAMES_MAX + 1];       /* among the first n native frames */
    struct merge_point points[MT_STACK_FRAMES_MAX + 1]; /* before the group of a native frame */
    uint64_t merged[MT_STACK_FRAMES_MAX];               /* of the last stack, outermost first */
    uint64_t hashes[MT_STACK_FRAMES_MAX + 1];           /* of so many of them */
    uint32_t merged_count, native_count, python_count;  /* of the last stack */
    int32_t surplus;                                    /* groups that had no loop */
    bool can_resume;                                    /* nothing of it was left out */
    bool is_noting;                                     /* what the next has in common with it */
    uint32_t python_same, native_same;       /* of the outermost: as they were when it was merged */
    uint64_t native_number;                  /* of the last native stack, merged or not */
    uint64_t serials[PYTHON_FRAMES_MAX + 1]; /* of the first n frames: the same if these are */
    uint64_t last_serial;
    uint64_t number; /* of merged stacks */
};

/* memory: python_words_init() */
void python_stacks_init(struct python_stacks *stacks, void *memory, size_t size_bytes);

/*
 * Puts up to `most` frames of Python into the stack, whose pcs are then in stacks->merged. Writes
 * `code` records. Without an interpreter on this thread the stack stays what it is.
 *
 * stack: of the last unwind_recall of `thread`, or of number 0 where that was not asked. It is laid
 * out where that is needed
 *
 * True: it was merged before, from the same, and got a name of first_name or more, which is
 * *stack->name. Then nothing is merged: the next stack says what it shares with the last one that
 * was.
 */
bool python_stacks_merge(struct python_stacks *stacks, struct unwind_thread *thread, uint32_t most,
                         uint32_t first_name, struct unwind_stack *stack);

#endif
