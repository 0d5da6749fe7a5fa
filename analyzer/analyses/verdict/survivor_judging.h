/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the rows of a process add up to, once its lives were read: what stays, and how much of it
 * could be judged.
 */
#ifndef LEAKTIDE_ANALYSES_SURVIVOR_JUDGING_H
#define LEAKTIDE_ANALYSES_SURVIVOR_JUDGING_H

#include <stdbool.h>

#include "arena.h"
#include "survivor_rows.h"
#include "survivors.h"

/* Fills the process in, of which `process` and `end` are known. What it points to is the arena's.
 * false without memory. */
bool survivor_process_judge(const struct survivor_rows *rows, struct arena *arena,
                            struct survivor_process *process);

#endif
