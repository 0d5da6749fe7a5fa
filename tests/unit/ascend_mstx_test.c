/* SPDX-License-Identifier: Apache-2.0 */
/* mstx, from a program's table of functions to records. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "config_double.h"
#include "mstx_client.h"
#include "recorder_double.h"

int InitInjectionMstx(mstx_table_getter get);

static int reset(void **state)
{
    (void)state;
    double_reset();
    double_config_reset();
    memset(&mstx, 0, sizeof(mstx));
    return InitInjectionMstx(mstx_table_get);
}

static const struct double_event *last(void)
{
    assert_true(double_event_count() > 0);
    return &double_events[double_event_count() - 1];
}

static void every_entry_of_the_table_is_filled(void **state)
{
    struct mstx_api first = mstx;
    uint64_t id = 0;

    (void)state;
    for (size_t i = 0; i < sizeof(mstx) / sizeof(void *); i++)
        assert_non_null(((void **)&mstx)[i]);
    /* A second library calls again: same answer, same functions. */
    assert_int_equal(InitInjectionMstx(mstx_table_get), 0);
    assert_memory_equal(&first, &mstx, sizeof(mstx));
    mstx.tool_id(&id);
    assert_int_equal(id, 0x1003);
    mstx.tool_id(NULL);
}

/* An old program: no domains, no memory, three functions, one of them not even there. */
static int old_table_get(int module, mstx_function ***table, unsigned *last_index)
{
    static mstx_function *core[4];

    if (module != MSTX_MODULE_CORE)
        return 1;
    core[1] = (mstx_function *)&mstx.mark;
    core[3] = (mstx_function *)&mstx.range_end;
    *table = core;
    *last_index = 3;
    return 0;
}

static int no_table_get(int module, mstx_function ***table, unsigned *last_index)
{
    (void)module;
    (void)last_index;
    *table = NULL;
    return 0;
}

static void older_tables_are_filled_as_far_as_they_go(void **state)
{
    (void)state;
    memset(&mstx, 0, sizeof(mstx));
    assert_int_equal(InitInjectionMstx(old_table_get), 0);
    assert_non_null(mstx.mark);
    assert_null(mstx.range_start);
    assert_non_null(mstx.range_end);
    assert_null(mstx.tool_id);
    assert_int_not_equal(InitInjectionMstx(no_table_get), 0);
    assert_int_not_equal(InitInjectionMstx(NULL), 0);
}

static void marks_and_operators_are_recorded(void **state)
{
    void *domain = mstx.domain_create("trainer");

    (void)state;
    mstx.mark("hello", NULL);
    assert_int_equal(last()->code, MT_RECORD_mark);
    assert_string_equal(last()->text, "hello");
    assert_string_equal(last()->domain, "");
    mstx.domain_mark(domain, "epoch", NULL);
    assert_string_equal(last()->domain, "trainer");
    mstx.mark("memscope-aten-b: name=aten::mm", NULL);
    assert_int_equal(last()->code, MT_RECORD_operator_begin);
    assert_string_equal(last()->text, "aten::mm");
    mstx.mark("leaks-aten-e: name=aten::mm", NULL);
    assert_int_equal(last()->code, MT_RECORD_operator_end);
    mstx.mark(NULL, NULL);
    assert_int_equal(last()->code, MT_RECORD_mark);
    mstx.domain_mark((void *)0xdeadbeef, "stray", NULL);
    assert_string_equal(last()->domain, "");
}

static void accesses_are_recorded_when_asked_for(void **state)
{
    static const char access[] = "memscope-aten-ac:ptr=4096;is_write=False;is_read=True;name=a;"
                                 "tensor_size=512";

    (void)state;
    mstx.mark(access, NULL);
    assert_int_equal(last()->code, MT_RECORD_access);
    assert_int_equal(last()->address, 4096);
    assert_int_equal(last()->size_bytes, 512);
    assert_int_equal(last()->status, 1);
    assert_string_equal(last()->text, "pta");
    mstx.mark("sanitizer-op: name=add;read=x:16:4,y:32:4;write=z:48:4", NULL);
    assert_int_equal(double_count_of(MT_RECORD_access), 4);
    assert_int_equal(double_last(MT_RECORD_access)->status, 2);
    assert_int_equal(last()->code, MT_RECORD_operator_end);
    double_config.records_accesses = false;
    mstx.mark(access, NULL);
    assert_int_equal(double_count_of(MT_RECORD_access), 4);
}

static void a_step_ends_with_its_own_range(void **state)
{
    void *domain = mstx.domain_create("trainer");
    uint64_t step, other, inner, quoted;

    (void)state;
    step = mstx.range_start("step start", NULL);
    other = mstx.range_start("forward", NULL);
    inner = mstx.domain_range_start(domain, "loss", NULL);
    assert_true(step != other && other != inner && step && other && inner);
    assert_int_equal(double_last(MT_RECORD_step_begin)->size_bytes, step);
    assert_int_equal(double_last(MT_RECORD_step_begin)->address, 1);
    mstx.domain_range_end(domain, inner);
    mstx.range_end(other);
    mstx.range_end(999999);
    mstx.range_end(0);
    assert_int_equal(double_count_of(MT_RECORD_step_end), 0);
    mstx.range_end(step);
    assert_int_equal(double_last(MT_RECORD_step_end)->address, 1);
    mstx.range_end(step); /* once is enough */
    assert_int_equal(double_count_of(MT_RECORD_step_end), 1);
    quoted = mstx.range_start("\"step start\"", NULL);
    assert_int_equal(double_last(MT_RECORD_step_begin)->address, 2);
    mstx.range_end(quoted);
    assert_int_equal(double_last(MT_RECORD_step_end)->address, 2);
    assert_int_equal(mstx.range_start(NULL, NULL), 0);
}

static void thousands_of_open_steps_do_no_harm(void **state)
{
    uint64_t range = 0;

    (void)state;
    for (int i = 0; i < 5000; i++)
        range = mstx.range_start("step start", NULL);
    mstx.range_end(range);
    assert_int_equal(double_count_of(MT_RECORD_step_end), 1);
    assert_int_equal(double_last(MT_RECORD_step_end)->address, 5000);
}

struct domain_case {
    const char *domain;
    const char *pool;
    bool fills_handles;
};

static const struct domain_case domain_cases[] = {
    {"msleaks", "pta", false},
    {"ptaCaching", "pta", false},
    {"ptaWorkspace", "pta_workspace", false},
    {"mindsporeMemPool", "mindspore", false},
    {"atb", "atb", true},
    {"my pool", "my pool", true},
};

/*
 * What a framework leaves uninitialised is a pointer into nothing here: one look at it ends the
 * test. The rest is as torch_npu calls it: a heap with the total of now, then the region.
 */
static void frameworks_fill_their_pools(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(domain_cases) / sizeof(domain_cases[0]); i++) {
        const struct domain_case *c = &domain_cases[i];
        bool is_framework = !c->fills_handles;
        void *domain = mstx.domain_create(c->domain);
        void *handles[2] = {NULL, NULL};
        struct mstx_virtual_range total = {1, (void *)0x10000, 1 << 20};
        struct mstx_virtual_range ranges[2] = {{1, (void *)0x10000, 512}, {1, (void *)0x10200, 64}};
        struct mstx_heap heap = {is_framework ? 77 : 0, is_framework ? -5 : 0, &total};
        struct mstx_regions regions = {is_framework ? (void *)16 : NULL, is_framework ? 99 : 0, 2,
                                       ranges, is_framework ? (void **)16 : handles};
        struct mstx_region_reference references[2] = {{.type = 0, .address = (void *)0x10000},
                                                      {.type = 1, .handle = (void *)0x10200}};
        struct mstx_region_references gone = {2, references};

        double_reset();
        assert_non_null(domain);
        assert_non_null(mstx.heap_register(domain, &heap));
        assert_int_equal(last()->code, MT_RECORD_pool_reserved);
        assert_string_equal(last()->text, c->pool);
        assert_int_equal(last()->size_bytes, 1 << 20);
        assert_int_equal(last()->place.device, 1);
        mstx.regions_register(domain, &regions);
        assert_int_equal(double_count_of(MT_RECORD_alloc), 2);
        assert_int_equal(last()->address, 0x10200);
        assert_int_equal(last()->size_bytes, 64);
        assert_string_equal(last()->text, c->pool);
        if (c->fills_handles) {
            assert_non_null(handles[0]);
            assert_non_null(handles[1]);
            references[1].handle = handles[1];
        }
        mstx.regions_unregister(domain, &gone);
        assert_int_equal(double_count_of(MT_RECORD_free), 2);
        assert_int_equal(last()->address, 0x10200);
        mstx.heap_unregister(domain, is_framework ? (void *)16 : (void *)0x10000);
    }
}

static void heaps_of_other_pools_add_up(void **state)
{
    void *domain = mstx.domain_create("summing");
    struct mstx_virtual_range first = {0, (void *)0x100000, 1000},
                              second = {0, (void *)0x200000, 500};
    struct mstx_heap first_heap = {0, 0, &first}, second_heap = {0, 0, &second};
    void *handle;

    (void)state;
    handle = mstx.heap_register(domain, &first_heap);
    mstx.heap_register(domain, &second_heap);
    assert_int_equal(last()->size_bytes, 1500);
    first.size_bytes = 2000; /* registered again, larger */
    mstx.heap_register(domain, &first_heap);
    assert_int_equal(last()->size_bytes, 2500);
    mstx.heap_unregister(domain, handle);
    assert_int_equal(last()->size_bytes, 500);
    mstx.heap_unregister(domain, handle);
    mstx.heap_unregister(domain, NULL);
    assert_int_equal(last()->size_bytes, 500);
    assert_string_equal(last()->text, "summing");
}

static void a_total_is_recorded_when_it_changes(void **state)
{
    void *domain = mstx.domain_create("mindsporeMemPool");
    struct mstx_virtual_range total = {2, (void *)0x10000, 5000};
    struct mstx_heap heap = {0, 0, &total};

    (void)state;
    for (int i = 0; i < 3; i++)
        mstx.heap_register(domain, &heap);
    assert_int_equal(double_event_count(), 1);
    total.device = 3;
    mstx.heap_register(domain, &heap);
    assert_int_equal(double_event_count(), 2);
    total.size_bytes = 4000;
    mstx.heap_register(domain, &heap);
    assert_int_equal(double_event_count(), 3);
    assert_int_equal(last()->size_bytes, 4000);
    assert_int_equal(last()->place.device, 3);
}

static void a_workspace_registered_again_replaces_the_old_one(void **state)
{
    void *domain = mstx.domain_create("ptaWorkspace");
    struct mstx_virtual_range range = {0, (void *)0x300000, 1000};
    struct mstx_regions regions = {NULL, 0, 1, &range, NULL};
    struct mstx_region_reference reference = {.address = (void *)0x300000};
    struct mstx_region_references gone = {1, &reference};

    (void)state;
    mstx.regions_register(domain, &regions);
    range.size_bytes = 3000;
    mstx.regions_register(domain, &regions);
    assert_int_equal(double_event_count(), 3);
    assert_int_equal(double_events[1].code, MT_RECORD_free);
    assert_int_equal(double_events[2].size_bytes, 3000);
    mstx.regions_unregister(domain, &gone);
    assert_int_equal(double_count_of(MT_RECORD_free), 2);
    mstx.regions_register(domain, &regions);
    assert_int_equal(double_count_of(MT_RECORD_free), 2); /* nothing was there to replace */
    mstx.regions_unregister(domain, &gone);
}

static void nonsense_is_survived(void **state)
{
    struct mstx_heap no_range = {0, 0, NULL};
    struct mstx_virtual_range range = {UINT32_MAX, NULL, 5};
    struct mstx_heap odd = {0, 1, &range}, nowhere = {0, 0, &range};
    struct mstx_regions no_regions = {NULL, 0, 3, NULL, NULL},
                        odd_regions = {NULL, 7, 1, &range, NULL};
    struct mstx_region_references no_references = {3, NULL};
    char name[200];

    (void)state;
    assert_non_null(mstx.heap_register(NULL, NULL));
    assert_non_null(mstx.heap_register((void *)1, &no_range));
    assert_non_null(mstx.heap_register(NULL, &odd));
    assert_non_null(mstx.heap_register(NULL, &nowhere));
    mstx.regions_register(NULL, NULL);
    mstx.regions_register(NULL, &no_regions);
    mstx.regions_register(NULL, &odd_regions);
    mstx.regions_unregister(NULL, NULL);
    mstx.regions_unregister(NULL, &no_references);
    assert_int_equal(double_count_of(MT_RECORD_alloc), 0);
    assert_non_null(mstx.domain_create(NULL));
    assert_non_null(mstx.domain_create(""));
    memset(name, 'n', sizeof(name) - 1);
    name[sizeof(name) - 1] = '\0';
    assert_non_null(mstx.domain_create(name));
    assert_ptr_equal(mstx.domain_create(name), mstx.domain_create(name));
    mstx.domain_destroy(NULL);
    mstx.domain_destroy((void *)3);
}

static void domains_without_end_share_the_last_one(void **state)
{
    char name[32];
    void *domain = NULL;

    (void)state;
    for (int i = 0; i < 200; i++) {
        snprintf(name, sizeof(name), "domain %d", i);
        domain = mstx.domain_create(name);
        assert_non_null(domain);
    }
    mstx.domain_mark(domain, "late", NULL);
    assert_string_equal(last()->text, "late");
    assert_ptr_equal(mstx.domain_create("atb"), mstx.domain_create("atb"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(every_entry_of_the_table_is_filled, reset),
        cmocka_unit_test_setup(older_tables_are_filled_as_far_as_they_go, reset),
        cmocka_unit_test_setup(marks_and_operators_are_recorded, reset),
        cmocka_unit_test_setup(accesses_are_recorded_when_asked_for, reset),
        cmocka_unit_test_setup(a_step_ends_with_its_own_range, reset),
        cmocka_unit_test_setup(thousands_of_open_steps_do_no_harm, reset),
        cmocka_unit_test_setup(frameworks_fill_their_pools, reset),
        cmocka_unit_test_setup(heaps_of_other_pools_add_up, reset),
        cmocka_unit_test_setup(a_total_is_recorded_when_it_changes, reset),
        cmocka_unit_test_setup(a_workspace_registered_again_replaces_the_old_one, reset),
        cmocka_unit_test_setup(nonsense_is_survived, reset),
        cmocka_unit_test_setup(domains_without_end_share_the_last_one, reset),
    };

    unsetenv("ASCEND_RT_VISIBLE_DEVICES");
    return cmocka_run_group_tests(tests, NULL, NULL);
}
