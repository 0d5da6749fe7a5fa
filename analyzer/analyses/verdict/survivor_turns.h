/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How often a loop turned that nobody marked: as often as most of its stacks allocated.
 */
#ifndef LEAKTIDE_ANALYSES_SURVIVOR_TURNS_H
#define LEAKTIDE_ANALYSES_SURVIVOR_TURNS_H

#include <stddef.h>
#include <stdint.h>

#include "survivors.h"

/* A stack that allocates to the end. */
struct active_stack {
    uint32_t births, first, last;
};

/* When half of them had begun; 0 without any. Sorts them. */
uint32_t survivor_turns_begin(struct active_stack *active, size_t count);

/* The turns of the loop that leaks most, and best those in which it does; else of all that goes on.
 * Needs the begin, end and origins of the process; active: its active_count, is overwritten. */
void survivor_turns_find(struct survivor_process *process, struct active_stack *active);

/*
 * Where survivors come in groups, one in each step that was found by its period, as of requests
 * that have loops within (caches of the last token stay), a turn is such a step: what turns more
 * often frees most of what it makes, and leaves nothing most times. After survivor_turns_find().
 */
void survivor_turns_by_steps(const struct question *question, struct survivor_process *process);

#endif
