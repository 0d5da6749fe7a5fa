/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What we know of the binary interface of CUDA's runtime and driver, in our own words: status
 * codes and the structs that memory calls take. Handles and enums are void * and int.
 */
#ifndef LEAKTIDE_TRACER_CUDA_ABI_H
#define LEAKTIDE_TRACER_CUDA_ABI_H

#include <stddef.h>
#include <stdint.h>

/* The same numbers in runtime and driver. */
enum {
    CUDA_STATUS_INVALID_VALUE = 1,
    CUDA_STATUS_OUT_OF_MEMORY = 2,
    CUDA_STATUS_NOT_INITIALISED = 3, /* what a wrapper answers when its real function is nowhere */
    CUDA_STATUS_INVALID_CONTEXT = 201,
    CUDA_STATUS_NOT_FOUND = 500,
};

/* cudaPitchedPtr, cudaExtent, cudaChannelFormatDesc, CUipcMemHandle: passed by value. */
struct cuda_pitched {
    void *address;
    size_t pitch_bytes, width_bytes, height;
};

struct cuda_extent {
    size_t width, height, depth;
};

struct cuda_channels {
    int x_bits, y_bits, z_bits, w_bits;
    int format;
};

struct cuda_ipc_handle {
    char reserved[64];
};

/* CUDA_ARRAY_DESCRIPTOR and CUDA_ARRAY3D_DESCRIPTOR. */
struct cuda_array {
    size_t width, height;
    int format;
    unsigned channel_count;
};

struct cuda_array_3d {
    size_t width, height, depth;
    int format;
    unsigned channel_count;
    unsigned flags;
};

/* The beginning of CUmemAllocationProp. */
struct cuda_memory_property {
    int type;
    int handle_types;
    int location_type; /* 1 = device; others are host */
    int location;
};

/* Flag of cuGetProcAddress. */
enum { CUDA_PER_THREAD_STREAM = 2 };

#endif
