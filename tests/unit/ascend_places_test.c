/* SPDX-License-Identifier: Apache-2.0 */
/* What the arguments of Ascend's calls say about a block: flags, policies, properties, lists. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "ascend_device.h"
#include "ascend_places.h"

#define ALL(table) (sizeof(table) / sizeof((table)[0]))

static void assert_is(struct device_block block, const char *pool, struct mt_place place)
{
    struct mt_place found = mt_place_unpack(block.place);

    assert_int_equal(block.pool->size_bytes, strlen(pool));
    assert_memory_equal(block.pool->bytes, pool, strlen(pool));
    assert_int_equal(found.device, place.device);
    assert_int_equal(found.kind, place.kind);
    assert_int_equal(found.page, place.page);
    assert_int_equal(found.flags, place.flags);
    assert_int_equal(found.module, place.module);
}

struct flag_case {
    const char *name;
    uint64_t flag;
    const char *pool;
    struct mt_place place;
};

/* The first two are flags as the runtime builds them for HCCL and for itself. */
static const struct flag_case flag_cases[] = {
    {"device 5, huge page, HCCL",
     UINT64_C(3) << 56 | 1u << 17 | 1u << 10 | 5,
     "hal",
     {5, MT_KIND_DEVICE, MT_PAGE_HUGE, 0, 3}},
    {"device 0, normal page, RUNTIME",
     UINT64_C(7) << 56 | 1u << 10,
     "hal",
     {0, MT_KIND_DEVICE, MT_PAGE_NORMAL, 0, 7}},
    {"giant page wins",
     UINT64_C(1) << 31 | 1u << 17 | 1u << 10,
     "hal",
     {0, MT_KIND_DEVICE, MT_PAGE_GIANT, 0, 0}},
    {"largest device, largest module",
     UINT64_C(255) << 56 | 1u << 10 | 1023,
     "hal",
     {1023, MT_KIND_DEVICE, MT_PAGE_NORMAL, 0, 255}},
    {"shared virtual", 2, "hal", {2, MT_KIND_SHARED, MT_PAGE_NORMAL, 0, 0}},
    {"media processing", 3u << 10 | 1, "hal", {1, MT_KIND_DVPP, MT_PAGE_NORMAL, 0, 0}},
    {"host has no device", 2u << 10 | 6, "hal_host", {-1, MT_KIND_HOST, MT_PAGE_NORMAL, 0, 0}},
    {"host agent", 4u << 10 | 6, "hal_host", {-1, MT_KIND_HOST, MT_PAGE_NORMAL, 0, 0}},
    {"reserved addresses",
     5u << 10 | 1,
     "hal_virtual",
     {1, MT_KIND_DEVICE, MT_PAGE_NORMAL, MT_PLACE_VIRTUAL, 0}},
    {"host at one address", 6u << 10, "hal_host", {-1, MT_KIND_HOST, MT_PAGE_NORMAL, 0, 0}},
    {"unified", 7u << 10 | 1, "hal", {1, MT_KIND_SHARED, MT_PAGE_NORMAL, 0, 0}},
    {"a kind of tomorrow", 12u << 10 | 1, "hal", {1, MT_KIND_UNKNOWN, MT_PAGE_NORMAL, 0, 0}},
    {"a page of tomorrow", 3u << 17 | 1u << 10, "hal", {0, MT_KIND_DEVICE, MT_PAGE_UNKNOWN, 0, 0}},
    {"bits that say nothing of the place",
     0x60000000u | 31u << 20 | 1u << 14 | 1u << 10,
     "hal",
     {0, MT_KIND_DEVICE, MT_PAGE_NORMAL, 0, 0}},
};

static void driver_flags_are_decoded(void **state)
{
    (void)state;
    for (size_t i = 0; i < ALL(flag_cases); i++) {
        print_message("%s\n", flag_cases[i].name);
        assert_is(hal_origin(flag_cases[i].flag), flag_cases[i].pool, flag_cases[i].place);
    }
}

static void physical_memory_says_where_it_is(void **state)
{
    struct hal_memory_property device = {
        .side = 1, .device = 3, .module = 48, .page = HAL_PAGE_GIANT};
    struct hal_memory_property host = {.side = 0, .device = 3, .module = 48};

    (void)state;
    assert_is(hal_property_origin(&device), "hal",
              (struct mt_place){3, MT_KIND_DEVICE, MT_PAGE_GIANT, MT_PLACE_HANDLE, 48});
    assert_is(hal_property_origin(&host), "hal_host",
              (struct mt_place){-1, MT_KIND_HOST, MT_PAGE_NORMAL, MT_PLACE_HANDLE, 48});
    assert_is(hal_property_origin(NULL), "hal",
              (struct mt_place){-1, MT_KIND_UNKNOWN, MT_PAGE_UNKNOWN, 0, -1});
}

static void policies_name_pages_only_when_they_are_sure(void **state)
{
    static const struct {
        uint32_t policy;
        uint8_t page;
    } cases[] = {
        {0, MT_PAGE_UNKNOWN},
        {1, MT_PAGE_HUGE},
        {2, MT_PAGE_NORMAL},
        {3, MT_PAGE_UNKNOWN},
        {4, MT_PAGE_HUGE},
        {5, MT_PAGE_NORMAL},
        {6, MT_PAGE_GIANT},
        {7, MT_PAGE_GIANT},
        {8, MT_PAGE_UNKNOWN},
        {255, MT_PAGE_UNKNOWN},
        {0x1000 | 2, MT_PAGE_NORMAL},
        {0x100100 | 1, MT_PAGE_HUGE},
    };

    (void)state;
    for (size_t i = 0; i < ALL(cases); i++)
        assert_is(acl_origin(cases[i].policy, NULL, 1), "acl",
                  (struct mt_place){1, MT_KIND_DEVICE, cases[i].page, 0, -1});
}

static void configurations_name_module_and_device(void **state)
{
    struct acl_malloc_attribute attributes[] = {
        {.attribute = ACL_ATTRIBUTE_MODULE, .value.module = 3},
        {.attribute = ACL_ATTRIBUTE_DEVICE, .value.device = 2},
        {.attribute = 99, .value.device = 77},
    };
    struct acl_malloc_config config = {attributes, ALL(attributes)};
    struct acl_malloc_config garbage = {attributes, (size_t)1 << 60};

    (void)state;
    assert_is(acl_origin(1, &config, 0), "acl",
              (struct mt_place){2, MT_KIND_DEVICE, MT_PAGE_HUGE, 0, 3});
    assert_is(acl_host_origin(&config), "acl_host",
              (struct mt_place){-1, MT_KIND_HOST, MT_PAGE_UNKNOWN, 0, 3});
    assert_is(acl_origin(1, &garbage, 0), "acl",
              (struct mt_place){0, MT_KIND_DEVICE, MT_PAGE_HUGE, 0, -1});
}

static void runtime_types_are_decoded(void **state)
{
    (void)state;
    assert_is(rt_origin(0x2 | 0x800, 7, 1), "acl",
              (struct mt_place){1, MT_KIND_DEVICE, MT_PAGE_HUGE, 0, 7});
    assert_is(rt_origin(0x2 | 0x400, 7, 1), "acl",
              (struct mt_place){1, MT_KIND_DEVICE, MT_PAGE_UNKNOWN, 0, 7});
    assert_is(rt_origin(0x10 | 0x8000, 33, 1), "acl",
              (struct mt_place){1, MT_KIND_DEVICE, MT_PAGE_NORMAL, 0, 33});
    assert_is(rt_origin(0x81, 7, 1), "acl_host",
              (struct mt_place){-1, MT_KIND_HOST, MT_PAGE_UNKNOWN, 0, 7});
    assert_is(rt_origin(0x90, 7, 1), "acl",
              (struct mt_place){1, MT_KIND_SHARED, MT_PAGE_UNKNOWN, 0, 7});
}

static void acl_physical_memory_is_decoded(void **state)
{
    struct acl_physical_property property = {
        .memory_attribute = ACL_MEMORY_HBM_HUGE, .location = 1, .location_type = 1};

    (void)state;
    assert_is(acl_physical_origin(&property), "acl",
              (struct mt_place){1, MT_KIND_DEVICE, MT_PAGE_HUGE, MT_PLACE_HANDLE, -1});
    property.memory_attribute = 1000;
    property.location_type = 0;
    assert_is(acl_physical_origin(&property), "acl_host",
              (struct mt_place){-1, MT_KIND_HOST, MT_PAGE_UNKNOWN, 0, -1});
}

static void device_lists_end_where_they_stop_making_sense(void **state)
{
    static const struct {
        const char *list;
        size_t count;
        int32_t last;
    } cases[] = {
        {"", 0, 0},
        {"3", 1, 3},
        {"4,5,7", 3, 7},
        {"4,x,7", 1, 4},
        {"4,-1,7", 1, 4},
        {"4, 5", 1, 4},
        {"4,", 1, 4},
        {",4", 0, 0},
        {"4;5", 0, 0},
        {"99999999999", 0, 0},
        {"0,1,2,3,4,5,6,7", 8, 7},
    };
    int32_t devices[8];

    (void)state;
    for (size_t i = 0; i < ALL(cases); i++) {
        assert_int_equal(ascend_device_list_get(cases[i].list, devices, 8), cases[i].count);
        if (cases[i].count)
            assert_int_equal(devices[cases[i].count - 1], cases[i].last);
    }
    assert_int_equal(ascend_device_list_get("1,2,3", devices, 2), 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(driver_flags_are_decoded),
        cmocka_unit_test(physical_memory_says_where_it_is),
        cmocka_unit_test(policies_name_pages_only_when_they_are_sure),
        cmocka_unit_test(configurations_name_module_and_device),
        cmocka_unit_test(runtime_types_are_decoded),
        cmocka_unit_test(acl_physical_memory_is_decoded),
        cmocka_unit_test(device_lists_end_where_they_stop_making_sense),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
