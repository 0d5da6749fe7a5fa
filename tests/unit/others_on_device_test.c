/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a device has in use beside the recorded pool.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "account_analyses.h"
#include "event_list.h"

#define MIB (UINT64_C(1) << 20)

static struct event_list list;
static struct report *report;

static int setup(void **state)
{
    (void)state;
    event_list_init(&list);
    return report_create("breakdown", &report, NULL);
}

static int teardown(void **state)
{
    (void)state;
    report_destroy(report);
    event_list_release(&list);
    return 0;
}

static void used(uint64_t bytes)
{
    event_list_add(&list, (struct event){.kind = EVENT_SAMPLE,
                                         .text = event_list_text(&list, "npu used"),
                                         .value = bytes});
}

static void take(const char *pool, uint64_t address, uint64_t bytes)
{
    event_list_add(&list,
                   (struct event){.kind = EVENT_ALLOC,
                                  .pool = model_pool(list.model, event_list_text(&list, pool)),
                                  .address = address,
                                  .value = bytes});
}

static void ask(void)
{
    const struct analysis analyses[] = {{.of_blocks = &others_on_device_analysis}, {NULL, NULL}};

    analyses_run(analyses, NULL, event_list_question(&list), report);
}

/* always, highest, came or went */
static void expect(uint64_t always_bytes, uint64_t highest_bytes)
{
    const struct value *row;

    assert_int_equal(report_table_at(report, 0).row_count, 1);
    row = report_row_at(report, 0, 0);
    assert_int_equal(row[1].number, always_bytes);
    assert_int_equal(row[2].number, highest_bytes);
    assert_int_equal(row[3].number, highest_bytes - always_bytes);
}

static void another_program_is_what_the_own_pool_does_not_hold(void **state)
{
    (void)state;
    used(300 * MIB); /* the context, and 100 MiB that go away before the end */
    take("hal", 1 * MIB, 100 * MIB);
    used(400 * MIB);
    take("hal", 200 * MIB, 500 * MIB);
    used(1900 * MIB);
    used(800 * MIB);
    ask();
    expect(200 * MIB, 1300 * MIB);
    assert_int_equal(report_verdict_count(report), 1);
    assert_non_null(strstr(report_verdict_at(report, 0), "OTHERS: up to 1.27 GiB of device 0"));
}

static void own_growth_is_nobody_elses(void **state)
{
    (void)state;
    used(300 * MIB);
    for (uint64_t i = 0; i < 10; i++) {
        take("hal", (1 + i * 100) * MIB, 100 * MIB);
        used((400 + i * 100) * MIB);
    }
    ask();
    expect(300 * MIB, 300 * MIB);
    assert_int_equal(report_verdict_count(report), 0);
}

/* What the runtime hands out lies in what the driver does: it counts once. */
static void only_the_lowest_pool_counts(void **state)
{
    (void)state;
    take("acl", 1 * MIB, 100 * MIB);
    take("hal", 1 * MIB, 100 * MIB);
    used(150 * MIB);
    ask();
    expect(50 * MIB, 50 * MIB);
}

static void pools_of_frameworks_say_nothing_about_the_device(void **state)
{
    (void)state;
    take("pta", 1 * MIB, 100 * MIB);
    used(150 * MIB);
    ask();
    assert_int_equal(report_table_at(report, 0).row_count, 0);
}

#define OTHERS_TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        OTHERS_TEST(another_program_is_what_the_own_pool_does_not_hold),
        OTHERS_TEST(own_growth_is_nobody_elses),
        OTHERS_TEST(only_the_lowest_pool_counts),
        OTHERS_TEST(pools_of_frameworks_say_nothing_about_the_device),
    };

    return cmocka_run_group_tests_name("others_on_device", tests, NULL, NULL);
}
