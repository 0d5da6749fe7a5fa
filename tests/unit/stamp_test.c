/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Who stamps is known by an address alone, so any will do for a thread here.
 */
#include "stamp.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

bool clock_has_counter; /* clock.h leaves it to its user */

static char one, other;

static const struct thread_state *thread_of(const char *address)
{
    return (const struct thread_state *)(const void *)address;
}

static int set_up(void **state)
{
    (void)state;
    clock_init();
    stamp_only_thread = NULL;
    return 0;
}

static void the_first_thread_is_alone(void **state)
{
    (void)state;
    stamp_now(thread_of(&one));
    stamp_now_stored(thread_of(&one));
#if defined(__x86_64__)
    assert_ptr_equal(stamp_only_thread, &one);
#endif
}

static void a_second_thread_ends_that_for_good(void **state)
{
    (void)state;
    stamp_now(thread_of(&one));
    stamp_now(thread_of(&other));
#if defined(__x86_64__)
    assert_ptr_equal(stamp_only_thread, &stamp_only_thread);
    stamp_now(thread_of(&one));
    assert_ptr_equal(stamp_only_thread, &stamp_only_thread);
#endif
}

static void nobody_is_alone_without_a_counter(void **state)
{
    (void)state;
    clock_has_counter = false;
    stamp_now(thread_of(&one));
    assert_null(stamp_only_thread);
}

static void a_stamp_is_no_earlier_than_the_one_before(void **state)
{
    uint64_t before = 0;

    (void)state;
    for (int i = 0; i < 100000; i++) {
        uint64_t now = stamp_now(thread_of(i < 50000 ? &one : &other));

        assert_true(now >= before);
        before = now;
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(the_first_thread_is_alone, set_up),
        cmocka_unit_test_setup(a_second_thread_ends_that_for_good, set_up),
        cmocka_unit_test_setup(nobody_is_alone_without_a_counter, set_up),
        cmocka_unit_test_setup(a_stamp_is_no_earlier_than_the_one_before, set_up),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
