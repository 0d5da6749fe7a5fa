/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which ranges of mstx are steps.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <string.h>

#include <cmocka.h>

#include "ascend_mstx.h"

struct name_case {
    const char *name;
    bool is_step;
    uint64_t number;
};

static const struct name_case cases[] = {
    {"step 7", true, 7},
    {"step_0", true, 0},
    {"Step#12", true, 12},
    {"ProfilerStep#50", true, 50},
    {"\"step start\"", true, MSTX_NO_NUMBER},
    {"step", true, MSTX_NO_NUMBER},
    {"train_step: 3", true, 3},
    {"global step 100 begin", true, 100},
    {"iteration=4", true, 4},
    {"step 999999999999999999", true, 999999999999999999},
    {"step 99999999999999999999", false, 0},
    {"step 3 of 7", false, 0},
    {"step 3.5", false, 0},
    {"optimizer step 7", false, 0},
    {"optimizer.step", false, 0},
    {"step end", false, 0},
    {"steps", false, 0},
    {"7 step", false, 0},
    {"stepping 7", false, 0},
    {"train", false, 0},
    {"7", false, 0},
    {"", false, 0},
};

static void only_names_that_say_no_more_than_a_step_are_steps(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        uint64_t number;
        bool is_step = mstx_step_read(cases[i].name, strlen(cases[i].name), &number);

        if (is_step != cases[i].is_step || (is_step && number != cases[i].number))
            fail_msg("%s: %d, %llu", cases[i].name, is_step, (unsigned long long)number);
    }
}

static void ranges_without_a_number_are_left_out_where_others_have_one(void **state)
{
    struct ascend_step rows[] = {{3, 50, 60}, {MSTX_NO_NUMBER, 20, 30}, {2, 10, 40}};
    struct ascend_steps steps = {rows, 3, 3, NULL};

    (void)state;
    ascend_mstx_number(&steps);
    assert_int_equal(steps.count, 2);
    assert_int_equal(steps.rows[0].number, 2);
    assert_int_equal(steps.rows[1].number, 3);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(only_names_that_say_no_more_than_a_step_are_steps),
        cmocka_unit_test(ranges_without_a_number_are_left_out_where_others_have_one),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
