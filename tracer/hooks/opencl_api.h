/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The part of OpenCL that is recorded, in our own words, and how it reaches the recorder.
 *
 *   program ─► libOpenCL symbol ─► opencl.c (preloaded)  ─┐
 *   program ─► function pointer ─► ICD loader ─► layer   ─┴► struct opencl_recorder ─► recorder
 *
 * Both ways end in the same functions: they get the real calls of their way in a struct
 * opencl_calls. A call that passes both ways is recorded by the outer one.
 *
 * No OpenCL header is needed. Names of types are those of CL/cl.h, so this is never included
 * together with it.
 */
#ifndef LEAKTIDE_TRACER_OPENCL_API_H
#define LEAKTIDE_TRACER_OPENCL_API_H

#include <stddef.h>
#include <stdint.h>

#include "unwind_caller.h"

typedef int32_t cl_int;
typedef uint32_t cl_uint;
typedef uint64_t cl_bitfield;
typedef struct _cl_platform_id *cl_platform_id;
typedef struct _cl_device_id *cl_device_id;
typedef struct _cl_context *cl_context;
typedef struct _cl_command_queue *cl_command_queue;
typedef struct _cl_mem *cl_mem;
typedef struct _cl_kernel *cl_kernel;
typedef struct _cl_event *cl_event;

typedef void (*cl_context_notify)(const char *text, const void *bytes, size_t count, void *user);
typedef void (*cl_svm_free_them)(cl_command_queue queue, cl_uint count, void **addresses,
                                 void *user);
typedef void (*cl_destroyed)(cl_mem object, void *user);

/* cl_image_desc: the last field is the buffer or image that the new image looks into. */
struct cl_shape {
    cl_uint type;
    size_t width, height, depth, array_count;
    size_t row_pitch, slice_pitch;
    cl_uint mip_levels, samples;
    cl_mem viewed;
};

/* cl_buffer_region */
struct cl_region {
    size_t origin, size_bytes;
};

enum {
    CL_SUCCESS = 0,
    CL_INVALID_VALUE = -30,
    CL_PLATFORM_NOT_FOUND = -1001, /* what the loader says when there is no OpenCL */

    CL_MEM_USE_HOST_PTR = 1 << 3,
    CL_MEM_ALLOC_HOST_PTR = 1 << 4,

    CL_DEVICE_PLATFORM = 0x1031,
    CL_CONTEXT_DEVICES = 0x1081,
    CL_QUEUE_CONTEXT = 0x1090,
    CL_QUEUE_DEVICE = 0x1091,
    CL_MEM_FLAGS = 0x1101,
    CL_MEM_SIZE = 0x1102,
    CL_MEM_CONTEXT = 0x1106,
    CL_DEVICE_HANDLE_LIST = 0x2051,     /* cl_khr_external_memory: devices up to a 0 */
    CL_EXTERNAL_MEMORY_HANDLE = 0x2060, /* ... the first kind of handle */
    CL_EXTERNAL_MEMORY_HANDLE_END = 0x2068,
    CL_KERNEL_FUNCTION_NAME = 0x1190,

    CL_BUFFER_CREATE_TYPE_REGION = 0x1220
};

/* The real functions of one way; NULL where it offers none. */
struct opencl_calls {
#define HOOKED(index, result, name, arguments, ...) result (*name)(__VA_ARGS__);
#define HOOKED_VOID(index, name, arguments, ...)    void (*name)(__VA_ARGS__);
#define ASKED(index, result, name, ...)             result (*name)(__VA_ARGS__);
#include "opencl.def"
#undef HOOKED
#undef HOOKED_VOID
#undef ASKED
};

/*
 * What the preloaded library offers to the layer, as mt_opencl_recorder(). Each function does the
 * real call through `real` and records it; from is where the program's call came from.
 * A layer of another size_bytes stays out.
 */
struct opencl_recorder {
    size_t size_bytes;
#define HOOKED(index, result, name, arguments, ...)                                                \
    result (*name)(const struct opencl_calls *real, struct unwind_registers from, __VA_ARGS__);
#define HOOKED_VOID(index, name, arguments, ...)                                                   \
    void (*name)(const struct opencl_calls *real, struct unwind_registers from, __VA_ARGS__);
#define ASKED(index, result, name, ...)
#include "opencl.def"
#undef HOOKED
#undef HOOKED_VOID
#undef ASKED
};

typedef const struct opencl_recorder *(*opencl_recorder_getter)(void);

#endif
