/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Leaks of marked loops in the process's own heap: what survives decides, steps say how fast.
 *
 * A story is a loop of marked steps. In each, other lines make and free blocks, and the line that
 * is asked about makes some through stacks of its own.
 */
#include <math.h>

#include "growth.h"
#include "leaks_by_steps.h"
#include "loop_story.h"

enum { LATE = 40 };

/* Through one stack of the line blocks stay, through another they live for most of the loop. */
static void late_frees_of_another_stack_hide_no_leak(void **state)
{
    uint32_t other = site_of("other", 10), stays = site_of("copy", 20), late = site_of("cycle", 20);
    uint64_t waiting[STEPS];

    (void)state;
    for (uint64_t i = 0; i < STEPS; i++) {
        event_list_step(&list, EVENT_STEP_BEGIN, i + 1);
        work(100, other);
        make(400, stays);
        waiting[i] = make(300, late);
        if (i >= LATE)
            drop(waiting[i - LATE]);
        event_list_step(&list, EVENT_STEP_END, i + 1);
    }
    ask();
    assert_int_equal(report_outcome_of(report), REPORT_FOUND);
    assert_int_equal(report_finding_count(report), 1);
    assert_in_range(number_of_leak("growth_bytes_per_step"), 360, 440);
}

/* Steps alone see survivors of 20 of 60 steps. */
static void what_stays_in_two_phases_is_no_leak(void **state)
{
    uint32_t other = site_of("other", 10), stays = site_of("copy", 20);

    (void)state;
    for (uint64_t i = 0; i < STEPS; i++) {
        event_list_step(&list, EVENT_STEP_BEGIN, i + 1);
        work(100, other);
        for (size_t k = 0; k < 5; k++)
            drop(make(400, stays));
        for (size_t k = 0; k < 5 && (i < 14 || i >= STEPS - 6); k++)
            make(400, stays);
        event_list_step(&list, EVENT_STEP_END, i + 1);
    }
    ask();
    assert_int_equal(report_outcome_of(report), REPORT_FINE);
    assert_int_equal(report_finding_count(report), 0);
}

static void garbage_that_waits_for_the_collector_is_no_leak(void **state)
{
    uint32_t other = site_of("other", 10), cycle = site_of("cycle", 20);
    uint64_t waiting[STEPS];

    (void)state;
    for (uint64_t i = 0; i < STEPS; i++) {
        event_list_step(&list, EVENT_STEP_BEGIN, i + 1);
        work(100, other);
        waiting[i] = make(1000, cycle);
        event_list_step(&list, EVENT_STEP_END, i + 1);
    }
    finalize(waiting, STEPS);
    ask();
    assert_int_equal(report_outcome_of(report), REPORT_FINE);
    assert_non_null(strstr(report_verdict_at(report, 1), "stay until the interpreter ends"));
}

/* Without marks: 60 KB of nearly nothing else may be the leak; beside 2 MiB they are a remark. */
static void what_an_exit_handler_frees_may_be_a_leak(void **state)
{
    static const struct {
        uint64_t held_bytes;
        enum report_outcome outcome;
        const char *begin;
    } cases[] = {{100, REPORT_NO_DATA, "CANNOT SAY"}, {2 << 20, REPORT_FINE, "REMARK"}};

    for (size_t c = 0; c < sizeof(cases) / sizeof(cases[0]); c++) {
        uint32_t other, handler;
        uint64_t waiting[STEPS];
        const char *said;

        teardown(state);
        assert_int_equal(setup(state), 0);
        other = site_of("other", 10);
        handler = site_of("handler", 20);
        make(cases[c].held_bytes, site_of("data", 30));
        for (uint64_t i = 0; i < STEPS; i++) {
            work(100, other);
            waiting[i] = make(1000, handler);
        }
        finalize(waiting, STEPS);
        ask();
        said = report_verdict_at(report, c);
        assert_int_equal(report_outcome_of(report), cases[c].outcome);
        assert_memory_equal(said, cases[c].begin, strlen(cases[c].begin));
        assert_non_null(strstr(said, "stay until the interpreter ends"));
    }
}

/* Below a line of Python: its callees, outermost first. */
static uint32_t python_site_of(const char *const *callees, size_t count)
{
    uint32_t stack = model_stack(list.model, 0, frame_of(FRAME_PYTHON, "train", 10));

    for (size_t i = 0; i < count; i++)
        stack = model_stack(list.model, stack, frame_of(FRAME_NATIVE, callees[i], 0));
    return model_site(list.model, (struct model_site){.stack = stack});
}

/* A loop of 300 turns: temporary memory of `other`, and a block that stays. */
static void build(uint32_t stays, uint32_t other, size_t other_count, uint64_t other_bytes)
{
    for (uint64_t i = 0; i < 300; i++) {
        for (size_t k = 0; k < other_count; k++)
            drop(make(other_bytes, other));
        make(1000, stays);
    }
}

/* The interpreter that a library asks for an object does not hide the library. */
static void survivors_begin_at_the_library_that_asked(void **state)
{
    static const struct {
        const char *callees[4];
        const char *words;
    } cases[] = {
        {{"PyObject_Vectorcall", "new_barebone", "PyType_GenericAlloc", "_PyObject_GC_Malloc"},
         "SURVIVORS: 100 % new_barebone < PyObject_Vectorcall < train."},
        {{"PyObject_Vectorcall", "_PyObject_MakeTpCall", "PyType_GenericAlloc",
          "_PyObject_GC_Malloc"},
         "SURVIVORS: 100 % _PyObject_GC_Malloc < PyType_GenericAlloc < _PyObject_MakeTpCall."},
    };

    for (size_t c = 0; c < sizeof(cases) / sizeof(cases[0]); c++) {
        teardown(state);
        assert_int_equal(setup(state), 0);
        build(python_site_of(cases[c].callees, 4), site_of("other", 10), 1, 100);
        ask();
        assert_non_null(verdict_with(cases[c].words));
    }
}

static uint32_t native_site_below(const char *outer, const char *function)
{
    uint32_t stack = model_stack(list.model, 0, frame_of(FRAME_NATIVE, outer, 0));

    stack = model_stack(list.model, stack, frame_of(FRAME_NATIVE, function, 0));
    return model_site(list.model, (struct model_site){.stack = stack});
}

/* How an interpreter ends: who may have freed what stayed until then. */
struct ending {
    const char *function;     /* that made it */
    bool is_collected_before; /* an exit handler ran the collector, and was answered */
    bool is_first;            /* ... but nothing showed before that the interpreter ends */
    bool is_after_handlers;   /* freed when all of them were over */
    bool is_collection_seen;  /* the last one left a trace, as any would have */
    enum report_outcome outcome;
    const char *words;
};

static void run_ending(const struct ending *ending, const uint64_t *addresses)
{
    uint32_t collects = native_site_below("Py_FinalizeEx", "gc_collect");

    if (!ending->is_first)
        drop(make(64, site_of("Py_FinalizeEx", 0)));
    for (size_t i = 0; i < STEPS && !ending->is_after_handlers; i++)
        drop(addresses[i]);
    if (ending->is_collected_before)
        drop(make(64, collects));
    drop(make(64, site_of("Py_FinalizeEx", 0)));
    drop(make(64, site_of("flush_std_files", 0)));
    if (ending->is_collection_seen)
        drop(make(64, native_site_below("Py_FinalizeEx", "invoke_gc_callback")));
    for (size_t i = 0; i < STEPS && ending->is_after_handlers; i++)
        drop(addresses[i]);
    drop(make(64, site_of("finalize_modules", 0)));
}

/* Garbage is freed by a collection, and always with something that refers to others. */
static void what_goes_before_the_last_collection_is_no_garbage(void **state)
{
    static const char garbage[] = "garbage that no collection met";
    static const char lets_go[] = "an exit handler lets go";
    static const struct ending endings[] = {
        {"_PyObject_New", .outcome = REPORT_FOUND, .words = "LEAK"},
        {"_PyObject_New", .is_after_handlers = true, .words = garbage},
        {"_PyObject_New", .is_collected_before = true, .is_collection_seen = true,
         .outcome = REPORT_NO_DATA, .words = lets_go},
        {"_PyObject_GC_New", .is_first = true, .outcome = REPORT_FOUND, .words = "LEAK"},
        {"_PyObject_GC_New", .is_first = true, .is_collected_before = true,
         .outcome = REPORT_NO_DATA, .words = lets_go},
        {"_PyObject_GC_New", .outcome = REPORT_NO_DATA, .words = lets_go},
        {"_PyObject_GC_New", .is_collection_seen = true, .outcome = REPORT_FOUND, .words = "LEAK"},
        {"_PyObject_GC_New", .is_after_handlers = true, .is_collection_seen = true,
         .words = garbage},
    };

    for (size_t c = 0; c < sizeof(endings) / sizeof(endings[0]); c++) {
        uint32_t other, kept;
        uint64_t waiting[STEPS];

        teardown(state);
        assert_int_equal(setup(state), 0);
        other = site_of("other", 10);
        kept = site_of(endings[c].function, 20);
        make(2 << 20, site_of("data", 30));
        for (uint64_t i = 0; i < STEPS; i++) {
            work(100, other);
            waiting[i] = make(1000, kept);
        }
        run_ending(&endings[c], waiting);
        ask();
        assert_int_equal(report_outcome_of(report), endings[c].outcome);
        assert_non_null(verdict_with(endings[c].words));
    }
}

/*
 * A collection answers with how many objects it freed, in a block if these are more than 256. What
 * no answer followed was let go: not where blocks of Python are not recorded, nor where what went
 * are no objects. Marked steps know no better.
 */
static void many_objects_that_no_collection_answers_for_were_let_go(void **state)
{
    static const char lets_go[] = "an exit handler lets go";
    static const struct {
        const char *function;
        uint64_t count;
        bool is_marked, is_answered, hides_objects;
        enum report_outcome outcome;
        const char *words;
    } cases[] = {
        {"_PyObject_GC_New", 300, .outcome = REPORT_FOUND, .words = "LEAK"},
        {"_PyObject_GC_New", 300, .is_marked = true, .outcome = REPORT_FOUND, .words = "LEAK"},
        {"_PyObject_GC_NewVar", 300, .outcome = REPORT_FOUND, .words = "LEAK"},
        {"_PyObject_GC_Malloc", 300, .outcome = REPORT_FOUND, .words = "LEAK"},
        {"_PyObject_GC_New", 240, .outcome = REPORT_NO_DATA, .words = lets_go},
        {"_PyObject_GC_New", 240, .is_marked = true, .outcome = REPORT_NO_DATA, .words = lets_go},
        {"list_resize", 300, .outcome = REPORT_NO_DATA, .words = lets_go},
        {"_PyObject_GC_New", 300, .is_answered = true, .outcome = REPORT_NO_DATA, .words = lets_go},
        {"_PyObject_GC_New", 300, .is_answered = true, .is_marked = true, .outcome = REPORT_NO_DATA,
         .words = lets_go},
        {"_PyObject_GC_New", 300, .hides_objects = true, .outcome = REPORT_NO_DATA,
         .words = lets_go},
    };

    for (size_t c = 0; c < sizeof(cases) / sizeof(cases[0]); c++) {
        uint64_t kept[300];

        teardown(state);
        assert_int_equal(setup(state), 0);
        if (cases[c].hides_objects)
            drop(make(64, site_of("_PyObject_Malloc", 20)));
        for (uint64_t i = 0; i < cases[c].count; i++) {
            if (cases[c].is_marked && i % 5 == 0)
                event_list_step(&list, EVENT_STEP_BEGIN, i / 5 + 1);
            work(100, site_of("other", 10));
            kept[i] = make(1000, site_of(cases[c].function, 20));
            if (cases[c].is_marked && i % 5 == 4)
                event_list_step(&list, EVENT_STEP_END, i / 5 + 1);
        }
        drop(make(64, site_of("Py_FinalizeEx", 0)));
        for (uint64_t i = 0; i < cases[c].count; i++)
            drop(kept[i]);
        if (cases[c].is_answered)
            drop(make(64, native_site_below("Py_FinalizeEx", "gc_collect")));
        drop(make(64, site_of("flush_std_files", 0)));
        drop(make(64, site_of("finalize_modules", 0)));
        ask();
        assert_int_equal(report_outcome_of(report), cases[c].outcome);
        assert_non_null(verdict_with(cases[c].words));
    }
}

/* Of so short a loop that lives of half of it are seen, what is alive rises: until it is collected.
 */
static void what_rises_until_it_is_collected_may_be_garbage(void **state)
{
    for (size_t is_collected = 0; is_collected < 2; is_collected++) {
        uint32_t other, node;
        uint64_t waiting[STEPS];

        teardown(state);
        assert_int_equal(setup(state), 0);
        other = site_of("other", 10);
        node = site_of("node", 20);
        for (uint64_t i = 0; i < STEPS; i++) {
            work(100, other);
            waiting[i] = make(64 << 10, node);
            if (i == STEPS / 2)
                drop(waiting[1]);
        }
        waiting[1] = 0;
        if (is_collected)
            finalize(waiting, STEPS);
        ask();
        assert_int_equal(report_outcome_of(report), is_collected ? REPORT_NO_DATA : REPORT_FOUND);
    }
}

static uint32_t native_site_of(uint32_t line)
{
    uint32_t stack = model_stack(list.model, 0, frame_of(FRAME_NATIVE, "work", line));

    return model_site(list.model, (struct model_site){.stack = stack});
}

/* Two lines of one native function: what one gives back does not give its name to the leak. */
static void a_leak_has_the_line_that_keeps(void **state)
{
    (void)state;
    for (size_t kept_is_second = 0; kept_is_second < 2; kept_is_second++) {
        uint32_t first, second;

        teardown(state);
        assert_int_equal(setup(state), 0);
        first = native_site_of(41);
        second = native_site_of(52);
        for (uint64_t i = 0; i < STEPS; i++) {
            drop(make(4000, kept_is_second ? first : second));
            make(1000, kept_is_second ? second : first);
        }
        ask();
        assert_int_equal(report_outcome_of(report), REPORT_FOUND);
        assert_non_null(verdict_with(kept_is_second ? ":52" : ":41"));
    }
}

/* 24 KB of the 6 GB that the loop asks for, in a process of 5 MiB; and of as much as 2 MB. */
static void a_trifle_beside_the_loop_is_a_remark(void **state)
{
    static const struct {
        uint64_t work_bytes;
        enum report_outcome outcome;
    } cases[] = {{5 << 20, REPORT_FINE}, {2000, REPORT_FOUND}};

    for (size_t c = 0; c < sizeof(cases) / sizeof(cases[0]); c++) {
        uint32_t other, stays;

        if (c) {
            teardown(state);
            assert_int_equal(setup(state), 0);
        }
        other = site_of("other", 10);
        stays = site_of("copy", 20);
        for (uint64_t i = 0; i < STEPS; i++) {
            event_list_step(&list, EVENT_STEP_BEGIN, i + 1);
            work(cases[c].work_bytes, other);
            make(400, stays);
            event_list_step(&list, EVENT_STEP_END, i + 1);
        }
        ask();
        assert_int_equal(report_outcome_of(report), cases[c].outcome);
    }
}

/* A list of numbers, 4 KB in all, beside tensors: a list that is a finding where 60 KB leak. */
static void a_trifle_beside_a_heavy_leak_is_no_finding(void **state)
{
    static const struct {
        uint64_t leaked_bytes;
        size_t finding_count;
    } cases[] = {{1000, 2}, {32 << 10, 1}};

    for (size_t c = 0; c < sizeof(cases) / sizeof(cases[0]); c++) {
        uint32_t other, stays, list_of_numbers;

        if (c) {
            teardown(state);
            assert_int_equal(setup(state), 0);
        }
        other = site_of("other", 10);
        stays = site_of("copy", 20);
        list_of_numbers = site_of("numbers", 30);
        for (uint64_t i = 0; i < STEPS; i++) {
            work(100, other);
            make(cases[c].leaked_bytes, stays);
            make(70, list_of_numbers);
        }
        ask();
        assert_int_equal(report_outcome_of(report), REPORT_FOUND);
        assert_int_equal(report_finding_count(report), cases[c].finding_count);
    }
}

/* One line that keeps, each turn, a block of malloc's and one of Python's; then it is asked. */
static void loop_of_two_pools(void **state, bool is_marked, uint64_t host_bytes,
                              uint64_t python_bytes)
{
    uint32_t other, stays;

    teardown(state);
    assert_int_equal(setup(state), 0);
    other = site_of("other", 10);
    stays = site_of("copy", 20);
    for (uint64_t i = 0; i < STEPS; i++) {
        if (is_marked)
            event_list_step(&list, EVENT_STEP_BEGIN, i + 1);
        work(100, other);
        make_in(model_known_pool(list.model, POOL_PYTHON), python_bytes, stays);
        make(host_bytes, stays);
        if (is_marked)
            event_list_step(&list, EVENT_STEP_END, i + 1);
    }
    ask();
}

/* 12 KB stay in each of two pools: one leak of 24 KB, with steps and without. */
static void what_stays_is_weighed_in_all_pools_together(void **state)
{
    for (size_t is_marked = 0; is_marked < 2; is_marked++) {
        loop_of_two_pools(state, is_marked, 220, 220);
        assert_int_equal(report_outcome_of(report), REPORT_FOUND);
    }
}

/* A line of Python keeps a buffer, from malloc, and the object that holds it. */
static void a_line_that_keeps_blocks_in_two_pools_is_one_finding(void **state)
{
    for (size_t is_marked = 0; is_marked < 2; is_marked++) {
        loop_of_two_pools(state, is_marked, 3600, 400);
        assert_int_equal(report_finding_count(report), 1);
        if (is_marked)
            assert_int_equal(number_of_leak("growth_bytes_per_step"), 4000);
        else
            assert_int_equal(number_of_leak("overdue_bytes") / (STEPS - 1), 4000);
        assert_string_equal(text_of_leak("ledger"), "host");
    }
}

/* 20 names of 60 B stay beside 60 KB: one finding, of the 60 KB. */
static void a_few_names_beside_a_leak_are_no_finding(void **state)
{
    for (size_t is_marked = 0; is_marked < 2; is_marked++) {
        uint32_t other, stays, name;

        teardown(state);
        assert_int_equal(setup(state), 0);
        other = site_of("other", 10);
        stays = site_of("copy", 20);
        name = site_of("name", 30);
        for (uint64_t i = 0; i < STEPS; i++) {
            if (is_marked)
                event_list_step(&list, EVENT_STEP_BEGIN, i + 1);
            work(100, other);
            make(1000, stays);
            if (i % 3 == 0)
                make(60, name);
            if (is_marked)
                event_list_step(&list, EVENT_STEP_END, i + 1);
        }
        ask();
        assert_int_equal(report_outcome_of(report), REPORT_FOUND);
        assert_int_equal(report_finding_count(report), 1);
    }
}

/* 24 KB stay of a loop, in a process of 100 MB, which learns more than one of 1 MB; but nothing is
 * learned in each marked step. */
static void a_large_process_keeps_more_by_design(void **state)
{
    static const struct {
        uint64_t data_bytes;
        enum report_outcome outcome;
    } cases[] = {{100 << 20, REPORT_FINE}, {1 << 20, REPORT_FOUND}};

    for (size_t c = 0; c < 4; c++) {
        bool is_marked = c >= 2;
        uint32_t other, stays;

        teardown(state);
        assert_int_equal(setup(state), 0);
        other = site_of("other", 10);
        stays = site_of("copy", 20);
        make(cases[c % 2].data_bytes, site_of("data", 5));
        for (uint64_t i = 0; i < STEPS; i++) {
            if (is_marked)
                event_list_step(&list, EVENT_STEP_BEGIN, i + 1);
            work(100, other);
            make(400, stays);
            if (is_marked)
                event_list_step(&list, EVENT_STEP_END, i + 1);
        }
        ask();
        assert_int_equal(report_outcome_of(report),
                         is_marked ? REPORT_FOUND : cases[c % 2].outcome);
    }
}

/* Three steps say nothing, the blocks of many turns in each of them do. */
static void few_marked_steps_do_not_silence_the_survivors(void **state)
{
    uint32_t other = site_of("other", 10), stays = site_of("copy", 20);

    (void)state;
    for (uint64_t i = 0; i < 3; i++) {
        event_list_step(&list, EVENT_STEP_BEGIN, i + 1);
        for (size_t turn = 0; turn < 30; turn++) {
            work(100, other);
            make(400, stays);
        }
        event_list_step(&list, EVENT_STEP_END, i + 1);
    }
    ask();
    assert_int_equal(report_outcome_of(report), REPORT_FOUND);
    assert_in_range(number_of_leak("overdue_bytes"), 88 * 400, 90 * 400);
}

/* A list of a line is made anew, larger; where only the interpreter's allocator is known, the
 * blocks may be anybody's. */
static void blocks_of_many_callers_are_not_one_that_grows(void **state)
{
    static const struct {
        const char *function;
        uint32_t line;
        enum report_outcome outcome;
    } cases[] = {{"list_resize", 20, REPORT_FOUND}, {"_PyObject_Malloc", 0, REPORT_NO_DATA}};

    for (size_t c = 0; c < sizeof(cases) / sizeof(cases[0]); c++) {
        uint32_t other, grows;
        uint64_t last;

        teardown(state);
        assert_int_equal(setup(state), 0);
        other = site_of("other", 10);
        grows = site_of(cases[c].function, cases[c].line);
        last = make(64 << 10, grows);
        for (uint64_t i = 1; i < 300; i++) {
            uint64_t next;

            work(100, other);
            next = make((64 << 10) + i * 4096, grows);
            drop(last);
            last = next;
        }
        ask();
        assert_int_equal(report_outcome_of(report), cases[c].outcome);
    }
}

/* A program that leaks; the job called it and outlived it, or not. */
static void what_an_errand_keeps_is_a_remark(void **state)
{
    for (int is_errand = 0; is_errand < 2; is_errand++) {
        struct model_process second = {.process_id = 4712, .rank = -1, .is_complete = true};
        uint32_t other, stays;

        teardown(state);
        assert_int_equal(setup(state), 0);
        other = site_of("other", 10);
        stays = site_of("copy", 20);
        for (size_t i = 0; i < STEPS; i++)
            work(100, other);
        second.is_errand = is_errand;
        list.process = model_process(list.model, &second);
        for (size_t i = 0; i < STEPS; i++) {
            work(100, other);
            make(1000, stays);
        }
        ask();
        assert_int_equal(report_outcome_of(report), is_errand ? REPORT_FINE : REPORT_FOUND);
        assert_int_equal(report_finding_count(report), !is_errand);
        assert_int_equal(verdict_with("REMARK: 1 program that the job called") != NULL, is_errand);
    }
}

/* Of a device, where no survivors decide: the same growth, marked and found, in few steps and in
 * enough. */
static void few_steps_that_were_found_decide_nothing(void **state)
{
    static const struct found_steps found = {.token = {.kind = TOKEN_SITE}};
    static const struct step_rule rule = {.found = &found, .found_count = 1};
    static const struct {
        uint64_t step_count;
        bool is_found;
        enum report_outcome outcome;
    } cases[] = {{8, false, REPORT_FOUND}, {8, true, REPORT_NO_DATA}, {30, true, REPORT_FOUND}};

    for (size_t c = 0; c < sizeof(cases) / sizeof(cases[0]); c++) {
        struct question question;
        uint32_t keep;

        teardown(state);
        assert_int_equal(setup(state), 0);
        keep = event_list_site(&list, "keep");
        for (uint64_t i = 0; i < cases[c].step_count; i++) {
            event_list_step(&list, EVENT_STEP_BEGIN, i + 1);
            event_list_alloc(&list, (i + 1) << 20, 1 << 20, keep);
            event_list_step(&list, EVENT_STEP_END, i + 1);
        }
        question = *event_list_question(&list);
        question.steps = cases[c].is_found ? &rule : NULL;
        leaks_by_steps(&question, report);
        assert_int_equal(report_outcome_of(report), cases[c].outcome);
    }
}

/* A program that goes over its rows, writes, and ends: a step is a row, found by its period. Its
 * table is made larger six times, by as much as there is; or six blocks of one size stay. */
static void a_table_that_grows_in_found_steps_is_no_leak(void **state)
{
    static const struct found_steps found = {.token = {.kind = TOKEN_SITE}};
    static const struct step_rule rule = {.found = &found, .found_count = 1};

    for (size_t c = 0; c < 3; c++) {
        bool is_found = c > 0, is_table = c < 2;
        struct question question;
        uint32_t table, tail;

        teardown(state);
        assert_int_equal(setup(state), 0);
        table = site_of("table_add", 20);
        tail = site_of("write", 30);
        for (uint64_t i = 1; i <= 19000; i++) {
            event_list_step(&list, EVENT_STEP_BEGIN, i);
            if (i >= 512 && !(i & (i - 1)))
                make(is_table ? 144 * i : 144 << 10, table);
            event_list_step(&list, EVENT_STEP_END, i);
        }
        for (size_t i = 0; i < 4; i++)
            drop(make(100, tail));
        question = *event_list_question(&list);
        question.steps = is_found ? &rule : NULL;
        ask_of(&question);
        assert_int_equal(report_outcome_of(report) == REPORT_FOUND, !(is_found && is_table));
    }
}

/* Requests of a service, whose steps were found: each makes its cache anew for every token, and
 * leaves the last ones. */
enum { TOKENS = 12 };

static const struct request_case {
    const char *name;
    uint64_t requests, kept; /* of each request, at its end */
    bool is_uneven;          /* every third request leaves one less */
    uint64_t turns, rate_bytes;
} request_cases[] = {
    {"turns are requests", 24, 1, false, 24, 64 << 10},
    {"also of many", 300, 1, false, 300, 64 << 10},
    {"that leave several", 24, 5, false, 24, 5 * 64 << 10},
    {"ten are enough", 10, 2, false, 10, 0},
    {"nine are not", 9, 2, false, 9 * TOKENS, 0},
    {"nor are those that leave more and less", 24, 2, true, 24 * TOKENS, 0},
    {"a loop that keeps most of what it makes is the one", 24, 7, false, 24 * TOKENS, 0},
    {"and one that keeps all", 24, TOKENS, false, 24 * TOKENS, 64 << 10},
};

static void serve(const struct request_case *c, uint64_t request)
{
    uint32_t cache = site_of("cat", 20), scratch[] = {site_of("norm", 30), site_of("project", 40)};
    uint64_t kept = c->kept - (c->is_uneven && request % 3 == 0), last = 0;

    for (uint64_t token = 1; token <= TOKENS; token++) {
        for (size_t i = 0; i < 2; i++)
            drop(make(100, scratch[i]));
        if (last && token - 1 + kept <= TOKENS)
            drop(last);
        last = make(64 << 10, cache);
    }
}

static void a_turn_of_a_service_is_a_request(void **state)
{
    static const struct found_steps found = {.token = {.kind = TOKEN_SITE}};
    static const struct step_rule rule = {.found = &found, .found_count = 1};

    for (size_t i = 0; i < sizeof(request_cases) / sizeof(request_cases[0]); i++) {
        const struct request_case *c = &request_cases[i];
        struct question question;

        teardown(state);
        assert_int_equal(setup(state), 0);
        for (uint64_t request = 1; request <= c->requests; request++) {
            event_list_step(&list, EVENT_STEP_BEGIN, request);
            serve(c, request);
            event_list_step(&list, EVENT_STEP_END, request);
        }
        question = *event_list_question(&list);
        question.steps = &rule;
        ask_of(&question);
        print_message("%s\n", c->name);
        assert_int_equal(report_outcome_of(report), REPORT_FOUND);
        assert_int_equal(number_of_leak("turn_count"), c->turns);
        if (c->rate_bytes)
            assert_in_range(number_of_leak("growth_bytes_per_step"), c->rate_bytes * 98 / 100,
                            c->rate_bytes * 102 / 100);
    }
}

/* Buffers of JavaScript, where V8 collects its whole heap so often; each collection frees, or not,
 * what was made before it. */
static const struct collected_case {
    uint64_t collect_every; /* turns; 0: never */
    bool is_kept;
    enum report_outcome outcome;
    const char *words;
} collected_cases[] = {
    {0, true, REPORT_NO_DATA, "MAY BE GARBAGE: "},
    {200, true, REPORT_NO_DATA, "MAY BE GARBAGE: "}, /* one collection */
    {50, true, REPORT_FOUND, "LEAK: "},
    {50, false, REPORT_FINE, "No leak"},
};

static void collect(const uint64_t *addresses, uint64_t count)
{
    for (uint64_t i = 0; i < count; i++)
        drop(addresses[i]);
    drop(make(64, site_of("v8::internal::MarkCompactCollector::StartMarking", 0)));
    drop(make(640, site_of("v8::internal::MarkCompactCollector::StartMarking", 0)));
}

static void what_a_collector_has_not_told_is_not_decided(void **state)
{
    enum { turns = 300 };

    for (size_t c = 0; c < 2 * sizeof(collected_cases) / sizeof(collected_cases[0]); c++) {
        const struct collected_case *row = &collected_cases[c / 2];
        bool is_marked = c % 2 > 0;
        uint64_t buffers[turns], first = 0;
        uint32_t other, buffer;

        teardown(state);
        assert_int_equal(setup(state), 0);
        other = site_of("other", 10);
        buffer = site_of("node::NodeArrayBufferAllocator::AllocateUninitialized", 0);
        for (uint64_t i = 0; i < turns; i++) {
            if (is_marked)
                event_list_step(&list, EVENT_STEP_BEGIN, i + 1);
            work(100, other);
            buffers[i] = make(4000, buffer);
            if (is_marked)
                event_list_step(&list, EVENT_STEP_END, i + 1);
            if (!row->collect_every || i % row->collect_every != row->collect_every - 1)
                continue;
            collect(buffers + first, row->is_kept ? 0 : i - first);
            first = i;
        }
        ask();
        assert_int_equal(report_outcome_of(report), row->outcome);
        assert_ptr_equal(strstr(report_verdict_at(report, 0), row->words),
                         report_verdict_at(report, 0));
    }
}

/* New keys come ever more seldom. */
static bool is_new_key(uint64_t turn)
{
    return (uint64_t)(3 * pow((double)turn + 1, 0.7)) > (uint64_t)(3 * pow((double)turn, 0.7));
}

static void a_cache_that_fills_by_key_is_not_decided(void **state)
{
    for (size_t is_marked = 0; is_marked < 2; is_marked++) {
        uint32_t other, stays;

        if (is_marked) {
            teardown(state);
            assert_int_equal(setup(state), 0);
        }
        other = site_of("other", 10);
        stays = site_of("copy", 20);
        for (uint64_t i = 0; i < 300; i++) {
            if (is_marked)
                event_list_step(&list, EVENT_STEP_BEGIN, i + 1);
            work(100, other);
            if (is_new_key(i))
                make(400, stays);
            if (is_marked)
                event_list_step(&list, EVENT_STEP_END, i + 1);
        }
        ask();
        assert_int_equal(report_outcome_of(report), REPORT_NO_DATA);
        assert_non_null(strstr(report_verdict_at(report, 0), "MAY BE A CACHE"));
        assert_int_equal(report_finding_count(report), 0);
    }
}

/* Keeps all that it makes: nothing else is seen; another line makes as many blocks, so that turns
 * are seen; temporary memory beside it. */
static void what_may_be_data_is_said(void **state)
{
    static const struct {
        size_t other_count; /* each turn */
        uint64_t other_bytes;
        bool is_said;
    } cases[] = {{0, 0, true}, {1, 100, false}, {2, 100000, false}, {2, 100, true}};

    for (size_t c = 0; c < sizeof(cases) / sizeof(cases[0]); c++) {
        teardown(state);
        assert_int_equal(setup(state), 0);
        build(site_of("copy", 20), site_of("other", 10), cases[c].other_count,
              cases[c].other_bytes);
        ask();
        assert_int_equal(report_outcome_of(report), REPORT_FOUND);
        assert_int_equal(verdict_with("MAY BE DATA: ") != NULL, cases[c].is_said);
        if (!c)
            assert_non_null(verdict_with("MAY BE DATA: 99 % of what"));
    }
}

/* All is built first, then the program works `rest` times as long and asks for nothing but a buffer
 * at its end. Births alone go on to the end; time tells that the building did not. */
static void what_is_built_before_a_long_rest_may_be_data(void **state)
{
    static const struct {
        size_t other_count; /* each turn */
        uint64_t rest;
        enum report_outcome outcome;
    } cases[] = {
        {0, 0, REPORT_FOUND}, {0, 3, REPORT_FOUND}, {0, 5, REPORT_NO_DATA}, {1, 5, REPORT_FOUND}};

    for (size_t c = 0; c < sizeof(cases) / sizeof(cases[0]); c++) {
        teardown(state);
        assert_int_equal(setup(state), 0);
        build(site_of("build", 20), site_of("other", 10), cases[c].other_count, 100);
        list.time_ns += list.time_ns * cases[c].rest;
        drop(make(1024, site_of("print", 30)));
        ask();
        assert_int_equal(report_outcome_of(report), cases[c].outcome);
        if (cases[c].outcome == REPORT_NO_DATA)
            assert_non_null(verdict_with("most of them made at train (job.py:20)"));
    }
}

/* 40 lines that are imported run on below the loop, 13 births each; in a turn of the loop an inner
 * one makes four blocks, and one stays. */
static void turns_are_those_of_the_loop_that_leaks(void **state)
{
    uint32_t inner = site_of("inner", 10), stays = site_of("copy", 20), too = site_of("cast", 20);

    (void)state;
    for (uint64_t i = 0; i < 9; i++)
        for (uint32_t k = 0; k < 40; k++)
            drop(make(100, site_of("import", 100 + k)));
    for (uint64_t i = 0; i < 24; i++) {
        for (uint32_t k = 0; i % 6 == 5 && k < 40; k++)
            drop(make(100, site_of("import", 100 + k)));
        work(100, inner);
        for (uint32_t k = 0; k < 4; k++)
            drop(make(100, site_of("layer", 30 + k)));
        make(4000, stays);
        make(96, too);
    }
    ask();
    assert_int_equal(number_of_leak("turn_count"), 24);
    assert_in_range(number_of_leak("growth_bytes_per_step"), 4096 * 95 / 100, 4096 * 105 / 100);
}

/* A pattern for each letter: re has room for 512. More of them are kept by the program itself. */
static void patterns_that_re_keeps_may_be_a_cache(void **state)
{
    static const uint64_t patterns[] = {200, 600};

    for (size_t i = 0; i < 2; i++) {
        uint32_t stack, other, stays;

        teardown(state);
        assert_int_equal(setup(state), 0);
        other = site_of("other", 10);
        stack = model_stack(list.model, 0, frame_of(FRAME_PYTHON, "train", 20));
        stack = model_stack(list.model, stack, frame_of(FRAME_PYTHON, "_compile", 303));
        stack = model_stack(list.model, stack, frame_of(FRAME_NATIVE, "_sre_compile", 0));
        stays = model_site(list.model, (struct model_site){.stack = stack});
        for (uint64_t k = 0; k < patterns[i]; k++) {
            work(100, other);
            make(400, stays);
        }
        ask();
        assert_int_equal(report_finding_count(report), i);
        assert_int_equal(strstr(report_verdict_at(report, 1), "MAY BE A CACHE") != NULL, i == 0);
    }
}

/* A list of 3000 entries is made anew ever more seldom; then the program sums up what is in it. */
static void a_list_of_what_stopped_does_not_grow(void **state)
{
    uint32_t other = site_of("other", 10), entry = json_site_of("copy", 20);
    uint32_t resize = site_of("resize", 20);
    uint64_t capacity = 16, rows = make(8 * capacity, resize);

    (void)state;
    for (uint64_t i = 0; i < 3000; i++) {
        drop(make(50, other));
        make(100, entry);
        if (i < capacity)
            continue;
        capacity += capacity / 8;
        drop(rows);
        rows = make(8 * capacity, resize);
    }
    for (size_t i = 0; i < 200; i++)
        work(50, other);
    ask();
    assert_int_equal(report_outcome_of(report), REPORT_NO_DATA);
    assert_non_null(verdict_with("That is data that was loaded, or a leak"));
}

/* It trains, and then it evaluates and saves for a part of that time. */
static void train_and_save(uint64_t turns, uint64_t kept_bytes, uint64_t more_turns)
{
    uint32_t train = site_of("train", 10), keep = site_of("keep", 20), save = site_of("save", 30);

    for (uint64_t i = 0; i < turns; i++) {
        work(100, train);
        make(kept_bytes, keep);
    }
    for (uint64_t i = 0; i < more_turns; i++)
        work(100, save);
}

static void a_loop_that_ended_before_the_program_is_no_reason_to_be_calm(void **state)
{
    (void)state;
    train_and_save(400, 10000, 90);
    ask();
    assert_int_equal(report_outcome_of(report), REPORT_NO_DATA);
    assert_non_null(verdict_with("CANNOT SAY whether something leaks: a loop of 16."));
    assert_non_null(verdict_with("most of them made at train (job.py:20)"));
    assert_null(verdict_with("No leak"));
}

/* The loop takes 8,400 blocks, and its rest: a print, imports, silence, or other work. */
static void a_loop_is_judged_at_its_own_end(void **state)
{
    static const struct {
        uint64_t imported, printed;
        uint64_t import_lives, silent_lives; /* so long, in lives of the loop */
        bool is_window;                      /* the program goes on */
        enum report_outcome outcome;
    } cases[] = {
        {0, 1, 0, 0, false, REPORT_FOUND},     {0, 500, 0, 0, false, REPORT_FOUND},
        {0, 550, 0, 0, false, REPORT_NO_DATA}, {9000, 1, 0, 0, false, REPORT_FOUND},
        {1, 1, 6, 0, false, REPORT_FOUND},     {0, 500, 0, 2, false, REPORT_NO_DATA},
        {0, 500, 0, 0, true, REPORT_NO_DATA},
    };

    for (size_t c = 0; c < sizeof(cases) / sizeof(cases[0]); c++) {
        teardown(state);
        assert_int_equal(setup(state), 0);
        train_and_save(400, 10000, 0);
        model_process_at(list.model, 0)->is_window = cases[c].is_window;
        list.time_ns *= 1 + cases[c].import_lives;
        for (uint64_t i = 0; i < cases[c].imported; i++)
            make(10, site_of("PyImport_ImportModuleLevelObject", 40));
        list.time_ns *= 1 + cases[c].silent_lives;
        for (uint64_t i = 0; i < cases[c].printed; i++)
            drop(make(10, site_of("print", 50 + (uint32_t)i)));
        ask();
        assert_int_equal(report_outcome_of(report), cases[c].outcome);
        if (cases[c].outcome == REPORT_FOUND)
            assert_non_null(verdict_with("at train (job.py:20)"));
        else
            assert_non_null(verdict_with("most of them made at train (job.py:20)"));
    }
}

/* The program gives back most of what a loop of 8,400 blocks kept. That takes 800 blocks, which do
 * not count, as other work before it and after it does. */
static void what_is_taken_down_after_the_loop_had_stayed(void **state)
{
    static const struct {
        uint64_t before, after, freed_in_turn;
        bool is_leak;
    } cases[] = {
        {0, 0, 0, true},    {90, 90, 0, true},  {0, 0, 1, true},
        {120, 0, 0, false}, {0, 120, 0, false}, {0, 0, 2, false},
    };

    for (size_t c = 0; c < sizeof(cases) / sizeof(cases[0]); c++) {
        uint64_t kept[400];

        teardown(state);
        assert_int_equal(setup(state), 0);
        for (uint64_t i = 0; i < 400; i++) {
            work(100, site_of("train", 10));
            for (uint64_t k = 0; k < cases[c].freed_in_turn; k++)
                drop(make(10000, site_of("keep", 20)));
            kept[i] = make(10000, site_of("keep", 20));
        }
        for (uint64_t i = 0; i < cases[c].before; i++)
            work(100, site_of("save", 30));
        for (uint64_t i = 0; i < 400; i++) {
            drop(make(10, site_of("cancel", 40)));
            drop(make(10, site_of("cancel", 41)));
            if (i % 20)
                drop(kept[i]);
        }
        for (uint64_t i = 0; i < cases[c].after; i++)
            work(100, site_of("close", 50));
        ask();
        assert_int_equal(report_outcome_of(report) == REPORT_FOUND, cases[c].is_leak);
    }
}

/* Clean work follows the loop, and beside what that keeps there is more. */
static void a_loop_before_other_work_is_no_reason_to_be_calm(void **state)
{
    static const struct {
        uint64_t turns, more_turns, other_bytes; /* 1,000 of each turn stay */
        bool is_given_back;
        enum report_outcome outcome;
    } cases[] = {
        {400, 350, 4000000, false, REPORT_NO_DATA}, /* as long as what follows, a tenth */
        {400, 350, 8000000, false, REPORT_FINE},    /* ... a twentieth of the process */
        {400, 4000, 200000, false, REPORT_NO_DATA}, /* most of the process */
        {400, 4000, 800000, false, REPORT_FINE},    /* ... a third: data, or a model */
        {400, 4000, 200000, true, REPORT_FINE},     /* data that the program gives back */
    };

    for (size_t c = 0; c < sizeof(cases) / sizeof(cases[0]); c++) {
        uint64_t first;

        teardown(state);
        assert_int_equal(setup(state), 0);
        make(cases[c].other_bytes, site_of("data", 1));
        first = next_address;
        train_and_save(cases[c].turns, 1000, 0);
        for (uint64_t i = 0; i < cases[c].more_turns; i++)
            work(100, site_of("save", 30));
        for (uint64_t i = 0; i < cases[c].turns && cases[c].is_given_back; i++)
            drop(first + i * (OTHERS * 116 + 1016) + OTHERS * 116);
        ask();
        assert_int_equal(report_outcome_of(report), cases[c].outcome);
    }
}

/* The interpreter makes its types, evenly, and runs a short program. */
static void an_interpreter_that_starts_is_no_loop(void **state)
{
    (void)state;
    for (uint64_t i = 0; i < 2000; i++)
        make(1000, site_of("type_ready", 0));
    for (uint64_t i = 0; i < 20; i++)
        drop(make(100, site_of("turn", 10)));
    ask();
    assert_int_not_equal(report_outcome_of(report), REPORT_FOUND);
}

static void a_loop_that_ended_and_kept_a_trifle_is_no_leak(void **state)
{
    (void)state;
    drop(make(4 << 20, site_of("start", 1)));
    train_and_save(400, 100, 100);
    ask();
    assert_int_equal(report_outcome_of(report), REPORT_FINE);
}

/* What an allocator within the program takes, in blocks of 2 MiB, at whatever line its room runs
 * out: up to turn `last` of 400. All go when the program ends. */
static void take_arenas(uint64_t last, bool is_given_back)
{
    enum { ARENAS = 10, LINES = 5, TURNS = 400 };
    uint64_t arenas[ARENAS] = {0};
    size_t count = 0;

    for (uint64_t i = 0; i < TURNS; i++) {
        work(100, site_of("turn", 10));
        if (i % (last / ARENAS) || count == ARENAS)
            continue;
        if (is_given_back && count)
            drop(arenas[count - 1]);
        arenas[count] = make(2 << 20, site_of("take", 20 + (uint32_t)(count % LINES)));
        count++;
    }
    for (size_t i = is_given_back ? count - 1 : 0; i < count; i++)
        drop(arenas[i]);
}

static void what_rises_in_few_blocks_is_no_reason_to_be_calm(void **state)
{
    (void)state;
    take_arenas(400, false);
    ask();
    assert_int_equal(report_outcome_of(report), REPORT_NO_DATA);
    assert_non_null(verdict_with("CANNOT SAY whether something leaks: what "));
    assert_null(verdict_with("No leak"));
}

static void what_rose_before_the_loop_did_its_work_is_no_leak(void **state)
{
    (void)state;
    take_arenas(40, false);
    ask();
    assert_int_equal(report_outcome_of(report), REPORT_FINE);
}

static void what_is_taken_and_given_back_does_not_rise(void **state)
{
    (void)state;
    take_arenas(400, true);
    ask();
    assert_int_equal(report_outcome_of(report), REPORT_FINE);
}

/* A thread of a runtime makes the tensors, the program's line their handles; or another line at
 * other times. */
static void the_line_of_python_beside_a_thread_of_a_runtime_is_named(void **state)
{
    for (size_t is_late = 0; is_late < 2; is_late++) {
        uint32_t other, tensor, remember;

        teardown(state);
        assert_int_equal(setup(state), 0);
        other = site_of("other", 10);
        tensor = site_of("allocate", 0);
        remember = site_of("remember", 30);
        for (uint64_t i = 0; i < STEPS; i++) {
            work(100, other);
            make(4000, tensor);
            drop(make(4000, tensor));
            if (!is_late || i >= STEPS / 2)
                make(1000, remember);
        }
        ask();
        assert_int_equal(report_outcome_of(report), REPORT_FOUND);
        assert_int_equal(verdict_with("LINE OF PYTHON") != NULL, !is_late);
        if (!is_late)
            assert_non_null(strstr(verdict_with("LINE OF PYTHON"), ":30)"));
    }
}

/* Line 20 makes floats. table: a site that holds as many in a table; beside: one that makes another
 * block with each; 0: there is none. */
static void keep_what_is_given_again(uint32_t table, uint32_t beside)
{
    uint32_t other = site_of("other", 10), compute = site_of("PyFloat_FromDouble", 20);
    uint64_t capacity = 16, rows = table ? make(8 * capacity, table) : 0;

    for (uint64_t i = 0; i < 3000; i++) {
        work(50, other);
        make(24, compute);
        if (beside)
            make(16, beside);
        if (!table || i < capacity)
            continue;
        capacity += capacity / 8;
        drop(rows);
        rows = make(8 * capacity, table);
    }
    ask();
    assert_int_equal(report_outcome_of(report), REPORT_FOUND);
}

static void who_keeps_what_is_given_again_comes_first(void **state)
{
    (void)state;
    keep_what_is_given_again(site_of("list_resize", 30), 0);
    assert_non_null(strstr(report_verdict_at(report, 0), ":30)"));
    assert_non_null(strstr(verdict_with("MAY BE ANOTHER LINE"), "KiB of train (job.py:20)"));
}

static void a_table_comes_before_blocks_beside_what_is_given_again(void **state)
{
    (void)state;
    keep_what_is_given_again(site_of("list_resize", 30), site_of("_PyLong_New", 40));
    assert_non_null(strstr(report_verdict_at(report, 0), ":30)"));
}

static void as_many_blocks_beside_what_is_given_again_come_first(void **state)
{
    (void)state;
    keep_what_is_given_again(0, site_of("_PyLong_New", 40));
    assert_non_null(strstr(report_verdict_at(report, 0), ":40)"));
    assert_non_null(verdict_with("MAY BE ANOTHER LINE"));
}

static void what_is_given_again_alone_is_named_with_a_doubt(void **state)
{
    (void)state;
    keep_what_is_given_again(0, 0);
    assert_non_null(strstr(report_verdict_at(report, 0), ":20)"));
    assert_non_null(verdict_with("MAY BE ANOTHER LINE"));
}

static void a_line_that_makes_and_keeps_is_in_no_doubt(void **state)
{
    (void)state;
    keep_what_is_given_again(site_of("list_resize", 20), 0);
    assert_non_null(strstr(report_verdict_at(report, 0), ":20)"));
    assert_null(verdict_with("MAY BE ANOTHER LINE"));
}

/* A runtime frees the tensors in an exit handler: beside the leak of their handles, they are said.
 */
static void what_an_exit_handler_frees_is_said_beside_a_lighter_leak(void **state)
{
    for (size_t is_heavy = 0; is_heavy < 2; is_heavy++) {
        uint32_t other, tensor, remember;
        uint64_t kept[STEPS];

        teardown(state);
        assert_int_equal(setup(state), 0);
        other = site_of("other", 10);
        tensor = site_of("tensor", 20);
        remember = site_of("remember", 30);
        for (uint64_t i = 0; i < STEPS; i++) {
            work(100, other);
            kept[i] = make(is_heavy ? 3000 : 400, tensor);
            drop(make(2000, tensor));
            make(1000, remember);
        }
        finalize(kept, STEPS);
        ask();
        assert_int_equal(report_outcome_of(report), REPORT_FOUND);
        assert_non_null(strstr(report_verdict_at(report, 0), ":30)"));
        assert_int_equal(verdict_with("stay until the interpreter ends") != NULL, is_heavy);
    }
}

/* A line keeps one of ten blocks that it makes; another all of them: there the first are kept. */
static void the_line_that_keeps_all_is_pointed_at(void **state)
{
    for (size_t c = 0; c < 4; c++) {
        bool is_marked = c < 2, frees_some = c % 2;
        uint32_t other, forward, remember;

        teardown(state);
        assert_int_equal(setup(state), 0);
        other = site_of("other", 10);
        forward = site_of("forward", 20);
        remember = site_of("remember", 30);
        for (uint64_t i = 0; i < STEPS; i++) {
            if (is_marked)
                event_list_step(&list, EVENT_STEP_BEGIN, i + 1);
            work(100, other);
            for (size_t k = 0; k < 9; k++)
                drop(make(4000, forward));
            make(4000, forward);
            make(400, remember);
            make_in(model_known_pool(list.model, POOL_PYTHON), 500, forward);
            if (frees_some)
                drop(make(400, remember));
            if (is_marked)
                event_list_step(&list, EVENT_STEP_END, i + 1);
        }
        ask();
        assert_int_equal(report_outcome_of(report), REPORT_FOUND);
        assert_non_null(strstr(report_verdict_at(report, 0), ":20)"));
        assert_int_equal(verdict_with("MAY BE ONE CAUSE") != NULL, !frees_some);
        if (!frees_some)
            assert_non_null(strstr(verdict_with("MAY BE ONE CAUSE"), ":30)"));
    }
}

/* Garbage of a program that is killed is no leak, for all that anybody can see. */
static void what_a_killed_program_leaves_is_said_to_be_with_its_garbage(void **state)
{
    for (size_t is_killed = 0; is_killed < 2; is_killed++) {
        uint32_t other, stays;

        teardown(state);
        assert_int_equal(setup(state), 0);
        other = site_of("other", 10);
        stays = site_of("copy", 20);
        for (uint64_t i = 0; i < STEPS; i++) {
            work(100, other);
            make(1000, stays);
        }
        if (!is_killed)
            finalize(NULL, 0);
        ask();
        assert_int_equal(report_outcome_of(report), REPORT_FOUND);
        assert_int_equal(verdict_with("The end of the interpreter") != NULL, is_killed);
    }
}

static uint64_t make_on_device(uint64_t bytes, uint32_t site)
{
    uint64_t address = next_address;

    next_address += bytes + 16;
    event_list_alloc(&list, address, bytes, site);
    return address;
}

/* One stack in eight goes on to the end: what the others keep is not known to be no leak. */
static void the_few_that_go_on_do_not_speak_for_the_others(void **state)
{
    static const struct {
        uint64_t lines; /* that stop, with seven blocks each */
        enum report_outcome outcome;
    } cases[] = {{60, REPORT_NO_DATA}, {4, REPORT_FINE}};

    for (size_t c = 0; c < sizeof(cases) / sizeof(cases[0]); c++) {
        uint32_t goes_on;

        teardown(state);
        assert_int_equal(setup(state), 0);
        goes_on = event_list_site(&list, "goes_on");
        for (uint64_t i = 0; i < STEPS; i++) {
            event_list_free(&list, make_on_device(100, goes_on));
            for (uint64_t k = 0; i < cases[c].lines && k < 7; k++)
                make_on_device(1 << 20, site_of("layer", (uint32_t)i + 100));
        }
        ask();
        assert_int_equal(report_outcome_of(report), cases[c].outcome);
        assert_int_equal(strstr(report_verdict_at(report, 0), "No leak:") != NULL,
                         cases[c].outcome == REPORT_FINE);
    }
}

/* The host repeats to the end, the device does not: of that nothing can be said. */
static void a_device_that_could_not_be_judged_is_named(void **state)
{
    uint32_t other = site_of("other", 10);

    (void)state;
    for (uint64_t i = 0; i < STEPS; i++) {
        work(100, other);
        if (i >= 10 && i < 15)
            make_on_device(1 << 20, event_list_site(&list, "buffer"));
    }
    ask();
    assert_int_equal(report_outcome_of(report), REPORT_NO_DATA);
    assert_non_null(strstr(report_verdict_at(report, 0), "CANNOT SAY whether pta"));
}

/* Beside the loop's objects of Python, a library has few blocks: an arena that doubles, or data. */
static void build_beside_python(size_t count, uint64_t first_bytes, bool doubles)
{
    uint16_t python = model_known_pool(list.model, POOL_PYTHON);
    uint32_t arena = site_of("arena", 20);
    uint64_t turn = 1;

    for (uint64_t i = 0; i < 1000; i++) {
        drop_in(python, make_in(python, 100, site_of("other", 10)));
        if (i < turn || !count)
            continue;
        make(first_bytes, arena);
        count--;
        first_bytes *= doubles ? 2 : 1;
        turn *= 2;
    }
    ask();
}

static void an_arena_that_doubles_is_no_reason_to_be_calm(void **state)
{
    (void)state;
    build_beside_python(9, 64 << 10, true);
    assert_int_equal(report_outcome_of(report), REPORT_NO_DATA);
    assert_non_null(strstr(report_verdict_at(report, 0), "CANNOT SAY whether host leaks"));
}

static void few_blocks_of_data_are_no_doubt(void **state)
{
    (void)state;
    build_beside_python(3, 16 << 20, false);
    assert_int_equal(report_outcome_of(report), REPORT_FINE);
}

/*
 * Twelve layers keep what the backward pass frees; its threads have no Python frames. `is_cut`: the
 * recording is a window that ends with the frees.
 */
static void what_a_pass_frees_is_no_leak(void **state)
{
    enum { LAYERS = 12, KEPT = 4 };

    for (size_t is_cut = 0; is_cut < 2; is_cut++) {
        uint64_t kept[LAYERS * KEPT];
        size_t count = 0;
        uint32_t layer, gradient;

        teardown(state);
        assert_int_equal(setup(state), 0);
        layer = site_of("layer", 20);
        gradient = site_of("gradient", 0);
        model_process_at(list.model, 0)->is_window = is_cut;
        for (size_t i = 0; i < LAYERS; i++) {
            event_list_free(&list, make_on_device(100, layer));
            for (size_t k = 0; k < KEPT; k++)
                kept[count++] = make_on_device(1 << 20, layer);
        }
        while (count) {
            for (size_t k = 0; !is_cut && k < KEPT; k++)
                event_list_free(&list, make_on_device(1 << 20, gradient));
            event_list_free(&list, kept[--count]);
        }
        ask();
        assert_int_equal(report_finding_count(report), 0);
    }
}

/* The window of a snapshot ends, as memory did, in the first pass: its layers keep all. Or it has
 * steps behind it that freed what they made. */
static void a_pass_that_has_not_ended_is_not_judged(void **state)
{
    enum { LAYERS = 12, TURNS = 30 };
    static const struct {
        bool frees;
        enum report_outcome outcome;
    } cases[] = {{false, REPORT_NO_DATA}, {true, REPORT_FOUND}};

    for (size_t c = 0; c < sizeof(cases) / sizeof(cases[0]); c++) {
        uint64_t waits[LAYERS];
        uint32_t layer, batch;

        teardown(state);
        assert_int_equal(setup(state), 0);
        layer = site_of("layer", 20);
        batch = site_of("batch", 30);
        model_process_at(list.model, 0)->is_window = true;
        for (size_t turn = 0; turn < TURNS; turn++) {
            for (size_t i = 0; cases[c].frees && i < LAYERS; i++)
                waits[i] = make_on_device(1 << 20, batch);
            event_list_free(&list, make_on_device(1 << 20, layer));
            make_on_device(1 << 20, layer);
            for (size_t i = 0; cases[c].frees && i < LAYERS; i++)
                event_list_free(&list, waits[i]);
        }
        ask();
        assert_int_equal(report_outcome_of(report), cases[c].outcome);
        assert_int_equal(verdict_with("one step that had not ended") != NULL, !cases[c].frees);
    }
}

static void segment(uint64_t address, uint64_t bytes, uint32_t site)
{
    event_list_add(&list,
                   (struct event){.kind = EVENT_ALLOC,
                                  .address = address,
                                  .value = bytes,
                                  .site = site,
                                  .pool = model_pool(list.model, event_list_text(&list, "acl"))});
}

/* The pool leaks in each step; each fifth step it takes a segment from the ledger below. */
static void segments_of_a_pool_that_leaks_are_no_finding(void **state)
{
    static const struct {
        bool is_marked;
        uint64_t segment_bytes;
    } cases[] = {{true, 5 << 20}, {false, 5 << 20}, {true, 50 << 20}, {false, 50 << 20}};

    for (size_t c = 0; c < sizeof(cases) / sizeof(cases[0]); c++) {
        uint32_t tensor, grow;

        teardown(state);
        assert_int_equal(setup(state), 0);
        tensor = event_list_site(&list, "tensor");
        grow = event_list_site(&list, "grow");
        for (uint64_t i = 0; i < STEPS; i++) {
            if (cases[c].is_marked)
                event_list_step(&list, EVENT_STEP_BEGIN, i + 1);
            if (i % 5 == 0)
                segment((i + 1) << 32, cases[c].segment_bytes, grow);
            event_list_alloc(&list, (i / 5 * 5 + 1) << 32 | (i % 5) << 20, 1 << 20, tensor);
            if (cases[c].is_marked)
                event_list_step(&list, EVENT_STEP_END, i + 1);
        }
        ask();
        assert_int_equal(report_outcome_of(report), REPORT_FOUND);
        assert_int_equal(report_finding_count(report), 1);
        assert_non_null(strstr(report_verdict_at(report, 0), "at tensor"));
    }
}

static void reserve(uint64_t bytes)
{
    event_list_add(&list, (struct event){.kind = EVENT_RESERVED,
                                         .pool = list.pool,
                                         .place = list.device,
                                         .value = bytes});
}

/* In each step a piece that is all given back; the pool reserves more for it, or what it has. */
static void a_pool_that_reserves_ever_more_is_fragmented(void **state)
{
    for (uint64_t grows = 0; grows < 2; grows++) {
        uint32_t piece;

        teardown(state);
        assert_int_equal(setup(state), 0);
        piece = event_list_site(&list, "piece");
        for (uint64_t i = 0; i < STEPS; i++) {
            event_list_step(&list, EVENT_STEP_BEGIN, i + 1);
            reserve((64 + grows * i) << 20);
            event_list_alloc(&list, 1 << 20, 1 << 20, piece);
            event_list_free(&list, 1 << 20);
            event_list_step(&list, EVENT_STEP_END, i + 1);
        }
        ask();
        assert_int_equal(verdict_with("FRAGMENTED: ") != NULL, grows);
        assert_int_equal(verdict_with("No leak") != NULL, !grows);
    }
}

#define STORY(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        STORY(a_pool_that_reserves_ever_more_is_fragmented),
        STORY(late_frees_of_another_stack_hide_no_leak),
        STORY(what_stays_in_two_phases_is_no_leak),
        STORY(what_an_exit_handler_frees_may_be_a_leak),
        STORY(what_goes_before_the_last_collection_is_no_garbage),
        STORY(many_objects_that_no_collection_answers_for_were_let_go),
        STORY(a_leak_has_the_line_that_keeps),
        STORY(what_rises_until_it_is_collected_may_be_garbage),
        STORY(garbage_that_waits_for_the_collector_is_no_leak),
        STORY(a_trifle_beside_the_loop_is_a_remark),
        STORY(the_line_of_python_beside_a_thread_of_a_runtime_is_named),
        STORY(what_an_exit_handler_frees_is_said_beside_a_lighter_leak),
        STORY(a_trifle_beside_a_heavy_leak_is_no_finding),
        STORY(a_cache_that_fills_by_key_is_not_decided),
        STORY(blocks_of_many_callers_are_not_one_that_grows),
        STORY(what_an_errand_keeps_is_a_remark),
        STORY(few_steps_that_were_found_decide_nothing),
        STORY(a_table_that_grows_in_found_steps_is_no_leak),
        STORY(a_turn_of_a_service_is_a_request),
        STORY(what_may_be_data_is_said),
        STORY(survivors_begin_at_the_library_that_asked),
        STORY(what_is_built_before_a_long_rest_may_be_data),
        STORY(what_a_collector_has_not_told_is_not_decided),
        STORY(turns_are_those_of_the_loop_that_leaks),
        STORY(patterns_that_re_keeps_may_be_a_cache),
        STORY(a_list_of_what_stopped_does_not_grow),
        STORY(who_keeps_what_is_given_again_comes_first),
        STORY(a_table_comes_before_blocks_beside_what_is_given_again),
        STORY(as_many_blocks_beside_what_is_given_again_come_first),
        STORY(what_is_given_again_alone_is_named_with_a_doubt),
        STORY(a_line_that_makes_and_keeps_is_in_no_doubt),
        STORY(a_loop_that_ended_before_the_program_is_no_reason_to_be_calm),
        STORY(a_loop_is_judged_at_its_own_end),
        STORY(what_is_taken_down_after_the_loop_had_stayed),
        STORY(a_loop_before_other_work_is_no_reason_to_be_calm),
        STORY(an_interpreter_that_starts_is_no_loop),
        STORY(an_arena_that_doubles_is_no_reason_to_be_calm),
        STORY(few_blocks_of_data_are_no_doubt),
        STORY(what_rises_in_few_blocks_is_no_reason_to_be_calm),
        STORY(what_rose_before_the_loop_did_its_work_is_no_leak),
        STORY(what_is_taken_and_given_back_does_not_rise),
        STORY(a_loop_that_ended_and_kept_a_trifle_is_no_leak),
        STORY(the_few_that_go_on_do_not_speak_for_the_others),
        STORY(a_device_that_could_not_be_judged_is_named),
        STORY(the_line_that_keeps_all_is_pointed_at),
        STORY(what_a_killed_program_leaves_is_said_to_be_with_its_garbage),
        STORY(a_pass_that_has_not_ended_is_not_judged),
        STORY(what_a_pass_frees_is_no_leak),
        STORY(segments_of_a_pool_that_leaks_are_no_finding),
        STORY(what_stays_is_weighed_in_all_pools_together),
        STORY(a_line_that_keeps_blocks_in_two_pools_is_one_finding),
        STORY(a_few_names_beside_a_leak_are_no_finding),
        STORY(a_large_process_keeps_more_by_design),
        STORY(few_marked_steps_do_not_silence_the_survivors),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
