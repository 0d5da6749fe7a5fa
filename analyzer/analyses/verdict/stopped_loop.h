/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A loop that was over before its program was: it trained, and what follows evaluates and saves.
 *
 * None of its stacks allocates to the end, so nobody judges them, and what follows may well keep
 * nothing. Where most of the process stays of such a loop, or much of it, and what followed took no
 * longer, that is data that the program loaded, or a leak: births and deaths alone cannot tell. Of
 * less, as the layers of a model that is then trained, nobody is alarmed.
 *
 * One thread at a time; nothing to release.
 */
#ifndef LEAKTIDE_ANALYSES_STOPPED_LOOP_H
#define LEAKTIDE_ANALYSES_STOPPED_LOOP_H

#include <stdbool.h>
#include <stdint.h>

#include "labels.h"
#include "overdue.h"

/* Of a process, all its stacks that are such. Zeroed before the first. */
struct stopped_loop {
    struct who who;           /* that left most */
    uint64_t who_bytes;       /* of it */
    uint64_t bytes, count;    /* that stay, of all */
    uint64_t main_bytes;      /* of these, of stacks that lasted as long as what followed */
    uint64_t allocated_bytes; /* that they asked for */
    uint64_t lasted_ns;       /* of the stack that left most */
    uint64_t after_ns;        /* from its last birth to the end of the program's work */
};

/* Adds a stack, if it was of such a loop. overdue: judged as if the program's work had ended with
 * its newest birth. */
void stopped_loop_see(struct stopped_loop *loop, struct who who, const struct overdue *overdue,
                      uint64_t allocated_bytes, uint64_t lasted_ns, uint64_t after_ns);
/* Adds a stack that is known to be of one. is_main: whatever followed, nothing else was done. */
void stopped_loop_add(struct stopped_loop *loop, struct who who, const struct overdue *overdue,
                      uint64_t allocated_bytes, uint64_t lasted_ns, uint64_t after_ns,
                      bool is_main);
/* A program that lived on for so many times as long was not busy with that loop until its end,
 * though hardly anything was born after it. */
bool stopped_loop_is_before_rest(uint64_t lasted_ns, uint64_t after_ns);
/* Too much stays to say that nothing leaks. peak_bytes: leak_process_bytes(). */
bool stopped_loop_is_heavy(const struct stopped_loop *loop, uint64_t peak_bytes);

#endif
