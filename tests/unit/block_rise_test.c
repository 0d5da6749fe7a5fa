/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Does what a process holds rise to the end: from blocks that come and go in time.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "block_rise.h"

enum { TURNS = 1000, TURN_NS = 10000, KEPT_BYTES = 1000, BRIEF_BYTES = 500000 };

static struct block_rise rise;

static int setup(void **state)
{
    (void)state;
    rise = (struct block_rise){0};
    return 0;
}

/* A turn of the loop: a large block comes and goes, and a small one stays if it is to. */
static void turn(uint64_t number, bool is_kept)
{
    uint64_t now_ns = (1 + number) * TURN_NS;

    block_rise_born(&rise, now_ns, BRIEF_BYTES);
    if (is_kept)
        block_rise_born(&rise, now_ns + 10, KEPT_BYTES);
    block_rise_gone(&rise, now_ns + 20, BRIEF_BYTES);
}

static struct block_risen whole(void)
{
    return block_rise_between(&rise, TURN_NS, (uint64_t)TURNS * TURN_NS);
}

static void nothing_was_born(void **state)
{
    (void)state;
    assert_int_equal(whole().bytes, 0);
}

static void what_is_kept_in_each_turn_rises(void **state)
{
    (void)state;
    for (uint64_t i = 0; i < TURNS; i++)
        turn(i, true);
    assert_in_range(whole().bytes, TURNS * KEPT_BYTES * 3 / 4, TURNS * KEPT_BYTES);
    assert_in_range(whole().duration_ns, (uint64_t)TURNS * TURN_NS * 3 / 4,
                    (uint64_t)TURNS * TURN_NS);
}

static void brief_blocks_do_not_rise(void **state)
{
    (void)state;
    for (uint64_t i = 0; i < TURNS; i++)
        turn(i, false);
    assert_int_equal(whole().bytes, 0);
}

static void what_was_kept_in_one_half_alone_is_not_even(void **state)
{
    for (int is_late = 0; is_late < 2; is_late++) {
        setup(state);
        for (uint64_t i = 0; i < TURNS; i++)
            turn(i, i < TURNS / 2 ? !is_late : is_late);
        assert_int_equal(whole().bytes, 0);
    }
}

static void what_is_kept_and_freed_at_once_now_and_then_does_not_rise(void **state)
{
    (void)state;
    for (uint64_t i = 0; i < TURNS; i++) {
        turn(i, true);
        if (i % 50 == 49)
            block_rise_gone(&rise, (1 + i) * TURN_NS + 30, (uint64_t)50 * KEPT_BYTES);
    }
    assert_int_equal(whole().bytes, 0);
}

/* Only what is between two times is asked for. */
static void what_comes_before_the_loop_is_left_out(void **state)
{
    uint64_t begin_ns = (uint64_t)TURNS / 2 * TURN_NS;

    (void)state;
    for (uint64_t i = 0; i < TURNS; i++)
        turn(i, i < TURNS / 2 || i % 2 == 0);
    assert_in_range(block_rise_between(&rise, begin_ns, (uint64_t)TURNS * TURN_NS).bytes,
                    TURNS / 4 * KEPT_BYTES * 3 / 4, TURNS / 4 * KEPT_BYTES);
}

/* Ten blocks stay in each of the first turns, one in each of the others. */
static void what_the_loop_builds_first_is_left_out(void **state)
{
    for (uint64_t built = 100; built <= 300; built += 200) {
        setup(state);
        for (uint64_t i = 0; i < TURNS; i++) {
            if (i < built)
                block_rise_born(&rise, (1 + i) * TURN_NS, (uint64_t)10 * KEPT_BYTES);
            turn(i, true);
        }
        assert_int_equal(whole().bytes > 0, built == 100);
    }
}

/* What is alive at the ends of its thirds rises evenly; between them it goes up and down. */
static void what_goes_up_and_down_does_not_rise(void **state)
{
    for (size_t is_noise = 0; is_noise < 2; is_noise++) {
        setup(state);
        rise.stride_ns = 1;
        rise.count = 100;
        for (size_t i = 0; i < rise.count; i++)
            rise.lows[i] = is_noise && i % 27 != 12 ? 3500 + i * 37 % 100 * 30 : 1000 + 100 * i;
        assert_int_equal(block_rise_between(&rise, 0, 100).bytes > 0, !is_noise);
    }
}

static void teardown_at_the_end_hides_nothing(void **state)
{
    (void)state;
    for (uint64_t i = 0; i < TURNS; i++)
        turn(i, true);
    block_rise_gone(&rise, (uint64_t)(TURNS + 10) * TURN_NS, TURNS * KEPT_BYTES);
    assert_true(block_rise_between(&rise, TURN_NS, (uint64_t)(TURNS + 12) * TURN_NS).bytes > 0);
}

static void a_loop_that_is_a_small_part_of_the_time_is_not_judged(void **state)
{
    uint64_t late_ns = UINT64_C(100) * TURNS * TURN_NS;

    (void)state;
    block_rise_born(&rise, 1, 1);
    for (uint64_t i = 0; i < TURNS; i++)
        block_rise_born(&rise, late_ns + i * TURN_NS, KEPT_BYTES);
    assert_int_equal(block_rise_between(&rise, late_ns, late_ns + (uint64_t)TURNS * TURN_NS).bytes,
                     0);
}

static void the_last_time_there_is_may_be_the_first(void **state)
{
    (void)state;
    block_rise_born(&rise, UINT64_MAX, KEPT_BYTES);
    block_rise_gone(&rise, UINT64_MAX, KEPT_BYTES);
    assert_int_equal(block_rise_between(&rise, 0, UINT64_MAX).bytes, 0);
}

static void times_may_be_far_apart(void **state)
{
    (void)state;
    block_rise_born(&rise, 0, KEPT_BYTES);
    block_rise_born(&rise, UINT64_C(1) << 60, KEPT_BYTES);
    block_rise_born(&rise, UINT64_MAX, KEPT_BYTES);
    assert_int_equal(block_rise_between(&rise, 0, UINT64_MAX).bytes, 0);
    assert_true(rise.count <= BLOCK_RISE_MOST);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(nothing_was_born, setup),
        cmocka_unit_test_setup(what_is_kept_in_each_turn_rises, setup),
        cmocka_unit_test_setup(brief_blocks_do_not_rise, setup),
        cmocka_unit_test_setup(what_was_kept_in_one_half_alone_is_not_even, setup),
        cmocka_unit_test_setup(what_is_kept_and_freed_at_once_now_and_then_does_not_rise, setup),
        cmocka_unit_test_setup(what_comes_before_the_loop_is_left_out, setup),
        cmocka_unit_test_setup(what_the_loop_builds_first_is_left_out, setup),
        cmocka_unit_test_setup(what_goes_up_and_down_does_not_rise, setup),
        cmocka_unit_test_setup(teardown_at_the_end_hides_nothing, setup),
        cmocka_unit_test_setup(a_loop_that_is_a_small_part_of_the_time_is_not_judged, setup),
        cmocka_unit_test_setup(the_last_time_there_is_may_be_the_first, setup),
        cmocka_unit_test_setup(times_may_be_far_apart, setup),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
