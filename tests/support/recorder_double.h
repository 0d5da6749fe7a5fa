/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A recorder that keeps what it is told in an array, for tests of hooks.
 *
 * It implements tracer/record/recorder.h and guard.h without a trace file. Texts are kept as they
 * are, so a test compares names. One array for all threads; full after DOUBLE_EVENTS, and then it
 * stops the test.
 */
#ifndef LEAKTIDE_TESTS_RECORDER_DOUBLE_H
#define LEAKTIDE_TESTS_RECORDER_DOUBLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "leaktide/format.h"

enum { DOUBLE_EVENTS = 65536 };

struct double_event {
    enum mt_record_code code;
    char text[64]; /* the pool, or the name of what has a name */
    char domain[64];
    struct mt_place place;
    uint64_t address;    /* or the range, or the step */
    uint64_t size_bytes; /* or the value */
    uint64_t status;
    const void *site;
};

extern struct double_event double_events[DOUBLE_EVENTS];

extern bool double_has_unseen_python;

size_t double_event_count(void);
size_t double_count_of(enum mt_record_code code);
/* The last event of this kind; NULL when there is none. */
const struct double_event *double_last(enum mt_record_code code);
/* Forgets all events and all layers. */
void double_reset(void);

#endif
