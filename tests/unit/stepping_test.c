/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which steps that were found are steps: what each of them allocates, how long it takes, and
 * whether the program takes itself down. What they keep does not matter. And where they begin.
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

/* Innermost first. */
struct place {
    const char *name;
    const char *functions[4];
    bool has_python, are_steps; /* somewhere there is a frame of Python */
};

static const struct place places[] = {
    {"steps that begin in the program", {"make", "train", "main"}, true, true},
    {"steps that begin in its loop of collections",
     {"gc_list_new", "gc_collect", "train", "main"},
     true,
     true},
    {"steps of an interpreter whose own frames are all that is recorded",
     {"PyMem_Realloc", "_PyDict_New", "_PyEval_EvalFrameDefault", "Py_RunMain"},
     false,
     true},
    {"steps of an interpreter beside the program in Python",
     {"PyMem_Realloc", "_PyDict_New", "_PyIO_Init", "Py_InitializeFromConfig"},
     true,
     false},
    {"steps of an interpreter that is taken down",
     {"list_resize", "finalize_modules", "Py_FinalizeEx", "main"},
     false,
     false},
    {"steps of an interpreter's end without static names",
     {"PyList_Append", "Py_FinalizeEx", "main"},
     false,
     false},
    {"steps of handlers of the end", {"make", "__run_exit_handlers", "exit", "main"}, false, false},
    {"steps of what watches a collector",
     {"PyDict_New", "invoke_gc_callback", "make", "main"},
     false,
     false},
};

static uint32_t site_at(struct event_list *list, const struct place *place, uint32_t line)
{
    uint32_t stack = 0;

    for (size_t i = 4; i-- > 0;)
        if (place->functions[i])
            stack = model_stack(
                list->model, stack,
                model_frame(list->model, (struct model_frame){
                                             .kind = FRAME_NATIVE,
                                             .function = event_list_text(list, place->functions[i]),
                                             .line = i ? 0 : line}));
    return model_site(list->model, (struct model_site){.stack = stack});
}

static void where_found_steps_begin_is_looked_at(void **state)
{
    const struct place *place = *state;
    struct event_list list;
    struct stepping stepping;
    struct event_source events;
    struct mt_error error;
    uint32_t sites[3];
    bool is_changed;

    event_list_init(&list);
    if (place->has_python)
        model_frame(list.model, (struct model_frame){.kind = FRAME_PYTHON,
                                                     .function = event_list_text(&list, "train")});
    for (uint32_t i = 0; i < 3; i++)
        sites[i] = site_at(&list, place, i + 1);
    for (uint64_t i = 1; i <= (uint64_t)STEPS * 3; i++)
        event_list_alloc(&list, i << 32, 1 << 20, sites[i % 3]);
    assert_int_equal(stepping_init(&stepping, list.model, NULL, NULL, NULL, &error), MT_OK);
    step_finder_feed(stepping.finder, list.events, list.count);
    events = list.source;
    assert_int_equal(
        stepping_begin(&stepping, list.model, list.symbols, &events, &is_changed, &error), MT_OK);
    assert_int_equal(is_changed, place->are_steps);
    stepping_release(&stepping);
    event_list_release(&list);
}

int main(void)
{
    enum {
        story_count = sizeof(stories) / sizeof(stories[0]),
        place_count = sizeof(places) / sizeof(places[0])
    };
    struct CMUnitTest tests[story_count + place_count];

    for (size_t i = 0; i < story_count; i++)
        tests[i] = (struct CMUnitTest){.name = stories[i].name,
                                       .test_func = found_steps_are_judged,
                                       .initial_state = (void *)(uintptr_t)&stories[i]};
    for (size_t i = 0; i < place_count; i++)
        tests[story_count + i] =
            (struct CMUnitTest){.name = places[i].name,
                                .test_func = where_found_steps_begin_is_looked_at,
                                .initial_state = (void *)(uintptr_t)&places[i]};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
