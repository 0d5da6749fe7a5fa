/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The trend test against plain counting of all orders, and known values.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "trend.h"

static int64_t score(const uint64_t *values, size_t count)
{
    int64_t sum = 0;

    for (size_t i = 0; i < count; i++)
        for (size_t j = i + 1; j < count; j++)
            sum += (values[j] > values[i]) - (values[j] < values[i]);
    return sum;
}

/* Every order of the values, ties distinguished: how many there are, how many score as high. */
static void enumerate(uint64_t *values, size_t fixed, size_t count, int64_t limit,
                      uint64_t counts[2])
{
    if (fixed == count) {
        counts[0]++;
        counts[1] += score(values, count) >= limit;
        return;
    }
    for (size_t i = fixed; i < count; i++) {
        uint64_t kept = values[fixed];

        values[fixed] = values[i];
        values[i] = kept;
        enumerate(values, fixed + 1, count, limit, counts);
        values[i] = values[fixed];
        values[fixed] = kept;
    }
}

static void chance_is_exact_for_few_values(void **state)
{
    static const struct {
        size_t count;
        uint64_t values[8];
    } cases[] = {
        {2, {1, 2}},
        {5, {1, 2, 3, 4, 5}},
        {5, {5, 4, 3, 2, 1}},
        {6, {1, 1, 2, 2, 3, 3}},
        {7, {3, 1, 3, 1, 4, 1, 5}},
        {8, {0, 0, 0, 1, 1, 1, 1, 1}},
        {8, {7, 7, 7, 7, 7, 7, 7, 7}},
        {8, {2, 1, 4, 3, 6, 5, 8, 7}},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        uint64_t values[8], counts[2] = {0, 0};
        struct trend trend = trend_of(cases[i].values, cases[i].count);

        memcpy(values, cases[i].values, sizeof(values));
        enumerate(values, 0, cases[i].count, trend.score, counts);
        assert_int_equal(trend.score, score(cases[i].values, cases[i].count));
        assert_true(fabs(trend.rise_chance - (double)counts[1] / (double)counts[0]) < 1e-12);
    }
}

static void five_rising_steps_are_enough(void **state)
{
    static const uint64_t values[] = {10, 20, 30, 40, 50};

    (void)state;
    assert_true(fabs(trend_of(values, 5).rise_chance - 1.0 / 120) < 1e-12);
    assert_true(fabs(trend_of(values, 4).rise_chance - 1.0 / 24) < 1e-12);
}

static void exact_and_normal_meet(void **state)
{
    uint64_t values[TREND_EXACT_MAX + 1];
    double exact, normal;

    (void)state;
    for (size_t i = 0; i <= TREND_EXACT_MAX; i++)
        values[i] = i % 7 * 3 + i / 2;
    exact = trend_of(values, TREND_EXACT_MAX).rise_chance;
    normal = trend_of(values, TREND_EXACT_MAX + 1).rise_chance;
    assert_true(exact > 0 && exact < 0.05);
    assert_true(normal > exact / 4 && normal < exact * 4);
}

static void slope_is_the_median_change(void **state)
{
    static const uint64_t rising[] = {0, 10, 20, 1000, 40, 50, 60};
    static const uint64_t falling[] = {60, 50, 40, 30};
    static const uint64_t huge[] = {UINT64_C(1) << 62, (UINT64_C(1) << 62) + 6};

    (void)state;
    assert_int_equal(slope_of(rising, 7).median, 10);
    assert_int_equal(slope_of(falling, 4).median, -10);
    assert_int_equal(slope_of(huge, 2).median, 6);
}

static void slope_lies_in_its_interval(void **state)
{
    static const uint64_t exact[] = {0, 10, 20, 30, 40, 50, 60, 70, 80, 90};
    static const uint64_t noisy[] = {0, 14, 17, 33, 38, 55, 57, 76, 79, 90};
    struct slope sure = slope_of(exact, 10), less_sure = slope_of(noisy, 10);
    static const uint64_t few[] = {0, 5, 30};

    (void)state;
    assert_int_equal(sure.low, 10);
    assert_int_equal(sure.high, 10);
    assert_true(less_sure.low < less_sure.median && less_sure.median < less_sure.high);
    assert_true(less_sure.low >= 8 && less_sure.high <= 12);
    /* Three values cannot be sure: the interval is all there is. */
    assert_int_equal(slope_of(few, 3).low, 5);
    assert_int_equal(slope_of(few, 3).high, 25);
}

static void chance_of_falling_mirrors_that_of_rising(void **state)
{
    static const uint64_t falling[] = {9, 8, 8, 5, 3, 3, 1};
    uint64_t rising[7];

    (void)state;
    for (size_t i = 0; i < 7; i++)
        rising[i] = falling[6 - i];
    assert_true(fabs(trend_of(falling, 7).fall_chance - trend_of(rising, 7).rise_chance) < 1e-12);
    assert_true(trend_of(falling, 7).fall_chance < 0.01);
}

static void nothing_is_no_trend(void **state)
{
    static const uint64_t one[] = {5};

    (void)state;
    assert_true(trend_of(one, 0).rise_chance >= 1);
    assert_true(trend_of(one, 1).rise_chance >= 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(chance_is_exact_for_few_values),
        cmocka_unit_test(five_rising_steps_are_enough),
        cmocka_unit_test(exact_and_normal_meet),
        cmocka_unit_test(slope_is_the_median_change),
        cmocka_unit_test(slope_lies_in_its_interval),
        cmocka_unit_test(chance_of_falling_mirrors_that_of_rising),
        cmocka_unit_test(nothing_is_no_trend),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
