/* SPDX-License-Identifier: Apache-2.0 */
/* A fake libruntime.so: rt* on the fake driver. What is not here answers 0. */
#include "cann_hal.h"

enum { NOT_SET = 107002, OUT_OF_MEMORY = 207001, DRIVER_ERROR = 507899 };
enum { SVM_SHIFT = 17, MODULE_SHIFT = 56, MODULE = 48, DEVICE_SIDE = 1 };

static __thread int device = -1;

int rtSetDevice(int32_t which)
{
    device = which;
    return 0;
}

int rtGetDevice(int32_t *which)
{
    if (device < 0)
        return NOT_SET;
    *which = device;
    return 0;
}

int rtDeviceReset(int32_t which)
{
    if (device == which)
        device = -1;
    return 0;
}

static int status_of(int hal_status)
{
    return hal_status == HAL_OUT_OF_MEMORY ? OUT_OF_MEMORY : hal_status ? DRIVER_ERROR : 0;
}

static uint64_t flags_of(uint64_t side)
{
    return (uint64_t)(device < 0 ? 0 : device) | side << HAL_SIDE_SHIFT |
           (uint64_t)MODULE << MODULE_SHIFT;
}

int rtMalloc(void **address, uint64_t size, uint32_t type, uint16_t module)
{
    (void)type, (void)module;
    return status_of(halMemAlloc(address, size, flags_of(DEVICE_SIDE) | UINT64_C(1) << SVM_SHIFT));
}

int rtFree(void *address)
{
    return status_of(halMemFree(address));
}

int rtMallocHost(void **address, uint64_t size, uint16_t module)
{
    (void)module;
    return status_of(halMemAlloc(address, size, flags_of(HAL_HOST)));
}

int rtFreeHost(void *address)
{
    return status_of(halMemFree(address));
}
