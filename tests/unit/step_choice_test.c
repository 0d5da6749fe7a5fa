/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which steps a list or a schedule takes.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "step_choice.h"

struct choice_case {
    const char *name;
    const char *text;
    struct mt_step_schedule schedule;
    const char *taken; /* a letter for each of 12 steps, numbered from 1 */
};

/* The schedules are those of torch.profiler.schedule(): wait, warm up, active; repeat 0 goes on. */
static const struct choice_case cases[] = {
    {"nothing asked for takes all", NULL, {0}, "xxxxxxxxxxxx"},
    {"numbers and ranges", "3-5,9", {0}, "..xxx...x..."},
    {"a range without an end", "2,10-", {0}, ".x.......xxx"},
    {"active alone takes all", NULL, {.active = 1}, "xxxxxxxxxxxx"},
    {"wait and active", NULL, {.wait = 2, .active = 1}, "..x..x..x..x"},
    {"warm-up is not taken", NULL, {.wait = 1, .warmup = 1, .active = 2}, "..xx..xx..xx"},
    {"repeat ends it", NULL, {.wait = 1, .active = 2, .repeat = 2}, ".xx.xx......"},
    {"the first are skipped once",
     NULL,
     {.skip_first = 5, .wait = 1, .active = 2, .repeat = 2},
     "......xx.xx."},
};

static void steps_are_taken(void **state)
{
    const struct choice_case *c = *state;
    struct step_choice choice;
    bool is_over = false;

    assert_int_equal(step_choice_init(&choice, c->text, &c->schedule, NULL), MT_OK);
    for (uint64_t i = 0; i < 12; i++) {
        assert_int_equal(step_choice_wants(&choice, i, i + 1), c->taken[i] == 'x');
        is_over |= step_choice_is_over(&choice, i, i + 1);
        assert_false(is_over && c->taken[i] == 'x');
    }
    assert_int_equal(step_choice_is_made(&choice), c->text || c->schedule.active);
    step_choice_release(&choice);
}

static void wrong_choices_are_told(void **state)
{
    static const char *const texts[] = {"",    ",",     "3,", "x",
                                        "3-2", "1-2-3", "-1", "99999999999999999999"};
    static const struct mt_step_schedule no_active = {.wait = 3}, good = {.active = 1};
    struct step_choice choice;
    struct mt_error error;

    (void)state;
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        assert_int_equal(step_choice_init(&choice, texts[i], NULL, &error), MT_USAGE);
        step_choice_release(&choice);
    }
    assert_int_equal(step_choice_init(&choice, NULL, &no_active, &error), MT_USAGE);
    step_choice_release(&choice);
    assert_int_equal(step_choice_init(&choice, "3", &good, &error), MT_USAGE);
    step_choice_release(&choice);
}

int main(void)
{
    enum { count = sizeof(cases) / sizeof(cases[0]) };
    struct CMUnitTest tests[count + 1];

    memset(tests, 0, sizeof(tests));
    for (size_t i = 0; i < count; i++) {
        tests[i].name = cases[i].name;
        tests[i].test_func = steps_are_taken;
        tests[i].initial_state = (void *)&cases[i];
    }
    tests[count].name = "wrong_choices_are_told";
    tests[count].test_func = wrong_choices_are_told;
    return cmocka_run_group_tests(tests, NULL, NULL);
}
