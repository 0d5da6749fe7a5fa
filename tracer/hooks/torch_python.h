/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The part of a recording of PyTorch that is written in Python (python/leaktide_torch.py): owners
 * of weights, gradients and state, and accesses of tensors. It is run inside the program, by the
 * interpreter's own thread between two of its instructions, once PyTorch is imported.
 */
#ifndef LEAKTIDE_TRACER_TORCH_PYTHON_H
#define LEAKTIDE_TRACER_TORCH_PYTHON_H

#include <stdbool.h>

/* An operator begins; cheap. Outside of guards. Any thread. */
void torch_python_look(void);

/* Whether the interpreter shall tell of the dispatcher's operators, now or later: it knows what
 * they access. Any thread. */
bool torch_python_tells_operators(void);

#endif
