/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The Leak Suspicion Index: its worked examples, and what its parts do with series of all shapes.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "leak_index.h"

enum { BEATS = 301 };

/* Live bytes at beat b. */
typedef double (*shape_function)(unsigned beat);

static double linear(unsigned beat)
{
    return 1000 + 1000.0 * beat;
}

static double constant(unsigned beat)
{
    (void)beat;
    return 50000;
}

static double noisy(unsigned beat)
{
    return 50000 + (double)(beat * 7 % 7) - 3 + (double)(beat * 5 % 3);
}

static double late(unsigned beat)
{
    return beat < 220 ? 1000 : 1000 + 500.0 * (beat - 220);
}

static double full(unsigned beat)
{
    return beat < 60 ? 1000.0 * beat : 60000;
}

static struct leak_series series_of(shape_function shape, uint64_t beats)
{
    struct leak_series series = {0};

    for (unsigned beat = 0; beat < beats; beat++)
        leak_series_change(&series, beat, beats - 1, shape(beat));
    leak_series_finish(&series, beats - 1);
    return series;
}

static struct leak_facts all_unfreed(double bytes)
{
    return (struct leak_facts){.last_beat = BEATS - 1,
                               .alloc_bytes = bytes,
                               .live_bytes = bytes,
                               .live_count = 301,
                               .newest_live_s = 300,
                               .window_s = 300};
}

static void check_near(double got, double expected, double tolerance)
{
    if (got < expected - tolerance || got > expected + tolerance)
        fail_msg("%.9f, expected %.9f", got, expected);
}

static void a_straight_line_grows_fully(void **state)
{
    struct leak_series series = series_of(linear, BEATS);
    struct leak_facts facts = all_unfreed(301000);
    struct leak_index index = leak_index_of(&series, &facts);

    (void)state;
    check_near(index.growth, 1, 1e-6);
    check_near(index.slope, 1000, 1e-3);
    check_near(index.release, 1, 0);
    check_near(index.lifetime, 0.5, 0);
    check_near(index.pattern, 0, 1e-6);
    check_near(index.scale, 1, 0);
    check_near(index.index, 82, 1e-3); /* the worked example */
    assert_true(index.is_suspected);
    assert_false(index.is_resident);
}

static void what_is_constant_does_not_grow(void **state)
{
    struct leak_series series = series_of(constant, BEATS);
    struct leak_facts facts = all_unfreed(50000);
    struct leak_index index;

    (void)state;
    facts.live_count = 1;
    facts.newest_live_s = 0.5;
    index = leak_index_of(&series, &facts);
    check_near(index.growth, 0, 1e-9);
    check_near(index.scale, 0.1505, 1e-3);
    check_near(index.index, 31, 0.5); /* the worked example */
    assert_false(index.is_suspected);
    assert_true(index.is_resident);
}

static void noise_is_no_growth(void **state)
{
    struct leak_series series = series_of(noisy, BEATS);
    struct leak_facts facts = all_unfreed(50000);

    (void)state;
    assert_true(leak_index_of(&series, &facts).growth <= 0.05);
}

static void a_late_rise_is_a_pattern(void **state)
{
    struct leak_series series = series_of(late, BEATS), even = series_of(linear, BEATS);
    struct leak_facts facts = all_unfreed(40000);

    (void)state;
    assert_true(leak_index_of(&series, &facts).pattern > 0.9);
    assert_true(leak_index_of(&even, &facts).pattern < 1e-6);
}

static void a_filled_cache_is_taken_for_a_leak_as_the_tool_does(void **state)
{
    struct leak_series series = series_of(full, BEATS);
    struct leak_facts facts = all_unfreed(60000);

    (void)state;
    assert_true(leak_index_of(&series, &facts).growth > 0.2);
}

static void two_points_are_no_line(void **state)
{
    struct leak_series series = series_of(linear, LEAK_WARM_UP_BEATS + 2);
    struct leak_facts facts = all_unfreed(7000);
    struct leak_index index;

    (void)state;
    facts.last_beat = LEAK_WARM_UP_BEATS + 1;
    index = leak_index_of(&series, &facts);
    assert_false(index.has_slope);
    check_near(index.growth, 0, 0);
    series = series_of(linear, LEAK_WARM_UP_BEATS + 3);
    facts.last_beat++;
    assert_true(leak_index_of(&series, &facts).has_slope);
}

/* A series that is fed only when it changes gives the same sums. */
static void beats_without_a_change_count(void **state)
{
    struct leak_series sparse = {0}, dense = {0};
    double slope = 0, other = 0;

    (void)state;
    for (unsigned beat = 0; beat < BEATS; beat++) {
        double value = (double)(beat / 37) * 4096;

        leak_series_change(&dense, beat, BEATS - 1, value);
        if (beat % 37 == 0)
            leak_series_change(&sparse, beat, BEATS - 1, value);
    }
    leak_series_finish(&dense, BEATS - 1);
    leak_series_finish(&sparse, BEATS - 1);
    assert_true(leak_line_slope(&dense.all, &slope) && leak_line_slope(&sparse.all, &other));
    check_near(slope, other, 1e-6);
    assert_true(leak_line_slope(&dense.recent, &slope) && leak_line_slope(&sparse.recent, &other));
    check_near(slope, other, 1e-6);
}

static void lifetimes_count_from_eight_freed_blocks_on(void **state)
{
    struct leak_series series = series_of(linear, BEATS);
    struct leak_facts facts = all_unfreed(301000);

    (void)state;
    facts.live_age_s = 30;
    facts.freed_life_s = 20;
    facts.freed_count = 7;
    check_near(leak_index_of(&series, &facts).lifetime, 0.5, 0);
    facts.freed_count = 8;
    check_near(leak_index_of(&series, &facts).lifetime, 0.5, 1e-9);
    facts.live_age_s = 100;
    check_near(leak_index_of(&series, &facts).lifetime, 1, 0);
    facts.live_age_s = 10;
    check_near(leak_index_of(&series, &facts).lifetime, 0, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_straight_line_grows_fully),
        cmocka_unit_test(what_is_constant_does_not_grow),
        cmocka_unit_test(noise_is_no_growth),
        cmocka_unit_test(a_late_rise_is_a_pattern),
        cmocka_unit_test(a_filled_cache_is_taken_for_a_leak_as_the_tool_does),
        cmocka_unit_test(two_points_are_no_line),
        cmocka_unit_test(beats_without_a_change_count),
        cmocka_unit_test(lifetimes_count_from_eight_freed_blocks_on),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
