/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the values of options mean: on the command line, and said to a recording that runs.
 *
 * Each reader is false for what is no such value. None of them allocates.
 */
#ifndef LEAKTIDE_TRACER_OPTION_VALUES_H
#define LEAKTIDE_TRACER_OPTION_VALUES_H

#include <stdbool.h>
#include <stdint.h>

enum {
    OPTION_FRAMES_MAX = 1000, /* more than are ever recorded; what other tools take */
    OPTION_NAME_MOST = 254    /* of an operator */
};

/* Is `word` one of the comma-separated words of `list`? "npu:3" counts as "npu". */
bool values_has(const char *list, const char *word);

/* With k, m, g for powers of 1024. */
bool values_read_number(const char *text, uint64_t *value);

/* Frames of --call-stack: "c:20,python:10,free". 0: none of that kind. */
struct option_frames {
    uint32_t native, python;
};
bool values_read_stacks(const char *value, struct option_frames *frames, bool *has_free);
bool values_read_frames(const char *value, struct option_frames *frames); /* without "free" */

/* Bit n: device n of "npu:1,npu:3"; all bits for "npu". has_host: the list has cpu. */
bool values_read_devices(const char *value, uint64_t *devices, bool *has_host);

bool values_events_are_right(const char *value);

/* "op", "kernel", or both; also as 0 and 1. */
bool values_read_level(const char *value, bool *has_operators, bool *has_kernels);

/* [START[:N]],END[,full-content] */
bool values_watch_is_right(const char *value);

#endif
