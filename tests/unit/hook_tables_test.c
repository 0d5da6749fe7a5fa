/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Every line of the hook tables: the function is there to be hooked, and what it hands out begins
 * and ends where it should.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "config_double.h"
#include "device_blocks.h"
#include "fake_ascend.h"
#include "fake_cuda.h"
#include "recorder_double.h"

enum { SIZE = 4096 };

static char memory[SIZE];
static void *stream_pool; /* of ACL */

static int hal_physical(void **p)
{
    struct hal_memory_property property = {.side = 1, .device = 1};

    return halMemCreate(p, SIZE, &property, 0);
}

static int acl_physical(void **p)
{
    struct acl_physical_property property = {.location_type = 1, .location = 1};

    return aclrtMallocPhysical(p, SIZE, &property, 0);
}

static int rt_physical(void **p)
{
    struct hal_memory_property property = {.side = 1, .device = 1};

    return rtMallocPhysical(p, SIZE, &property, 0);
}

static int cuda_physical(void **p)
{
    struct cuda_memory_property property = {.type = 1, .location_type = 1, .location = 1};

    return cuMemCreate((uint64_t *)p, SIZE, &property, 0);
}

/* Memory and addresses for what only maps or imports; they stay until the program ends. */
static void *hal_handle, *hal_addresses, *acl_handle, *acl_addresses;
static uint64_t cuda_handle, cuda_addresses, hal_shared;
static char shared_key[64];

static int given(void **p, void *address, int status)
{
    *p = address;
    return status;
}

static int array_make(void **p)
{
    struct cuda_array description = {
        .width = 1024, .height = 1, .format = 0x20, .channel_count = 1};

    return cuArrayCreate_v2(p, &description);
}

static int cube_make(void **p)
{
    struct cuda_array_3d description = {
        .width = 16, .height = 8, .depth = 8, .format = 0x20, .channel_count = 1};

    return cuArray3DCreate_v2(p, &description);
}

static int pitched_make(void **p)
{
    struct cuda_pitched pitched;
    int status = cudaMalloc3D(&pitched, (struct cuda_extent){512, 2, 4});

    *p = pitched.address;
    return status;
}

static struct acl_malloc_config *const no_config = NULL;
static const struct cuda_channels floats = {32, 0, 0, 0, 2};
static const struct cuda_ipc_handle ipc;
static size_t pitch;

#define A(p) ((uint64_t)(uintptr_t)(p))

/* LIFE(name, pool, size, begin, end): p is what begin hands out and end takes back. */
#define LIVES                                                                                      \
    LIFE(halMemAlloc, "hal", SIZE, halMemAlloc(p, SIZE, 1 << 10), halMemFree(p))                   \
    LIFE(halMemAlloc_host, "hal_host", SIZE, halMemAlloc(p, SIZE, 2 << 10), halMemFree(p))         \
    LIFE(halMemCreate, "hal", SIZE, hal_physical(p), halMemRelease(p))                             \
    LIFE(halMemAddressReserve, "hal_virtual", SIZE, halMemAddressReserve(p, SIZE, 0, NULL, 0),     \
         halMemAddressFree(p))                                                                     \
    LIFE(halMemMap, "hal_mapping", SIZE,                                                           \
         given(p, hal_addresses, halMemMap(hal_addresses, SIZE, 0, hal_handle, 0)),                \
         halMemUnmap(p))                                                                           \
    LIFE(halMemImportFromShareableHandle, "hal_import", 0,                                         \
         halMemImportFromShareableHandle(hal_shared, 1, p), halMemRelease(p))                      \
    LIFE(halHostRegister, "hal_registered", SIZE,                                                  \
         given(p, memory, halHostRegister(memory, SIZE, 0, 1, NULL)), halHostUnregister(p, 1))     \
    LIFE(halShmemOpenHandle, "hal_import", 0,                                                      \
         halShmemOpenHandle(shared_key, (unsigned long long *)p), halShmemCloseHandle(A(p)))       \
    LIFE(halBuffAlloc, "hal_buff", SIZE, halBuffAlloc(SIZE, p), halBuffFree(p))                    \
    LIFE(aclrtMalloc, "acl", SIZE, aclrtMalloc(p, SIZE, 0), aclrtFree(p))                          \
    LIFE(aclrtMallocAlign32, "acl", SIZE, aclrtMallocAlign32(p, SIZE, 0), aclrtFree(p))            \
    LIFE(aclrtMallocCached, "acl", SIZE, aclrtMallocCached(p, SIZE, 0), aclrtFreeWithDevSync(p))   \
    LIFE(aclrtMallocWithCfg, "acl", SIZE, aclrtMallocWithCfg(p, SIZE, 0, no_config), aclrtFree(p)) \
    LIFE(aclrtMallocForTaskScheduler, "acl", SIZE,                                                 \
         aclrtMallocForTaskScheduler(p, SIZE, 0, no_config), aclrtFree(p))                         \
    LIFE(aclrtMemAllocManaged, "acl", SIZE, aclrtMemAllocManaged(p, SIZE, 0), aclrtFree(p))        \
    LIFE(aclrtMallocHost, "acl_host", SIZE, aclrtMallocHost(p, SIZE), aclrtFreeHost(p))            \
    LIFE(aclrtMallocHostWithCfg, "acl_host", SIZE, aclrtMallocHostWithCfg(p, SIZE, no_config),     \
         aclrtFreeHostWithDevSync(p))                                                              \
    LIFE(aclrtReserveMemAddress, "acl_virtual", SIZE, aclrtReserveMemAddress(p, SIZE, 0, NULL, 0), \
         aclrtReleaseMemAddress(p))                                                                \
    LIFE(aclrtReserveMemAddressNoUCMemory, "acl_virtual", SIZE,                                    \
         aclrtReserveMemAddressNoUCMemory(p, SIZE, 0, NULL, 0), aclrtReleaseMemAddress(p))         \
    LIFE(aclrtMallocPhysical, "acl", SIZE, acl_physical(p), aclrtFreePhysical(p))                  \
    LIFE(aclrtMapMem, "acl_mapping", SIZE,                                                         \
         given(p, acl_addresses, aclrtMapMem(acl_addresses, SIZE, 0, acl_handle, 0)),              \
         aclrtUnmapMem(p))                                                                         \
    LIFE(aclrtMemImportFromShareableHandle, "acl_import", 0,                                       \
         aclrtMemImportFromShareableHandle(hal_shared, 1, p), aclrtFreePhysical(p))                \
    LIFE(aclrtHostRegister, "acl_registered", SIZE, aclrtHostRegister(memory, SIZE, 0, p),         \
         aclrtHostUnregister(p))                                                                   \
    LIFE(aclrtHostRegisterV2, "acl_registered", SIZE,                                              \
         given(p, memory, aclrtHostRegisterV2(memory, SIZE, 0)), aclrtHostUnregister(p))           \
    LIFE(aclrtIpcMemImportByKey, "acl_import", 0, aclrtIpcMemImportByKey(p, shared_key, 0),        \
         aclrtIpcMemClose(shared_key))                                                             \
    LIFE(aclrtMemPoolMallocAsync, "acl_async", SIZE,                                               \
         aclrtMemPoolMallocAsync(p, SIZE, stream_pool, NULL), aclrtMemPoolFreeAsync(p, NULL))      \
    LIFE(rtMalloc, "acl", SIZE, rtMalloc(p, SIZE, 2, 7), rtFree(p))                                \
    LIFE(rtMallocCached, "acl", SIZE, rtMallocCached(p, SIZE, 2, 7), rtFreeWithDevSync(p))         \
    LIFE(rtDvppMalloc, "acl", SIZE, rtDvppMalloc(p, SIZE, 6), rtDvppFree(p))                       \
    LIFE(rtMemAllocManaged, "acl", SIZE, rtMemAllocManaged(p, SIZE, 0, 7), rtMemFreeManaged(p))    \
    LIFE(rtMallocHost, "acl_host", SIZE, rtMallocHost(p, SIZE, 7), rtFreeHost(p))                  \
    LIFE(rtMallocHost_sync, "acl_host", SIZE, rtMallocHost(p, SIZE, 7), rtFreeHostWithDevSync(p))  \
    LIFE(rtReserveMemAddress, "acl_virtual", SIZE, rtReserveMemAddress(p, SIZE, 0, NULL, 0),       \
         rtReleaseMemAddress(p))                                                                   \
    LIFE(rtMallocPhysical, "acl", SIZE, rt_physical(p), rtFreePhysical(p))                         \
    LIFE(rtMapMem, "acl_mapping", SIZE,                                                            \
         given(p, acl_addresses, rtMapMem(acl_addresses, SIZE, 0, acl_handle, 0)), rtUnmapMem(p))  \
    LIFE(rtsMalloc, "acl", SIZE, rtsMalloc(p, SIZE, 0, 0, no_config), rtsFree(p))                  \
    LIFE(rtMemAlloc, "acl", SIZE, rtMemAlloc(p, SIZE, 0, 0, no_config), rtsFree(p))                \
    LIFE(rtsMallocHost, "acl_host", SIZE, rtsMallocHost(p, SIZE, no_config), rtsFreeHost(p))       \
    LIFE(rtsMemMallocPhysical, "acl", SIZE, rtsMemMallocPhysical(p, SIZE, 0, no_config),           \
         rtsMemFreePhysical(&p))                                                                   \
    LIFE(rtsMemReserveAddress, "acl_virtual", SIZE,                                                \
         rtsMemReserveAddress(p, SIZE, 0, NULL, no_config), rtsMemFreeAddress(&p))                 \
    LIFE(rtsMemMap, "acl_mapping", SIZE,                                                           \
         given(p, acl_addresses, rtsMemMap(acl_addresses, SIZE, 0, acl_handle, 0)),                \
         rtsMemUnmap(p))                                                                           \
    LIFE(cudaMalloc, "cudart", SIZE, cudaMalloc(p, SIZE), cudaFree(p))                             \
    LIFE(cudaMallocManaged, "cudart", SIZE, cudaMallocManaged(p, SIZE, 1), cudaFree(p))            \
    LIFE(cudaMallocPitch, "cudart", SIZE, cudaMallocPitch(p, &pitch, 512, 8), cudaFree(p))         \
    LIFE(cudaMalloc3D, "cudart", SIZE, pitched_make(p), cudaFree(p))                               \
    LIFE(cudaMallocAsync, "cudart_async", SIZE, cudaMallocAsync(p, SIZE, NULL),                    \
         cudaFreeAsync(p, NULL))                                                                   \
    LIFE(cudaMallocAsync_ptsz, "cudart_async", SIZE, cudaMallocAsync_ptsz(p, SIZE, NULL),          \
         cudaFreeAsync_ptsz(p, NULL))                                                              \
    LIFE(cudaMallocFromPoolAsync, "cudart_async", SIZE,                                            \
         cudaMallocFromPoolAsync(p, SIZE, NULL, NULL), cudaFreeAsync(p, NULL))                     \
    LIFE(cudaMallocFromPoolAsync_ptsz, "cudart_async", SIZE,                                       \
         cudaMallocFromPoolAsync_ptsz(p, SIZE, NULL, NULL), cudaFreeAsync(p, NULL))                \
    LIFE(cudaMallocHost, "cudart_host", SIZE, cudaMallocHost(p, SIZE), cudaFreeHost(p))            \
    LIFE(cudaHostAlloc, "cudart_host", SIZE, cudaHostAlloc(p, SIZE, 0), cudaFreeHost(p))           \
    LIFE(cudaHostRegister, "cudart_registered", SIZE,                                              \
         given(p, memory, cudaHostRegister(memory, SIZE, 0)), cudaHostUnregister(p))               \
    LIFE(cudaMallocArray, "cudart", SIZE, cudaMallocArray(p, &floats, 128, 8, 0),                  \
         cudaFreeArray(p))                                                                         \
    LIFE(cudaMalloc3DArray, "cudart", SIZE,                                                        \
         cudaMalloc3DArray(p, &floats, (struct cuda_extent){16, 8, 8}, 0), cudaFreeArray(p))       \
    LIFE(cudaIpcOpenMemHandle, "cudart_import", 0, cudaIpcOpenMemHandle(p, ipc, 0),                \
         cudaIpcCloseMemHandle(p))                                                                 \
    LIFE(cuMemAlloc_v2, "cuda", SIZE, cuMemAlloc_v2((uint64_t *)p, SIZE), cuMemFree_v2(A(p)))      \
    LIFE(cuMemAllocPitch_v2, "cuda", SIZE, cuMemAllocPitch_v2((uint64_t *)p, &pitch, 512, 8, 4),   \
         cuMemFree_v2(A(p)))                                                                       \
    LIFE(cuMemAllocManaged, "cuda", SIZE, cuMemAllocManaged((uint64_t *)p, SIZE, 1),               \
         cuMemFree_v2(A(p)))                                                                       \
    LIFE(cuMemAllocAsync, "cuda_async", SIZE, cuMemAllocAsync((uint64_t *)p, SIZE, NULL),          \
         cuMemFreeAsync(A(p), NULL))                                                               \
    LIFE(cuMemAllocAsync_ptsz, "cuda_async", SIZE,                                                 \
         cuMemAllocAsync_ptsz((uint64_t *)p, SIZE, NULL), cuMemFreeAsync_ptsz(A(p), NULL))         \
    LIFE(cuMemAllocFromPoolAsync, "cuda_async", SIZE,                                              \
         cuMemAllocFromPoolAsync((uint64_t *)p, SIZE, NULL, NULL), cuMemFreeAsync(A(p), NULL))     \
    LIFE(cuMemAllocFromPoolAsync_ptsz, "cuda_async", SIZE,                                         \
         cuMemAllocFromPoolAsync_ptsz((uint64_t *)p, SIZE, NULL, NULL), cuMemFree_v2(A(p)))        \
    LIFE(cuMemAllocHost_v2, "cuda_host", SIZE, cuMemAllocHost_v2(p, SIZE), cuMemFreeHost(p))       \
    LIFE(cuMemHostAlloc, "cuda_host", SIZE, cuMemHostAlloc(p, SIZE, 0), cuMemFreeHost(p))          \
    LIFE(cuMemHostRegister_v2, "cuda_registered", SIZE,                                            \
         given(p, memory, cuMemHostRegister_v2(memory, SIZE, 0)), cuMemHostUnregister(p))          \
    LIFE(cuMemCreate, "cuda", SIZE, cuda_physical(p), cuMemRelease(A(p)))                          \
    LIFE(cuMemImportFromShareableHandle, "cuda_import", 0,                                         \
         cuMemImportFromShareableHandle((uint64_t *)p, (void *)~(uintptr_t)cuda_handle, 1),        \
         cuMemRelease(A(p)))                                                                       \
    LIFE(cuMemAddressReserve, "cuda_virtual", SIZE,                                                \
         cuMemAddressReserve((uint64_t *)p, SIZE, 0, 0, 0), cuMemAddressFree(A(p), SIZE))          \
    LIFE(cuMemMap, "cuda_mapping", SIZE,                                                           \
         given(p, (void *)(uintptr_t)cuda_addresses,                                               \
               cuMemMap(cuda_addresses, SIZE, 0, cuda_handle, 0)),                                 \
         cuMemUnmap(A(p), SIZE))                                                                   \
    LIFE(cuArrayCreate_v2, "cuda", SIZE, array_make(p), cuArrayDestroy(p))                         \
    LIFE(cuArray3DCreate_v2, "cuda", SIZE, cube_make(p), cuArrayDestroy(p))                        \
    LIFE(cuIpcOpenMemHandle_v2, "cuda_import", 0, cuIpcOpenMemHandle_v2((uint64_t *)p, ipc, 0),    \
         cuIpcCloseMemHandle(A(p)))

#define LIFE(name, pool, size, begin, end)                                                         \
    static int name##_begin(void **p)                                                              \
    {                                                                                              \
        return begin;                                                                              \
    }                                                                                              \
    static int name##_end(void *p)                                                                 \
    {                                                                                              \
        (void)p;                                                                                   \
        return end;                                                                                \
    }
LIVES
#undef LIFE

struct life {
    const char *name, *pool;
    uint64_t size_bytes;
    int (*begin)(void **p);
    int (*end)(void *p);
};

static struct life lives[] = {
#define LIFE(name, pool, size, begin, end) {#name, pool, size, name##_begin, name##_end},
    LIVES
#undef LIFE
};

/* Of the layer that the pool belongs to: "hal", "acl", "cudart" or "cuda". */
static bool is_of_layer(const char *pool, const char *other)
{
    size_t length = strcspn(pool, "_");

    return strncmp(pool, other, length) == 0 && (other[length] == '_' || !other[length]);
}

static const struct double_event *only_event(enum mt_record_code code, const char *pool)
{
    const struct double_event *found = NULL;

    for (size_t i = 0; i < double_event_count(); i++) {
        if (double_events[i].code != code || !is_of_layer(pool, double_events[i].text))
            continue;
        assert_null(found);
        found = &double_events[i];
    }
    assert_non_null(found);
    assert_string_equal(found->text, pool);
    return found;
}

/* In how many spaces the address is remembered as alive. */
static int spaces_of(const void *address)
{
    struct device_block block;
    int count = 0;

    for (int space = SPACE_HAL_MEMORY; space < SPACE_MSTX_HEAP; space++)
        count += device_block_find((enum block_space)space, (uintptr_t)address, &block);
    return count;
}

/* Of what stays: reserved addresses, and the memory of the pool, whose first part is there too. */
static int lasting_spaces_of(const void *address, const char *pool)
{
    if (address == acl_addresses || strcmp(pool, "acl_async") == 0)
        return 2; /* by runtime and driver */
    return address == hal_addresses || (uintptr_t)address == cuda_addresses;
}

static void a_block_begins_and_ends_in_its_pool(void **state)
{
    const struct life *life = *state;
    const struct double_event *event;
    void *address = NULL;

    double_reset();
    assert_int_equal(life->begin(&address), 0);
    assert_non_null(address);
    event = only_event(MT_RECORD_alloc, life->pool);
    assert_int_equal(event->address, (uintptr_t)address);
    assert_int_equal(event->size_bytes, life->size_bytes);
    assert_non_null(event->site);
    assert_true(spaces_of(address) > lasting_spaces_of(address, life->pool));
    double_reset();
    assert_int_equal(life->end(address), 0);
    event = only_event(MT_RECORD_free, life->pool);
    assert_int_equal(event->address, (uintptr_t)address);
    assert_int_equal(double_count_of(MT_RECORD_alloc), 0);
    assert_int_equal(spaces_of(address), lasting_spaces_of(address, life->pool));
}

/* Names only: what the tables say about a function does not matter here. */
static const char *const hooked[] = {
#define HOOK(kind, name, ...) #name,
#define LAUNCH(name, ...)     #name,
#define OTHER(name, ...)      #name,
#include "ascend_acl.def"
#include "ascend_hal.def"
#include "ascend_launch.def"
#include "ascend_rt.def"
#include "cuda_driver.def"
#include "cuda_runtime.def"
#undef HOOK
#undef LAUNCH
#undef OTHER
};

static void every_function_is_hooked_and_in_a_fake(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(hooked) / sizeof(hooked[0]); i++) {
        void *wrapper = dlsym(RTLD_DEFAULT, hooked[i]);
        void *real = dlsym(RTLD_NEXT, hooked[i]);

        if (!wrapper || !real || wrapper == real)
            fail_msg("%s: %s", hooked[i], real ? "not hooked" : "in no fake");
    }
}

static void every_launch_is_counted_once(void **state)
{
    static char function[] = "kernel";
    uint64_t before = fake_rt_launches();

    (void)state;
    double_reset();
    assert_int_equal(aclrtLaunchKernel(function, 1, NULL, 0, NULL), 0);
    assert_int_equal(aclrtLaunchKernelV2(function, 1, NULL, 0, NULL, NULL), 0);
    assert_int_equal(aclrtLaunchKernelWithConfig(function, 1, NULL, NULL, NULL, NULL), 0);
    assert_int_equal(aclrtLaunchKernelWithHostArgs(function, 1, NULL, NULL, NULL, 0, NULL, 0), 0);
    assert_int_equal(aclrtLaunchKernelImpl(function, 1, NULL, 0, NULL), 0);
    assert_int_equal(aclrtLaunchKernelV2Impl(function, 1, NULL, 0, NULL, NULL), 0);
    assert_int_equal(aclrtLaunchKernelWithConfigImpl(function, 1, NULL, NULL, NULL, NULL), 0);
    assert_int_equal(aclrtLaunchKernelWithHostArgsImpl(function, 1, NULL, NULL, NULL, 0, NULL, 0),
                     0);
    assert_int_equal(rtKernelLaunch(function, 1, NULL, 0, NULL, NULL), 0);
    assert_int_equal(rtKernelLaunchWithFlagV2(function, 1, NULL, NULL, NULL, 0, NULL), 0);
    assert_int_equal(rtKernelLaunchWithHandleV2(function, 0, 1, NULL, NULL, NULL, NULL), 0);
    assert_int_equal(rtAicpuKernelLaunchExWithArgs(0, function, 1, NULL, NULL, NULL, 0), 0);
    assert_int_equal(rtLaunchKernelByFuncHandle(function, 1, NULL, NULL), 0);
    assert_int_equal(rtLaunchKernelByFuncHandleV2(function, 1, NULL, NULL, NULL), 0);
    assert_int_equal(fake_rt_launches() - before, 14);
    assert_int_equal(double_count_of(MT_RECORD_launch), 14);
    assert_int_equal(double_event_count(), 14);
}

static void devices_are_named_by_all_calls(void **state)
{
    (void)state;
    double_reset();
    assert_int_equal(aclrtResetDeviceForce(1), 0);
    assert_int_equal(rtSetDevice(1), 0);
    assert_int_equal(rtDeviceReset(1), 0);
    assert_int_equal(double_count_of(MT_RECORD_device_event), 3);
    assert_string_equal(double_last(MT_RECORD_device_event)->text, "rtDeviceReset");
}

static void stacks_make_ready(void)
{
    uint64_t block = 0;

    if (aclrtSetDevice(1) != 0 || cudaSetDevice(1) != 0 || hal_physical(&hal_handle) != 0 ||
        acl_physical(&acl_handle) != 0 || cuda_physical((void **)&cuda_handle) != 0 ||
        halMemAddressReserve(&hal_addresses, SIZE, 0, NULL, 0) != 0 ||
        aclrtReserveMemAddress(&acl_addresses, SIZE, 0, NULL, 0) != 0 ||
        cuMemAddressReserve(&cuda_addresses, SIZE, 0, 0, 0) != 0 ||
        halMemExportToShareableHandle(hal_handle, 0, 0, &hal_shared) != 0 ||
        halMemAlloc((void **)&block, SIZE, 1 << 10) != 0 ||
        halShmemCreateHandle(block, SIZE, shared_key, sizeof(shared_key)) != 0 ||
        aclrtMemPoolCreate(&stream_pool, NULL) != 0)
        abort();
}

int main(void)
{
    enum { LIFE_COUNT = sizeof(lives) / sizeof(lives[0]) };
    struct CMUnitTest tests[LIFE_COUNT + 3] = {
        cmocka_unit_test(every_function_is_hooked_and_in_a_fake),
        cmocka_unit_test(every_launch_is_counted_once),
        cmocka_unit_test(devices_are_named_by_all_calls),
    };

    unsetenv("ASCEND_RT_VISIBLE_DEVICES");
    for (size_t i = 0; i < LIFE_COUNT; i++)
        tests[3 + i] = (struct CMUnitTest){lives[i].name, a_block_begins_and_ends_in_its_pool, NULL,
                                           NULL, &lives[i]};
    stacks_make_ready();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
