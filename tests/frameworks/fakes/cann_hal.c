/* SPDX-License-Identifier: Apache-2.0 */
/* A fake Ascend driver with books. What is not here answers 0. */
#define _GNU_SOURCE
#include "cann_hal.h"

#include <stdlib.h>
#include <sys/mman.h>

#include "books.h"

int halMemAlloc(void **address, unsigned long long size, unsigned long long flags)
{
    int device = (int)(flags & HAL_DEVICE_MASK);
    bool is_host = (flags >> HAL_SIDE_SHIFT & HAL_SIDE_MASK) == HAL_HOST;

    if (device >= BOOKS_DEVICES_MAX)
        return HAL_INVALID_VALUE;
    return books_alloc(is_host ? BOOKS_host : BOOKS_device, device, size, address)
               ? HAL_SUCCESS
               : HAL_OUT_OF_MEMORY;
}

int halMemFree(void *address)
{
    return books_free(BOOKS_device, address) || books_free(BOOKS_host, address) ? HAL_SUCCESS
                                                                                : HAL_INVALID_VALUE;
}

int halMemCreate(void **handle, size_t size, const struct hal_property *property, uint64_t flags)
{
    void *made = malloc(1);

    (void)flags;
    if (!books_add(BOOKS_physical, (int)property->device, size, made)) {
        free(made);
        return HAL_OUT_OF_MEMORY;
    }
    *handle = made;
    return HAL_SUCCESS;
}

int halMemRelease(void *handle)
{
    if (!books_free(BOOKS_physical, handle))
        return HAL_INVALID_VALUE;
    free(handle);
    return HAL_SUCCESS;
}

int halMemAddressReserve(void **address, size_t size, size_t alignment, void *wanted,
                         uint64_t flags)
{
    void *range = mmap(wanted, size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

    (void)alignment, (void)flags;
    if (range == MAP_FAILED)
        return HAL_OUT_OF_MEMORY;
    books_add(BOOKS_range, 0, size, range);
    *address = range;
    return HAL_SUCCESS;
}

int halMemAddressFree(void *address)
{
    struct books_block block;

    if (!books_find(BOOKS_range, address, &block) || !books_free(BOOKS_range, address))
        return HAL_INVALID_VALUE;
    munmap(address, block.size_bytes);
    return HAL_SUCCESS;
}

int halMemMap(void *address, size_t size, size_t offset, void *handle, uint64_t flags)
{
    struct books_block block;

    (void)offset, (void)flags;
    if (!books_find(BOOKS_physical, handle, &block))
        return HAL_INVALID_VALUE;
    mprotect(address, size, PROT_READ | PROT_WRITE);
    books_add(BOOKS_mapping, block.device, size, address);
    return HAL_SUCCESS;
}

int halMemUnmap(void *address)
{
    struct books_block block;

    if (!books_find(BOOKS_mapping, address, &block) || !books_free(BOOKS_mapping, address))
        return HAL_INVALID_VALUE;
    madvise(address, block.size_bytes, MADV_DONTNEED);
    mprotect(address, block.size_bytes, PROT_NONE);
    return HAL_SUCCESS;
}

/* As the driver has them for tools that stand before its own. */
int halMemAllocInner(void **address, unsigned long long size, unsigned long long flags)
    __attribute__((alias("halMemAlloc")));
int halMemFreeInner(void *address) __attribute__((alias("halMemFree")));
int halMemCreateInner(void **handle, size_t size, const struct hal_property *property,
                      uint64_t flags) __attribute__((alias("halMemCreate")));
int halMemReleaseInner(void *handle) __attribute__((alias("halMemRelease")));

void fake_hal_memory(int device, size_t *free_bytes, size_t *total_bytes)
{
    *total_bytes = books_capacity_bytes();
    *free_bytes = *total_bytes - books_live_bytes(device);
}

enum hal_place fake_hal_place(const void *address, int *device)
{
    struct books_block block;

    if (!books_find_within(address, &block))
        return HAL_NOWHERE;
    *device = block.device;
    return block.kind == BOOKS_host ? HAL_ON_HOST : HAL_ON_DEVICE;
}
