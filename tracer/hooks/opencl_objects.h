/* SPDX-License-Identifier: Apache-2.0 */
/*
 * OpenCL calls on their way through: the real call, and what it says about memory.
 */
#ifndef LEAKTIDE_TRACER_OPENCL_OBJECTS_H
#define LEAKTIDE_TRACER_OPENCL_OBJECTS_H

#include <stdbool.h>

#include "opencl_api.h"

struct text;

extern const struct opencl_recorder opencl_objects;

/* The pool of all OpenCL blocks. */
extern const struct text pool_opencl;

/* A call on its way: what every function here needs to know about it. */
struct opencl_call {
    const struct opencl_calls *real;
    struct unwind_registers from; /* of the program's call */
    bool is_recorded;
};

struct opencl_call opencl_call_begin(const struct opencl_calls *real, struct unwind_registers from);
void opencl_call_end(const struct opencl_call *call);

/* The place of memory of this kind (enum mt_place_kind), with flags (enum mt_place_flag). */
uint64_t opencl_place(cl_device_id device, uint8_t kind, uint16_t flags);

/* The first device of a context; NULL when the context has none or is not one. */
cl_device_id opencl_first_device(const struct opencl_calls *real, cl_context context);

#endif
