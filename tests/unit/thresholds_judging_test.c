/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The rules of survivor_judging.c and survivor_origins.c that stand on a number of thresholds.def,
 * on both sides of it.
 */
#include <stdio.h>

#include "loop_story.h"
#include "survivors.h"

#define COUNT(rows) (sizeof(rows) / sizeof((rows)[0]))

enum { TURNS = 300, INTERPRETER_AT = 1 << 20 };

/* Another recording. */
static void start_again(void **state)
{
    teardown(state);
    assert_int_equal(setup(state), 0);
}

/* What a cache holds that says how much it holds at most, of each 1000 that a line keeps. */
static void what_is_bounded_in_part_is_a_leak(void **state)
{
    static const struct {
        uint64_t bounded_bytes;
        enum report_outcome outcome;
    } cases[] = {{400, REPORT_FOUND}, {600, REPORT_FINE}};

    for (size_t c = 0; c < COUNT(cases); c++) {
        uint32_t other, cache, stays;

        start_again(state);
        other = site_of("other", 10);
        cache = site_of("bounded_lru_cache_wrapper", 20);
        stays = site_of("copy", 20);
        for (size_t i = 0; i < TURNS; i++) {
            work(100, other);
            make(cases[c].bounded_bytes, cache);
            make(1000 - cases[c].bounded_bytes, stays);
        }
        ask();
        assert_int_equal(report_outcome_of(report), cases[c].outcome);
    }
}

/* A list of a line is made anew, ever larger, by 1.2 MB in all. Before, each of some stacks of the
 * same line made blocks, which are left. */
static void a_list_grows_if_little_was_put_in_before(void **state)
{
    static const struct {
        uint32_t stacks;
        size_t blocks;  /* of each */
        uint64_t bytes; /* of each block */
        bool is_leak;
    } cases[] = {{1, 8, 1 << 20, false},
                 {1, 7, 1 << 20, true},
                 {20, 8, 32 << 10, false},
                 {200, 8, 2000, true}};

    for (size_t c = 0; c < COUNT(cases); c++) {
        uint32_t other, grows;
        uint64_t last = 0;

        start_again(state);
        other = site_of("other", 10);
        grows = site_of("list_resize", 20);
        for (uint32_t k = 0; k < cases[c].stacks; k++) {
            char name[32];

            snprintf(name, sizeof(name), "put %u", (unsigned)k);
            for (size_t i = 0; i < cases[c].blocks; i++)
                make(cases[c].bytes, site_of(name, 20));
        }
        for (uint64_t i = 0; i < TURNS; i++) {
            uint64_t next = make((64 << 10) + i * 4096, grows);

            work(100, other);
            if (last)
                drop(last);
            last = next;
        }
        ask();
        assert_int_equal(report_finding_count(report), cases[c].is_leak);
    }
}

/* Two lines build data; one rests for five times as long as it built, the other goes on after that.
 */
static void most_of_what_was_built_before_a_rest_may_be_data(void **state)
{
    static const struct {
        uint64_t rested_bytes; /* of 1000 */
        enum report_outcome outcome;
    } cases[] = {{600, REPORT_NO_DATA}, {400, REPORT_FOUND}};

    for (size_t c = 0; c < COUNT(cases); c++) {
        uint32_t rests, goes_on;

        start_again(state);
        rests = site_of("build", 20);
        goes_on = site_of("load", 30);
        for (size_t i = 0; i < TURNS; i++) {
            make(cases[c].rested_bytes, rests);
            make(1000 - cases[c].rested_bytes, goes_on);
        }
        list.time_ns += list.time_ns * 5;
        make(1000 - cases[c].rested_bytes, goes_on);
        drop(make(1024, site_of("print", 40)));
        ask();
        assert_int_equal(report_outcome_of(report), cases[c].outcome);
    }
}

/* --- what is known of the process ------------------------------------------------------------- */

/* Of its blocks that can be judged, ten in each turn, so many have stacks. */
static void most_blocks_have_stacks_or_not(void **state)
{
    for (size_t with = 4; with <= 6; with += 2) {
        struct survivor_reading *reading;
        uint32_t site;

        start_again(state);
        site = site_of("other", 10);
        for (size_t i = 0; i < TURNS; i++)
            for (size_t k = 0; k < 10; k++)
                drop(make(100, k < with ? site : 0));
        reading = survivors_read(event_list_question(&list));
        assert_non_null(reading);
        assert_int_equal(survivor_reading_finish(reading)->processes[0].has_stacks, with == 6);
        survivor_reading_destroy(reading);
    }
}

static const struct why *why_by(const struct survivor_process *process, enum why_rule rule)
{
    for (size_t i = 0; i < process->whys.count; i++)
        if (process->whys.rows[i].rule == rule)
            return &process->whys.rows[i];
    return NULL;
}

static void a_loop_of_few_turns_says_how_many_are_needed(void **state)
{
    for (size_t turns = 9; turns <= 10; turns++) {
        struct survivor_reading *reading;
        const struct why *why;

        start_again(state);
        for (size_t i = 0; i < turns; i++) {
            work(100, site_of("other", 10));
            drop(make(100, site_of("layer", 20)));
            make(64 << 10, site_of("copy", 30));
        }
        reading = survivors_read(event_list_question(&list));
        assert_non_null(reading);
        why = why_by(survivor_reading_finish(reading)->processes, WHY_FEW_TURNS);
        assert_int_equal(why != NULL, turns == 9);
        if (why) {
            assert_int_equal(why->measured, 9);
            assert_int_equal(why->needed, 10);
        }
        survivor_reading_destroy(reading);
    }
}

/* --- an interpreter without the names of its functions ---------------------------------------- */

static uint32_t unnamed_site(uint32_t line)
{
    uint32_t stack = model_stack(list.model, 0, frame_of(FRAME_PYTHON, "train", line));
    uint32_t frame = model_frame(
        list.model, (struct model_frame){.kind = FRAME_NATIVE, .address = INTERPRETER_AT + 64});

    return model_site(list.model,
                      (struct model_site){.stack = model_stack(list.model, stack, frame)});
}

static void load_interpreter(void)
{
    model_module(list.model, &(struct model_module){
                                 .base = INTERPRETER_AT,
                                 .size_bytes = 1 << 20,
                                 .unloaded_ns = UINT64_MAX,
                                 .path = event_list_text(&list, "/none/libpython3.11.so.1.0")});
}

/* Its end was not seen. What most of it went after the newest block was made may be garbage. */
static void what_went_late_may_be_garbage_of_an_unnamed_interpreter(void **state)
{
    static const struct {
        uint64_t late; /* of ten */
        enum report_outcome outcome;
    } cases[] = {{6, REPORT_NO_DATA}, {4, REPORT_FOUND}};

    for (size_t c = 0; c < COUNT(cases); c++) {
        uint64_t kept[TURNS];
        uint32_t unnamed, stays;

        start_again(state);
        load_interpreter();
        unnamed = unnamed_site(10);
        stays = site_of("copy", 20);
        for (size_t i = 0; i < TURNS; i++) {
            work(100, unnamed);
            kept[i] = make(1000, stays);
        }
        for (size_t i = 0; i < TURNS; i++)
            if (i % 10 < cases[c].late)
                drop(kept[i]);
        ask();
        assert_int_equal(report_outcome_of(report), cases[c].outcome);
    }
}

#define STORY(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        STORY(what_is_bounded_in_part_is_a_leak),
        STORY(a_list_grows_if_little_was_put_in_before),
        STORY(most_of_what_was_built_before_a_rest_may_be_data),
        STORY(most_blocks_have_stacks_or_not),
        STORY(a_loop_of_few_turns_says_how_many_are_needed),
        STORY(what_went_late_may_be_garbage_of_an_unnamed_interpreter),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
