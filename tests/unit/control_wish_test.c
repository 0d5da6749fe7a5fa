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

#include "control_wish.h"
#include "control_words.h"
#include "json_scan.h"

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

static bool pauses_at(const char *json, uint64_t step)
{
    struct control_change change = control_of_file(json, -1);

    return control_pauses(&change, step, false);
}

static void the_steps_that_are_over_are_not_waited_for(void **state)
{
    (void)state;
    assert_false(pauses_at("{\"start_step\": 4, \"active\": 1}", 4));
    assert_true(pauses_at("{\"start_step\": 6, \"active\": 1}", 4));
    assert_true(pauses_at("{\"start_step\": 1, \"stop_step\": 3}", 4));
    assert_false(pauses_at("{}", 4));
    assert_true(pauses_at("{\"start\": false, \"start_step\": 4}", 4));
}

/* Words of leaktide ctl: what is understood, and what is answered. */
static const struct word_case {
    const char *line;
    enum control_word word;
    uint32_t kind;
    const char *answer; /* its beginning */
} word_cases[] = {
    {"start", CONTROL_CHANGE, CHANGE_START, "ok recording\n"},
    {"stop", CONTROL_CHANGE, CHANGE_STOP, "ok paused\n"},
    {"step", CONTROL_STEP, CHANGE_STEP, ""},
    {"step open", CONTROL_STEP, CHANGE_STEP_OPEN, ""},
    {"step done", CONTROL_STEP, CHANGE_STEP_DONE, ""},
    {"step back", CONTROL_WRONG, CHANGE_NOTHING, "error: step, step open or step done"},
    {"snapshot", CONTROL_SNAPSHOT, CHANGE_NOTHING, ""},
    {"status", CONTROL_STATUS, CHANGE_NOTHING, ""},
    {"", CONTROL_WRONG, CHANGE_NOTHING, "error: the words are start"},
    {"statuses", CONTROL_WRONG, CHANGE_NOTHING, "error: the words are start"},
    {"set steps=3-5", CONTROL_CHANGE, CHANGE_STEPS, "ok steps=3-5\n"},
    {"set steps=5-3", CONTROL_WRONG, CHANGE_STEPS, "error: steps are all"},
    {"set steps=-5", CONTROL_WRONG, CHANGE_STEPS, "error: steps are all"},
    {"set call-stack=c:3", CONTROL_CHANGE, CHANGE_FRAMES, "ok call-stack=c:3\n"},
    {"set call-stack=python:3", CONTROL_WRONG, CHANGE_NOTHING, "error: this recording began"},
    {"set device=npu", CONTROL_CHANGE, CHANGE_DEVICES, "ok device=npu\n"},
    {"set device=npu,cpu", CONTROL_WRONG, CHANGE_NOTHING, "error: cpu cannot come later"},
    {"set analysis=leaks", CONTROL_NOTHING, CHANGE_NOTHING, "ok analysis=leaks\n"},
    {"set analysis=decompose", CONTROL_CHANGE, CHANGE_EVENTS, "ok analysis=decompose\n"},
    {"set nonsense=1", CONTROL_WRONG, CHANGE_NOTHING, "error: events, steps, level"},
    {"set", CONTROL_WRONG, CHANGE_NOTHING, "error: events, steps, level"},
    {"watch 1 2 3", CONTROL_WRONG, CHANGE_NOTHING, "error: watch needs"},
    {"watch 1 2 -1 name", CONTROL_CHANGE, CHANGE_WATCH_RANGE, "ok watched\n"},
};

static void a_word_is_understood(void **state)
{
    static const struct mt_recording_facts facts = {.has_stacks = true};
    const struct word_case *c = *state;
    char line[CONTROL_LINE_BYTES], answer[CONTROL_ANSWER_BYTES] = "";
    struct control_change change;

    strcpy(line, c->line);
    assert_int_equal(control_understand(line, &facts, &change, answer, sizeof(answer)), c->word);
    assert_int_equal(change.kind, c->kind);
    assert_int_equal(strncmp(answer, c->answer, strlen(c->answer)), 0);
}

/* Also where the name is as long as a line can be. */
static void long_names_are_refused_or_whole(void **state)
{
    static const struct mt_recording_facts facts = {.has_stacks = true};
    char line[CONTROL_LINE_BYTES], answer[CONTROL_ANSWER_BYTES];
    struct control_change change;

    (void)state;
    for (size_t length = 1; length + 10 < sizeof(line); length++) {
        strcpy(line, "snapshot ");
        memset(line + 9, 'x', length);
        line[9 + length] = 0;
        if (control_understand(line, &facts, &change, answer, sizeof(answer)) == CONTROL_SNAPSHOT)
            assert_int_equal(strlen(change.text), length);
        else
            assert_true(length >= CONTROL_TEXT_BYTES);
    }
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
    enum {
        case_count = sizeof(cases) / sizeof(cases[0]),
        word_count = sizeof(word_cases) / sizeof(word_cases[0])
    };
    struct CMUnitTest tests[case_count + word_count + 3] = {
        cmocka_unit_test(the_steps_that_are_over_are_not_waited_for),
        cmocka_unit_test(texts_are_cut_where_there_is_no_room),
        cmocka_unit_test(long_names_are_refused_or_whole),
    };
    size_t count = 3;

    for (size_t i = 0; i < case_count; i++)
        tests[count++] = (struct CMUnitTest){
            .name = cases[i].name, .test_func = a_wish_is_read, .initial_state = (void *)&cases[i]};
    for (size_t i = 0; i < word_count; i++)
        tests[count++] = (struct CMUnitTest){.name = word_cases[i].line,
                                             .test_func = a_word_is_understood,
                                             .initial_state = (void *)&word_cases[i]};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
