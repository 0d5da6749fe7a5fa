/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Asks the consumer of the run for the file of the rings, where its path cannot be opened.
 */
#ifndef LEAKTIDE_TRACER_SERVED_CALL_H
#define LEAKTIDE_TRACER_SERVED_CALL_H

#include <stdint.h>

/* A descriptor of run.rings, or -1: nobody answers, or it is nobody we trust. */
int served_call(uint64_t run_id);

#endif
