/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What PyTorch asks the host for.
 */
#ifndef LEAKTIDE_TRACER_TORCH_HOST_H
#define LEAKTIDE_TRACER_TORCH_HOST_H

#include <stddef.h>

/*
 * The host has refused the calling thread so much memory, and errno may change. If that was for a
 * tensor, PyTorch throws, and does not come back to our hook: its request is recorded here.
 */
void torch_cpu_refused(size_t size_bytes);

#endif
