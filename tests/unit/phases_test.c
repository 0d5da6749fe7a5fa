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

static void operator_of(struct phases *phases, enum event_kind kind, uint64_t time_ns,
                        uint32_t thread, uint32_t text)
{
    struct event event = {
        .kind = (uint8_t)kind, .time_ns = time_ns, .thread = thread, .text = text};

    assert_true(phases_put_operator(phases, &event));
}

static void operators_nest_on_their_thread(void **state)
{
    struct phases phases = {0};

    (void)state;
    operator_of(&phases, EVENT_OPERATOR_BEGIN, 10, 2, 20);
    operator_of(&phases, EVENT_OPERATOR_BEGIN, 11, 1, 10);
    operator_of(&phases, EVENT_OPERATOR_BEGIN, 12, 1, 11);
    operator_of(&phases, EVENT_OPERATOR_END, 13, 2, 0);
    operator_of(&phases, EVENT_OPERATOR_END, 14, 1, 0);
    operator_of(&phases, EVENT_RANGE_END, 15, 1, 0);
    assert_int_equal(phases.count, 2);
    assert_int_equal(phases.rows[0].text, 20);
    assert_int_equal(phases.rows[1].text, 11);
    assert_int_equal(phases.rows[1].begin_ns, 12);
    assert_int_equal(phases.open_count, 1);
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
        cmocka_unit_test(operators_nest_on_their_thread),
        cmocka_unit_test(of_very_many_the_longest_stay),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
