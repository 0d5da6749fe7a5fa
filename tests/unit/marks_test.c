/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The calls of leaktide/tracer.h, as a program makes them, with the tracer's side in this program.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <pthread.h>

#include "leaktide/tracer.h"
#include "recorder_double.h"

static int fresh_start(void **state)
{
    (void)state;
    mt_step_end(); /* of the test before */
    double_reset();
    return 0;
}

static void assert_event(size_t index, enum mt_record_code code, uint64_t address)
{
    assert_true(index < double_event_count());
    assert_int_equal(double_events[index].code, code);
    assert_int_equal(double_events[index].address, address);
}

static void header_finds_the_tracer(void **state)
{
    (void)state;
    assert_non_null(mt_tracer());
    assert_int_equal(mt_tracer()->size_bytes, sizeof(struct mt_tracer_functions));
}

static void new_step_ends_the_open_one(void **state)
{
    (void)state;
    mt_step_begin();
    mt_step_begin();
    mt_step_end();
    mt_step_end();
    assert_int_equal(double_event_count(), 4);
    assert_event(0, MT_RECORD_step_begin, 1);
    assert_event(1, MT_RECORD_step_end, 1);
    assert_event(2, MT_RECORD_step_begin, 2);
    assert_event(3, MT_RECORD_step_end, 2);
}

static void ranges_end_innermost_first(void **state)
{
    (void)state;
    mt_range_push("forward");
    mt_range_push("attention");
    mt_range_pop();
    mt_range_pop();
    mt_range_pop();
    assert_int_equal(double_event_count(), 4);
    assert_event(0, MT_RECORD_range_begin, 1);
    assert_string_equal(double_events[0].text, "forward");
    assert_event(1, MT_RECORD_range_begin, 2);
    assert_string_equal(double_events[1].text, "attention");
    assert_event(2, MT_RECORD_range_end, 2);
    assert_event(3, MT_RECORD_range_end, 1);
}

static void ranges_too_deep_are_counted(void **state)
{
    enum { DEEP = 1000, KEPT = 64 };

    (void)state;
    for (int i = 0; i < DEEP; i++)
        mt_range_push("deep");
    for (int i = 0; i < DEEP - 1; i++)
        mt_range_pop();
    assert_int_equal(double_count_of(MT_RECORD_range_begin), KEPT);
    assert_int_equal(double_count_of(MT_RECORD_range_end), KEPT - 1);
    mt_range_pop();
    assert_int_equal(double_last(MT_RECORD_range_end)->address, 1);
    mt_range_pop();
    assert_int_equal(double_count_of(MT_RECORD_range_end), KEPT);
}

static void *pop_on_another_thread(void *nothing)
{
    mt_range_pop();
    mt_tag_pop();
    return nothing;
}

static void ranges_and_tags_belong_to_their_thread(void **state)
{
    pthread_t thread;

    (void)state;
    mt_range_push("mine");
    mt_tag_push("mine");
    assert_int_equal(pthread_create(&thread, NULL, pop_on_another_thread, NULL), 0);
    pthread_join(thread, NULL);
    assert_int_equal(double_event_count(), 2);
    mt_range_pop();
    mt_tag_pop();
    assert_int_equal(double_event_count(), 4);
}

static void tags_nest(void **state)
{
    (void)state;
    mt_tag_push("model");
    mt_tag_push("model@weight");
    mt_tag_pop();
    mt_tag_pop();
    mt_tag_pop();
    assert_int_equal(double_count_of(MT_RECORD_tag_begin), 2);
    assert_int_equal(double_count_of(MT_RECORD_tag_end), 2);
    assert_string_equal(double_events[1].text, "model@weight");
}

static void mark_without_a_name_is_a_mark(void **state)
{
    (void)state;
    mt_mark("epoch 1");
    mt_mark(NULL);
    assert_int_equal(double_count_of(MT_RECORD_mark), 2);
    assert_string_equal(double_events[0].text, "epoch 1");
    assert_string_equal(double_events[1].text, "");
}

static void private_pool_is_a_pool(void **state)
{
    char block;

    (void)state;
    mt_pool_reserved("arena", 3, 1 << 20);
    assert_int_equal(double_events[0].place.device, 3);
    assert_int_equal(double_events[0].size_bytes, 1 << 20);
    mt_pool_alloc("arena", 3, &block, 512);
    assert_event(1, MT_RECORD_alloc, (uintptr_t)&block);
    assert_string_equal(double_events[1].text, "arena");
    assert_int_equal(double_events[1].size_bytes, 512);
    assert_int_equal(double_events[1].place.device, 3);
    assert_int_equal(double_events[1].place.kind, MT_KIND_DEVICE);
    assert_non_null(double_events[1].site);
    mt_pool_free("arena", &block);
    assert_event(2, MT_RECORD_free, (uintptr_t)&block);
    mt_pool_alloc("staging", -1, &block, 1);
    assert_int_equal(double_events[3].place.device, -1);
    assert_int_equal(double_events[3].place.kind, MT_KIND_HOST);
}

static void pool_without_memory_is_a_failure(void **state)
{
    (void)state;
    mt_pool_alloc("arena", 0, NULL, 4096);
    assert_event(0, MT_RECORD_alloc_failed, 0);
    assert_int_equal(double_events[0].size_bytes, 4096);
    mt_pool_free("arena", NULL);
    assert_int_equal(double_event_count(), 1);
}

static void pool_without_a_name_has_one(void **state)
{
    char block;

    (void)state;
    mt_pool_alloc(NULL, 0, &block, 1);
    assert_string_equal(double_events[0].text, "private");
    mt_pool_free("", &block);
    assert_string_equal(double_events[1].text, "private");
}

enum { THREADS = 4, STEPS = 1000 };

static void *begin_steps(void *nothing)
{
    for (int i = 0; i < STEPS; i++)
        mt_step_begin();
    return nothing;
}

static void steps_of_racing_threads_all_end(void **state)
{
    pthread_t threads[THREADS];

    (void)state;
    for (int i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, begin_steps, NULL), 0);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    mt_step_end();
    assert_int_equal(double_count_of(MT_RECORD_step_begin), THREADS * STEPS);
    assert_int_equal(double_count_of(MT_RECORD_step_end), THREADS * STEPS);
}

#define TEST(name) cmocka_unit_test_setup(name, fresh_start)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(header_finds_the_tracer),
        TEST(new_step_ends_the_open_one),
        TEST(ranges_end_innermost_first),
        TEST(ranges_too_deep_are_counted),
        TEST(ranges_and_tags_belong_to_their_thread),
        TEST(tags_nest),
        TEST(mark_without_a_name_is_a_mark),
        TEST(private_pool_is_a_pool),
        TEST(pool_without_memory_is_a_failure),
        TEST(pool_without_a_name_has_one),
        TEST(steps_of_racing_threads_all_end),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
