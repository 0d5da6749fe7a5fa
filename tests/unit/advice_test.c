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

#include "event_list.h"

#define MIB UINT64_C(1048576)

static struct event_list list;
static struct report *report;

static int setup(void **state)
{
    (void)state;
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
    const char *rules = "";

    analyse_advice(event_list_question(&list), report);
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
        ADVICE_TEST(gradients_that_are_gone_at_the_peak),
        ADVICE_TEST(blocks_that_nobody_uses_at_the_peak),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
