/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Ranges and marks become phases; the longest stay.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "phases.h"

static void put(struct phases *phases, enum event_kind kind, uint64_t time_ns, uint64_t id)
{
    struct event event = {
        .kind = (uint8_t)kind, .time_ns = time_ns, .address = id, .text = (uint32_t)id};

    assert_true(phases_put(phases, &event));
}

static void ranges_may_overlap(void **state)
{
    struct phases phases = {0};

    (void)state;
    put(&phases, EVENT_RANGE_BEGIN, 10, 1);
    put(&phases, EVENT_RANGE_BEGIN, 20, 2);
    put(&phases, EVENT_RANGE_END, 30, 1);
    put(&phases, EVENT_RANGE_END, 40, 2);
    assert_int_equal(phases.count, 2);
    assert_int_equal(phases.rows[0].text, 1);
    assert_int_equal(phases.rows[0].end_ns, 30);
    assert_int_equal(phases.rows[1].begin_ns, 20);
    phases_release(&phases);
}

static void what_is_open_ends_with_the_recording(void **state)
{
    struct phases phases = {0};

    (void)state;
    put(&phases, EVENT_RANGE_BEGIN, 10, 1);
    put(&phases, EVENT_RANGE_END, 15, 7); /* of a range that nobody began */
    put(&phases, EVENT_ALLOC, 16, 7);
    assert_int_equal(phases.count, 0);
    assert_true(phases_finish(&phases, 99));
    assert_int_equal(phases.count, 1);
    assert_int_equal(phases.rows[0].end_ns, 99);
    phases_release(&phases);
}

static void of_very_many_the_longest_stay(void **state)
{
    enum { count = 20000 };
    struct phases phases = {0};
    size_t longest = 0;

    (void)state;
    for (uint64_t i = 0; i < count; i++) {
        put(&phases, EVENT_RANGE_BEGIN, 1000 * i, i);
        put(&phases, EVENT_RANGE_END, 1000 * i + (i * 7919 % count), i);
    }
    for (size_t i = 0; i < phases.count; i++)
        longest += phases.rows[i].end_ns - phases.rows[i].begin_ns >= count - 1000;
    assert_int_equal(longest, 1000);
    assert_int_equal(phases.count + phases.left_out_count, count);
    phases_release(&phases);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ranges_may_overlap),
        cmocka_unit_test(what_is_open_ends_with_the_recording),
        cmocka_unit_test(of_very_many_the_longest_stay),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
