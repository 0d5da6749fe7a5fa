/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the values of options mean: for the command, which checks them and hands them on; for the
 * tracer, which reads them again; and said to a recording that runs.
 *
 * Each reader is false for what is no such value. None of them allocates.
 */
#ifndef LEAKTIDE_TRACER_OPTION_VALUES_H
#define LEAKTIDE_TRACER_OPTION_VALUES_H

#include <stdbool.h>
#include <stdint.h>

enum {
    OPTION_FRAMES_MAX = 1000, /* more than are ever recorded; what other tools take */
    OPTION_NAME_MOST = 254,   /* of an operator */
    OPTION_SAMPLE_MS_MOST = 60000,
    OPTION_SAMPLE_MS_USUAL = 20,
    OPTION_RING_BYTES_USUAL = 1 << 20,
    OPTION_STACK_BYTES_USUAL = 32 << 20
};

/* Limits, as help and complaints say them. */
#define OPTION_RING_LIMITS      "64k to 256m"
#define OPTION_STACK_LIMITS     "1m to 1g"
#define OPTION_SAMPLE_MS_LIMITS "0 to 60000"
#define OPTION_WATCH_SHAPE      "[START[:N]],END[,full-content]"

/* Words of --device, --events and --call-stack; NULL behind the last. */
extern const char *const option_device_words[], *const option_event_words[],
                                                    *const option_stack_words[];

struct option_limits {
    uint64_t least_bytes, most_bytes;
};
extern const struct option_limits option_ring_limits, option_stack_limits;

/* Is `word` one of the comma-separated words of `list`? "npu:3" counts as "npu". */
bool values_has(const char *list, const char *word);

/* With k, m, g for powers of 1024. */
bool values_read_number(const char *text, uint64_t *value);

/* Within the limits. The size of a ring becomes a power of two. */
bool values_read_ring(const char *value, uint64_t *ring_bytes);
bool values_read_stack_memory(const char *value, uint64_t *stack_bytes);

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
