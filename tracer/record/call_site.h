/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where memory was asked for: the return address of the hooked call, and its call stack if that was
 * captured. The id of a stack is good in the stream of the thread that captured it; for events of
 * other threads the return address has to do. All zeros: not known.
 */
#ifndef LEAKTIDE_TRACER_CALL_SITE_H
#define LEAKTIDE_TRACER_CALL_SITE_H

#include <stdint.h>

struct call_site {
    const void *caller;
    uint32_t stack;  /* id; 0: not captured */
    uint32_t stacks; /* whose id: call_stacks_number() */
};

#endif
