/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Option files of the profilers: what they ask for, and texts that are no such file.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "control.h"
#include "control_file.h"
#include "json_scan.h"

/* The recorder is not part of this test. */
void recorder_pause(bool is_paused);
void recorder_choose_steps(uint64_t first, uint64_t last);
uint64_t recorder_newest_step(void);

static struct {
    bool is_paused;
    uint64_t first, last, newest;
} recorder;

void recorder_pause(bool is_paused)
{
    recorder.is_paused = is_paused;
}

void recorder_choose_steps(uint64_t first, uint64_t last)
{
    recorder.first = first;
    recorder.last = last;
}

uint64_t recorder_newest_step(void)
{
    return recorder.newest;
}

static const struct wish_case {
    const char *name, *json;
    int64_t rank;
    bool is_wanted;
    uint64_t first_step, last_step;
} cases[] = {
    {"nothing said", "{}", 0, true, 0, 0},
    {"from one step to another", "{\"start_step\": 10, \"stop_step\": 12}", 0, true, 10, 12},
    {"how many steps", "{\"start_step\":10,\"active\":3}", 0, true, 10, 12},
    {"after a warm-up", "{\"start_step\":10,\"warmup\":2,\"active\":3}", 0, true, 12, 14},
    {"from the beginning", "{\"start_step\":0,\"active\":1}", 0, true, 1, 1},
    {"without an end", "{\"start_step\":5}", 0, true, 5, UINT64_MAX},
    {"a stop before the start", "{\"start_step\":5,\"stop_step\":3}", 0, true, 5, UINT64_MAX},
    {"no start", "{\"start_step\":-1,\"stop_step\":3}", 0, true, 0, 0},
    {"a rank of the list", "{\"is_rank\":true,\"rank_list\":[0, 3]}", 3, true, 0, 0},
    {"a rank outside of it", "{\"is_rank\":true,\"rank_list\":[0, 3]}", 1, false, 0, 0},
    {"a list that does not count", "{\"is_rank\":false,\"rank_list\":[0]}", 1, true, 0, 0},
    {"an empty list", "{\"is_rank\":true,\"rank_list\":[]}", 1, true, 0, 0},
    {"a rank that is not known", "{\"rank_list\":[0]}", -1, false, 0, 0},
    {"no memory", "{\"profile_memory\":false,\"start_step\":1}", 0, false, 1, UINT64_MAX},
    {"wait", "{\"start\":false}", 0, false, 0, 0},
    {"keys of inner objects are others", "{\"experimental_config\":{\"start_step\":7}}", 0, true, 0,
     0},
    {"keys in texts are none", "{\"prof_dir\":\"\\\"start_step\\\": 7\"}", 0, true, 0, 0},
    {"a text instead of a number", "{\"start_step\":\"7\"}", 0, true, 0, 0},
    {"half a file", "{\"start_step\": 1", 0, true, 1, UINT64_MAX},
    {"a key and no more", "{\"start_step\":", 0, true, 0, 0},
    {"an open text", "{\"start_step", 0, true, 0, 0},
    {"no object", "start_step: 4", 0, true, 0, 0},
    {"more ends than beginnings", "}}]{\"start_step\":4}", 0, true, 4, UINT64_MAX},
};

static void a_wish_is_read(void **state)
{
    const struct wish_case *c = *state;
    struct control_wish wish = control_wish_read(c->json, c->rank);

    assert_int_equal(wish.is_wanted, c->is_wanted);
    assert_int_equal(wish.first_step, c->first_step);
    assert_int_equal(wish.last_step, c->last_step);
}

static void the_steps_that_are_over_are_not_waited_for(void **state)
{
    (void)state;
    recorder.newest = 4;
    control_file_obey("{\"start_step\": 4, \"active\": 1}");
    assert_false(recorder.is_paused);
    control_file_obey("{\"start_step\": 6, \"active\": 1}");
    assert_true(recorder.is_paused);
    assert_int_equal(recorder.first, 6);
    control_file_obey("{\"start_step\": 1, \"stop_step\": 3}");
    assert_true(recorder.is_paused);
    control_file_obey("{}");
    assert_false(recorder.is_paused);
    assert_int_equal(recorder.first, 0);
}

static void texts_are_cut_where_there_is_no_room(void **state)
{
    char value[4] = "";

    (void)state;
    assert_true(json_text("{\"a\": \"bcdef\"}", "a", value, sizeof(value)));
    assert_string_equal(value, "bcd");
    assert_true(json_text("{\"a\": \"\"}", "a", value, sizeof(value)));
    assert_string_equal(value, "");
    assert_true(json_text("{\"a\": \"b", "a", value, sizeof(value)));
    assert_string_equal(value, "");
    assert_false(json_text("{\"a\": 1}", "a", value, sizeof(value)));
}

int main(void)
{
    enum { case_count = sizeof(cases) / sizeof(cases[0]) };
    struct CMUnitTest tests[case_count + 2] = {
        cmocka_unit_test(the_steps_that_are_over_are_not_waited_for),
        cmocka_unit_test(texts_are_cut_where_there_is_no_room),
    };

    for (size_t i = 0; i < case_count; i++)
        tests[i + 2] = (struct CMUnitTest){
            .name = cases[i].name, .test_func = a_wish_is_read, .initial_state = (void *)&cases[i]};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
