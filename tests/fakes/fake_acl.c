/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A fake libacl_rt.so, and libascendcl.so as it was before: aclrt* in terms of rt*, as the real
 * one. Devices are counted as ASCEND_RT_VISIBLE_DEVICES leaves them.
 */
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fake_ascend.h"
#include "fake_memory.h"

enum {
    ACL_REPEATED = 100002,
    ACL_NOT_INITIALISED = 100001,
    MODULE_APP = 33,
    POOL_BYTES = 64 << 20,
};

static atomic_bool is_initialised;
static __thread int32_t thread_device = -1; /* as the program counts */
static _Atomic uint64_t waits;

int aclInit(const char *config_path)
{
    (void)config_path;
    return atomic_exchange(&is_initialised, true) ? ACL_REPEATED : 0;
}

int aclFinalize(void)
{
    return atomic_exchange(&is_initialised, false) ? 0 : ACL_NOT_INITIALISED;
}

/* The machine's number; -1 for a device that is not visible. */
static int32_t physical_of(int32_t device)
{
    const char *list = getenv("ASCEND_RT_VISIBLE_DEVICES");

    for (; list && device > 0; device--)
        list = strchr(list, ',') ? strchr(list, ',') + 1 : "";
    return !list ? device : *list ? (int32_t)strtol(list, NULL, 10) : -1;
}

int aclrtSetDevice(int32_t device)
{
    int status = rtSetDevice(physical_of(device));

    if (status == 0)
        thread_device = device;
    return status;
}

int aclrtResetDevice(int32_t device)
{
    if (device != thread_device)
        return RT_STATUS_INVALID_PARAMETER;
    return 0;
}

int aclrtResetDeviceForce(int32_t device)
{
    return aclrtResetDevice(device);
}

int aclrtGetDevice(int32_t *device)
{
    if (thread_device < 0)
        return RT_STATUS_NO_CONTEXT;
    *device = thread_device;
    return 0;
}

int aclrtGetCurrentContext(void **context)
{
    static char contexts[FAKE_DEVICES];

    if (thread_device < 0)
        return RT_STATUS_NO_CONTEXT;
    *context = &contexts[thread_device % FAKE_DEVICES];
    return 0;
}

static uint32_t type_of(int policy)
{
    switch (policy & 0xff) {
    case ACL_POLICY_HUGE_ONLY:
        return 0x2 | 0x800;
    case ACL_POLICY_NORMAL_ONLY:
        return 0x2 | 0x1000;
    default:
        return 0x2 | 0x400;
    }
}

int aclrtMalloc(void **address, size_t size, int policy)
{
    return rtMalloc(address, (size + 31 + 32) & ~UINT64_C(31), type_of(policy), MODULE_APP);
}

int aclrtMallocAlign32(void **address, size_t size, int policy)
{
    return rtMalloc(address, (size + 31) & ~UINT64_C(31), type_of(policy), MODULE_APP);
}

int aclrtMallocCached(void **address, size_t size, int policy)
{
    return rtMallocCached(address, size, type_of(policy), MODULE_APP);
}

int aclrtMallocWithCfg(void **address, size_t size, int policy, struct acl_malloc_config *config)
{
    return rtsMalloc(address, size, policy, 0, config);
}

int aclrtMallocForTaskScheduler(void **address, size_t size, int policy,
                                struct acl_malloc_config *config)
{
    return rtsMalloc(address, size, policy, 0, config);
}

int aclrtMemAllocManaged(void **address, uint64_t size, uint32_t flag)
{
    return rtMemAllocManaged(address, size, flag, MODULE_APP);
}

int aclrtFree(void *address)
{
    return rtFree(address);
}

int aclrtFreeWithDevSync(void *address)
{
    return rtFree(address);
}

int aclrtMallocHost(void **address, size_t size)
{
    return rtMallocHost(address, size, MODULE_APP);
}

int aclrtMallocHostWithCfg(void **address, uint64_t size, struct acl_malloc_config *config)
{
    (void)config;
    return rtMallocHost(address, size, MODULE_APP);
}

int aclrtFreeHost(void *address)
{
    return rtFreeHost(address);
}

int aclrtFreeHostWithDevSync(void *address)
{
    return rtFreeHost(address);
}

int aclrtReserveMemAddressNoUCMemory(void **address, size_t size, size_t alignment, void *wanted,
                                     uint64_t flags)
{
    return rtReserveMemAddress(address, size, alignment, wanted, flags);
}

int aclrtReserveMemAddress(void **address, size_t size, size_t alignment, void *wanted,
                           uint64_t flags)
{
    return rtReserveMemAddress(address, size, alignment, wanted, flags);
}

int aclrtReleaseMemAddress(void *address)
{
    return rtReleaseMemAddress(address);
}

int aclrtMallocPhysical(void **handle, size_t size, const struct acl_physical_property *property,
                        uint64_t flags)
{
    struct hal_memory_property physical = {.side = property->location_type,
                                           .device =
                                               (uint32_t)physical_of((int32_t)property->location),
                                           .module = MODULE_APP,
                                           .page = HAL_PAGE_HUGE};

    return rtMallocPhysical(handle, size, &physical, flags);
}

int aclrtFreePhysical(void *handle)
{
    return rtFreePhysical(handle);
}

int aclrtMapMem(void *address, size_t size, size_t offset, void *handle, uint64_t flags)
{
    return rtMapMem(address, size, offset, handle, flags);
}

int aclrtUnmapMem(void *address)
{
    return rtUnmapMem(address);
}

int aclrtMemRetainAllocationHandle(void *address, void **handle)
{
    return halMemRetainAllocationHandle(handle, address) ? RT_STATUS_INVALID_PARAMETER : 0;
}

int aclrtMemExportToShareableHandle(void *handle, int type, uint64_t flags, uint64_t *shared)
{
    return halMemExportToShareableHandle(handle, type, flags, shared) ? RT_STATUS_INVALID_PARAMETER
                                                                      : 0;
}

int aclrtMemImportFromShareableHandle(uint64_t shared, int32_t device, void **handle)
{
    return halMemImportFromShareableHandle(shared, (uint32_t)physical_of(device), handle)
               ? RT_STATUS_INVALID_PARAMETER
               : 0;
}

int aclrtHostRegisterV2(void *source, uint64_t size, uint32_t flag)
{
    return halHostRegister(source, size, flag, (uint32_t)physical_of(thread_device), NULL)
               ? RT_STATUS_INVALID_PARAMETER
               : 0;
}

int aclrtHostRegister(void *source, uint64_t size, int type, void **address)
{
    *address = source;
    return aclrtHostRegisterV2(source, size, (uint32_t)type);
}

int aclrtHostUnregister(void *source)
{
    return halHostUnregister(source, (uint32_t)physical_of(thread_device))
               ? RT_STATUS_INVALID_PARAMETER
               : 0;
}

/* Keys that are open, and where: 64 are enough for a test. */
static struct {
    char key[64];
    unsigned long long address;
} open_keys[64];

int aclrtIpcMemGetExportKey(void *address, size_t size, char *key, size_t key_size, uint64_t flags)
{
    (void)flags;
    return halShmemCreateHandle((uintptr_t)address, size, key, (uint32_t)key_size);
}

int aclrtIpcMemImportByKey(void **address, const char *key, uint64_t flags)
{
    (void)flags;
    for (size_t i = 0; i < sizeof(open_keys) / sizeof(open_keys[0]); i++) {
        if (open_keys[i].address)
            continue;
        if (halShmemOpenHandle(key, &open_keys[i].address) != 0)
            return RT_STATUS_INVALID_PARAMETER;
        snprintf(open_keys[i].key, sizeof(open_keys[i].key), "%s", key);
        *address = (void *)(uintptr_t)open_keys[i].address;
        return 0;
    }
    return RT_STATUS_OUT_OF_MEMORY;
}

int aclrtIpcMemClose(const char *key)
{
    for (size_t i = 0; i < sizeof(open_keys) / sizeof(open_keys[0]); i++) {
        if (!open_keys[i].address || strcmp(open_keys[i].key, key) != 0)
            continue;
        halShmemCloseHandle(open_keys[i].address);
        open_keys[i].address = 0;
        return 0;
    }
    return RT_STATUS_INVALID_PARAMETER;
}

/* A pool takes one large piece from the runtime and hands out parts of it. */
struct pool {
    struct fake_memory parts;
    void *piece;
    struct pool *next;
};

static struct pool *pools;
static pthread_mutex_t pools_lock = PTHREAD_MUTEX_INITIALIZER;

int aclrtMemPoolCreate(void **created, const void *properties)
{
    struct pool *pool = calloc(1, sizeof(*pool));
    int status;

    (void)properties;
    if (!pool)
        return RT_STATUS_OUT_OF_MEMORY;
    status = rtMalloc(&pool->piece, POOL_BYTES, 0x2, MODULE_APP);
    if (status != 0) {
        free(pool);
        return status;
    }
    pool->parts = (struct fake_memory)FAKE_MEMORY((uintptr_t)pool->piece, POOL_BYTES);
    pthread_mutex_lock(&pools_lock);
    pool->next = pools;
    pools = pool;
    pthread_mutex_unlock(&pools_lock);
    *created = pool;
    return 0;
}

int aclrtMemPoolDestroy(void *destroyed)
{
    struct pool *pool = destroyed;
    struct pool **link = &pools;

    pthread_mutex_lock(&pools_lock);
    while (*link && *link != pool)
        link = &(*link)->next;
    if (*link)
        *link = pool->next;
    pthread_mutex_unlock(&pools_lock);
    rtFree(pool->piece);
    free(pool->parts.blocks);
    free(pool);
    return 0;
}

int aclrtMemPoolMallocAsync(void **address, size_t size, void *used, void *stream)
{
    struct pool *pool = used;
    uint64_t found = fake_memory_alloc(&pool->parts, size, 512, 0);

    (void)stream;
    if (!found)
        return RT_STATUS_OUT_OF_MEMORY;
    *address = (void *)(uintptr_t)found;
    return 0;
}

int aclrtMemPoolFreeAsync(void *address, void *stream)
{
    int status = RT_STATUS_INVALID_PARAMETER;

    (void)stream;
    pthread_mutex_lock(&pools_lock);
    for (struct pool *pool = pools; pool && status != 0; pool = pool->next)
        if (fake_memory_free(&pool->parts, (uintptr_t)address, NULL))
            status = 0;
    pthread_mutex_unlock(&pools_lock);
    return status;
}

int aclrtGetMemInfo(int attribute, size_t *free_size, size_t *total_size)
{
    struct hal_memory_info info = {0};

    if (thread_device < 0)
        return RT_STATUS_NO_CONTEXT;
    halMemGetInfo((uint32_t)physical_of(thread_device),
                  attribute == ACL_MEMORY_DDR ? HAL_INFO_DDR : HAL_INFO_HBM, &info);
    *free_size = info.normal_free + info.huge_free;
    *total_size = info.normal_total + info.huge_total;
    return 0;
}

int aclrtMemcpy(void *to, size_t room, const void *from, size_t size, int kind)
{
    if (thread_device < 0)
        return RT_STATUS_NO_CONTEXT;
    if (size > room || kind < 0 || kind > ACL_COPY_DEVICE_TO_DEVICE)
        return RT_STATUS_INVALID_PARAMETER;
    return fake_hal_copy(to, from, size) ? RT_STATUS_INVALID_PARAMETER : 0;
}

int aclrtMemset(void *address, size_t room, int32_t value, size_t size)
{
    if (thread_device < 0)
        return RT_STATUS_NO_CONTEXT;
    return size > room || fake_hal_fill(address, value, size) ? RT_STATUS_INVALID_PARAMETER : 0;
}

/* Nothing is ever under way. */
int aclrtSynchronizeDevice(void)
{
    if (thread_device < 0)
        return RT_STATUS_NO_CONTEXT;
    atomic_fetch_add(&waits, 1);
    return 0;
}

int aclrtSynchronizeStream(void *stream)
{
    (void)stream;
    return aclrtSynchronizeDevice();
}

uint64_t fake_acl_waits(void)
{
    return atomic_load(&waits);
}

/* A function handle of the fake is the name of the function. */
int aclrtGetFunctionName(void *function, uint32_t name_size, char *name)
{
    snprintf(name, name_size, "%s", (const char *)function);
    return 0;
}

/* All launches are done in libacl_rt_impl.so. */

int aclrtLaunchKernel(void *function, uint32_t blocks, const void *data, size_t size, void *stream)
{
    return aclrtLaunchKernelImpl(function, blocks, data, size, stream);
}

int aclrtLaunchKernelV2(void *function, uint32_t blocks, const void *data, size_t size,
                        void *config, void *stream)
{
    return aclrtLaunchKernelV2Impl(function, blocks, data, size, config, stream);
}

int aclrtLaunchKernelWithConfig(void *function, uint32_t blocks, void *stream, void *config,
                                void *arguments, void *reserved)
{
    return aclrtLaunchKernelWithConfigImpl(function, blocks, stream, config, arguments, reserved);
}

int aclrtLaunchKernelWithHostArgs(void *function, uint32_t blocks, void *stream, void *config,
                                  void *data, size_t size, void *places, size_t place_count)
{
    return aclrtLaunchKernelWithHostArgsImpl(function, blocks, stream, config, data, size, places,
                                             place_count);
}
