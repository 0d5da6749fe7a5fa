/* SPDX-License-Identifier: Apache-2.0 */
#ifndef LEAKTIDE_TESTS_OPENCL_STEPS_H
#define LEAKTIDE_TESTS_OPENCL_STEPS_H

/*
 * Works on OpenCL for five steps and forgets one buffer, in step 3. Prints what it keeps, as
 * "left <handle> <size>", and what calls answered. Returns an exit status; 77: no platform.
 */
int opencl_steps(void);

/* What it does in a step. Not static: then dladdr() finds their names. */
void use_activations(void);
void use_views(void);
void use_image(void);
void use_shared_memory(void);
void use_host_memory(void);
void forget_metrics(void);
void ask_for_too_much(void);

#endif
