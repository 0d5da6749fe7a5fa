/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Unified shared memory (cl_intel_unified_shared_memory): pointers that a program gets through
 * functions it asks its platform for by name.
 */
#ifndef LEAKTIDE_TRACER_OPENCL_USM_H
#define LEAKTIDE_TRACER_OPENCL_USM_H

#include "opencl_api.h"

/*
 * What to answer a program that asked for `name` and would get `address`: a recording function
 * when it is one of ours, else address itself. platform may be NULL: unknown.
 */
void *opencl_usm_replace(const struct opencl_calls *real, cl_platform_id platform, const char *name,
                         void *address);

#endif
