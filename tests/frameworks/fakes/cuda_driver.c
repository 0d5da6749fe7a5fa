/* SPDX-License-Identifier: Apache-2.0 */
/* A fake libcuda.so.1: virtual memory, with books. What is not here answers 0. */
#define _GNU_SOURCE
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>

#include "books.h"

enum { SUCCESS = 0, INVALID_VALUE = 1, OUT_OF_MEMORY = 2, VERSION = 13000 };

int cuDriverGetVersion(int *version)
{
    *version = VERSION;
    return SUCCESS;
}

int cuDeviceGet(int *device, int index)
{
    *device = index;
    return SUCCESS;
}

int cuDeviceGetCount(int *count)
{
    *count = books_device_count();
    return SUCCESS;
}

int cuDeviceGetAttribute(int *value, int attribute, int device)
{
    enum { COMPUTE_CAPABILITY = 75, HAS_VIRTUAL_MEMORY = 102 };

    (void)device;
    *value = attribute == COMPUTE_CAPABILITY ? 9 : attribute == HAS_VIRTUAL_MEMORY;
    return SUCCESS;
}

int cuCtxGetCurrent(void **context)
{
    static int only;

    *context = &only;
    return SUCCESS;
}

int cuCtxGetDevice(int *device)
{
    *device = 0;
    return SUCCESS;
}

int cuDevicePrimaryCtxGetState(int device, unsigned *flags, int *is_active)
{
    (void)device;
    *flags = 0;
    *is_active = 1;
    return SUCCESS;
}

int cuGetErrorString(int status, const char **text)
{
    *text = status == OUT_OF_MEMORY ? "out of memory" : "an error";
    return SUCCESS;
}

int cuGetErrorName(int status, const char **text)
{
    *text = status == OUT_OF_MEMORY ? "CUDA_ERROR_OUT_OF_MEMORY" : "CUDA_ERROR_UNKNOWN";
    return SUCCESS;
}

int cuMemGetAllocationGranularity(size_t *bytes, const void *property, int option)
{
    (void)property, (void)option;
    *bytes = BOOKS_ALIGNMENT;
    return SUCCESS;
}

int cuMemAddressReserve(uint64_t *address, size_t size, size_t alignment, uint64_t wanted,
                        unsigned long long flags)
{
    void *range = mmap((void *)(uintptr_t)wanted, size, PROT_NONE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

    (void)alignment, (void)flags;
    if (range == MAP_FAILED)
        return OUT_OF_MEMORY;
    books_add(BOOKS_range, 0, size, range);
    *address = (uintptr_t)range;
    return SUCCESS;
}

int cuMemAddressFree(uint64_t address, size_t size)
{
    if (!books_free(BOOKS_range, (void *)(uintptr_t)address))
        return INVALID_VALUE;
    munmap((void *)(uintptr_t)address, size);
    return SUCCESS;
}

/* The beginning of struct CUmemAllocationProp. */
struct allocation_property {
    int type, handle_types, location_type, location;
};

int cuMemCreate(void **handle, size_t size, const struct allocation_property *property,
                unsigned long long flags)
{
    void *made = malloc(1);

    (void)flags;
    if (!books_add(BOOKS_physical, property->location, size, made)) {
        free(made);
        return OUT_OF_MEMORY;
    }
    *handle = made;
    return SUCCESS;
}

int cuMemRelease(void *handle)
{
    if (!books_free(BOOKS_physical, handle))
        return INVALID_VALUE;
    free(handle);
    return SUCCESS;
}

int cuMemMap(uint64_t address, size_t size, size_t offset, void *handle, unsigned long long flags)
{
    struct books_block block;

    (void)offset, (void)flags;
    if (!books_find(BOOKS_physical, handle, &block))
        return INVALID_VALUE;
    books_add(BOOKS_mapping, block.device, size, (void *)(uintptr_t)address);
    return SUCCESS;
}

int cuMemSetAccess(uint64_t address, size_t size, const void *descriptions, size_t count)
{
    (void)descriptions, (void)count;
    mprotect((void *)(uintptr_t)address, size, PROT_READ | PROT_WRITE);
    return SUCCESS;
}

int cuMemUnmap(uint64_t address, size_t size)
{
    void *start = (void *)(uintptr_t)address;

    if (!books_free(BOOKS_mapping, start))
        return INVALID_VALUE;
    madvise(start, size, MADV_DONTNEED);
    mprotect(start, size, PROT_NONE);
    return SUCCESS;
}
