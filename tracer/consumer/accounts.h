/* SPDX-License-Identifier: Apache-2.0 */
/*
 * When an account of a recorded process is due, and into which trace it goes.
 *
 * All accounts of a run together take at most a thousandth of a processor: after a rough one, none
 * is taken for 1,500 times its cost, and no whole one for 3,000 times what one took beyond that;
 * only the first whole one of a process may come after 100 times what it will probably cost. Of one
 * process they become rarer as it lives, so that a recording of days has some thousands; sooner
 * again when it is larger than ever.
 */
#ifndef LEAKTIDE_TRACER_ACCOUNTS_H
#define LEAKTIDE_TRACER_ACCOUNTS_H

#include <stdbool.h>
#include <stdint.h>

#include "recorded.h"

/* Is one of this process due? It has a trace; now_ns of CLOCK_MONOTONIC. One thread. */
void accounts_look(struct recorded *recorded, uint64_t now_ns);

/* After a look at each: puts what was taken meanwhile into the trace of its process, and takes the
 * next one, of who waited longest. */
void accounts_poll(uint64_t now_ns);

/* The next account is of this process, as soon as can be. */
void accounts_want(struct recorded *recorded);

/* Lines about the newest one for people; "": there was none. */
void accounts_say(const struct recorded *recorded, uint64_t now_ns, char *text, size_t text_bytes);

/* It has ended, and its trace is open: what was taken of it, and whether the kernel killed for
 * memory meanwhile. */
void accounts_end(struct recorded *recorded);

/* Before it is closed: an account that is being taken of it goes nowhere. */
void accounts_forget(const struct recorded *recorded);

#endif
