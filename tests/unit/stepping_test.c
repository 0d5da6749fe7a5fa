/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which steps that were found are steps: what each of them allocates, how long it takes, and
 * whether the program takes itself down. What they keep does not matter.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "event_list.h"
#include "stepping.h"

enum { STEPS = 30 };

/* Of step i, from 1. */
struct story {
    const char *name;
    uint64_t (*made_bytes)(uint64_t step);
    uint64_t (*kept_bytes)(uint64_t step);
    uint64_t (*freed_bytes)(uint64_t step); /* of what there was before */
    uint64_t (*lasts_ns)(uint64_t step);
    bool are_steps;
};

static uint64_t none(uint64_t step)
{
    (void)step;
    return 0;
}

static uint64_t much(uint64_t step)
{
    return (1 << 20) + step * 1000;
}

static uint64_t little(uint64_t step)
{
    (void)step;
    return 64;
}

static uint64_t now_and_then(uint64_t step)
{
    return step % 3 ? 100 : 1 << 20;
}

static uint64_t of_all_sizes(uint64_t step)
{
    return UINT64_C(16384) << step % 16;
}

static const struct story stories[] = {
    {"a loop that keeps nothing", much, none, none, much, true},
    {"a loop that keeps all it makes", none, much, none, much, true},
    {"a loop that gives a little back", much, none, little, much, true},
    {"a program that takes itself down", little, none, much, much, false},
    {"a third of the steps make nearly all", now_and_then, none, none, much, true},
    {"a third of the steps take nearly all the time", much, none, none, now_and_then, true},
    {"steps of all sizes", of_all_sizes, none, none, much, false},
    {"steps of all lengths", much, none, none, of_all_sizes, false},
};

static void add(struct event_list *list, const struct story *story, uint64_t step)
{
    uint64_t begin_ns = list->time_ns;

    event_list_step(list, EVENT_STEP_BEGIN, step);
    if (story->made_bytes(step)) {
        event_list_alloc(list, step << 32, story->made_bytes(step), 0);
        event_list_free(list, step << 32);
    }
    if (story->kept_bytes(step))
        event_list_alloc(list, step << 32 | 1 << 30, story->kept_bytes(step), 0);
    if (story->freed_bytes(step))
        event_list_free(list, (STEPS + step) << 32);
    event_list_add(list, (struct event){.kind = EVENT_STEP_END,
                                        .value = step,
                                        .time_ns = begin_ns + 10000 + story->lasts_ns(step)});
}

static void found_steps_are_judged(void **state)
{
    const struct story *story = *state;
    struct event_list list;
    struct stepping stepping = {.rule = {.found_count = 1}};

    event_list_init(&list);
    for (uint64_t i = 1; i <= STEPS; i++)
        if (story->freed_bytes(i))
            event_list_alloc(&list, (STEPS + i) << 32, story->freed_bytes(i), 0);
    for (uint64_t i = 1; i <= STEPS; i++)
        add(&list, story, i);
    stepping.found = calloc(1, sizeof(*stepping.found));
    assert_non_null(stepping.found);
    stepping.found->token.kind = TOKEN_SITE;
    assert_int_equal(stepping_confirm(&stepping, event_list_question(&list)->tally),
                     story->are_steps);
    free(stepping.found);
    event_list_release(&list);
}

int main(void)
{
    enum { story_count = sizeof(stories) / sizeof(stories[0]) };
    struct CMUnitTest tests[story_count];

    for (size_t i = 0; i < story_count; i++)
        tests[i] = (struct CMUnitTest){.name = stories[i].name,
                                       .test_func = found_steps_are_judged,
                                       .initial_state = (void *)(uintptr_t)&stories[i]};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
