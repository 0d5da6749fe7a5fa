/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A fake libcudart.so.12: the runtime in terms of the driver, whose functions it asks for by name
 * when they are first needed, as the real one.
 */
#include <stdatomic.h>

#include "fake_cuda.h"

enum { DRIVER_VERSION = 12000 };

static __thread int wanted_device;
static __thread int bound_device = -1;
static _Atomic(void *) bound_contexts[FAKE_CUDA_DEVICES];

/* symbol: a literal; each thread asks once for each. */
static void *driver(const char *symbol)
{
    static __thread struct {
        const char *symbol;
        void *function;
    } known[64], *entry;
    int result;

    entry = &known[(uintptr_t)symbol / 8 % 64];
    if (entry->symbol != symbol) {
        entry->function = NULL;
        cuGetProcAddress_v2(symbol, &entry->function, DRIVER_VERSION, 0, &result);
        entry->symbol = symbol;
    }
    return entry->function;
}

/* Any call that needs a device makes its primary context current. */
static int bind(void)
{
    void *context = atomic_load(&bound_contexts[wanted_device]);
    int status = 0;

    if (bound_device == wanted_device)
        return 0;
    if (!context) {
        int (*retain)(void **, int) = driver("cuDevicePrimaryCtxRetain");

        status = retain(&context, wanted_device);
        atomic_store(&bound_contexts[wanted_device], context);
    }
    if (status == 0) {
        int (*push)(void *) = driver("cuCtxPushCurrent");

        status = push(context);
        bound_device = wanted_device;
    }
    return status;
}

int cudaSetDevice(int device)
{
    if (device < 0 || device >= FAKE_CUDA_DEVICES)
        return CUDA_STATUS_INVALID_VALUE;
    wanted_device = device;
    return bind();
}

int cudaGetDevice(int *device)
{
    *device = wanted_device;
    return 0;
}

int cudaMalloc(void **address, size_t size)
{
    int (*alloc)(uint64_t *, size_t) = driver("cuMemAlloc");
    uint64_t found = 0;
    int status = bind();

    if (status == 0)
        status = alloc(&found, size);
    if (status == 0)
        *address = (void *)(uintptr_t)found;
    return status;
}

int cudaMallocManaged(void **address, size_t size, unsigned flags)
{
    int (*alloc)(uint64_t *, size_t, unsigned) = driver("cuMemAllocManaged");
    uint64_t found = 0;
    int status = bind();

    if (status == 0)
        status = alloc(&found, size, flags);
    if (status == 0)
        *address = (void *)(uintptr_t)found;
    return status;
}

int cudaMallocPitch(void **address, size_t *pitch, size_t width, size_t height)
{
    int (*alloc)(uint64_t *, size_t *, size_t, size_t, unsigned) = driver("cuMemAllocPitch");
    uint64_t found = 0;
    int status = bind();

    if (status == 0)
        status = alloc(&found, pitch, width, height, 4);
    if (status == 0)
        *address = (void *)(uintptr_t)found;
    return status;
}

int cudaMalloc3D(struct cuda_pitched *pitched, struct cuda_extent extent)
{
    int status = cudaMallocPitch(&pitched->address, &pitched->pitch_bytes, extent.width,
                                 extent.height * extent.depth);

    pitched->width_bytes = extent.width;
    pitched->height = extent.height;
    return status;
}

int cudaMallocAsync(void **address, size_t size, void *stream)
{
    int (*alloc)(uint64_t *, size_t, void *) = driver("cuMemAllocAsync");
    uint64_t found = 0;
    int status = bind();

    if (status == 0)
        status = alloc(&found, size, stream);
    if (status == 0)
        *address = (void *)(uintptr_t)found;
    return status;
}

int cudaMallocAsync_ptsz(void **address, size_t size, void *stream)
{
    return cudaMallocAsync(address, size, stream);
}

int cudaMallocFromPoolAsync(void **address, size_t size, void *pool, void *stream)
{
    int (*alloc)(uint64_t *, size_t, void *, void *) = driver("cuMemAllocFromPoolAsync");
    uint64_t found = 0;
    int status = bind();

    if (status == 0)
        status = alloc(&found, size, pool, stream);
    if (status == 0)
        *address = (void *)(uintptr_t)found;
    return status;
}

int cudaMallocFromPoolAsync_ptsz(void **address, size_t size, void *pool, void *stream)
{
    return cudaMallocFromPoolAsync(address, size, pool, stream);
}

int cudaFree(void *address)
{
    int (*release)(uint64_t) = driver("cuMemFree");
    int status = bind();

    return status == 0 ? release((uintptr_t)address) : status;
}

int cudaFreeAsync(void *address, void *stream)
{
    int (*release)(uint64_t, void *) = driver("cuMemFreeAsync");

    return release((uintptr_t)address, stream);
}

int cudaFreeAsync_ptsz(void *address, void *stream)
{
    return cudaFreeAsync(address, stream);
}

int cudaHostAlloc(void **address, size_t size, unsigned flags)
{
    int (*alloc)(void **, size_t, unsigned) = driver("cuMemHostAlloc");
    int status = bind();

    return status == 0 ? alloc(address, size, flags) : status;
}

int cudaMallocHost(void **address, size_t size)
{
    return cudaHostAlloc(address, size, 0);
}

int cudaFreeHost(void *address)
{
    int (*release)(void *) = driver("cuMemFreeHost");

    return release(address);
}

int cudaHostRegister(void *address, size_t size, unsigned flags)
{
    int (*add)(void *, size_t, unsigned) = driver("cuMemHostRegister");
    int status = bind();

    return status == 0 ? add(address, size, flags) : status;
}

int cudaHostUnregister(void *address)
{
    int (*remove)(void *) = driver("cuMemHostUnregister");

    return remove(address);
}

int cudaMallocArray(void **array, const struct cuda_channels *channels, size_t width, size_t height,
                    unsigned flags)
{
    int (*create)(void **, const struct cuda_array *) = driver("cuArrayCreate");
    struct cuda_array description = {width, height, 0x20, (unsigned)channels->x_bits / 32};
    int status = bind();

    (void)flags;
    return status == 0 ? create(array, &description) : status;
}

int cudaMalloc3DArray(void **array, const struct cuda_channels *channels, struct cuda_extent extent,
                      unsigned flags)
{
    return cudaMallocArray(array, channels, extent.width, extent.height * extent.depth, flags);
}

int cudaIpcOpenMemHandle(void **address, struct cuda_ipc_handle handle, unsigned flags)
{
    int (*open)(uint64_t *, struct cuda_ipc_handle, unsigned) = driver("cuIpcOpenMemHandle");
    uint64_t found = 0;
    int status = open(&found, handle, flags);

    *address = (void *)(uintptr_t)found;
    return status;
}

int cudaIpcCloseMemHandle(void *address)
{
    int (*close)(uint64_t) = driver("cuIpcCloseMemHandle");

    return close((uintptr_t)address);
}

int cudaFreeArray(void *array)
{
    int (*destroy)(void *) = driver("cuArrayDestroy");

    return destroy(array);
}

int cudaGetDriverEntryPoint(const char *symbol, void **function, unsigned long long flags,
                            int *result)
{
    return cuGetProcAddress_v2(symbol, function, DRIVER_VERSION, flags, result);
}

int cudaGetDriverEntryPoint_ptsz(const char *symbol, void **function, unsigned long long flags,
                                 int *result)
{
    return cuGetProcAddress_v2(symbol, function, DRIVER_VERSION,
                               flags ? flags : CUDA_PER_THREAD_STREAM, result);
}

int cudaGetDriverEntryPointByVersion(const char *symbol, void **function, unsigned version,
                                     unsigned long long flags, int *result)
{
    return cuGetProcAddress_v2(symbol, function, (int)version, flags, result);
}
