/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How an interpreter ends, and what of that was seen.
 *
 *   threads are joined, exit handlers run -> files are flushed -> the last collection -> modules
 *
 * What goes before files are flushed was let go by a handler or a thread, and stayed until then. It
 * is garbage only if a handler ran the collector, whose answer is a number: that of the objects it
 * freed. CPython has small numbers ready, and makes a block for any larger one. So where more
 * objects went without such an answer, no collection freed them. Nothing to release.
 */
#ifndef LEAKTIDE_ANALYSES_INTERPRETER_END_H
#define LEAKTIDE_ANALYSES_INTERPRETER_END_H

#include <stdbool.h>
#include <stdint.h>

#include "overdue.h"

/* What a birth tells of all that was freed until then. */
enum interpreter_event {
    INTERPRETER_GOES_ON,
    INTERPRETER_COLLECTS, /* it is the answer of a collection that nothing before it showed, and
                             that may have freed it */
    INTERPRETER_HANDLED   /* handlers have just ended: what was swept was let go by them */
};

/* Zeroed before the first birth of the process. */
struct interpreter_end {
    bool has_begun;
    bool is_handled;     /* threads and handlers are over */
    bool is_cleared;     /* the last collection is over */
    bool swept_early;    /* the collector was seen to run before handlers were over */
    bool shows_sweeps;   /* it is seen whenever it runs, as the last time it was */
    uint64_t referrers;  /* blocks that went before that, and may be part of a cycle */
    uint64_t containers; /* of these, objects that the collector would have counted */
};

/* traits: of the stack, enum stack_trait; without STACK_TELLS_END it may be left out. */
enum interpreter_event interpreter_end_born(struct interpreter_end *end, unsigned traits);
/* What was freed until the last collection was over. */
bool interpreter_end_is_sweeping(const struct interpreter_end *end);
/* What is left out of the survivors. sees_objects: what Python makes is recorded. */
enum overdue_sweep interpreter_end_sweep(const struct interpreter_end *end, bool sees_objects);
/* The same, if what went before handlers were over was no garbage, whatever they ran. */
enum overdue_sweep interpreter_end_doubted(const struct interpreter_end *end);

#endif
