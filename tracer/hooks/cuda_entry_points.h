/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Programs, and CUDA's own runtime, ask the driver for its functions by name. What they are given
 * passes by every wrapper, so they are given the wrapper instead.
 */
#ifndef LEAKTIDE_TRACER_CUDA_ENTRY_POINTS_H
#define LEAKTIDE_TRACER_CUDA_ENTRY_POINTS_H

#include <stdint.h>

/*
 * symbol    as asked for, without a version: "cuMemAlloc"
 * version   of the interface that is wanted, as in 12000; 0 = the newest
 * flags     of cuGetProcAddress
 * function  what the driver answered; becomes our wrapper if there is one for it
 */
void cuda_entry_point_replace(const char *symbol, int version, uint64_t flags, void **function);

#endif
