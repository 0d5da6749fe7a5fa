/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Operators of PyTorch, without a word from the program: its own observers of operators
 * (at::RecordFunction) tell of each that begins and ends, on every thread, also those of autograd.
 *
 * From 2.1 on; of an older one only its blocks are recorded, and a note says so.
 */
#ifndef LEAKTIDE_TRACER_TORCH_OPERATORS_H
#define LEAKTIDE_TRACER_TORCH_OPERATORS_H

#include <stdbool.h>

/* Looks whether PyTorch has come, once for each library that was loaded. Any thread. */
void torch_operators_look(void);
void torch_operators_may_come(void);

/* Somebody else tells of the dispatcher's operators, from here on, or no longer. */
void torch_operators_leave(bool is_left);

#endif
