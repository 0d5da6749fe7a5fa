/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Advice: each rule speaks when its evidence is there, and not when it is not.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "advice_analyses.h"
#include "event_list.h"
#include "leaks_by_steps.h"
#include "pool_analyses.h"

#define MIB UINT64_C(1048576)

static struct event_list list;
static struct report *report;
static const struct step_rule *found_rule; /* NULL: steps are marked */

static int setup(void **state)
{
    (void)state;
    found_rule = NULL;
    event_list_init(&list);
    return report_create("advice", &report, NULL);
}

static int teardown(void **state)
{
    (void)state;
    report_destroy(report);
    event_list_release(&list);
    return 0;
}

static void add(enum event_kind kind, uint64_t address, uint64_t value)
{
    event_list_add(&list,
                   (struct event){.kind = (uint8_t)kind, .address = address, .value = value});
}

static void sample(const char *counter, uint64_t bytes)
{
    event_list_add(&list, (struct event){.kind = EVENT_SAMPLE,
                                         .text = event_list_text(&list, counter),
                                         .value = bytes});
}

/* Which rules spoke, in order: "holes, workspace"; and what the first of them saves. */
static const char *rules_of_answer(uint64_t *saves_bytes)
{
    struct question question = *event_list_question(&list);
    const char *rules = "";

    question.steps = found_rule;
    analyse_advice(&question, report);
    *saves_bytes = 0;
    for (size_t i = 0; i < report_finding_count(report); i++) {
        const struct finding *finding = report_finding_at(report, i);

        assert_string_equal(finding->kind, "advice");
        rules = report_text(report, "%s%s%s", rules, i ? ", " : "", finding->facts[0].value.text);
        if (!i)
            *saves_bytes = finding->facts[1].value.number;
    }
    return rules;
}

static void expect(const char *rules, uint64_t saves_bytes)
{
    uint64_t seen_bytes;

    assert_string_equal(rules_of_answer(&seen_bytes), rules);
    assert_int_equal(seen_bytes, saves_bytes);
}

static void without_evidence_there_is_none(void **state)
{
    (void)state;
    event_list_alloc(&list, 16 * MIB, 1 * MIB, event_list_site(&list, "a"));
    event_list_free(&list, 16 * MIB);
    sample("APP reserved", 1000 * MIB);
    sample("module HCCL reserved", 20 * MIB);
    sample("module RUNTIME reserved", 20 * MIB);
    sample("module RUNTIME reserved", 30 * MIB);
    expect("", 0);
    assert_string_equal(report_verdict_at(report, 0),
                        "No advice: nothing in this recording calls for it.");
}

/* A block in the middle of a segment, when most is reserved. */
static void make_holes(uint8_t flags)
{
    event_list_add(&list, (struct event){.kind = EVENT_SEGMENT,
                                         .address = 1024 * MIB,
                                         .value = 256 * MIB,
                                         .flags = flags});
    event_list_alloc(&list, 1024 * MIB, 100 * MIB, 0);
    event_list_alloc(&list, 1124 * MIB, 1 * MIB, 0);
    event_list_free(&list, 1024 * MIB);
    add(EVENT_RESERVED, 0, 256 * MIB);
}

static void holes_call_for_segments_that_grow(void **state)
{
    (void)state;
    make_holes(0);
    expect("holes", 255 * MIB);
}

static void segments_that_grow_are_not_told_to_grow(void **state)
{
    (void)state;
    make_holes(EVENT_IS_MAPPED);
    expect("", 0);
}

static void what_is_reserved_and_never_used_is_seen(void **state)
{
    (void)state;
    event_list_alloc(&list, 1024 * MIB, 100 * MIB, 0);
    add(EVENT_RESERVED, 0, 300 * MIB);
    expect("reserved and unused", 200 * MIB);
}

static void memory_given_back_again_and_again(void **state)
{
    (void)state;
    event_list_alloc(&list, 1024 * MIB, 90 * MIB, 0);
    for (int i = 0; i < 4; i++) {
        add(EVENT_RESERVED, 0, 100 * MIB);
        add(EVENT_RESERVED, 0, 95 * MIB);
    }
    expect("given back and taken again", 0);
}

static void memory_given_back_for_good_is_fine(void **state)
{
    (void)state;
    event_list_alloc(&list, 1024 * MIB, 90 * MIB, 0);
    for (uint64_t i = 0; i < 8; i++)
        add(EVENT_RESERVED, 0, (100 - i) * MIB);
    expect("", 0);
}

static void a_large_workspace(void **state)
{
    uint16_t workspace = model_pool(list.model, event_list_text(&list, "pta_workspace"));

    (void)state;
    event_list_alloc(&list, 1024 * MIB, 100 * MIB, 0);
    event_list_add(&list, (struct event){.kind = EVENT_ALLOC,
                                         .pool = workspace,
                                         .address = 2048 * MIB,
                                         .value = 30 * MIB});
    expect("workspace", 30 * MIB);
}

static void communication_buffers_and_growth_of_modules(void **state)
{
    (void)state;
    event_list_alloc(&list, 16 * MIB, 1 * MIB, 0);
    sample("APP reserved", 1000 * MIB);
    sample("module HCCL reserved", 300 * MIB);
    sample("module RUNTIME reserved", 20 * MIB);
    sample("module RUNTIME reserved", 120 * MIB);
    sample("module APP reserved", 20 * MIB);
    sample("module APP reserved", 920 * MIB);
    expect("communication buffers, growth outside of the pools", 150 * MIB);
}

/* In each step a gradient is made while the one of the step before is still there. */
static void train(bool is_dropped_in_time)
{
    uint32_t gradient = event_list_site(&list, "gradient");

    for (uint64_t i = 1; i <= 6; i++) {
        event_list_step(&list, EVENT_STEP_BEGIN, i);
        if (i > 1 && is_dropped_in_time)
            event_list_free(&list, (100 + i - 1) * MIB);
        event_list_alloc(&list, 16 * MIB, 8 * MIB, event_list_site(&list, "activation"));
        if (i > 1 && !is_dropped_in_time)
            event_list_free(&list, (100 + i - 1) * MIB);
        event_list_free(&list, 16 * MIB);
        event_list_alloc(&list, (100 + i) * MIB, 1 * MIB, gradient);
        event_list_step(&list, EVENT_STEP_END, i);
    }
}

static void gradients_that_are_there_at_the_peak(void **state)
{
    (void)state;
    train(false);
    expect("gradients kept", 1 * MIB);
}

/* A period may begin between forward and backward: then activations are carried over. */
static void found_steps_say_nothing_of_gradients(void **state)
{
    static const struct found_steps found = {.token = {.kind = TOKEN_SITE}};
    static const struct step_rule rule = {.found = &found, .found_count = 1};

    (void)state;
    found_rule = &rule;
    train(false);
    expect("", 0);
}

static void gradients_that_are_gone_at_the_peak(void **state)
{
    (void)state;
    train(true);
    expect("", 0);
}

static void blocks_that_nobody_uses_at_the_peak(void **state)
{
    uint32_t early = event_list_site(&list, "early");

    (void)state;
    event_list_alloc(&list, 16 * MIB, 4 * MIB, early);
    event_list_operator(&list, EVENT_OPERATOR_BEGIN, "work");
    event_list_alloc(&list, 32 * MIB, 8 * MIB, event_list_site(&list, "work"));
    event_list_access(&list, 32 * MIB);
    event_list_free(&list, 32 * MIB);
    event_list_operator(&list, EVENT_OPERATOR_END, "work");
    event_list_access(&list, 16 * MIB);
    event_list_free(&list, 16 * MIB);
    expect("unused at the peak", 4 * MIB);
}

/* --- what ends the findings of other questions ---------------------------------------------- */

/* Of the first finding; its sentence has to end with what to do. */
static const char *rule_of_finding(const char *kind)
{
    for (size_t i = 0; i < report_finding_count(report); i++) {
        const struct finding *finding = report_finding_at(report, i);

        if (strcmp(finding->kind, kind) != 0)
            continue;
        assert_non_null(strstr(finding->sentence, "TRY: "));
        for (size_t k = 0; k < finding->fact_count; k++)
            if (strcmp(finding->facts[k].key, "rule") == 0)
                return finding->facts[k].value.text;
    }
    return "";
}

static uint64_t number_of_finding(const char *key)
{
    const struct finding *finding = report_finding_at(report, 0);

    for (size_t i = 0; i < finding->fact_count; i++)
        if (strcmp(finding->facts[i].key, key) == 0)
            return finding->facts[i].value.number;
    fail_msg("no fact %s", key);
    return 0;
}

/* In each step `made` blocks, of which one stays in every n-th step. */
static void leak(uint64_t steps, uint64_t made, uint64_t every)
{
    uint32_t site = event_list_site(&list, "keep");

    for (uint64_t i = 1; i <= steps; i++) {
        event_list_step(&list, EVENT_STEP_BEGIN, i);
        for (uint64_t k = 0; k < made; k++)
            event_list_alloc(&list, (i * 100 + k) * MIB, 1 * MIB, site);
        for (uint64_t k = i % every == 0 ? 1 : 0; k < made; k++)
            event_list_free(&list, (i * 100 + k) * MIB);
        event_list_step(&list, EVENT_STEP_END, i);
    }
}

static void a_leak_says_which_of_its_blocks_stay(void **state)
{
    static const struct {
        uint64_t steps, made, every;
        const char *rule;
    } cases[] = {
        {20, 1, 1, "leak of all blocks"},
        {20, 5, 1, "leak of some blocks"},
        {60, 1, 3, "leak in some steps"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        if (i) {
            teardown(NULL);
            assert_int_equal(setup(NULL), 0);
        }
        leak(cases[i].steps, cases[i].made, cases[i].every);
        leaks_by_steps(event_list_question(&list), report);
        assert_string_equal(rule_of_finding("leak"), cases[i].rule);
        if (cases[i].every == 1) {
            assert_int_equal(number_of_finding("saves_bytes_per_step"), 1 * MIB);
            /* Two steps are warm-up; at the peak the last of 20 had not leaked yet, or had. */
            assert_in_range(number_of_finding("saves_bytes"), 17 * MIB, 18 * MIB);
        }
    }
}

/* The block of the last step is freed when the program ends, and the step never ended. */
static void what_the_end_frees_does_not_excuse_the_rest(void **state)
{
    uint32_t site = event_list_site(&list, "keep");

    (void)state;
    for (uint64_t i = 1; i <= 13; i++) {
        event_list_step(&list, EVENT_STEP_BEGIN, i);
        event_list_alloc(&list, i * MIB, 1 * MIB, site);
        if (i < 13)
            event_list_step(&list, EVENT_STEP_END, i);
    }
    for (uint64_t i = 1; i <= 13; i++)
        event_list_free(&list, i * MIB);
    leaks_by_steps(event_list_question(&list), report);
    assert_string_equal(rule_of_finding("leak"), "leak of all blocks");
}

static void one_block_that_grows_is_told_apart(void **state)
{
    uint32_t site = event_list_site(&list, "history");

    (void)state;
    for (uint64_t i = 1; i <= 30; i++) {
        event_list_step(&list, EVENT_STEP_BEGIN, i);
        event_list_alloc(&list, i * 1000 * MIB, i * MIB, site);
        if (i > 1)
            event_list_free(&list, (i - 1) * 1000 * MIB);
        event_list_step(&list, EVENT_STEP_END, i);
    }
    leaks_by_steps(event_list_question(&list), report);
    assert_string_equal(rule_of_finding("leak"), "one growing block");
    assert_int_equal(number_of_finding("saves_bytes_per_step"), 1 * MIB);
}

/*
 * A source that names nobody: a buffer of eight steps, and 64 KiB that are forgotten in each step.
 * Requests of 64 KiB are 512 B more where an allocator adds to them.
 */
static void without_names_a_size_does_not_hide_another(void **state)
{
    (void)state;
    for (uint64_t i = 1; i <= 40; i++) {
        event_list_step(&list, EVENT_STEP_BEGIN, i);
        event_list_alloc(&list, i * MIB, (64 << 10) + (i % 2 ? 512 : 0), 0);
        event_list_alloc(&list, (100 + i) * MIB, 1 * MIB, 0);
        if (i > 8)
            event_list_free(&list, (100 + i - 8) * MIB);
        event_list_step(&list, EVENT_STEP_END, i);
    }
    leaks_by_steps(event_list_question(&list), report);
    assert_string_equal(rule_of_finding("leak"), "leak of all blocks");
    assert_int_equal(report_finding_count(report), 1);
    assert_non_null(
        strstr(report_finding_at(report, 0)->sentence, "(unknown), about 64.0 KiB each"));
}

/* From step 21 on there is no room for it. */
static void a_leak_that_ran_out_of_memory_is_no_full_cache(void **state)
{
    uint32_t site = event_list_site(&list, "keep");

    (void)state;
    for (uint64_t i = 1; i <= 120; i++) {
        event_list_step(&list, EVENT_STEP_BEGIN, i);
        event_list_add(&list, (struct event){.kind = i <= 20 ? EVENT_ALLOC : EVENT_ALLOC_FAILED,
                                             .address = i <= 20 ? i * MIB : 0,
                                             .value = 1 * MIB,
                                             .site = site});
        event_list_step(&list, EVENT_STEP_END, i);
    }
    leaks_by_steps(event_list_question(&list), report);
    assert_string_equal(rule_of_finding("leak"), "leak of all blocks");
    assert_int_equal(number_of_finding("growth_bytes_per_step"), 1 * MIB);
    assert_non_null(strstr(report_verdict_at(report, 0), "failed in step 21"));
}

/* 40 MiB reserved; whoever grew has 30 of them when the request comes. */
static void fail_request(uint64_t grown_bytes, uint64_t request_bytes)
{
    uint32_t keeper = event_list_site(&list, "keeper"), model = event_list_site(&list, "model");

    add(EVENT_SEGMENT, 1024 * MIB, 40 * MIB);
    add(EVENT_RESERVED, 0, 40 * MIB);
    event_list_alloc(&list, 1024 * MIB, 4 * MIB, model);
    for (uint64_t i = 1; i <= 4; i++) {
        event_list_step(&list, EVENT_STEP_BEGIN, i);
        if (i == 3 && grown_bytes)
            event_list_alloc(&list, 1030 * MIB, grown_bytes, keeper);
        event_list_step(&list, EVENT_STEP_END, i);
    }
    event_list_step(&list, EVENT_STEP_BEGIN, 5);
    add(EVENT_ALLOC_FAILED, 0, request_bytes);
    event_list_step(&list, EVENT_STEP_END, 5);
}

static void a_failed_request_says_what_would_have_made_room(void **state)
{
    static const struct {
        uint64_t grown_bytes, request_bytes;
        const char *rule;
    } cases[] = {
        {30 * MIB, 1024 * MIB, "absurd request"},
        {30 * MIB, 32 * MIB, "growth until full"},
        {20 * MIB, 15 * MIB, "growth until full"}, /* 16 are free: 2 and 14 */
        {30 * MIB, 60 * MIB, "too little memory"},
        {2 * MIB, 33 * MIB, "pieces too small"}, /* 34 are free: 2 and 32 */
    };

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        if (i) {
            teardown(NULL);
            assert_int_equal(setup(NULL), 0);
        }
        fail_request(cases[i].grown_bytes, cases[i].request_bytes);
        analyse_oom(event_list_question(&list), report);
        assert_string_equal(rule_of_finding("advice"), cases[i].rule);
    }
}

/* As in what_if_test.c, ten times as large: native 560 MiB, on one line 400. */
static void play_what_segments_cost(void)
{
    add(EVENT_RESERVED, 0, 200 * MIB);
    event_list_alloc(&list, 1000 * MIB, 200 * MIB, event_list_site(&list, "a"));
    add(EVENT_RESERVED, 0, 400 * MIB);
    event_list_alloc(&list, 2000 * MIB, 200 * MIB, event_list_site(&list, "b"));
    event_list_free(&list, 1000 * MIB);
    event_list_free(&list, 2000 * MIB);
    add(EVENT_RESERVED, 0, 800 * MIB);
    event_list_alloc(&list, 3000 * MIB, 400 * MIB, event_list_site(&list, "c"));
}

static void a_setting_that_saves_is_named_with_what_it_saves(void **state)
{
    (void)state;
    play_what_segments_cost();
    expect("another setting", 400 * MIB);
    assert_non_null(strstr(report_finding_at(report, 0)->sentence,
                           "TRY: set PYTORCH_NPU_ALLOC_CONF=expandable_segments:True."));
}

static void a_site_that_alone_keeps_a_segment_is_named(void **state)
{
    (void)state;
    add(EVENT_SEGMENT, 1024 * MIB, 256 * MIB);
    event_list_alloc(&list, 1124 * MIB, 1 * MIB, event_list_site(&list, "small"));
    add(EVENT_RESERVED, 0, 256 * MIB);
    analyse_fragmentation(event_list_question(&list), report);
    assert_string_equal(rule_of_finding("advice"), "few blocks keep segments");
    assert_int_equal(number_of_finding("saves_bytes"), 255 * MIB);
}

/* Alive in each step when its forward phase ends, gone before the step does. */
static void activations_that_make_the_peak(void **state)
{
    (void)state;
    for (uint64_t i = 1; i <= 4; i++) {
        event_list_step(&list, EVENT_STEP_BEGIN, i);
        event_list_operator(&list, EVENT_OPERATOR_BEGIN, "forward");
        event_list_alloc(&list, 16 * MIB, 8 * MIB, event_list_site(&list, "layer"));
        event_list_operator(&list, EVENT_OPERATOR_END, "forward");
        event_list_operator(&list, EVENT_OPERATOR_BEGIN, "backward");
        event_list_free(&list, 16 * MIB);
        event_list_operator(&list, EVENT_OPERATOR_END, "backward");
        event_list_step(&list, EVENT_STEP_END, i);
    }
    expect("activations", 8 * MIB);
}

#define ADVICE_TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        ADVICE_TEST(without_evidence_there_is_none),
        ADVICE_TEST(holes_call_for_segments_that_grow),
        ADVICE_TEST(segments_that_grow_are_not_told_to_grow),
        ADVICE_TEST(what_is_reserved_and_never_used_is_seen),
        ADVICE_TEST(memory_given_back_again_and_again),
        ADVICE_TEST(memory_given_back_for_good_is_fine),
        ADVICE_TEST(a_large_workspace),
        ADVICE_TEST(communication_buffers_and_growth_of_modules),
        ADVICE_TEST(gradients_that_are_there_at_the_peak),
        ADVICE_TEST(found_steps_say_nothing_of_gradients),
        ADVICE_TEST(gradients_that_are_gone_at_the_peak),
        ADVICE_TEST(blocks_that_nobody_uses_at_the_peak),
        ADVICE_TEST(a_leak_says_which_of_its_blocks_stay),
        ADVICE_TEST(what_the_end_frees_does_not_excuse_the_rest),
        ADVICE_TEST(one_block_that_grows_is_told_apart),
        ADVICE_TEST(without_names_a_size_does_not_hide_another),
        ADVICE_TEST(a_leak_that_ran_out_of_memory_is_no_full_cache),
        ADVICE_TEST(a_failed_request_says_what_would_have_made_room),
        ADVICE_TEST(a_setting_that_saves_is_named_with_what_it_saves),
        ADVICE_TEST(a_site_that_alone_keeps_a_segment_is_named),
        ADVICE_TEST(activations_that_make_the_peak),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
