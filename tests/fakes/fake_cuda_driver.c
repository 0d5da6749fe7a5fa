/* SPDX-License-Identifier: Apache-2.0 */
/* A fake libcuda.so.1: the driver of two devices that are not there. */
#define _GNU_SOURCE
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "fake_cuda.h"
#include "fake_memory.h"
#include "fake_physical.h"

enum { STACK_MAX = 8, PITCH_BYTES = 512 };

#define DEVICE_MEMORY(n)                                                                           \
    FAKE_MEMORY(UINT64_C(0x7f0000000000) + ((uint64_t)(n) << 38), UINT64_C(1) << 34)

static struct fake_memory devices[FAKE_CUDA_DEVICES] = {DEVICE_MEMORY(0), DEVICE_MEMORY(1)};
static struct fake_memory host = FAKE_MEMORY(0, UINT64_MAX);
static struct fake_memory registered = FAKE_MEMORY(0, UINT64_MAX);
static struct fake_memory arrays = FAKE_MEMORY(UINT64_C(0x660000000000), UINT64_C(1) << 40);

static struct fake_memory opened = FAKE_MEMORY(UINT64_C(0x650000000000), UINT64_C(1) << 40);

static _Atomic int primary_holders[FAKE_CUDA_DEVICES];
static char contexts[FAKE_CUDA_DEVICES]; /* a context is the address of one */
static atomic_uint contexts_made;
static atomic_bool refuses_next_free;

static __thread void *stack[STACK_MAX];
static __thread size_t depth;

__attribute__((constructor)) static void driver_start(void)
{
    const char *text = getenv("FAKE_CUDA_MEMORY");

    fake_physical_start_at(UINT64_C(0x6600000000), UINT64_C(0x740000000000));
    for (size_t i = 0; text && i < FAKE_CUDA_DEVICES; i++)
        devices[i].capacity_bytes = strtoull(text, NULL, 10);
}

/* -1 without a context. */
static int current_device(void)
{
    return depth ? (int)((char *)stack[depth - 1] - contexts) : -1;
}

static int status_of(enum fake_result result)
{
    static const int statuses[] = {[FAKE_OK] = 0,
                                   [FAKE_INVALID] = CUDA_STATUS_INVALID_VALUE,
                                   [FAKE_FULL] = CUDA_STATUS_OUT_OF_MEMORY};

    return statuses[result];
}

int cuCtxGetDevice(int *device)
{
    if (current_device() < 0)
        return CUDA_STATUS_INVALID_CONTEXT;
    *device = current_device();
    return 0;
}

int cuCtxPushCurrent_v2(void *context)
{
    if (!context || depth == STACK_MAX)
        return CUDA_STATUS_INVALID_CONTEXT;
    stack[depth++] = context;
    return 0;
}

int cuCtxPopCurrent_v2(void **context)
{
    if (!depth)
        return CUDA_STATUS_INVALID_CONTEXT;
    *context = stack[--depth];
    return 0;
}

int cuDevicePrimaryCtxGetState(int device, unsigned *flags, int *is_active)
{
    if (device < 0 || device >= FAKE_CUDA_DEVICES)
        return CUDA_STATUS_INVALID_VALUE;
    *flags = 0;
    *is_active = atomic_load(&primary_holders[device]) > 0;
    return 0;
}

int cuDevicePrimaryCtxRetain(void **context, int device)
{
    if (device < 0 || device >= FAKE_CUDA_DEVICES)
        return CUDA_STATUS_INVALID_VALUE;
    if (atomic_fetch_add(&primary_holders[device], 1) == 0)
        atomic_fetch_add(&contexts_made, 1);
    *context = &contexts[device];
    return 0;
}

int cuDevicePrimaryCtxRelease_v2(int device)
{
    if (device < 0 || device >= FAKE_CUDA_DEVICES || atomic_load(&primary_holders[device]) == 0)
        return CUDA_STATUS_INVALID_CONTEXT;
    atomic_fetch_sub(&primary_holders[device], 1);
    return 0;
}

int cuMemGetInfo_v2(size_t *free_size, size_t *total_size)
{
    int device = current_device();

    if (device < 0)
        return CUDA_STATUS_INVALID_CONTEXT;
    *total_size = devices[device].capacity_bytes;
    *free_size = devices[device].capacity_bytes - fake_memory_used(&devices[device]);
    return 0;
}

int cuMemAlloc_v2(uint64_t *address, size_t size)
{
    int device = current_device();
    uint64_t found;

    if (device < 0)
        return CUDA_STATUS_INVALID_CONTEXT;
    if (!size)
        return CUDA_STATUS_INVALID_VALUE;
    found = fake_memory_alloc(&devices[device], size, 512, 0);
    if (!found)
        return CUDA_STATUS_OUT_OF_MEMORY;
    *address = found;
    return 0;
}

int cuMemAllocPitch_v2(uint64_t *address, size_t *pitch, size_t width, size_t height,
                       unsigned element)
{
    (void)element;
    *pitch = (width + PITCH_BYTES - 1) & ~(size_t)(PITCH_BYTES - 1);
    return cuMemAlloc_v2(address, *pitch * height);
}

int cuMemAllocManaged(uint64_t *address, size_t size, unsigned flags)
{
    (void)flags;
    return cuMemAlloc_v2(address, size);
}

int cuMemAllocAsync(uint64_t *address, size_t size, void *stream)
{
    (void)stream;
    return cuMemAlloc_v2(address, size);
}

int cuMemAllocAsync_ptsz(uint64_t *address, size_t size, void *stream)
{
    return cuMemAllocAsync(address, size, stream);
}

int cuMemAllocFromPoolAsync(uint64_t *address, size_t size, void *pool, void *stream)
{
    (void)pool;
    return cuMemAllocAsync(address, size, stream);
}

int cuMemAllocFromPoolAsync_ptsz(uint64_t *address, size_t size, void *pool, void *stream)
{
    return cuMemAllocFromPoolAsync(address, size, pool, stream);
}

int cuMemFree_v2(uint64_t address)
{
    if (!address)
        return 0;
    if (atomic_exchange(&refuses_next_free, false))
        return CUDA_STATUS_INVALID_CONTEXT;
    for (size_t i = 0; i < FAKE_CUDA_DEVICES; i++)
        if (fake_memory_free(&devices[i], address, NULL))
            return 0;
    return CUDA_STATUS_INVALID_VALUE;
}

int cuMemFreeAsync(uint64_t address, void *stream)
{
    (void)stream;
    return cuMemFree_v2(address);
}

int cuMemFreeAsync_ptsz(uint64_t address, void *stream)
{
    return cuMemFreeAsync(address, stream);
}

int cuMemHostAlloc(void **address, size_t size, unsigned flags)
{
    (void)flags;
    *address = size < (size_t)1 << 40 ? malloc(size) : NULL;
    if (!*address)
        return CUDA_STATUS_OUT_OF_MEMORY;
    fake_memory_add(&host, (uintptr_t)*address, size, 0);
    return 0;
}

int cuMemAllocHost_v2(void **address, size_t size)
{
    return cuMemHostAlloc(address, size, 0);
}

int cuMemFreeHost(void *address)
{
    if (!fake_memory_free(&host, (uintptr_t)address, NULL))
        return CUDA_STATUS_INVALID_VALUE;
    free(address);
    return 0;
}

int cuMemHostRegister_v2(void *address, size_t size, unsigned flags)
{
    (void)flags;
    return fake_memory_add(&registered, (uintptr_t)address, size, 0) ? 0
                                                                     : CUDA_STATUS_INVALID_VALUE;
}

int cuMemHostUnregister(void *address)
{
    return fake_memory_free(&registered, (uintptr_t)address, NULL) ? 0 : CUDA_STATUS_INVALID_VALUE;
}

int cuMemCreate(uint64_t *handle, size_t size, const struct cuda_memory_property *property,
                unsigned long long flags)
{
    (void)flags;
    if (!property || property->location < 0 || property->location >= FAKE_CUDA_DEVICES)
        return CUDA_STATUS_INVALID_VALUE;
    return status_of(fake_physical_create(&devices[property->location], size, handle));
}

int cuMemRetainAllocationHandle(uint64_t *handle, void *address)
{
    return status_of(fake_physical_retain_at((uintptr_t)address, handle));
}

int cuMemExportToShareableHandle(void *shared, uint64_t handle, int type, unsigned long long flags)
{
    (void)type;
    (void)flags;
    return status_of(fake_physical_export(handle, shared));
}

int cuMemImportFromShareableHandle(uint64_t *handle, void *shared, int type)
{
    (void)type;
    return status_of(fake_physical_import((uintptr_t)shared, handle));
}

int cuMemRelease(uint64_t handle)
{
    return status_of(fake_physical_release(handle));
}

int cuMemAddressReserve(uint64_t *address, size_t size, size_t alignment, uint64_t wanted,
                        unsigned long long flags)
{
    (void)wanted;
    (void)flags;
    return status_of(fake_virtual_reserve(size, alignment, address));
}

int cuMemAddressFree(uint64_t address, size_t size)
{
    (void)size;
    return status_of(fake_virtual_free(address));
}

int cuMemMap(uint64_t address, size_t size, size_t offset, uint64_t handle,
             unsigned long long flags)
{
    (void)offset;
    (void)flags;
    return status_of(fake_virtual_map(address, size, handle));
}

/* All mappings in the range, if some mapping starts where it starts. */
int cuMemUnmap(uint64_t address, size_t size)
{
    int status = status_of(fake_virtual_unmap(address));

    for (uint64_t next = address + 4096; status == 0 && next < address + size; next += 4096)
        fake_virtual_unmap(next);
    return status;
}

int cuArrayCreate_v2(void **array, const struct cuda_array *description)
{
    uint64_t number;

    if (!description || !description->width)
        return CUDA_STATUS_INVALID_VALUE;
    number = fake_memory_alloc(&arrays, 64, 64, 0);
    *array = (void *)(uintptr_t)number;
    return number ? 0 : CUDA_STATUS_OUT_OF_MEMORY;
}

int cuArray3DCreate_v2(void **array, const struct cuda_array_3d *description)
{
    struct cuda_array flat = {.width = description ? description->width : 0};

    return cuArrayCreate_v2(array, &flat);
}

/* Opened memory has an address of its own. */
int cuIpcOpenMemHandle_v2(uint64_t *address, struct cuda_ipc_handle handle, unsigned flags)
{
    (void)handle;
    (void)flags;
    *address = fake_memory_alloc(&opened, 4096, 4096, 0);
    return *address ? 0 : CUDA_STATUS_OUT_OF_MEMORY;
}

int cuIpcCloseMemHandle(uint64_t address)
{
    return fake_memory_free(&opened, address, NULL) ? 0 : CUDA_STATUS_INVALID_VALUE;
}

int cuArrayDestroy(void *array)
{
    return fake_memory_free(&arrays, (uintptr_t)array, NULL) ? 0 : CUDA_STATUS_INVALID_VALUE;
}

static const struct {
    const char *symbol;
    void *plain;
    void *per_thread; /* NULL = the same */
} functions[] = {
    {"cuMemAlloc", cuMemAlloc_v2, NULL},
    {"cuMemAllocPitch", cuMemAllocPitch_v2, NULL},
    {"cuMemAllocManaged", cuMemAllocManaged, NULL},
    {"cuMemAllocAsync", cuMemAllocAsync, cuMemAllocAsync_ptsz},
    {"cuMemAllocFromPoolAsync", cuMemAllocFromPoolAsync, cuMemAllocFromPoolAsync_ptsz},
    {"cuIpcOpenMemHandle", cuIpcOpenMemHandle_v2, NULL},
    {"cuIpcCloseMemHandle", cuIpcCloseMemHandle, NULL},
    {"cuMemFree", cuMemFree_v2, NULL},
    {"cuMemFreeAsync", cuMemFreeAsync, NULL},
    {"cuMemAllocHost", cuMemAllocHost_v2, NULL},
    {"cuMemHostAlloc", cuMemHostAlloc, NULL},
    {"cuMemFreeHost", cuMemFreeHost, NULL},
    {"cuMemHostRegister", cuMemHostRegister_v2, NULL},
    {"cuMemHostUnregister", cuMemHostUnregister, NULL},
    {"cuMemCreate", cuMemCreate, NULL},
    {"cuMemRelease", cuMemRelease, NULL},
    {"cuMemMap", cuMemMap, NULL},
    {"cuMemUnmap", cuMemUnmap, NULL},
    {"cuArrayCreate", cuArrayCreate_v2, NULL},
    {"cuArrayDestroy", cuArrayDestroy, NULL},
    {"cuCtxGetDevice", cuCtxGetDevice, NULL},
    {"cuCtxPushCurrent", cuCtxPushCurrent_v2, NULL},
    {"cuDevicePrimaryCtxRetain", cuDevicePrimaryCtxRetain, NULL},
    {"cuGetProcAddress", cuGetProcAddress_v2, NULL},
};

/* The driver names its own functions, whatever stands before it in the search order. */
int cuGetProcAddress(const char *symbol, void **function, int version, uint64_t flags)
{
    (void)version;
    *function = NULL;
    for (size_t i = 0; i < sizeof(functions) / sizeof(functions[0]); i++) {
        if (strcmp(functions[i].symbol, symbol) != 0)
            continue;
        *function = flags & CUDA_PER_THREAD_STREAM && functions[i].per_thread
                        ? functions[i].per_thread
                        : functions[i].plain;
        return 0;
    }
    return CUDA_STATUS_NOT_FOUND;
}

int cuGetProcAddress_v2(const char *symbol, void **function, int version, uint64_t flags,
                        int *result)
{
    int status = cuGetProcAddress(symbol, function, version, flags);

    if (result)
        *result = status != 0;
    return status;
}

uint64_t fake_cuda_device_bytes(int device)
{
    return fake_memory_used(&devices[device]);
}

size_t fake_cuda_device_blocks(int device)
{
    return fake_memory_count(&devices[device]);
}

unsigned fake_cuda_contexts_made(void)
{
    return atomic_load(&contexts_made);
}

void fake_cuda_refuse_next_free(void)
{
    atomic_store(&refuses_next_free, true);
}
