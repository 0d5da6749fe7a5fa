/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Says what the program is at, as PyTorch programs on Ascend do: a step is an mstx range called
 * "step start", an operator is between two mstx marks. Without mstx, steps are told by
 * leaktide/tracer.h, and operators are not told.
 */
#ifndef LEAK_SAMPLE_STEPS_H
#define LEAK_SAMPLE_STEPS_H

#include <stdbool.h>

/* are_hidden: operators and parts are told, steps are not. */
void steps_open(bool are_hidden);
void step_begin(void);
void step_end(void);
void operator_begin(const char *name);
void operator_end(const char *name);

#endif
