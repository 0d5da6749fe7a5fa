/* SPDX-License-Identifier: Apache-2.0 */
/*
 * As much of CMocka as tests of the tracer need that run on another processor, where no CMocka is
 * installed. Used by aarch64_test.sh only. A failed assertion ends the program.
 */
#ifndef LEAKTIDE_TESTS_CROSS_CMOCKA_H
#define LEAKTIDE_TESTS_CROSS_CMOCKA_H

#include <setjmp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct CMUnitTest {
    const char *name;
    void (*test_func)(void **state);
    int (*setup_func)(void **state);
    int (*teardown_func)(void **state);
    void *initial_state;
};

static jmp_buf cross_skip;

#define cmocka_unit_test(function)                                                                 \
    {                                                                                              \
#function, function, NULL, NULL, NULL                                                      \
    }

static inline void cross_check(int holds, const char *what, const char *file, int line)
{
    if (holds)
        return;
    printf("%s:%d: %s\n", file, line, what);
    exit(1);
}

#define assert_true(value)           cross_check(!!(value), #value, __FILE__, __LINE__)
#define assert_false(value)          cross_check(!(value), "not " #value, __FILE__, __LINE__)
#define assert_null(value)           cross_check(!(value), #value " is NULL", __FILE__, __LINE__)
#define assert_non_null(value)       cross_check(!!(value), #value, __FILE__, __LINE__)
#define assert_ptr_equal(a, b)       cross_check((a) == (b), #a " == " #b, __FILE__, __LINE__)
#define assert_string_equal(a, b)    cross_check(!strcmp(a, b), #a " == " #b, __FILE__, __LINE__)
#define assert_memory_equal(a, b, n) cross_check(!memcmp(a, b, n), #a " == " #b, __FILE__, __LINE__)
#define assert_int_equal(a, b)                                                                     \
    cross_check((uint64_t)(a) == (uint64_t)(b), #a " == " #b, __FILE__, __LINE__)
#define assert_int_not_equal(a, b)                                                                 \
    cross_check((uint64_t)(a) != (uint64_t)(b), #a " != " #b, __FILE__, __LINE__)
#define assert_in_range(value, low, high)                                                          \
    cross_check((uint64_t)(value) >= (uint64_t)(low) && (uint64_t)(value) <= (uint64_t)(high),     \
                #value " in range", __FILE__, __LINE__)
#define fail_msg(...)      (printf(__VA_ARGS__), cross_check(0, "failed", __FILE__, __LINE__))
#define print_message(...) printf(__VA_ARGS__)
#define print_error(...)   printf(__VA_ARGS__)
#define skip()             longjmp(cross_skip, 1)

static inline int cross_run(const struct CMUnitTest *tests, size_t count)
{
    for (volatile size_t i = 0; i < count; i++) {
        void *state = tests[i].initial_state;

        if (setjmp(cross_skip) == 0)
            tests[i].test_func(&state);
        printf("[       OK ] %s\n", tests[i].name);
        fflush(stdout);
    }
    return 0;
}

#define cmocka_run_group_tests(tests, setup, teardown)                                             \
    cross_run(tests, sizeof(tests) / sizeof((tests)[0]))
#define cmocka_run_group_tests_name(name, tests, setup, teardown)                                  \
    cross_run(tests, sizeof(tests) / sizeof((tests)[0]))

#endif
