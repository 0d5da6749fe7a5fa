/* SPDX-License-Identifier: Apache-2.0 */
/* The positions in opencl.def are those of the dispatch table in the OpenCL headers. */
#define CL_TARGET_OPENCL_VERSION 300
#include <CL/cl_icd.h>
#include <stddef.h>

#define POSITION(index, name)                                                                      \
    _Static_assert(offsetof(cl_icd_dispatch, name) == (index) * sizeof(void *),                    \
                   "opencl.def: " #name " has another position");
#define HOOKED(index, result, name, arguments, ...) POSITION(index, name)
#define HOOKED_VOID(index, name, arguments, ...)    POSITION(index, name)
#define ASKED(index, result, name, ...)             POSITION(index, name)
#include "opencl.def"
