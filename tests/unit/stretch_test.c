/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Memory that grows in place, where address space is limited.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "stretch.h"

enum { STRETCHES = 8 };

/* In a process of its own: how many could not be had, or 100 where nothing was left. */
static int fails_below(uint64_t limit_bytes)
{
    static const size_t most_bytes = (size_t)1 << 40;
    const struct rlimit limit = {limit_bytes, limit_bytes};
    struct stretch stretches[STRETCHES];
    int failed = 0;
    void *rest;

    if (setrlimit(RLIMIT_AS, &limit) != 0)
        return 200;
    for (int i = 0; i < STRETCHES; i++)
        failed += !stretch_init(&stretches[i], most_bytes) || !stretch_extend(&stretches[i], 1);
    rest = malloc(limit_bytes / 8);
    failed = rest ? failed : 100;
    free(rest);
    return failed;
}

static void several_fit_below_a_limit_and_leave_room(void **state)
{
    const uint64_t limit_bytes = *(const uint64_t *)*state;
    int status = 0;
    pid_t child;

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
    skip(); /* a sanitizer has more address space than that */
#endif
    child = fork();
    if (!child)
        _exit(fails_below(limit_bytes));
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 0);
}

static void without_a_limit_all_of_it_is_reserved(void **state)
{
    struct stretch stretch;

    (void)state;
    assert_true(stretch_init(&stretch, (size_t)1 << 33));
    assert_int_equal(stretch.reserved_bytes, (size_t)1 << 33);
    stretch_release(&stretch);
}

int main(void)
{
    static uint64_t limits[] = {UINT64_C(1) << 30, UINT64_C(4) << 30, UINT64_C(10) << 30};
    const struct CMUnitTest tests[] = {
        {"1 GiB", several_fit_below_a_limit_and_leave_room, NULL, NULL, &limits[0]},
        {"4 GiB", several_fit_below_a_limit_and_leave_room, NULL, NULL, &limits[1]},
        {"10 GiB", several_fit_below_a_limit_and_leave_room, NULL, NULL, &limits[2]},
        cmocka_unit_test(without_a_limit_all_of_it_is_reserved),
    };

    return cmocka_run_group_tests_name("memory that grows in place", tests, NULL, NULL);
}
