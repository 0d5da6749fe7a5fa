/* SPDX-License-Identifier: Apache-2.0 */
/*
 * When a collector of the process looked at all of its heap.
 *
 * A runtime's collector frees what it made for its objects only then (STACK_IS_COLLECTED). What
 * one collection left and the next one left again is reachable; of what is younger nobody knows.
 * The clock is that of overdue.h. One thread at a time; nothing to release.
 */
#ifndef LEAKTIDE_ANALYSES_COLLECTOR_WATCH_H
#define LEAKTIDE_ANALYSES_COLLECTOR_WATCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "overdue.h"

/* Zeroed before the first birth of the process. */
struct collector_watch {
    uint32_t last, before; /* when the last collection began, and the one before it */
    size_t count;
    bool has_made; /* something that is collected, since the last began */
};

/* traits: of the stack, enum stack_trait. */
void collector_watch_born(struct collector_watch *watch, unsigned traits, uint32_t clock);
/* A stack whose blocks are collected, as overdue_judge() would judge it. *is_garbage: they stay,
 * and too few of them were there when a collection came that would have told. */
struct overdue collector_judge(const struct collector_watch *watch,
                               const struct overdue_stack *stack, uint32_t end,
                               enum overdue_sweep sweep, bool *is_garbage);

#endif
