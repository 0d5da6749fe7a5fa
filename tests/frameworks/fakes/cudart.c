/* SPDX-License-Identifier: Apache-2.0 */
/* A fake libcudart: memory and books are real, kernels do nothing. What is not here answers 0. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "books.h"

enum { SUCCESS = 0, INVALID_VALUE = 1, OUT_OF_MEMORY = 2, NO_DEVICE = 100, INVALID_DEVICE = 101 };
enum { VERSION = 13000, POINTER_HOST = 1, POINTER_DEVICE = 2, POINTER_MANAGED = 3 };

static __thread int device, last_error;

static int answer(int status)
{
    if (status != SUCCESS)
        last_error = status;
    return status;
}

/* --- memory ----------------------------------------------------------------------------- */

static int alloc(enum books_kind kind, void **address, size_t size)
{
    *address = NULL;
    return size == 0 || books_alloc(kind, device, size, address) ? SUCCESS : answer(OUT_OF_MEMORY);
}

static int release(void *address)
{
    if (!address || books_free(BOOKS_device, address) || books_free(BOOKS_managed, address) ||
        books_free(BOOKS_pooled, address) || books_free(BOOKS_host, address))
        return SUCCESS;
    return answer(INVALID_VALUE);
}

int cudaMalloc(void **address, size_t size)
{
    return alloc(BOOKS_device, address, size);
}

int cudaMallocManaged(void **address, size_t size, unsigned flags)
{
    (void)flags;
    return alloc(BOOKS_managed, address, size);
}

int cudaMallocAsync(void **address, size_t size, void *stream)
{
    (void)stream;
    return alloc(BOOKS_pooled, address, size);
}

int cudaMallocFromPoolAsync(void **address, size_t size, void *pool, void *stream)
{
    (void)pool, (void)stream;
    return alloc(BOOKS_pooled, address, size);
}

int cudaMallocHost(void **address, size_t size)
{
    return alloc(BOOKS_host, address, size);
}

int cudaHostAlloc(void **address, size_t size, unsigned flags)
{
    (void)flags;
    return alloc(BOOKS_host, address, size);
}

int cudaFree(void *address)
{
    return release(address);
}

int cudaFreeAsync(void *address, void *stream)
{
    (void)stream;
    return release(address);
}

int cudaFreeHost(void *address)
{
    return release(address);
}

int cudaMemGetInfo(size_t *free_bytes, size_t *total_bytes)
{
    *total_bytes = books_capacity_bytes();
    *free_bytes = *total_bytes - books_live_bytes(device);
    return SUCCESS;
}

int cudaMemcpy(void *to, const void *from, size_t size, int kind)
{
    (void)kind;
    memcpy(to, from, size);
    return SUCCESS;
}

int cudaMemcpyAsync(void *to, const void *from, size_t size, int kind, void *stream)
{
    (void)stream;
    return cudaMemcpy(to, from, size, kind);
}

int cudaMemset(void *address, int value, size_t size)
{
    memset(address, value, size);
    return SUCCESS;
}

int cudaMemsetAsync(void *address, int value, size_t size, void *stream)
{
    (void)stream;
    return cudaMemset(address, value, size);
}

struct pointer_attributes {
    int type, device;
    void *device_address, *host_address;
};

int cudaPointerGetAttributes(struct pointer_attributes *attributes, const void *address)
{
    struct books_block block;

    *attributes = (struct pointer_attributes){0};
    if (!books_find_within(address, &block))
        return SUCCESS;
    attributes->type = block.kind == BOOKS_host      ? POINTER_HOST
                       : block.kind == BOOKS_managed ? POINTER_MANAGED
                                                     : POINTER_DEVICE;
    attributes->device = block.device;
    attributes->device_address = (void *)(uintptr_t)address;
    attributes->host_address = block.kind == BOOKS_host ? (void *)(uintptr_t)address : NULL;
    return SUCCESS;
}

int cudaDeviceGetDefaultMemPool(void **pool, int which)
{
    static int pools[BOOKS_DEVICES_MAX];

    *pool = &pools[which];
    return SUCCESS;
}

int cudaMemPoolGetAttribute(void *pool, int attribute, void *value)
{
    enum { RESERVED_NOW = 4 };

    (void)pool;
    *(uint64_t *)value = attribute >= RESERVED_NOW ? books_live_bytes(device) : 0;
    return SUCCESS;
}

/* --- devices ---------------------------------------------------------------------------- */

int cudaGetDeviceCount(int *count)
{
    *count = books_device_count();
    return *count ? SUCCESS : answer(NO_DEVICE);
}

int cudaGetDevice(int *which)
{
    *which = device;
    return SUCCESS;
}

int cudaSetDevice(int which)
{
    if (which < 0 || which >= books_device_count())
        return answer(INVALID_DEVICE);
    device = which;
    return SUCCESS;
}

int cudaGetLastError(void)
{
    int status = last_error;

    last_error = SUCCESS;
    return status;
}

int cudaPeekAtLastError(void)
{
    return last_error;
}

const char *cudaGetErrorString(int status)
{
    return status == OUT_OF_MEMORY ? "out of memory"
           : status == NO_DEVICE   ? "no device"
                                   : "an error";
}

const char *cudaGetErrorName(int status)
{
    return status == OUT_OF_MEMORY ? "cudaErrorMemoryAllocation" : "cudaErrorUnknown";
}

int cudaDriverGetVersion(int *version)
{
    *version = VERSION;
    return SUCCESS;
}

int cudaRuntimeGetVersion(int *version)
{
    *version = VERSION;
    return SUCCESS;
}

int cudaDeviceCanAccessPeer(int *can, int from, int to)
{
    (void)from, (void)to;
    *can = 1;
    return SUCCESS;
}

int cudaDeviceGetStreamPriorityRange(int *least, int *greatest)
{
    *least = 0;
    *greatest = -5;
    return SUCCESS;
}

int cudaDeviceGetPCIBusId(char *id, int size, int which)
{
    snprintf(id, (size_t)size, "0000:%02x:00.0", which);
    return SUCCESS;
}

/* Numbers of enum cudaDeviceAttr; what is not here is 1. */
static const struct {
    int attribute, value;
} device_attributes[] = {
    {1, 1024},   /* threads a block */
    {8, 232448}, /* shared memory a block */
    {10, 32},    /* threads a warp */
    {16, 132},   /* multiprocessors */
    {39, 2048},  /* threads a multiprocessor */
    {75, 9},     /* compute capability */
    {76, 0},     {81, 232448}, {97, 232448},
};

int cudaDeviceGetAttribute(int *value, int attribute, int which)
{
    (void)which;
    *value = 1;
    for (size_t i = 0; i < sizeof(device_attributes) / sizeof(device_attributes[0]); i++)
        if (device_attributes[i].attribute == attribute)
            *value = device_attributes[i].value;
    return SUCCESS;
}

/* The beginning of struct cudaDeviceProp. */
struct device_properties {
    char name[256], uuid[16], luid[8];
    unsigned luid_mask;
    size_t memory_bytes, shared_bytes;
    int registers, warp_threads;
    size_t pitch_bytes;
    int block_threads, block_sizes[3], grid_sizes[3];
    size_t constant_bytes;
    int major, minor;
    size_t texture_alignment, texture_pitch;
    int multiprocessors, is_integrated, can_map_host;
};

int cudaGetDeviceProperties(struct device_properties *properties, int which)
{
    (void)which;
    *properties = (struct device_properties){
        .name = "Fake GPU",
        .memory_bytes = books_capacity_bytes(),
        .shared_bytes = 49152,
        .registers = 65536,
        .warp_threads = 32,
        .block_threads = 1024,
        .block_sizes = {1024, 1024, 64},
        .grid_sizes = {INT32_MAX, 65535, 65535},
        .constant_bytes = 65536,
        .major = 9,
        .texture_alignment = 512,
        .multiprocessors = 132,
        .can_map_host = 1,
    };
    return SUCCESS;
}

/* --- streams, events, kernels ------------------------------------------------------------ */

static int object_make(void **object)
{
    *object = calloc(1, 64);
    return *object ? SUCCESS : answer(OUT_OF_MEMORY);
}

static int object_drop(void *object)
{
    free(object);
    return SUCCESS;
}

int cudaStreamCreate(void **stream)
{
    return object_make(stream);
}

int cudaStreamCreateWithFlags(void **stream, unsigned flags)
{
    (void)flags;
    return object_make(stream);
}

int cudaStreamCreateWithPriority(void **stream, unsigned flags, int priority)
{
    (void)flags, (void)priority;
    return object_make(stream);
}

int cudaStreamDestroy(void *stream)
{
    return object_drop(stream);
}

int cudaStreamIsCapturing(void *stream, int *status)
{
    (void)stream;
    *status = 0;
    return SUCCESS;
}

int cudaStreamGetCaptureInfo(void *stream, int *status, unsigned long long *id)
{
    (void)stream;
    *status = 0;
    if (id)
        *id = 0;
    return SUCCESS;
}

int cudaStreamGetPriority(void *stream, int *priority)
{
    (void)stream;
    *priority = 0;
    return SUCCESS;
}

int cudaEventCreate(void **event)
{
    return object_make(event);
}

int cudaEventCreateWithFlags(void **event, unsigned flags)
{
    (void)flags;
    return object_make(event);
}

int cudaEventDestroy(void *event)
{
    return object_drop(event);
}

int cudaEventElapsedTime(float *milliseconds, void *from, void *to)
{
    (void)from, (void)to;
    *milliseconds = 1;
    return SUCCESS;
}

int cudaFuncGetAttributes(int *attributes, const void *function)
{
    enum { ATTRIBUTE_BYTES = 48, THREADS_MAX = 6 };

    (void)function;
    memset(attributes, 0, ATTRIBUTE_BYTES);
    attributes[THREADS_MAX] = 1024;
    return SUCCESS;
}

int cudaOccupancyMaxActiveBlocksPerMultiprocessor(int *count, const void *function, int threads,
                                                  size_t shared_bytes)
{
    (void)function, (void)threads, (void)shared_bytes;
    *count = 2;
    return SUCCESS;
}

int cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int *count, const void *function,
                                                           int threads, size_t shared_bytes,
                                                           unsigned flags)
{
    (void)flags;
    return cudaOccupancyMaxActiveBlocksPerMultiprocessor(count, function, threads, shared_bytes);
}

void **__cudaRegisterFatBinary(void *binary)
{
    static void *handle[4];

    (void)binary;
    return handle;
}

int __cudaGetKernel(void **kernel, const void *function)
{
    *kernel = (void *)(uintptr_t)function;
    return SUCCESS;
}

/* --- the driver -------------------------------------------------------------------------- */

/* Its own function, past whatever is preloaded: so does the real one. */
static int driver_function(const char *name, void **function, int *status)
{
    static void *library;

    if (!library)
        library = dlopen("libcuda.so.1", RTLD_LAZY);
    *function = library ? dlsym(library, name) : NULL;
    if (status)
        *status = *function ? 0 : 1;
    return SUCCESS;
}

int cudaGetDriverEntryPointByVersion(const char *name, void **function, unsigned version,
                                     unsigned long long flags, int *status)
{
    (void)version, (void)flags;
    return driver_function(name, function, status);
}

int cudaGetDriverEntryPoint(const char *name, void **function, unsigned long long flags,
                            int *status)
{
    (void)flags;
    return driver_function(name, function, status);
}
