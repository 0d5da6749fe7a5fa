/* SPDX-License-Identifier: Apache-2.0 */
/* The OpenCL functions that the test programs call, without an OpenCL header. */
#ifndef LEAKTIDE_TESTS_OPENCL_ENTRY_POINTS_H
#define LEAKTIDE_TESTS_OPENCL_ENTRY_POINTS_H

#include "opencl_api.h"

/* ENTRY(result, name, (arguments), parameters) */
// clang-format off
#define OPENCL_ENTRY_POINTS(ENTRY)                                                                 \
    ENTRY(cl_int, clGetPlatformIDs, (room, platforms, count),                                      \
          cl_uint room, cl_platform_id *platforms, cl_uint *count)                                 \
    ENTRY(cl_int, clGetDeviceIDs, (platform, type, room, devices, count),                          \
          cl_platform_id platform, cl_bitfield type, cl_uint room, cl_device_id *devices,          \
          cl_uint *count)                                                                          \
    ENTRY(cl_context, clCreateContext, (properties, count, devices, notify, user, errcode),        \
          const intptr_t *properties, cl_uint count, const cl_device_id *devices,                  \
          cl_context_notify notify, void *user, cl_int *errcode)                                   \
    ENTRY(cl_int, clReleaseContext, (context), cl_context context)                                 \
    ENTRY(cl_command_queue, clCreateCommandQueue, (context, device, properties, errcode),          \
          cl_context context, cl_device_id device, cl_bitfield properties, cl_int *errcode)        \
    ENTRY(cl_int, clReleaseCommandQueue, (queue), cl_command_queue queue)                          \
    ENTRY(cl_int, clFinish, (queue), cl_command_queue queue)                                       \
    ENTRY(cl_mem, clCreateBuffer, (context, flags, size_bytes, host, errcode),                     \
          cl_context context, cl_bitfield flags, size_t size_bytes, void *host, cl_int *errcode)   \
    ENTRY(cl_mem, clCreateSubBuffer, (buffer, flags, type, region, errcode),                       \
          cl_mem buffer, cl_bitfield flags, cl_uint type, const void *region, cl_int *errcode)     \
    ENTRY(cl_mem, clCreateImage, (context, flags, format, shape, host, errcode),                   \
          cl_context context, cl_bitfield flags, const void *format,                               \
          const struct cl_shape *shape, void *host, cl_int *errcode)                               \
    ENTRY(cl_int, clRetainMemObject, (object), cl_mem object)                                      \
    ENTRY(cl_int, clReleaseMemObject, (object), cl_mem object)                                     \
    ENTRY(cl_int, clSetMemObjectDestructorCallback, (object, destroyed, user),                     \
          cl_mem object, cl_destroyed destroyed, void *user)                                       \
    ENTRY(cl_int, clGetMemObjectInfo, (object, what, size_bytes, value, got),                      \
          cl_mem object, cl_uint what, size_t size_bytes, void *value, size_t *got)                \
    ENTRY(void *, clSVMAlloc, (context, flags, size_bytes, alignment),                             \
          cl_context context, cl_bitfield flags, size_t size_bytes, cl_uint alignment)             \
    ENTRY(cl_int, clEnqueueSVMFree,                                                                \
          (queue, count, addresses, free_them, user, wait_count, wait_list, event),                \
          cl_command_queue queue, cl_uint count, void **addresses, cl_svm_free_them free_them,     \
          void *user, cl_uint wait_count, const cl_event *wait_list, cl_event *event)              \
    ENTRY(cl_int, clEnqueueFillBuffer,                                                             \
          (queue, buffer, pattern, pattern_bytes, offset, size_bytes, wait_count, wait_list,       \
           event),                                                                                 \
          cl_command_queue queue, cl_mem buffer, const void *pattern, size_t pattern_bytes,        \
          size_t offset, size_t size_bytes, cl_uint wait_count, const cl_event *wait_list,         \
          cl_event *event)
// clang-format on

#define OPENCL_DECLARE(result, name, arguments, ...) result name(__VA_ARGS__);
OPENCL_ENTRY_POINTS(OPENCL_DECLARE)
#undef OPENCL_DECLARE

void clSVMFree(cl_context context, void *address);

#endif
