/* SPDX-License-Identifier: Apache-2.0 */
/* Where threads have their stacks: what is read must be what the C library says when it is asked.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "stack_memory.h"
#include "thread_stack.h"

enum { GIVEN_BYTES = 1 << 18, PAGE = 4096 };

/* The thread's own data are above its top, and belong to its stack too. */
static uintptr_t agrees_with_the_c_library(void)
{
    struct thread_stack own = thread_stack_own();
    pthread_attr_t attributes;
    void *low = NULL;
    size_t size_bytes = 0;

    if (pthread_getattr_np(pthread_self(), &attributes) != 0)
        return 0;
    pthread_attr_getstack(&attributes, &low, &size_bytes);
    pthread_attr_destroy(&attributes);
    return own.low == (uintptr_t)low && own.top > (uintptr_t)__builtin_frame_address(0) &&
           own.top <= (uintptr_t)low + size_bytes &&
           own.top + 4 * PAGE > (uintptr_t)low + size_bytes;
}

static void *look(void *argument)
{
    (void)argument;
    return (void *)agrees_with_the_c_library();
}

static void *look_in_a_child(void *argument)
{
    int status = -1;
    pid_t child = fork();

    (void)argument;
    if (child == 0)
        _exit(agrees_with_the_c_library() ? 0 : 1);
    return (void *)(uintptr_t)(waitpid(child, &status, 0) == child && status == 0);
}

struct stack_case {
    const char *name;
    void *(*function)(void *);
    size_t stack_bytes, guard_bytes; /* 0: as they come */
    bool has_no_guard, is_given;
};

static const struct stack_case cases[] = {
    {.name = "of a thread", .function = look},
    {.name = "of a thread with a large guard", .function = look, .guard_bytes = 16 * PAGE},
    {.name = "of a thread without a guard", .function = look, .has_no_guard = true},
    {.name = "of a thread with a small stack", .function = look, .stack_bytes = 20 * PAGE},
    {.name = "that the program gave", .function = look, .is_given = true},
    {.name = "of a child's first thread", .function = look_in_a_child},
    {.name = "of a child's first thread, given", .function = look_in_a_child, .is_given = true},
};

enum { CASES = sizeof(cases) / sizeof(cases[0]) };

static void is_known(void **state)
{
    const struct stack_case *c = *state;
    pthread_attr_t attributes;
    pthread_t thread;
    void *stack = NULL, *is_right = NULL;

    pthread_attr_init(&attributes);
    if (c->stack_bytes)
        pthread_attr_setstacksize(&attributes, c->stack_bytes);
    if (c->guard_bytes || c->has_no_guard)
        pthread_attr_setguardsize(&attributes, c->guard_bytes);
    if (c->is_given) {
        stack = mmap(NULL, GIVEN_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        assert_true(stack != MAP_FAILED);
        pthread_attr_setstack(&attributes, stack, GIVEN_BYTES);
    }
    assert_int_equal(pthread_create(&thread, &attributes, c->function, NULL), 0);
    pthread_join(thread, &is_right);
    pthread_attr_destroy(&attributes);
    if (stack)
        munmap(stack, GIVEN_BYTES);
    assert_non_null(is_right);
}

static void the_first_threads_stack_grows(void **state)
{
    struct thread_stack own = thread_stack_own();

    (void)state;
    assert_int_equal(own.low, 0);
    assert_true(own.top > (uintptr_t)__builtin_frame_address(0));
    assert_true(own.top - (uintptr_t)__builtin_frame_address(0) < 1 << 20);
}

int main(void)
{
    struct CMUnitTest tests[CASES + 1] = {cmocka_unit_test(the_first_threads_stack_grows)};

    for (size_t i = 0; i < CASES; i++)
        tests[i + 1] = (struct CMUnitTest){
            .name = cases[i].name, .test_func = is_known, .initial_state = (void *)&cases[i]};
    stack_memory_prepare();
    return cmocka_run_group_tests_name("stacks of threads", tests, NULL, NULL);
}
