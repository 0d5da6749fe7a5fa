/* SPDX-License-Identifier: Apache-2.0 */
/* A fake libruntime.so: rt* in terms of the driver, as the real one. */
#include <stdatomic.h>

#include "fake_ascend.h"

enum { HAL_PAGE_HUGE_FLAG = 1 << HAL_PAGE_SHIFT, MODULE_RUNTIME = 7 };

static __thread int32_t thread_device = -1;
static _Atomic uint64_t launches;

static int status_of(int driver_status)
{
    if (driver_status == DRV_STATUS_OUT_OF_MEMORY)
        return RT_STATUS_OUT_OF_MEMORY;
    return driver_status ? RT_STATUS_INVALID_PARAMETER : 0;
}

static int device_alloc(void **address, uint64_t size, enum hal_kind kind, uint64_t page,
                        uint16_t module)
{
    if (thread_device < 0)
        return RT_STATUS_NO_CONTEXT;
    return status_of(halMemAlloc(address, size,
                                 (uint64_t)thread_device | (uint64_t)kind << HAL_KIND_SHIFT | page |
                                     (uint64_t)module << HAL_MODULE_SHIFT));
}

int rtSetDevice(int32_t device)
{
    if (device < 0 || device >= FAKE_DEVICES)
        return RT_STATUS_INVALID_PARAMETER;
    thread_device = device;
    return 0;
}

int rtGetDevice(int32_t *device)
{
    if (thread_device < 0)
        return RT_STATUS_NO_CONTEXT;
    *device = thread_device;
    return 0;
}

int rtMalloc(void **address, uint64_t size, uint32_t type, uint16_t module)
{
    return device_alloc(address, size, HAL_KIND_DEVICE,
                        type & RT_TYPE_HUGE_ONLY ? HAL_PAGE_HUGE_FLAG : 0, module);
}

int rtMallocCached(void **address, uint64_t size, uint32_t type, uint16_t module)
{
    return rtMalloc(address, size, type, module);
}

int rtDvppMalloc(void **address, uint64_t size, uint16_t module)
{
    return device_alloc(address, size, HAL_KIND_DVPP, 0, module);
}

int rtMemAllocManaged(void **address, uint64_t size, uint32_t flag, uint16_t module)
{
    (void)flag;
    return device_alloc(address, size, HAL_KIND_SVM, 0, module);
}

int rtFree(void *address)
{
    return status_of(halMemFree(address));
}

int rtDvppFree(void *address)
{
    return rtFree(address);
}

int rtMemFreeManaged(void *address)
{
    return rtFree(address);
}

int rtMallocHost(void **address, uint64_t size, uint16_t module)
{
    return status_of(halMemAlloc(address, size,
                                 (uint64_t)HAL_KIND_HOST << HAL_KIND_SHIFT |
                                     (uint64_t)module << HAL_MODULE_SHIFT));
}

int rtFreeHost(void *address)
{
    return rtFree(address);
}

int rtReserveMemAddress(void **address, size_t size, size_t alignment, void *wanted, uint64_t flags)
{
    return status_of(halMemAddressReserve(address, size, alignment, wanted, flags));
}

int rtReleaseMemAddress(void *address)
{
    return status_of(halMemAddressFree(address));
}

int rtMallocPhysical(void **handle, size_t size, struct hal_memory_property *property,
                     uint64_t flags)
{
    return status_of(halMemCreate(handle, size, property, flags));
}

int rtFreePhysical(void *handle)
{
    return status_of(halMemRelease(handle));
}

int rtMapMem(void *address, size_t size, size_t offset, void *handle, uint64_t flags)
{
    return status_of(halMemMap(address, size, offset, handle, flags));
}

int rtUnmapMem(void *address)
{
    return status_of(halMemUnmap(address));
}

int rtsMalloc(void **address, uint64_t size, int policy, int advise,
              struct acl_malloc_config *config)
{
    uint16_t module = MODULE_RUNTIME;

    (void)advise;
    for (size_t i = 0; config && i < config->attribute_count; i++)
        if (config->attributes[i].attribute == ACL_ATTRIBUTE_MODULE)
            module = config->attributes[i].value.module;
    return device_alloc(address, size, HAL_KIND_DEVICE,
                        policy == ACL_POLICY_HUGE_ONLY ? HAL_PAGE_HUGE_FLAG : 0, module);
}

int rtMemAlloc(void **address, uint64_t size, int policy, int advise,
               struct acl_malloc_config *config)
{
    return rtsMalloc(address, size, policy, advise, config);
}

int rtsFree(void *address)
{
    return rtFree(address);
}

int rtFreeWithDevSync(void *address)
{
    return rtFree(address);
}

int rtsMallocHost(void **address, uint64_t size, const struct acl_malloc_config *config)
{
    (void)config;
    return rtMallocHost(address, size, MODULE_RUNTIME);
}

int rtsFreeHost(void *address)
{
    return rtFree(address);
}

int rtFreeHostWithDevSync(void *address)
{
    return rtFree(address);
}

int rtsMemMallocPhysical(void **handle, size_t size, int policy, struct acl_malloc_config *config)
{
    struct hal_memory_property property = {
        .side = 1, .device = (uint32_t)thread_device, .module = MODULE_RUNTIME};

    (void)policy;
    (void)config;
    return rtMallocPhysical(handle, size, &property, 0);
}

/* The name is cleared for the caller. */
int rtsMemFreePhysical(void **handle)
{
    int status = rtFreePhysical(*handle);

    if (status == 0)
        *handle = NULL;
    return status;
}

int rtsMemReserveAddress(void **address, size_t size, int policy, void *wanted,
                         struct acl_malloc_config *config)
{
    (void)policy;
    (void)config;
    return rtReserveMemAddress(address, size, 0, wanted, 0);
}

int rtsMemFreeAddress(void **address)
{
    int status = rtReleaseMemAddress(*address);

    if (status == 0)
        *address = NULL;
    return status;
}

int rtsMemMap(void *address, size_t size, size_t offset, void *handle, uint64_t flags)
{
    return rtMapMem(address, size, offset, handle, flags);
}

int rtsMemUnmap(void *address)
{
    return rtUnmapMem(address);
}

int rtDeviceReset(int32_t device)
{
    return device == thread_device ? 0 : RT_STATUS_INVALID_PARAMETER;
}

/* Kernels do nothing, but they are counted. */

int rtFunctionRegister(void *binary, const void *stub, const char *name, const void *extra,
                       uint32_t mode)
{
    (void)binary;
    (void)extra;
    (void)mode;
    return stub && name ? 0 : RT_STATUS_INVALID_PARAMETER;
}

static int launch(void)
{
    if (thread_device < 0)
        return RT_STATUS_NO_CONTEXT;
    atomic_fetch_add(&launches, 1);
    return 0;
}

int rtKernelLaunch(const void *stub, uint32_t blocks, void *arguments, uint32_t size,
                   void *description, void *stream)
{
    (void)arguments;
    (void)size;
    (void)description;
    (void)stream;
    return stub && blocks ? launch() : RT_STATUS_INVALID_PARAMETER;
}

int rtAicpuKernelLaunchExWithArgs(uint32_t type, const char *name, uint32_t blocks,
                                  const void *arguments, void *description, void *stream,
                                  uint32_t flags)
{
    (void)type;
    (void)arguments;
    (void)description;
    (void)stream;
    (void)flags;
    return name && blocks ? launch() : RT_STATUS_INVALID_PARAMETER;
}

int rtKernelLaunchWithFlagV2(const void *stub, uint32_t blocks, void *arguments, void *description,
                             void *stream, uint32_t flags, const void *task)
{
    (void)flags;
    (void)task;
    return rtKernelLaunch(stub, blocks, arguments, 0, description, stream);
}

int rtKernelLaunchWithHandleV2(void *handle, uint64_t tiling, uint32_t blocks, void *arguments,
                               void *description, void *stream, const void *task)
{
    (void)tiling;
    (void)arguments;
    (void)description;
    (void)stream;
    (void)task;
    return handle && blocks ? launch() : RT_STATUS_INVALID_PARAMETER;
}

int rtLaunchKernelByFuncHandle(void *function, uint32_t blocks, void *arguments, void *stream)
{
    return rtLaunchKernelByFuncHandleV2(function, blocks, arguments, stream, NULL);
}

int rtLaunchKernelByFuncHandleV2(void *function, uint32_t blocks, void *arguments, void *stream,
                                 const void *task)
{
    (void)arguments;
    (void)stream;
    (void)task;
    return function && blocks ? launch() : RT_STATUS_INVALID_PARAMETER;
}

uint64_t fake_rt_launches(void)
{
    return atomic_load(&launches);
}
