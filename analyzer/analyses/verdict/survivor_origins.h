/* SPDX-License-Identifier: Apache-2.0 */
/*
 * From stacks that keep something to what there is to mend: the origins of a process.
 */
#ifndef LEAKTIDE_ANALYSES_SURVIVOR_ORIGINS_H
#define LEAKTIDE_ANALYSES_SURVIVOR_ORIGINS_H

#include <stdbool.h>
#include <stddef.h>

#include "arena.h"
#include "survivors.h"

/*
 * Puts the origins of the stacks, and what they add up to, into the process. The stacks are sorted,
 * and must live as long as the origins, which are the arena's. false without memory.
 */
bool survivor_origins_make(struct arena *arena, struct survivor_stack *stacks, size_t count,
                           struct survivor_process *process);

#endif
