/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Devices that worked, and of which no memory was recorded; steps without any.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "event_list.h"
#include "leaktide/format.h"
#include "verdict.h"

enum { LISTED_MOST = 3, NONE = -1 };

struct story {
    const char *name;
    struct {
        int32_t device;
        uint64_t kernel_count; /* 0: the list ends here */
    } worked[LISTED_MOST];
    enum event_kind kind; /* of what is recorded of device 0; EVENT_KIND_COUNT: nothing */
    int32_t doubted;
};

static const struct story stories[] = {
    {"memory of the device", {{0, 9}}, EVENT_ALLOC, NONE},
    {"totals of the device", {{0, 9}}, EVENT_SAMPLE, NONE},
    {"no memory of the device", {{0, 9}}, EVENT_KIND_COUNT, 0},
    {"one of two devices", {{0, 9}, {3, 5}}, EVENT_ALLOC, 3},
    {"the one that worked most", {{3, 5}, {4, 7}, {0, 9}}, EVENT_ALLOC, 4},
    {"a device with two numbers", {{2, 9}}, EVENT_ALLOC, NONE},
    {"nothing worked", {{0, 0}}, EVENT_ALLOC, NONE},
};

static void add_worked(struct event_list *list, const struct story *story)
{
    for (size_t i = 0; i < LISTED_MOST && story->worked[i].kernel_count; i++)
        model_device_worked(list->model,
                            (struct model_worked_device){list->process, story->worked[i].device,
                                                         story->worked[i].kernel_count});
}

static const struct doubt *device_doubt(const struct verdict *verdict)
{
    for (size_t i = 0; i < verdict->doubt_count; i++)
        if (verdict->doubts[i].kind == DOUBT_DEVICE_UNRECORDED)
            return &verdict->doubts[i];
    return NULL;
}

static void is_doubted(void **state)
{
    const struct story *story = *state;
    const struct question *question;
    const struct verdict *verdict;
    const struct doubt *doubt;
    struct event_list list;

    event_list_init(&list);
    add_worked(&list, story);
    if (story->kind != EVENT_KIND_COUNT)
        event_list_add(&list, (struct event){.kind = (uint8_t)story->kind,
                                             .address = 4096,
                                             .value = 64,
                                             .text = event_list_text(&list, "allocated")});
    question = event_list_question(&list);
    verdict = verdict_borrow(question);
    assert_non_null(verdict);
    doubt = device_doubt(verdict);
    assert_int_equal(doubt ? (int64_t)doubt->needed : NONE, story->doubted);
    if (doubt)
        assert_ptr_equal(doubt, verdict->doubts);
    verdict_give_back(question, verdict);
    event_list_release(&list);
}

static bool steps_are_doubted(uint8_t flags)
{
    struct mt_place place = {.device = 0, .kind = MT_KIND_DEVICE, .flags = flags, .module = -1};
    const struct question *question;
    const struct verdict *verdict;
    struct event_list list;
    bool is_doubted = false;

    event_list_init(&list);
    list.device = model_place(list.model, place);
    for (uint64_t step = 1; step <= 8; step++) {
        event_list_step(&list, EVENT_STEP_BEGIN, step);
        event_list_alloc(&list, 4096 * step, 64, 0);
        event_list_free(&list, 4096 * step);
        event_list_step(&list, EVENT_STEP_END, step);
    }
    question = event_list_question(&list);
    verdict = verdict_borrow(question);
    assert_non_null(verdict);
    for (size_t i = 0; i < verdict->doubt_count; i++)
        is_doubted |= verdict->doubts[i].kind == DOUBT_BLOCKS;
    verdict_give_back(question, verdict);
    event_list_release(&list);
    return is_doubted;
}

static void steps_of_reserved_addresses_alone_are_no_evidence(void **state)
{
    (void)state;
    assert_false(steps_are_doubted(0));
    assert_true(steps_are_doubted(MT_PLACE_VIRTUAL));
}

int main(void)
{
    enum { story_count = sizeof(stories) / sizeof(stories[0]) };
    struct CMUnitTest tests[story_count + 1] = {
        [story_count] = cmocka_unit_test(steps_of_reserved_addresses_alone_are_no_evidence)};

    for (size_t i = 0; i < story_count; i++)
        tests[i] = (struct CMUnitTest){.name = stories[i].name,
                                       .test_func = is_doubted,
                                       .initial_state = (void *)(uintptr_t)&stories[i]};
    return cmocka_run_group_tests_name("devices without memory", tests, NULL, NULL);
}
