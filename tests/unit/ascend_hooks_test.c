/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The wrappers of the Ascend stack, called as a program calls them, above the fake stack: what is
 * recorded, and that program and fakes see no difference.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "config_double.h"
#include "device_memory.h"
#include "fake_ascend.h"
#include "recorder_double.h"

enum { NOT_OPENED = 12345 };

static int reset(void **state)
{
    (void)state;
    double_reset();
    double_config_reset();
    assert_int_equal(aclrtSetDevice(1), 0); /* device 2 of the machine, see main() */
    double_reset();
    return 0;
}

static const struct double_event *event_of(enum mt_record_code code, const char *pool)
{
    for (size_t i = double_event_count(); i > 0; i--)
        if (double_events[i - 1].code == code && strcmp(double_events[i - 1].text, pool) == 0)
            return &double_events[i - 1];
    return NULL;
}

static size_t count_of(enum mt_record_code code, const char *pool)
{
    size_t count = 0;

    for (size_t i = 0; i < double_event_count(); i++)
        count += double_events[i].code == code && strcmp(double_events[i].text, pool) == 0;
    return count;
}

static void each_layer_records_a_call_once(void **state)
{
    void *address = NULL;
    const struct double_event *acl, *hal;

    (void)state;
    assert_int_equal(aclrtMalloc(&address, 1000, ACL_POLICY_HUGE_ONLY), 0);
    assert_int_equal(double_event_count(), 2); /* rtMalloc in between is the same layer */
    hal = &double_events[0];
    acl = &double_events[1];
    assert_string_equal(acl->text, "acl");
    assert_int_equal(acl->size_bytes, 1000);
    assert_int_equal(acl->address, (uintptr_t)address);
    assert_int_equal(acl->place.device, 2);
    assert_int_equal(acl->place.page, MT_PAGE_HUGE);
    assert_string_equal(hal->text, "hal");
    assert_int_equal(hal->size_bytes, 1056); /* what the runtime really asks for */
    assert_int_equal(hal->address, (uintptr_t)address);
    assert_int_equal(hal->place.device, 2);
    assert_int_equal(hal->place.page, MT_PAGE_HUGE);
    assert_int_equal(hal->place.module, 33);
    assert_int_equal(fake_hal_device_bytes(2), 1056);

    assert_int_equal(aclrtFree(address), 0);
    assert_int_equal(double_event_count(), 4);
    assert_string_equal(double_events[2].text, "acl"); /* frees: from the outside in */
    assert_string_equal(double_events[3].text, "hal");
    assert_int_equal(fake_hal_device_bytes(2), 0);
}

static void the_runtime_alone_fills_the_same_pool(void **state)
{
    void *address = NULL;

    (void)state;
    assert_int_equal(rtMalloc(&address, 64, 0x2 | 0x1000, 3), 0);
    assert_int_equal(event_of(MT_RECORD_alloc, "acl")->place.module, 3);
    assert_int_equal(event_of(MT_RECORD_alloc, "acl")->place.page, MT_PAGE_NORMAL);
    assert_int_equal(aclrtFree(address), 0);
    assert_int_equal(count_of(MT_RECORD_free, "acl"), 1);
}

static void a_refused_allocation_is_recorded_with_its_code(void **state)
{
    void *address = NULL;
    const struct double_event *event;

    (void)state;
    errno = NOT_OPENED;
    assert_int_equal(aclrtMalloc(&address, (size_t)1 << 50, 0), RT_STATUS_OUT_OF_MEMORY);
    assert_int_equal(errno, NOT_OPENED);
    event = event_of(MT_RECORD_alloc_failed, "acl");
    assert_int_equal(event->size_bytes, (uint64_t)1 << 50);
    assert_int_equal(event->status, RT_STATUS_OUT_OF_MEMORY);
    assert_int_equal(event->place.device, 2);
    assert_int_equal(event_of(MT_RECORD_alloc_failed, "hal")->status, DRV_STATUS_OUT_OF_MEMORY);
    assert_int_equal(double_count_of(MT_RECORD_alloc), 0);
}

static void a_refused_free_leaves_the_block_alive_in_both_ledgers(void **state)
{
    void *address = NULL;

    (void)state;
    assert_int_equal(aclrtMalloc(&address, 1000, 0), 0);
    fake_hal_refuse_next_free();
    assert_int_not_equal(aclrtFree(address), 0);
    for (int i = 0; i < 2; i++) {
        const char *pool = i ? "hal" : "acl";

        assert_int_equal(count_of(MT_RECORD_alloc, pool), 2);
        assert_int_equal(count_of(MT_RECORD_free, pool), 1);
        assert_int_equal(event_of(MT_RECORD_alloc, pool)->size_bytes, i ? 1056 : 1000);
        assert_int_equal(event_of(MT_RECORD_alloc, pool)->address, (uintptr_t)address);
    }
    assert_int_equal(aclrtFree(address), 0);
    assert_int_equal(count_of(MT_RECORD_free, "acl"), 2);
    assert_int_equal(count_of(MT_RECORD_free, "hal"), 2);
}

static void wrong_frees_answer_what_the_runtime_answers(void **state)
{
    void *address = NULL;

    (void)state;
    assert_int_equal(aclrtFree((void *)0x4242), RT_STATUS_INVALID_PARAMETER);
    assert_int_equal(halMemFree((void *)0x4242), DRV_STATUS_INVALID_VALUE);
    assert_int_equal(aclrtMalloc(&address, 64, 0), 0);
    assert_int_equal(aclrtFree(address), 0);
    assert_int_equal(aclrtFree(address), RT_STATUS_INVALID_PARAMETER);
    assert_int_equal(count_of(MT_RECORD_alloc, "acl"), 1);
    assert_int_equal(aclrtFree(NULL), RT_STATUS_INVALID_PARAMETER);
}

static void host_memory_has_a_pool_of_its_own(void **state)
{
    void *address = NULL;

    (void)state;
    assert_int_equal(aclrtMallocHost(&address, 100), 0);
    memset(address, 1, 100);
    assert_int_equal(event_of(MT_RECORD_alloc, "acl_host")->place.device, -1);
    assert_int_equal(event_of(MT_RECORD_alloc, "acl_host")->place.kind, MT_KIND_HOST);
    assert_int_equal(event_of(MT_RECORD_alloc, "hal_host")->size_bytes, 100);
    assert_int_equal(aclrtFreeHost(address), 0);
    assert_int_equal(count_of(MT_RECORD_free, "acl_host"), 1);
    assert_int_equal(count_of(MT_RECORD_free, "hal_host"), 1);
    assert_int_equal(double_event_count(), 4);
}

static void physical_memory_lives_until_nobody_holds_it(void **state)
{
    struct hal_memory_property property = {
        .side = 1, .device = 1, .module = 33, .page = HAL_PAGE_HUGE};
    void *handle = NULL, *again = NULL, *address = NULL;

    (void)state;
    assert_int_equal(halMemCreate(&handle, 2 << 20, &property, 0), 0);
    assert_int_equal(halMemAddressReserve(&address, 4 << 20, 0, NULL, 1), 0);
    assert_int_equal(halMemMap(address, 2 << 20, 0, handle, 0), 0);
    assert_int_equal(event_of(MT_RECORD_alloc, "hal")->place.page, MT_PAGE_HUGE);
    assert_int_equal(event_of(MT_RECORD_alloc, "hal_virtual")->place.flags, MT_PLACE_VIRTUAL);
    assert_int_equal(event_of(MT_RECORD_alloc, "hal_mapping")->place.flags, MT_PLACE_MAPPING);
    assert_int_equal(event_of(MT_RECORD_alloc, "hal_mapping")->place.device, 1);

    assert_int_equal(halMemRetainAllocationHandle(&again, address), 0);
    assert_ptr_equal(again, handle);
    assert_int_equal(halMemRelease(handle), 0);
    assert_int_equal(halMemRelease(again), 0);
    assert_int_equal(count_of(MT_RECORD_free, "hal"), 0);
    assert_int_equal(fake_hal_device_bytes(1), 2 << 20); /* the driver agrees */
    assert_int_equal(halMemAddressFree(address), DRV_STATUS_INVALID_VALUE);
    assert_int_equal(count_of(MT_RECORD_alloc, "hal_virtual"), 2); /* refused, so it is back */
    assert_int_equal(halMemUnmap(address), 0);
    assert_int_equal(count_of(MT_RECORD_free, "hal"), 1);
    assert_int_equal(count_of(MT_RECORD_free, "hal_mapping"), 1);
    assert_int_equal(fake_hal_device_bytes(1), 0);
    assert_int_equal(halMemAddressFree(address), 0);
    assert_int_equal(count_of(MT_RECORD_free, "hal_virtual"), 2);
}

static void a_released_handle_that_the_driver_keeps_is_alive(void **state)
{
    struct hal_memory_property property = {.side = 1, .device = 1};
    void *handle = NULL;

    (void)state;
    assert_int_equal(halMemCreate(&handle, 4096, &property, 0), 0);
    fake_hal_refuse_next_free();
    assert_int_equal(halMemRelease(handle), FAKE_DRV_BUSY);
    assert_int_equal(count_of(MT_RECORD_alloc, "hal"), 2);
    assert_int_equal(halMemRelease(handle), 0);
    assert_int_equal(count_of(MT_RECORD_free, "hal"), 2);
}

static void imports_and_exports_keep_to_their_pools(void **state)
{
    struct hal_memory_property property = {.side = 1, .device = 0};
    void *handle = NULL, *imported = NULL;
    uint64_t shared = 0;

    (void)state;
    assert_int_equal(halMemCreate(&handle, 4096, &property, 0), 0);
    assert_int_equal(halMemExportToShareableHandle(handle, 0, 0, &shared), 0);
    assert_int_equal(halMemImportFromShareableHandle(shared, 3, &imported), 0);
    assert_int_equal(event_of(MT_RECORD_alloc, "hal_import")->place.device, 3);
    assert_int_equal(event_of(MT_RECORD_alloc, "hal_import")->place.flags, MT_PLACE_IMPORTED);
    assert_int_equal(halMemRelease(imported), 0);
    assert_int_equal(count_of(MT_RECORD_free, "hal_import"), 1);
    assert_int_equal(count_of(MT_RECORD_free, "hal"), 0);
    assert_int_equal(halMemRelease(handle), 0);
    assert_int_equal(count_of(MT_RECORD_free, "hal"), 1);
}

static void memory_found_by_key_is_given_back_by_key(void **state)
{
    void *address = NULL, *imported = NULL;
    char key[64];

    (void)state;
    assert_int_equal(aclrtMalloc(&address, 64, 0), 0);
    assert_int_equal(aclrtIpcMemGetExportKey(address, 64, key, sizeof(key), 0), 0);
    assert_int_equal(aclrtIpcMemImportByKey(&imported, key, 0), 0);
    assert_int_equal(event_of(MT_RECORD_alloc, "acl_import")->address, (uintptr_t)imported);
    assert_int_equal(event_of(MT_RECORD_alloc, "hal_import")->address, (uintptr_t)imported);
    assert_int_equal(aclrtIpcMemClose("fake-unknown"), RT_STATUS_INVALID_PARAMETER);
    assert_int_equal(count_of(MT_RECORD_free, "acl_import"), 0);
    assert_int_equal(aclrtIpcMemClose(key), 0);
    assert_int_equal(event_of(MT_RECORD_free, "acl_import")->address, (uintptr_t)imported);
    assert_int_equal(count_of(MT_RECORD_free, "hal_import"), 1);
    assert_int_equal(aclrtFree(address), 0);
}

static void registered_memory_is_registered_for_each_device(void **state)
{
    static char memory[8192];
    void *seen = NULL;

    (void)state;
    assert_int_equal(halHostRegister(memory, sizeof(memory), 0, 0, &seen), 0);
    assert_int_equal(halHostRegister(memory, sizeof(memory), 0, 1, &seen), 0);
    assert_int_equal(count_of(MT_RECORD_alloc, "hal_registered"), 1);
    assert_int_equal(halHostUnregister(memory, 0), 0);
    assert_int_equal(count_of(MT_RECORD_free, "hal_registered"), 0);
    assert_int_equal(halHostUnregister(memory, 1), 0);
    assert_int_equal(count_of(MT_RECORD_free, "hal_registered"), 1);
    assert_int_equal(aclrtHostRegisterV2(memory, sizeof(memory), 0x10000000), 0);
    assert_int_equal(event_of(MT_RECORD_alloc, "acl_registered")->size_bytes, sizeof(memory));
    assert_int_equal(aclrtHostUnregister(memory), 0);
    assert_int_equal(count_of(MT_RECORD_free, "acl_registered"), 1);
}

static void virtual_memory_of_the_runtime_api_is_followed(void **state)
{
    struct acl_physical_property property = {
        .memory_attribute = ACL_MEMORY_HBM_HUGE, .location = 0, .location_type = 1};
    void *handle = NULL, *address = NULL;

    (void)state;
    assert_int_equal(aclrtMallocPhysical(&handle, 2 << 20, &property, 0), 0);
    assert_int_equal(event_of(MT_RECORD_alloc, "acl")->place.device, 3); /* visible device 0 */
    assert_int_equal(event_of(MT_RECORD_alloc, "hal")->place.device, 3);
    assert_int_equal(aclrtReserveMemAddress(&address, 2 << 20, 0, NULL, 0), 0);
    assert_int_equal(aclrtMapMem(address, 2 << 20, 0, handle, 0), 0);
    assert_int_equal(aclrtUnmapMem(address), 0);
    assert_int_equal(aclrtFreePhysical(handle), 0);
    assert_int_equal(aclrtReleaseMemAddress(address), 0);
    for (int i = 0; i < 6; i++) {
        static const char *const pools[] = {"acl", "acl_virtual", "acl_mapping",
                                            "hal", "hal_virtual", "hal_mapping"};

        assert_int_equal(count_of(MT_RECORD_alloc, pools[i]), 1);
        assert_int_equal(count_of(MT_RECORD_free, pools[i]), 1);
    }
}

static void stream_ordered_pools_hand_out_parts(void **state)
{
    void *pool = NULL, *address = NULL;

    (void)state;
    assert_int_equal(aclrtMemPoolCreate(&pool, NULL), 0);
    assert_int_equal(aclrtMemPoolMallocAsync(&address, 4096, pool, NULL), 0);
    assert_int_equal(event_of(MT_RECORD_alloc, "acl_async")->size_bytes, 4096);
    assert_int_equal(count_of(MT_RECORD_alloc, "acl"), 1); /* what the pool took from below */
    assert_int_equal(aclrtMemPoolFreeAsync(address, NULL), 0);
    assert_int_equal(count_of(MT_RECORD_free, "acl_async"), 1);
    assert_int_equal(count_of(MT_RECORD_free, "acl"), 0);
    assert_int_equal(aclrtMemPoolDestroy(pool), 0);
    assert_int_equal(count_of(MT_RECORD_free, "acl"), 1);
}

static void configured_allocations_name_their_module(void **state)
{
    struct acl_malloc_attribute attribute = {.attribute = ACL_ATTRIBUTE_MODULE, .value.module = 3};
    struct acl_malloc_config config = {&attribute, 1};
    void *address = NULL;

    (void)state;
    assert_int_equal(aclrtMallocWithCfg(&address, 64, ACL_POLICY_HUGE_ONLY, &config), 0);
    assert_int_equal(event_of(MT_RECORD_alloc, "acl")->place.module, 3);
    assert_int_equal(event_of(MT_RECORD_alloc, "hal")->place.module, 3);
    assert_int_equal(aclrtFree(address), 0);
}

static void what_happens_to_devices_is_recorded(void **state)
{
    (void)state;
    assert_int_equal(aclInit(NULL), 0);
    assert_int_equal(aclInit(NULL), 100002);
    assert_int_equal(aclrtSetDevice(0), 0);
    assert_int_equal(aclrtSetDevice(7), RT_STATUS_INVALID_PARAMETER);
    assert_int_equal(aclrtResetDevice(0), 0);
    assert_int_equal(aclFinalize(), 0);
    assert_int_equal(double_event_count(), 6);
    assert_string_equal(double_events[0].text, "aclInit");
    assert_int_equal(double_events[1].status, 100002);
    assert_string_equal(double_events[2].text, "aclrtSetDevice");
    assert_int_equal(double_events[2].place.device, 3);
    assert_int_equal(double_events[3].place.device, -1);
    assert_string_equal(double_events[4].text, "aclrtResetDevice");
    assert_string_equal(double_events[5].text, "aclFinalize");
}

static void used_devices_tell_their_free_memory(void **state)
{
    uint64_t free_bytes = 0, total_bytes = 0;
    void *address = NULL;

    (void)state;
    assert_true(ascend_devices_in_use() >> 2 & 1);
    assert_false(ascend_devices_in_use() >> 1 & 1);
    assert_int_equal(aclrtMallocAlign32(&address, 1 << 20, 0), 0);
    assert_true(ascend_memory_info(2, &free_bytes, &total_bytes));
    assert_int_equal(total_bytes, UINT64_C(1) << 36);
    assert_int_equal(free_bytes, (UINT64_C(1) << 36) - (1 << 20));
    assert_int_equal(aclrtFree(address), 0);
    free_bytes = 5;
    assert_false(ascend_memory_info(1, &free_bytes, &total_bytes)); /* nobody used it */
    assert_false(ascend_memory_info(-1, &free_bytes, &total_bytes));
    assert_false(ascend_memory_info(64, &free_bytes, &total_bytes));
    assert_int_equal(free_bytes, 5);
}

static void launches_are_recorded_once_and_by_name(void **state)
{
    static char kernel[] = "matmul_kernel";
    static const char stub, unnamed;
    uint64_t before = fake_rt_launches();

    (void)state;
    assert_int_equal(aclrtLaunchKernelWithConfig(kernel, 8, NULL, NULL, NULL, NULL), 0);
    assert_int_equal(double_event_count(), 1);
    assert_int_equal(double_events[0].code, MT_RECORD_launch);
    assert_string_equal(double_events[0].text, "matmul_kernel");
    assert_int_equal(double_events[0].place.device, 2);
    assert_int_equal(rtFunctionRegister(NULL, &stub, "add_kernel", NULL, 0), 0);
    assert_int_equal(rtKernelLaunch(&stub, 1, NULL, 0, NULL, NULL), 0);
    assert_string_equal(double_events[1].text, "add_kernel");
    assert_int_equal(rtKernelLaunch(&unnamed, 1, NULL, 0, NULL, NULL), 0);
    assert_string_equal(double_events[2].text, "rtKernelLaunch");
    assert_int_equal(rtAicpuKernelLaunchExWithArgs(0, "TopK", 1, NULL, NULL, NULL, 0), 0);
    assert_string_equal(double_events[3].text, "TopK");
    assert_int_equal(rtKernelLaunch(NULL, 1, NULL, 0, NULL, NULL), RT_STATUS_INVALID_PARAMETER);
    assert_int_equal(double_event_count(), 4);
    double_config.records_launches = false;
    assert_int_equal(rtKernelLaunch(&stub, 1, NULL, 0, NULL, NULL), 0);
    assert_int_equal(double_event_count(), 4);
    assert_int_equal(fake_rt_launches(), before + 5);
}

static void nothing_is_recorded_when_devices_are_not_asked_for(void **state)
{
    void *address = NULL;

    (void)state;
    double_config.records_device = false;
    assert_int_equal(aclrtMalloc(&address, 64, 0), 0);
    assert_int_equal(aclrtFree(address), 0);
    assert_int_equal(double_event_count(), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(each_layer_records_a_call_once, reset),
        cmocka_unit_test_setup(the_runtime_alone_fills_the_same_pool, reset),
        cmocka_unit_test_setup(a_refused_allocation_is_recorded_with_its_code, reset),
        cmocka_unit_test_setup(a_refused_free_leaves_the_block_alive_in_both_ledgers, reset),
        cmocka_unit_test_setup(wrong_frees_answer_what_the_runtime_answers, reset),
        cmocka_unit_test_setup(host_memory_has_a_pool_of_its_own, reset),
        cmocka_unit_test_setup(physical_memory_lives_until_nobody_holds_it, reset),
        cmocka_unit_test_setup(a_released_handle_that_the_driver_keeps_is_alive, reset),
        cmocka_unit_test_setup(imports_and_exports_keep_to_their_pools, reset),
        cmocka_unit_test_setup(memory_found_by_key_is_given_back_by_key, reset),
        cmocka_unit_test_setup(registered_memory_is_registered_for_each_device, reset),
        cmocka_unit_test_setup(virtual_memory_of_the_runtime_api_is_followed, reset),
        cmocka_unit_test_setup(stream_ordered_pools_hand_out_parts, reset),
        cmocka_unit_test_setup(configured_allocations_name_their_module, reset),
        cmocka_unit_test_setup(what_happens_to_devices_is_recorded, reset),
        cmocka_unit_test_setup(used_devices_tell_their_free_memory, reset),
        cmocka_unit_test_setup(launches_are_recorded_once_and_by_name, reset),
        cmocka_unit_test_setup(nothing_is_recorded_when_devices_are_not_asked_for, reset),
    };

    setenv("ASCEND_RT_VISIBLE_DEVICES", "3,2", 1);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
