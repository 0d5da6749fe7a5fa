/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Call stacks of a report, as a tree: a stack is a frame and the stack of who called it.
 *
 *     main ── train ── forward     ten thousand stacks below forward have these three frames once
 *                   └─ backward
 *
 * Each text, each frame and each stack is there once, so equal ones have the same address. None
 * moves. Everything is in the arena, which outlives this.
 */
#ifndef LEAKTIDE_REPORT_STACKS_H
#define LEAKTIDE_REPORT_STACKS_H

#include "arena.h"
#include "hash_index.h"
#include "report.h"
#include "table.h"

struct report_stacks {
    struct table texts;   /* const char * */
    struct table frames;  /* struct report_frame */
    struct table sources; /* what was given, so that most texts need not be looked for */
    struct table stacks;  /* struct report_stack; a caller stands before those it called */
    struct hash_index text_index, frame_index, source_index, stack_index;
};

void report_stacks_init(struct report_stacks *stacks, struct arena *arena);
void report_stacks_release(struct report_stacks *stacks);
/* Asserts that callers stand first and that all frames are whole. */
void report_stacks_check(const struct report_stacks *stacks);

/*
 * frames  count of them, innermost first; copied
 *
 * Returns the innermost one's stack, which lives as long as the arena; NULL when there is no memory
 * or no frame.
 */
const struct report_stack *report_stacks_put(struct report_stacks *stacks,
                                             const struct report_frame *frames, size_t count);

#endif
