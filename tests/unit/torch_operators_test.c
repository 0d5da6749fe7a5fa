/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Operators of PyTorch, and what its interpreter is asked for, above fakes of both. The tests build
 * on each other: PyTorch comes once in a process.
 */
#include <dlfcn.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "config_double.h"
#include "fake_python.h"
#include "fake_torch.h"
#include "recorder_double.h"
#include "torch_operators.h"

enum { FUNCTION = 0, BACKWARD = 1, SCRIPT = 2, USER = 7 };

static void last_begins_with(const char *text)
{
    const struct double_event *event = double_last(MT_RECORD_operator_begin);

    assert_non_null(event);
    assert_int_equal(strncmp(event->text, text, strlen(text)), 0);
}

static void operators_are_recorded_when_torch_has_come(void **state)
{
    (void)state;
    assert_non_null(dlopen(FAKE_C10_PATH, RTLD_NOW | RTLD_GLOBAL)); /* by it the version is known */
    double_reset();
    torch_operators_may_come();
    torch_operators_look();
    torch_operators_look(); /* observes once */
    assert_true(fake_torch_run(FUNCTION, "aten::add", "Tensor", NULL));
    assert_int_equal(double_count_of(MT_RECORD_operator_begin), 1);
    assert_int_equal(double_count_of(MT_RECORD_operator_end), 1);
    assert_string_equal(double_last(MT_RECORD_operator_begin)->text, "aten::add.Tensor");
}

static void names_of_any_length_are_safe(void **state)
{
    enum { LONGEST = 600 };
    char *name, *overload;

    (void)state;
    for (size_t length = 0; length < LONGEST; length += 1 + length / 16) {
        name = calloc(length + 1, 1); /* so short that a sanitizer sees each byte too many */
        overload = calloc(LONGEST - length + 1, 1);
        assert_non_null(name);
        assert_non_null(overload);
        memset(name, 'n', length);
        memset(overload, 'o', LONGEST - length);
        double_reset();
        assert_true(fake_torch_run(FUNCTION, name, overload, NULL));
        assert_true(fake_torch_run(BACKWARD, name, "x", NULL));
        assert_int_equal(double_count_of(MT_RECORD_operator_begin), 2);
        free(overload);
        free(name);
    }
    assert_true(fake_torch_run(FUNCTION, NULL, "", NULL)); /* nothing to say */
    assert_int_equal(double_count_of(MT_RECORD_operator_begin), 2);
}

static void frames_of_torch_and_scripts_are_none(void **state)
{
    (void)state;
    double_reset();
    fake_torch_run(FUNCTION, "autograd::engine::evaluate_function: MmBackward0", "", NULL);
    fake_torch_run(FUNCTION, "PythonDispatchMode", "", NULL);
    fake_torch_run(SCRIPT, "forward", "", NULL);
    assert_int_equal(double_count_of(MT_RECORD_operator_begin), 0);
    fake_torch_run(USER, "Optimizer.step#SGD.step", "", NULL);
    last_begins_with("Optimizer.step");
}

static void steps_of_a_profiler_are_steps(void **state)
{
    (void)state;
    double_reset();
    fake_torch_run(USER, "ProfilerStep#0", "", NULL);
    fake_torch_run(USER, "ProfilerStep#12", "", NULL);
    fake_torch_run(USER, "ProfilerStep#", "", NULL);
    fake_torch_run(USER, "ProfilerStep#of mine", "", NULL);
    assert_int_equal(double_count_of(MT_RECORD_step_begin), 2);
    assert_int_equal(double_last(MT_RECORD_step_begin)->size_bytes, MT_RANGE_PROFILER);
    assert_int_equal(double_count_of(MT_RECORD_operator_begin), 4);
}

static void run_operators(int count)
{
    for (int i = 0; i < count; i++)
        fake_torch_run(FUNCTION, "aten::mul", "", NULL);
}

static void the_interpreter_is_asked_ever_less_until_it_is_ready(void **state)
{
    int before;

    (void)state;
    assert_true(fake_python_run()); /* asked since the first operator; it said "not ready" */
    before = fake_python.ask_count;
    run_operators(1);
    assert_int_equal(fake_python.ask_count, before + 1);
    run_operators(100); /* one call waits */
    assert_int_equal(fake_python.ask_count, before + 1);
    fake_python.is_full = true;
    assert_true(fake_python_run());
    run_operators(64);
    assert_int_equal(fake_python.ask_count, before + 1 + 7); /* at 1, 2, 4 ... 64 */
    fake_python.is_full = false;
    run_operators(64);
    fake_python.state = 2;
    assert_true(fake_python_run());
    before = fake_python.ask_count;
    for (int i = 0; i < 200; i++) { /* from then on it looks for weights, as seldom */
        run_operators(1);
        fake_python_run();
    }
    assert_int_equal(fake_python.ask_count, before + 8); /* at 1, 2, 4 ... 128 */
    assert_int_equal(fake_python.object_count, 0);
    fake_python.state = -1; /* a look that fails is the last one */
    run_operators(56);
    assert_true(fake_python_run());
    run_operators(2000);
    assert_int_equal(fake_python.ask_count, before + 9);
    fake_python.state = 2;
}

static void leave_within(void)
{
    torch_operators_leave(true);
    run_operators(1);
}

static void what_began_before_the_interpreter_took_over_ends(void **state)
{
    (void)state;
    double_reset();
    double_config.records_accesses = true;
    torch_operators_leave(false);
    fake_torch_run(FUNCTION, "aten::empty", "memory_format", leave_within);
    assert_int_equal(double_count_of(MT_RECORD_operator_begin), 1);
    assert_int_equal(double_count_of(MT_RECORD_operator_end), 1);
    assert_string_equal(double_last(MT_RECORD_operator_end)->text, "aten::empty.memory_format");
    run_operators(3);
    assert_int_equal(double_count_of(MT_RECORD_operator_end), 1);
}

static void the_dispatcher_is_left_to_the_interpreter(void **state)
{
    (void)state;
    double_reset();
    run_operators(1);
    assert_int_equal(double_count_of(MT_RECORD_operator_begin), 0);
    fake_torch_run(BACKWARD, "MmBackward0", "", NULL); /* which it does not tell of */
    last_begins_with("MmBackward0");
    torch_operators_leave(false);
    run_operators(1);
    last_begins_with("aten::mul");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(operators_are_recorded_when_torch_has_come),
        cmocka_unit_test(names_of_any_length_are_safe),
        cmocka_unit_test(frames_of_torch_and_scripts_are_none),
        cmocka_unit_test(steps_of_a_profiler_are_steps),
        cmocka_unit_test(the_interpreter_is_asked_ever_less_until_it_is_ready),
        cmocka_unit_test(what_began_before_the_interpreter_took_over_ends),
        cmocka_unit_test(the_dispatcher_is_left_to_the_interpreter),
    };

    double_config_reset();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
