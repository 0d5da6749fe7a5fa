/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Made-up programs of an interpreter that mark no steps, and whose leaks are known.
 *
 * A program imports modules, loads data, does 24 to 300 turns of a loop, and ends: by teardown, as
 * an interpreter does it, or killed. In the loop several actors allocate, each at a line of
 * Python of its own. What the loop makes is often little beside what the imports made.
 * Everything follows from the seed.
 */
#ifndef LEAKTIDE_TESTS_LABELLED_LOOP_H
#define LEAKTIDE_TESTS_LABELLED_LOOP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "event_list.h"

enum { LOOP_LABELS_MAX = 16 };

/* What a line of the loop really does. */
struct loop_label {
    uint32_t line;     /* of job.py */
    const char *actor; /* "names" */
    bool is_leak;
    bool is_light; /* no leak, and by its weight known as none; beside a leak nobody can tell */
};

struct labelled_loop {
    struct loop_label labels[LOOP_LABELS_MAX];
    size_t label_count;
    uint32_t turns, imported_blocks;
    bool is_killed; /* ends without teardown */
};

/* Adds all events to the list, in its pool "host", and says in *loop what is in them. Aborts
 * without memory. */
void labelled_loop_run(uint64_t seed, struct event_list *list, struct labelled_loop *loop);

#endif
