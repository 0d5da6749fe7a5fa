/* SPDX-License-Identifier: Apache-2.0 */
/* References per handle: exact, bounded, and safe from several threads. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <pthread.h>

#include "opencl_references.h"

static const void *handle_at(uintptr_t index)
{
    return (const void *)((index + 1) * 64);
}

static void last_release_is_told(void **state)
{
    (void)state;
    assert_true(opencl_references_add(handle_at(0)));
    opencl_references_retain(handle_at(0));
    assert_false(opencl_references_release(handle_at(0)));
    assert_true(opencl_references_release(handle_at(0)));
    assert_false(opencl_references_release(handle_at(0)));
}

static void unknown_handle_is_left_alone(void **state)
{
    (void)state;
    opencl_references_retain(handle_at(9));
    assert_false(opencl_references_release(handle_at(9)));
}

static void full_table_refuses_and_recovers(void **state)
{
    enum { MANY = 20000 };
    size_t added = 0, released = 0;

    (void)state;
    for (uintptr_t i = 0; i < MANY; i++)
        added += opencl_references_add(handle_at(i));
    assert_in_range(added, 2000, MANY - 1);
    for (uintptr_t i = 0; i < MANY; i++)
        released += opencl_references_release(handle_at(i));
    assert_int_equal(released, added);
    assert_true(opencl_references_add(handle_at(0)));
    assert_true(opencl_references_release(handle_at(0)));
}

enum { THREADS = 4, ROUNDS = 20000, HANDLES = 16 };

static void *add_and_release(void *first)
{
    uintptr_t failures = 0;

    for (int round = 0; round < ROUNDS; round++) {
        const void *handle = handle_at((uintptr_t)first + (uintptr_t)round % HANDLES);

        failures += !opencl_references_add(handle);
        opencl_references_retain(handle);
        failures += opencl_references_release(handle);
        failures += !opencl_references_release(handle);
    }
    return (void *)failures;
}

static void threads_do_not_mix_their_handles(void **state)
{
    pthread_t threads[THREADS];

    (void)state;
    for (uintptr_t i = 0; i < THREADS; i++)
        pthread_create(&threads[i], NULL, add_and_release, (void *)(i * HANDLES));
    for (int i = 0; i < THREADS; i++) {
        void *failures;

        pthread_join(threads[i], &failures);
        assert_null(failures);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(last_release_is_told),
        cmocka_unit_test(unknown_handle_is_left_alone),
        cmocka_unit_test(full_table_refuses_and_recovers),
        cmocka_unit_test(threads_do_not_mix_their_handles),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
