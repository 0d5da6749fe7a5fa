/* SPDX-License-Identifier: Apache-2.0 */
/* The fake Ascend driver as the fake runtimes use it. */
#ifndef LEAKTIDE_FAKE_CANN_HAL_H
#define LEAKTIDE_FAKE_CANN_HAL_H

#include <stddef.h>
#include <stdint.h>

enum { HAL_SUCCESS = 0, HAL_INVALID_VALUE = 3, HAL_OUT_OF_MEMORY = 6 };
enum { HAL_SIDE_SHIFT = 10, HAL_SIDE_MASK = 15, HAL_DEVICE_MASK = 0x3ff, HAL_HOST = 2 };

struct hal_property {
    uint32_t side, device, module, page_type, memory_type;
    uint64_t reserved;
};

enum hal_place { HAL_NOWHERE, HAL_ON_DEVICE, HAL_ON_HOST };

int halMemAlloc(void **address, unsigned long long size, unsigned long long flags);
int halMemFree(void *address);
int halMemCreate(void **handle, size_t size, const struct hal_property *property, uint64_t flags);
int halMemRelease(void *handle);
int halMemAddressReserve(void **address, size_t size, size_t alignment, void *wanted,
                         uint64_t flags);
int halMemAddressFree(void *address);
int halMemMap(void *address, size_t size, size_t offset, void *handle, uint64_t flags);
int halMemUnmap(void *address);

/* Not the vendor's: for the fake runtime. */
void fake_hal_memory(int device, size_t *free_bytes, size_t *total_bytes);
enum hal_place fake_hal_place(const void *address, int *device);

#endif
