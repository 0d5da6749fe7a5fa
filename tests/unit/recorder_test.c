/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The recorder inside one process, without preloading: threads, full rings, signal handlers. Also
 * run under ThreadSanitizer.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <unistd.h>

#include <cmocka.h>

#include "alone.h"
#include "event.h"
#include "guard.h"
#include "model.h"
#include "recorder.h"
#include "recording.h"
#include "thread_state.h"
#include "traced_run.h"

enum { THREADS = 4, EVENTS = 60000, RING_BYTES = 64 * 1024 };

static char folder[256];
static _Atomic uint64_t handler_events;

static void no_look(void)
{
}

const struct recording_setup *recording_setup(void)
{
    static const struct recording_setup setup = {
        .follows_forks = true,
        .output_path = folder,
        .options = "",
        .ring_bytes = RING_BYTES,
        .look = no_look,
    };

    return &setup;
}

/* Block n of thread t lives at t << 32 | n, so that order and identity can be read back. */
static void *record_blocks(void *argument)
{
    uint64_t base = (uint64_t)(uintptr_t)argument << 32;
    uint64_t place = mt_place_pack((struct mt_place){.device = 3, .module = -1});

    for (uint64_t i = 1; i <= EVENTS; i++) {
        if (!guard_enter(LAYER_DRIVER))
            abort();
        record_alloc(text_of(i % 2 ? "odd" : "even"), place, base | i, i,
                     (struct call_site){.caller = (const void *)record_blocks});
        record_free(text_of(i % 2 ? "odd" : "even"), base | i);
        guard_leave(LAYER_DRIVER);
    }
    return NULL;
}

static void on_alarm(int signal)
{
    (void)signal;
    if (guard_enter(LAYER_RUNTIME)) {
        handler_events++;
        record_alloc(text_of("handler"), 0, UINT64_C(99) << 40, 1,
                     (struct call_site){.caller = (const void *)on_alarm});
        guard_leave(LAYER_RUNTIME);
    }
}

static void alarm_every(int microseconds)
{
    struct itimerval timer = {{0, microseconds}, {0, microseconds}};

    signal(SIGALRM, on_alarm);
    setitimer(ITIMER_REAL, &timer, NULL);
}

struct seen {
    uint64_t allocs[THREADS + 1], frees[THREADS + 1], last[THREADS + 1];
    uint64_t handler_allocs, disorder, foreign;
};

static void see(void *argument, const struct model *model, const struct event *event)
{
    struct seen *seen = argument;
    uint64_t thread, number;

    if (!event || (event->kind != EVENT_ALLOC && event->kind != EVENT_FREE))
        return;
    thread = event->address >> 32;
    number = event->address & UINT32_MAX;
    if (event->address == UINT64_C(99) << 40) {
        seen->handler_allocs++;
        return;
    }
    if (thread < 1 || thread > THREADS) {
        seen->foreign++;
        return;
    }
    if (event->kind == EVENT_FREE) {
        seen->frees[thread]++;
        seen->disorder += number != seen->last[thread];
        return;
    }
    seen->allocs[thread]++;
    seen->disorder += number != seen->last[thread] + 1 || event->value != number;
    seen->last[thread] = number;
    assert_string_equal(model_text_at(model, model_pool_name_at(model, event->pool)),
                        number % 2 ? "odd" : "even");
    assert_int_equal(model_place_at(model, event->place).device, 3);
}

static void small_rings_lose_nothing_to_threads_and_signals(void **state)
{
    struct seen seen = {.foreign = 0};
    struct trace_totals totals;
    pthread_t threads[THREADS];

    (void)state;
    assert_true(recording_start());
    alarm_every(997);
    for (uintptr_t i = 0; i < THREADS; i++)
        pthread_create(&threads[i], NULL, record_blocks, (void *)(i + 1));
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    alarm_every(0);
    recording_finish(0);
    trace_walk(folder, see, &seen, &totals);
    for (int i = 1; i <= THREADS; i++) {
        assert_int_equal(seen.allocs[i], EVENTS);
        assert_int_equal(seen.frees[i], EVENTS);
    }
    assert_int_equal(seen.disorder, 0);
    assert_int_equal(seen.foreign, 0);
    assert_int_equal(seen.handler_allocs, handler_events);
    assert_int_equal(totals.note_count, 0);
}

/* All that is in the ring is overwritten with what is no record. */
static void a_ring_without_any_record_is_counted(void **state)
{
    const struct mt_file_header *header = recording_header();
    uint64_t before;

    (void)state;
    recording_note_clocks();
    assert_non_null(header);
    before = header->lost_counts[MT_LOST_MALFORMED];
    assert_true(ring_tail(thread_state.ring) < ring_head(thread_state.ring));
    for (uint64_t at = ring_tail(thread_state.ring); at < ring_head(thread_state.ring); at++)
        thread_state.words[at & thread_state.mask] = 0;
    alone_drain_all();
    assert_int_equal(header->lost_counts[MT_LOST_MALFORMED], before + 1);
}

static jmp_buf far_away;

static void leave_by_longjmp(void)
{
    volatile char deep[4096] = "";

    assert_int_equal(deep[0], 0);
    assert_true(guard_enter(LAYER_OPENCL));
    assert_false(guard_enter(LAYER_OPENCL)); /* the same layer again, deeper: not outermost */
    longjmp(far_away, 1);
}

static void a_layer_left_by_longjmp_opens_again(void **state)
{
    (void)state;
    if (!setjmp(far_away))
        leave_by_longjmp();
    assert_true(guard_enter(LAYER_OPENCL));
    guard_leave(LAYER_OPENCL);
}

static void layers_do_not_hide_each_other(void **state)
{
    (void)state;
    assert_true(guard_enter(LAYER_RUNTIME));
    assert_true(guard_enter(LAYER_DRIVER));
    guard_leave(LAYER_DRIVER);
    assert_false(guard_enter(LAYER_RUNTIME));
    guard_leave(LAYER_RUNTIME);
}

static void steps_of_a_profiler_end_when_the_next_begins(void **state)
{
    (void)state;
    assert_true(guard_enter(LAYER_MARKS));
    for (uint64_t number = 0; number < 3; number++)
        record_profiler_step(number);
    assert_int_equal(recorder_newest_step(), 2); /* what comes after the last of them is none */
    record_profiler_step(0);                     /* another profiler: the step goes on */
    assert_int_equal(recorder_newest_step(), 2);
    record_profiler_step(1);
    assert_int_equal(recorder_newest_step(), 3);
    assert_int_equal(recording_header()->told_steps, 3);
    guard_leave(LAYER_MARKS);
}

static void a_program_that_marks_steps_needs_no_profilers(void **state)
{
    uint64_t marked;

    (void)state;
    assert_true(guard_enter(LAYER_MARKS));
    marked = record_step_begin(0);
    record_profiler_step(2);
    assert_int_equal(recorder_newest_step(), marked);
    record_step_end(marked);
    assert_int_equal(recording_header()->told_steps, 3);
    guard_leave(LAYER_MARKS);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(small_rings_lose_nothing_to_threads_and_signals),
        cmocka_unit_test(a_ring_without_any_record_is_counted),
        cmocka_unit_test(a_layer_left_by_longjmp_opens_again),
        cmocka_unit_test(layers_do_not_hide_each_other),
        cmocka_unit_test(steps_of_a_profiler_end_when_the_next_begins),
        cmocka_unit_test(a_program_that_marks_steps_needs_no_profilers),
    };
    int failures;

    folder_make(folder);
    failures = cmocka_run_group_tests(tests, NULL, NULL);
    folder_remove(folder);
    return failures;
}
