/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Times of births against the times that were given, however many there are.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "clock_samples.h"

static uint64_t time_of(uint32_t clock)
{
    return 1000 + 7 * (uint64_t)clock;
}

static void a_time_is_that_of_a_birth_shortly_before(void **state)
{
    static const uint32_t counts[] = {1, 2, 511, 512, 513, 1024, 1025, 100000, 1 << 20};

    (void)state;
    for (size_t i = 0; i < sizeof(counts) / sizeof(counts[0]); i++) {
        struct clock_samples samples = {.count = 0};
        uint32_t far = 2 * (counts[i] / CLOCK_SAMPLES_MOST) + 1;

        for (uint32_t clock = 0; clock < counts[i]; clock++)
            clock_samples_put(&samples, clock, time_of(clock));
        assert_true(samples.count <= CLOCK_SAMPLES_MOST);
        for (uint32_t clock = 0; clock < counts[i]; clock++) {
            assert_true(clock_samples_at(&samples, clock) <= time_of(clock));
            assert_true(clock_samples_at(&samples, clock) + 7 * (uint64_t)far >= time_of(clock));
        }
    }
}

static void what_is_after_the_last_has_its_time(void **state)
{
    struct clock_samples samples = {.count = 0};

    (void)state;
    assert_int_equal(clock_samples_at(&samples, 5), 0);
    clock_samples_put(&samples, 0, 100);
    clock_samples_put(&samples, 1, 200);
    assert_int_equal(clock_samples_at(&samples, 9), 200);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_time_is_that_of_a_birth_shortly_before),
        cmocka_unit_test(what_is_after_the_last_has_its_time),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
