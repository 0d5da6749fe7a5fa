/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Traces made by the tracer's encoder come back from the reader as they were.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <zstd.h>

#include "chunk_pack.h"
#include "temporary_folder.h"
#include "trace_builder.h"
#include "trace_reading.h"

static const struct trace_builder_setup defaults = {0};

static uint32_t random_next(uint64_t *state)
{
    *state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (uint32_t)(*state >> 33);
}

/* Writes what was built to a folder of its own and reads it back. */
static struct trace_reading read_back(struct trace_builder *builder)
{
    char *folder = temporary_folder_create();
    struct trace_reading reading;

    trace_builder_write(builder, folder);
    reading = trace_reading_of(folder, 0);
    temporary_folder_remove(folder);
    assert_string_equal(reading.error.message, "");
    assert_int_equal(reading.result, MT_OK);
    return reading;
}

static const char *text_of(const struct trace_reading *reading, uint32_t text)
{
    return model_text_at(reading->model, text);
}

static const char *pool_of(const struct trace_reading *reading, const struct event *event)
{
    return text_of(reading, model_pool_name_at(reading->model, event->pool));
}

/* --- what was recorded comes back ------------------------------------------------------------ */

static void a_block_of_the_host_heap_comes_back(void **state)
{
    struct trace_builder *b = trace_builder_create(&defaults);
    struct trace_reading r;

    (void)state;
    trace_builder_thread(b, 0, 10, 4711, "main");
    trace_builder_host_alloc(
        b, 0, 100, (struct built_block){.address = 0x7f0000001000, .size = 64, .site = 0x401234});
    trace_builder_host_free(b, 0, 200, 0x7f0000001000);
    trace_builder_close(b);
    r = read_back(b);
    assert_int_equal(r.count, 2);
    assert_int_equal(r.events[0].kind, EVENT_ALLOC);
    assert_int_equal(r.events[0].time_ns, 100);
    assert_int_equal(r.events[0].address, 0x7f0000001000);
    assert_int_equal(r.events[0].value, 64);
    assert_int_equal(model_site_at(r.model, r.events[0].site)->address, 0x401234);
    assert_int_equal(model_site_at(r.model, r.events[0].site)->time_ns, 100);
    assert_string_equal(pool_of(&r, &r.events[0]), "host");
    assert_int_equal(r.events[1].kind, EVENT_FREE);
    assert_int_equal(r.events[1].time_ns, 200);
    assert_int_equal(r.events[1].address, 0x7f0000001000);
    assert_int_equal(r.events[1].pool, r.events[0].pool);
    assert_int_equal(model_thread_count(r.model), 1);
    assert_int_equal(model_thread_at(r.model, r.events[0].thread)->thread_id, 4711);
    assert_string_equal(text_of(&r, model_thread_at(r.model, 0)->name), "main");
    assert_int_equal(model_note_count(r.model), 0);
    assert_true(model_process_at(r.model, 0)->is_complete);
    assert_int_equal(model_process_at(r.model, 0)->event_count, 2);
    trace_reading_release(&r);
    trace_builder_destroy(b);
}

/* Found by the fuzz target: no chunks and no rings. */
static void a_trace_without_events_is_fine(void **state)
{
    for (int is_closed = 0; is_closed < 2; is_closed++) {
        struct trace_builder *b = trace_builder_create(&defaults);
        struct trace_reading r;

        (void)state;
        if (is_closed)
            trace_builder_close(b);
        r = read_back(b);
        assert_int_equal(r.count, 0);
        assert_int_equal(model_process_count(r.model), 1);
        assert_int_equal(model_note_count(r.model), 0);
        trace_reading_release(&r);
        trace_builder_destroy(b);
    }
}

struct record_case {
    const char *name;
    enum mt_record_code code;
    uint64_t fields[7]; /* 1 stands for the text "T", 2 for the place */
    struct event event; /* text 1, pool 1, place 1: that they are these */
};

#define T     UINT64_C(0xfffffffffffffff1)
#define PLACE UINT64_C(0xfffffffffffffff2)

static const struct record_case record_cases[] = {
    {"alloc",
     MT_RECORD_alloc,
     {7, 512, 4096, T, PLACE},
     {.kind = EVENT_ALLOC, .address = 4096, .value = 512, .site = 7, .pool = 1, .place = 1}},
    {"free", MT_RECORD_free, {4096, T}, {.kind = EVENT_FREE, .address = 4096, .pool = 1}},
    {"alloc_failed",
     MT_RECORD_alloc_failed,
     {7, 512, T, PLACE, 207001},
     {.kind = EVENT_ALLOC_FAILED,
      .address = 207001,
      .value = 512,
      .site = 7,
      .pool = 1,
      .place = 1}},
    {"pool_reserved",
     MT_RECORD_pool_reserved,
     {T, PLACE, 1 << 21},
     {.kind = EVENT_RESERVED, .value = 1 << 21, .pool = 1, .place = 1}},
    {"operator_begin", MT_RECORD_operator_begin, {T}, {.kind = EVENT_OPERATOR_BEGIN, .text = 1}},
    {"operator_end", MT_RECORD_operator_end, {T}, {.kind = EVENT_OPERATOR_END, .text = 1}},
    {"range_begin",
     MT_RECORD_range_begin,
     {9, T, 0},
     {.kind = EVENT_RANGE_BEGIN, .address = 9, .text = 1}},
    {"range_end", MT_RECORD_range_end, {9}, {.kind = EVENT_RANGE_END, .address = 9}},
    {"mark", MT_RECORD_mark, {T, 0}, {.kind = EVENT_MARK, .text = 1}},
    {"step_begin",
     MT_RECORD_step_begin,
     {3, 9},
     {.kind = EVENT_STEP_BEGIN, .value = 3, .address = 9}},
    {"step_end", MT_RECORD_step_end, {3}, {.kind = EVENT_STEP_END, .value = 3}},
    {"tag_begin", MT_RECORD_tag_begin, {T}, {.kind = EVENT_TAG_BEGIN, .text = 1}},
    {"tag_end", MT_RECORD_tag_end, {T}, {.kind = EVENT_TAG_END, .text = 1}},
    {"launch", MT_RECORD_launch, {T, PLACE}, {.kind = EVENT_LAUNCH, .text = 1, .place = 1}},
    {"access",
     MT_RECORD_access,
     {4096, 64, T, 3},
     {.kind = EVENT_ACCESS,
      .address = 4096,
      .value = 64,
      .pool = 1,
      .flags = EVENT_IS_READ | EVENT_IS_WRITE}},
    {"tensor_access",
     MT_RECORD_tensor_access,
     {4096, 64, T, 2, T, T, T},
     {.kind = EVENT_ACCESS,
      .address = 4096,
      .value = 64,
      .pool = 1,
      .text = 1,
      .detail = 2,
      .flags = EVENT_IS_WRITE}},
    {"sample",
     MT_RECORD_sample,
     {T, PLACE, 12345},
     {.kind = EVENT_SAMPLE, .text = 1, .place = 1, .value = 12345}},
    {"device_event",
     MT_RECORD_device_event,
     {T, PLACE, 5},
     {.kind = EVENT_DEVICE, .text = 1, .place = 1, .value = 5}},
    {"note",
     MT_RECORD_note,
     {T, T, PLACE, 7, 8},
     {.kind = EVENT_NOTE, .text = 1, .detail = 1, .place = 1, .address = 7, .value = 8}},
};

static const struct mt_place some_place = {.device = 3,
                                           .kind = MT_KIND_DEVICE,
                                           .page = MT_PAGE_HUGE,
                                           .flags = MT_PLACE_VIEW,
                                           .module = 60};

static void check_event(const struct trace_reading *r, const struct event *event,
                        const struct event *expected)
{
    assert_int_equal(event->kind, expected->kind);
    assert_int_equal(event->address, expected->address);
    assert_int_equal(event->value, expected->value);
    assert_int_equal(model_site_at(r->model, event->site)->address, expected->site);
    assert_string_equal(text_of(r, event->text), expected->text ? "T" : "");
    assert_int_equal(event->flags, expected->flags);
    assert_string_equal(text_of(r, event->detail), expected->detail == 2 ? "T T"
                                                   : expected->detail    ? "T"
                                                                         : "");
    assert_string_equal(pool_of(r, event), expected->pool ? "T" : "host");
    assert_int_equal(mt_place_pack(model_place_at(r->model, event->place)),
                     expected->place ? mt_place_pack(some_place) : 0);
}

/* Through a chunk, and through what is left in a ring. */
static void a_record_becomes_its_event(void **state)
{
    const struct record_case *c = *state;

    for (int is_drained = 0; is_drained < 2; is_drained++) {
        struct trace_builder *b = trace_builder_create(&defaults);
        uint64_t fields[7];
        struct trace_reading r;

        for (size_t i = 0; i < 7; i++)
            fields[i] = c->fields[i] == T       ? trace_builder_text(b, 5, 50, "T")
                        : c->fields[i] == PLACE ? mt_place_pack(some_place)
                                                : c->fields[i];
        trace_builder_push(b, 5, c->code, 60, fields);
        trace_builder_push(b, 5, c->code, 61, fields);
        if (is_drained)
            trace_builder_drain(b, 5);
        r = read_back(b);
        assert_int_equal(r.count, 2);
        check_event(&r, &r.events[0], &c->event);
        check_event(&r, &r.events[1], &c->event);
        assert_int_equal(r.events[1].time_ns, 61);
        assert_string_equal(text_of(&r, model_thread_at(r.model, 0)->name), "stream 5");
        trace_reading_release(&r);
        trace_builder_destroy(b);
    }
}

/* A program that allocates and frees at random, as far as the trace can tell. */
struct random_program {
    uint64_t seed;
    struct built_block blocks[512]; /* address 0: none */
    uint64_t next_address;
};

static void random_event(struct random_program *p, struct trace_builder *b, uint32_t stream,
                         uint64_t time, struct event *expected)
{
    uint32_t dice = random_next(&p->seed);
    struct built_block *block = &p->blocks[dice % 512];

    expected->time_ns = time;
    if (block->address) {
        expected->kind = EVENT_FREE;
        expected->address = block->address;
        trace_builder_host_free(b, stream, time, block->address);
        block->address = 0;
        return;
    }
    block->size = dice >> 9 & 7 ? (dice >> 12 & 31) * 24 : random_next(&p->seed);
    block->site = 0x400000 + (dice >> 17 & 255) * 5;
    block->address = dice >> 25 & 3 ? p->next_address : random_next(&p->seed) * UINT64_C(16) + 16;
    p->next_address = block->address + ((block->size + 23) & ~UINT64_C(15));
    expected->kind = EVENT_ALLOC;
    expected->address = block->address;
    expected->value = block->size;
    expected->site = (uint32_t)block->site;
    trace_builder_host_alloc(b, stream, time, *block);
}

static void a_hundred_thousand_random_events_come_back(void **state)
{
    enum { COUNT = 100000 };
    struct trace_builder *b = trace_builder_create(&defaults);
    struct event *expected = calloc(COUNT, sizeof(*expected));
    struct random_program program = {.seed = 7, .next_address = 0x5555000};
    struct trace_reading r;
    uint64_t time = 0;

    (void)state;
    assert_non_null(expected);
    trace_builder_thread(b, 0, 0, 1, "main");
    for (size_t i = 0; i < COUNT; i++) {
        time += random_next(&program.seed) >> (random_next(&program.seed) % 31);
        random_event(&program, b, 0, time, &expected[i]);
    }
    r = read_back(b);
    assert_int_equal(r.count, COUNT);
    for (size_t i = 0; i < COUNT; i++) {
        assert_int_equal(r.events[i].time_ns, expected[i].time_ns);
        assert_int_equal(r.events[i].kind, expected[i].kind);
        assert_int_equal(r.events[i].address, expected[i].address);
        assert_int_equal(r.events[i].value, expected[i].value);
        assert_int_equal(model_site_at(r.model, r.events[i].site)->address, expected[i].site);
    }
    assert_int_equal(model_note_count(r.model), 0);
    free(expected);
    trace_reading_release(&r);
    trace_builder_destroy(b);
}

/* --- several streams ------------------------------------------------------------------------- */

static void a_thousand_streams_come_in_time_order_whatever_the_batch(void **state)
{
    enum { STREAMS = 1000, EACH = 40 };
    static const size_t batches[] = {1, 7, 256, 100000};
    struct trace_builder *b =
        trace_builder_create(&(struct trace_builder_setup){.ring_words = 1024});
    char *folder = temporary_folder_create();
    uint64_t seed = 3;

    (void)state;
    for (uint32_t i = 0; i < STREAMS; i++) {
        uint64_t time = 0;

        trace_builder_thread(b, i, 0, i + 1, "worker");
        for (uint32_t k = 0; k < EACH; k++) {
            time += random_next(&seed) % 1000;
            trace_builder_host_alloc(b, i, time,
                                     (struct built_block){.address = (i + 1) << 16 | k});
            if (k % 16 == 15 && i % 3)
                trace_builder_drain(b, i);
        }
    }
    trace_builder_write(b, folder);
    for (size_t n = 0; n < sizeof(batches) / sizeof(batches[0]); n++) {
        struct trace_reading r = trace_reading_of(folder, batches[n]);
        uint32_t seen[STREAMS] = {0};

        assert_int_equal(r.count, STREAMS * EACH);
        for (size_t i = 0; i < r.count; i++) {
            uint64_t stream = (r.events[i].address >> 16) - 1;

            assert_true(!i || r.events[i - 1].time_ns <= r.events[i].time_ns);
            assert_int_equal(r.events[i].address & 0xffff, seen[stream]++);
            assert_int_equal(model_thread_at(r.model, r.events[i].thread)->thread_id, stream + 1);
        }
        assert_int_equal(model_note_count(r.model), 0);
        trace_reading_release(&r);
    }
    temporary_folder_remove(folder);
    trace_builder_destroy(b);
}

static void among_equal_times_frees_of_other_threads_come_first(void **state)
{
    struct trace_builder *b = trace_builder_create(&defaults);
    struct trace_reading r;

    (void)state;
    trace_builder_host_alloc(b, 0, 500, (struct built_block){.address = 0x1000});
    trace_builder_host_alloc(b, 1, 100, (struct built_block){.address = 0x1000});
    trace_builder_host_free(b, 1, 500, 0x1000);
    trace_builder_close(b);
    r = read_back(b);
    assert_int_equal(r.count, 3);
    assert_int_equal(r.events[1].kind, EVENT_FREE);
    assert_int_equal(r.events[2].kind, EVENT_ALLOC);
    /* Streams that do not say whose they are belong to different threads all the same. */
    assert_int_equal(model_thread_count(r.model), 2);
    assert_int_not_equal(r.events[1].thread, r.events[2].thread);
    trace_reading_release(&r);
    trace_builder_destroy(b);
}

static void a_stream_goes_on_with_another_thread(void **state)
{
    struct trace_builder *b = trace_builder_create(&defaults);
    struct trace_reading r;

    (void)state;
    trace_builder_thread(b, 0, 1, 11, "first");
    trace_builder_host_alloc(b, 0, 2, (struct built_block){.address = 0x1000});
    trace_builder_thread(b, 0, 3, 12, "second");
    trace_builder_host_free(b, 0, 4, 0x1000);
    r = read_back(b);
    assert_int_equal(r.count, 2);
    assert_int_equal(model_thread_at(r.model, r.events[0].thread)->thread_id, 11);
    assert_int_equal(model_thread_at(r.model, r.events[1].thread)->thread_id, 12);
    trace_reading_release(&r);
    trace_builder_destroy(b);
}

/* --- rings ----------------------------------------------------------------------------------- */

static void words_left_in_rings_are_read_once(void **state)
{
    struct trace_builder *b =
        trace_builder_create(&(struct trace_builder_setup){.ring_words = 4096});
    struct trace_reading r;

    (void)state;
    trace_builder_thread(b, 2, 0, 9, "t");
    for (uint64_t i = 0; i < 50000; i++)
        trace_builder_host_alloc(b, 2, i, (struct built_block){.address = (i + 1) * 16, .size = 8});
    r = read_back(b);
    assert_int_equal(r.count, 50000);
    for (uint64_t i = 0; i < r.count; i++)
        assert_int_equal(r.events[i].address, (i + 1) * 16);
    assert_false(model_process_at(r.model, 0)->is_complete);
    assert_int_equal(model_note_count(r.model), 0);
    trace_reading_release(&r);
    trace_builder_destroy(b);
}

static void words_that_are_no_record_are_passed_over(void **state)
{
    for (int is_drained = 0; is_drained < 2; is_drained++) {
        struct trace_builder *b = trace_builder_create(&defaults);
        struct trace_reading r;

        (void)state;
        trace_builder_host_alloc(b, 0, 10, (struct built_block){.address = 0x1000});
        for (uint64_t i = 0; i < 20; i++)
            trace_builder_push_word(b, 0, i % 2 ? UINT64_C(0xffff000000001001) : 31);
        trace_builder_host_alloc(b, 0, 20, (struct built_block){.address = 0x2000});
        if (is_drained)
            trace_builder_drain(b, 0);
        r = read_back(b);
        assert_int_equal(r.count, 2);
        assert_int_equal(r.events[1].address, 0x2000);
        if (is_drained)
            assert_int_equal(model_process_at(r.model, 0)->lost_counts[MT_LOST_MALFORMED], 1);
        else
            assert_int_equal(trace_reading_note(&r, "no record"), 20);
        trace_reading_release(&r);
        trace_builder_destroy(b);
    }
}

/* --- definitions ----------------------------------------------------------------------------- */

static void a_text_without_definition_is_named_by_number(void **state)
{
    struct trace_builder *b = trace_builder_create(&defaults);
    struct trace_reading r;

    (void)state;
    trace_builder_push(b, 0, MT_RECORD_mark, 5, (uint64_t[]){0xabc, 0});
    r = read_back(b);
    assert_string_equal(text_of(&r, r.events[0].text), "text 0x0000000000000abc");
    assert_int_equal(trace_reading_note(&r, "definition is missing"), 1);
    trace_reading_release(&r);
    trace_builder_destroy(b);
}

static void more_names_than_a_dictionary_holds_come_back(void **state)
{
    enum { NAMES = 3000 };
    struct trace_builder *b = trace_builder_create(&defaults);
    struct trace_reading r;
    char name[32];

    (void)state;
    for (uint64_t round = 0; round < 2; round++) {
        for (uint64_t i = 0; i < NAMES; i++) {
            uint64_t id = i + 1;

            snprintf(name, sizeof(name), "operator %d", (int)i);
            if (!round)
                trace_builder_push_bytes(b, 0, MT_RECORD_text, i, &id, name, strlen(name));
            trace_builder_push(b, 0, MT_RECORD_operator_begin, NAMES * round + i, &id);
        }
    }
    trace_builder_close(b);
    r = read_back(b);
    assert_int_equal(r.count, 2 * NAMES);
    for (size_t i = 0; i < r.count; i++) {
        snprintf(name, sizeof(name), "operator %d", (int)(i % NAMES));
        assert_string_equal(text_of(&r, r.events[i].text), name);
    }
    trace_reading_release(&r);
    trace_builder_destroy(b);
}

static void more_sites_than_have_numbers_come_back(void **state)
{
    enum { SITES = 12000 };
    struct trace_builder *b = trace_builder_create(&defaults);
    struct trace_reading r;

    (void)state;
    for (uint64_t i = 0; i < SITES; i++)
        trace_builder_host_alloc(
            b, 0, i, (struct built_block){.address = i * 32, .size = 16, .site = 0x400000 + i * 7});
    for (uint64_t i = 0; i < 4000; i++)
        trace_builder_host_alloc(b, 0, SITES + i,
                                 (struct built_block){.address = i * 48,
                                                      .size = 24,
                                                      .site = 0x400000 + (i * 31 % SITES) * 7});
    trace_builder_close(b);
    r = read_back(b);
    assert_int_equal(r.count, SITES + 4000);
    for (uint64_t i = 0; i < r.count; i++)
        assert_int_equal(model_site_at(r.model, r.events[i].site)->address,
                         0x400000 + (i < SITES ? i : (i - SITES) * 31 % SITES) * 7);
    trace_reading_release(&r);
    trace_builder_destroy(b);
}

static void modules_carry_their_build_id_and_their_time(void **state)
{
    struct trace_builder *b = trace_builder_create(&defaults);
    const struct model_module *module;
    struct trace_reading r;
    uint64_t path;

    (void)state;
    path = trace_builder_text(b, 0, 1, "/lib/libx.so");
    trace_builder_push_bytes(b, 0, MT_RECORD_module, 10,
                             (uint64_t[]){0x7f00000, 0x10000, 0x7f00000, path}, "\1\2\3", 3);
    trace_builder_host_alloc(b, 0, 20, (struct built_block){.address = 16, .site = 0x7f00100});
    trace_builder_push(b, 0, MT_RECORD_module_gone, 30, (uint64_t[]){0x7f00000});
    trace_builder_host_alloc(b, 0, 40, (struct built_block){.address = 32, .site = 0x7f00100});
    trace_builder_close(b);
    r = read_back(b);
    assert_int_equal(model_module_count(r.model), 1);
    module = model_module_at(r.model, 0);
    assert_string_equal(text_of(&r, module->path), "/lib/libx.so");
    assert_int_equal(module->base, 0x7f00000);
    assert_int_equal(module->size_bytes, 0x10000);
    assert_int_equal(module->bias, 0x7f00000);
    assert_int_equal(module->build_id_bytes, 3);
    assert_memory_equal(module->build_id, "\1\2\3", 3);
    assert_int_equal(module->loaded_ns, 10);
    assert_int_equal(module->unloaded_ns, 30);
    trace_reading_release(&r);
    trace_builder_destroy(b);
}

static void push_module(struct trace_builder *b, uint64_t time, const char *path, uint64_t base)
{
    uint64_t fields[] = {base, 0x10000, base, trace_builder_text(b, 0, time, path)};

    trace_builder_push_bytes(b, 0, MT_RECORD_module, time, fields, path, strlen(path));
}

/* What happens at one place, and which site an alloc there then has. */
struct reload_case {
    const char *name;
    const char *story; /* a, b: loaded; x: what is at that base is gone; 1, 2: an alloc, its site */
    size_t module_count;
    bool is_b_loaded; /* at the end */
};

static const struct reload_case reload_cases[] = {
    {"a site before its module is recorded is of it", "1a1x1", 1, false},
    {"the same module again is the same site", "a1x1a1xa1", 1, false},
    {"another module is another site", "a1xb2", 2, true},
    {"each has its own, however often they take turns", "a1xb2xa1xb2xa1x", 2, false},
    {"a module told before what it replaces is gone", "a1bx2xa1bx2", 2, true},
    {"a module told twice", "aa1x1", 1, false},
};

static void push_story(struct trace_builder *b, const char *story)
{
    for (uint64_t time = 10; *story; story++, time++) {
        if (*story == 'a' || *story == 'b')
            push_module(b, time, *story == 'a' ? "/lib/a.so" : "/lib/b.so", 0x7f00000);
        else if (*story == 'x')
            trace_builder_push(b, 0, MT_RECORD_module_gone, time, (uint64_t[]){0x7f00000});
        else
            trace_builder_host_alloc(b, 0, time,
                                     (struct built_block){.address = 16, .site = 0x7f00100});
    }
    trace_builder_close(b);
}

static void sites_belong_to_the_module_that_is_there(void **state)
{
    const struct reload_case *c = *state;
    struct trace_builder *b = trace_builder_create(&defaults);
    uint32_t sites[2] = {0};
    struct trace_reading r;
    size_t next = 0;

    push_story(b, c->story);
    r = read_back(b);
    for (const char *at = c->story; *at; at++) {
        uint32_t *site = &sites[*at == '2'];

        if (*at != '1' && *at != '2')
            continue;
        *site = *site ? *site : r.events[next].site;
        assert_int_equal(r.events[next++].site, *site);
        assert_int_not_equal(sites[0], sites[1]);
    }
    assert_int_equal(model_module_count(r.model), c->module_count);
    if (c->module_count > 1)
        assert_int_equal(model_module_at(r.model, 1)->unloaded_ns == UINT64_MAX, c->is_b_loaded);
    trace_reading_release(&r);
    trace_builder_destroy(b);
}

/* --- processes and clocks -------------------------------------------------------------------- */

static void processes_follow_each_other_on_one_time_line(void **state)
{
    struct trace_builder *late =
        trace_builder_create(&(struct trace_builder_setup){.process_id = 5,
                                                           .parent_process_id = 9,
                                                           .start_monotonic_ns = 3000000000,
                                                           .start_ticks = 77});
    struct trace_builder *early = trace_builder_create(
        &(struct trace_builder_setup){.process_id = 9, .start_monotonic_ns = 1000000000});
    char *folder = temporary_folder_create();
    struct trace_reading r;

    (void)state;
    trace_builder_host_alloc(late, 0, 100, (struct built_block){.address = 16});
    trace_builder_host_alloc(early, 0, 2500000000, (struct built_block){.address = 32});
    trace_builder_close(late);
    trace_builder_write(late, folder);
    trace_builder_write(early, folder);
    r = trace_reading_of(folder, 0);
    assert_int_equal(r.result, MT_OK);
    assert_int_equal(r.count, 2);
    assert_int_equal(r.events[0].address, 32);
    assert_int_equal(r.events[0].time_ns, 2500000000);
    assert_int_equal(r.events[0].process, 0);
    assert_int_equal(r.events[1].time_ns, 2000000100);
    assert_int_equal(r.events[1].process, 1);
    assert_int_equal(model_process_at(r.model, 0)->process_id, 9);
    assert_int_equal(model_process_at(r.model, 1)->parent_process_id, 9);
    assert_int_equal(model_process_at(r.model, 1)->start_ns, 2000000000);
    assert_int_equal(model_process_at(r.model, 0)->end_ns, 2500000000);
    assert_false(model_process_at(r.model, 0)->is_complete);
    assert_true(model_process_at(r.model, 1)->is_complete);
    trace_reading_release(&r);
    temporary_folder_remove(folder);
    trace_builder_destroy(late);
    trace_builder_destroy(early);
}

static void ticks_become_nanoseconds_exactly(void **state)
{
    struct trace_builder *b = trace_builder_create(&(struct trace_builder_setup){
        .ticks_per_second = 1, .start_ticks = UINT64_C(0xfffffffffffff0), .time_shift = 6});
    struct mt_file_header *header = trace_builder_header(b);
    struct trace_reading r;

    (void)state;
    /* 2.6 GHz for three hours: 28080e9 ticks in 10800e9 ns; the counter passes 56 bits. */
    header->last_ticks = header->start_ticks + UINT64_C(28080000000000);
    header->last_monotonic_ns = header->start_monotonic_ns + UINT64_C(10800000000000);
    for (uint64_t i = 0; i < 1000; i++)
        trace_builder_host_alloc(b, 0, i * UINT64_C(28080000064),
                                 (struct built_block){.address = 16});
    r = read_back(b);
    for (uint64_t i = 0; i < 1000; i++) {
        unsigned __int128 ticks = i * UINT64_C(28080000064) / 64 * 64;
        uint64_t exact = (uint64_t)(ticks * UINT64_C(10800000000000) / UINT64_C(28080000000000));

        assert_in_range(r.events[i].time_ns, exact ? exact - 1 : 0, exact);
    }
    trace_reading_release(&r);
    trace_builder_destroy(b);
}

/* --- wrong files ----------------------------------------------------------------------------- */

struct refusal_case {
    const char *name;
    const char *file_name;
    enum { NEWER, NO_MAGIC, SHORT, DAMAGED_HEADER, NOTHING } what;
    enum mt_result result;
    const char *words;
};

static const struct refusal_case refusals[] = {
    {"a newer major version is refused by name", "a.mtt", NEWER, MT_UNSUPPORTED,
     "/a.mtt: written by trace format 2; this leaktide reads up to 1"},
    {"a file without the magic is no trace", "a.mtt", NO_MAGIC, MT_CORRUPT,
     "/a.mtt: not a leaktide trace"},
    {"a short file is no trace", "a.mtt", SHORT, MT_CORRUPT,
     "/a.mtt: too short for a leaktide trace: 100 bytes"},
    {"an empty file is no trace", "a.mtt", NOTHING, MT_CORRUPT,
     "/a.mtt: too short for a leaktide trace: 0 bytes"},
    {"a damaged header is said to be", "a.mtt", DAMAGED_HEADER, MT_CORRUPT,
     "/a.mtt: the header is damaged"},
};

static void a_file_is_refused_in_one_sentence(void **state)
{
    const struct refusal_case *c = *state;
    struct trace_builder *b = trace_builder_create(&defaults);
    char *folder = temporary_folder_create();
    size_t size_bytes;
    uint8_t bytes[8192];
    char *path;

    if (c->what == NEWER)
        trace_builder_header(b)->major = 2;
    memcpy(bytes, trace_builder_bytes(b, &size_bytes), 4096);
    if (c->what == NO_MAGIC)
        bytes[0] = 'X';
    if (c->what == DAMAGED_HEADER)
        bytes[30] ^= 1;
    path = temporary_file_write(folder, c->file_name, bytes,
                                c->what == SHORT     ? 100
                                : c->what == NOTHING ? 0
                                                     : size_bytes);
    for (int is_folder = 0; is_folder < 2; is_folder++) {
        struct trace_reading r = trace_reading_of(is_folder ? folder : path, 0);

        assert_int_equal(r.result, c->result);
        assert_non_null(strstr(r.error.message, c->words));
        trace_reading_release(&r);
    }
    free(path);
    temporary_folder_remove(folder);
    trace_builder_destroy(b);
}

static void folders_and_files_that_are_no_run_are_refused(void **state)
{
    char *folder = temporary_folder_create();
    struct trace_reading r = trace_reading_of(folder, 0);
    char *path;

    (void)state;
    assert_int_equal(r.result, MT_NO_DATA);
    assert_non_null(strstr(r.error.message, "the folder is empty"));
    trace_reading_release(&r);
    path = temporary_file_write(folder, "notes.txt", "hello", 5);
    r = trace_reading_of(path, 0);
    assert_int_equal(r.result, MT_UNSUPPORTED);
    trace_reading_release(&r);
    free(path);
    r = trace_reading_of("/nonexistent/run.leaktide", 0);
    assert_int_equal(r.result, MT_NOT_FOUND);
    assert_string_equal(r.error.message, "/nonexistent/run.leaktide: No such file or directory");
    trace_reading_release(&r);
    temporary_folder_remove(folder);
}

static void a_bad_file_beside_a_good_one_becomes_a_note(void **state)
{
    struct trace_builder *b = trace_builder_create(&defaults);
    char *folder = temporary_folder_create();
    struct trace_reading r;

    (void)state;
    trace_builder_host_alloc(b, 0, 1, (struct built_block){.address = 16});
    trace_builder_close(b);
    trace_builder_write(b, folder);
    free(temporary_file_write(folder, "broken.mtt", MT_FILE_MAGIC, 8));
    r = trace_reading_of(folder, 0);
    assert_int_equal(r.result, MT_OK);
    assert_int_equal(r.count, 1);
    assert_int_equal(trace_reading_note(&r, "broken.mtt: too short"), 1);
    trace_reading_release(&r);
    temporary_folder_remove(folder);
    trace_builder_destroy(b);
}

/* --- chunks ---------------------------------------------------------------------------------- */

/* Three chunks of 10 events each; returns the bytes, and where the chunks stand. */
static uint8_t *three_chunks(struct trace_builder *b, size_t *size_bytes, size_t offsets[4])
{
    const uint8_t *bytes;
    uint8_t *copy;

    for (uint64_t i = 0; i < 30; i++) {
        if (i % 10 == 0)
            trace_builder_drain(b, 0);
        if (i % 10 == 0)
            trace_builder_bytes(b, &offsets[i / 10]);
        trace_builder_host_alloc(b, 0, i, (struct built_block){.address = (i + 1) * 4096});
    }
    trace_builder_drain(b, 0);
    trace_builder_bytes(b, &offsets[3]);
    trace_builder_close(b);
    bytes = trace_builder_bytes(b, size_bytes);
    copy = malloc(65536);
    assert_non_null(copy);
    memcpy(copy, bytes, *size_bytes);
    return copy;
}

static struct trace_reading read_bytes(const uint8_t *bytes, size_t size_bytes)
{
    char *folder = temporary_folder_create();
    char *path = temporary_file_write(folder, "x.mtt", bytes, size_bytes);
    struct trace_reading r = trace_reading_of(path, 0);

    free(path);
    temporary_folder_remove(folder);
    return r;
}

static void a_chunk_that_is_there_twice_counts_once(void **state)
{
    struct trace_builder *b = trace_builder_create(&defaults);
    size_t size_bytes, offsets[4];
    uint8_t *bytes = three_chunks(b, &size_bytes, offsets);
    size_t chunk_bytes = offsets[2] - offsets[1];
    struct trace_reading r;

    (void)state;
    memmove(bytes + offsets[3] + chunk_bytes, bytes + offsets[3], size_bytes - offsets[3]);
    memcpy(bytes + offsets[3], bytes + offsets[1], chunk_bytes);
    r = read_bytes(bytes, size_bytes + chunk_bytes);
    assert_int_equal(r.count, 30);
    assert_int_equal(trace_reading_note(&r, "repeat others"), 10);
    trace_reading_release(&r);
    free(bytes);
    trace_builder_destroy(b);
}

static void a_damaged_chunk_costs_its_own_events_only(void **state)
{
    for (int has_index = 0; has_index < 2; has_index++) {
        struct trace_builder *b = trace_builder_create(&defaults);
        size_t size_bytes, offsets[4];
        uint8_t *bytes = three_chunks(b, &size_bytes, offsets);
        struct trace_reading r;

        (void)state;
        bytes[offsets[1] + 70] ^= 0x10;
        if (!has_index)
            size_bytes = offsets[3];
        r = read_bytes(bytes, size_bytes);
        assert_int_equal(r.result, MT_OK);
        assert_int_equal(r.count, 20);
        assert_int_equal(r.events[10].address, 21 * 4096);
        if (has_index)
            assert_int_equal(trace_reading_note(&r, "checksum mismatch"), 10);
        else
            assert_int_equal(trace_reading_note(&r, "missing between chunks"), 30);
        trace_reading_release(&r);
        free(bytes);
        trace_builder_destroy(b);
    }
}

/* Columns and records that this version does not know: a chunk by hand. */
static void unknown_records_and_columns_are_passed_over(void **state)
{
    static const uint8_t raw[] = {
        6,                                             /* columns */
        0,  3,   1,  3, 2, 2, 16, 1, 17, 2, 248, 1, 2, /* number, bytes; 17 and 248 are unknown */
        31, 2,   31,                                   /* codes */
        1,  1,   1,                                    /* times */
        99, 127,                                       /* long codes that nobody gave yet */
        2,                                             /* address: 16 further */
        9,  9,   9,  9};
    struct mt_chunk_header header = {
        .kind = MT_CHUNK_EVENTS, .event_count = 3, .end_position = 6, .last_time = 3};
    struct trace_builder *b = trace_builder_create(&defaults);
    ZSTD_CCtx *zstd = ZSTD_createCCtx();
    uint8_t bytes[8192];
    size_t size_bytes;
    struct trace_reading r;

    (void)state;
    memcpy(bytes, trace_builder_bytes(b, &size_bytes), 4096);
    size_bytes += chunk_pack(&header, raw, sizeof(raw), CHUNK_SMALL, zstd, bytes + 4096, 4096);
    r = read_bytes(bytes, size_bytes);
    assert_int_equal(r.result, MT_OK);
    assert_int_equal(r.count, 1);
    assert_int_equal(r.events[0].address, 16);
    assert_int_equal(r.events[0].time_ns, 2);
    assert_int_equal(trace_reading_note(&r, "records of a newer version"), 2);
    assert_int_equal(trace_reading_note(&r, "columns of a newer version"), 2);
    trace_reading_release(&r);
    ZSTD_freeCCtx(zstd);
    trace_builder_destroy(b);
}

#define COUNT_OF(array) (sizeof(array) / sizeof((array)[0]))

int main(void)
{
    static const struct CMUnitTest fixed[] = {
        cmocka_unit_test(a_block_of_the_host_heap_comes_back),
        cmocka_unit_test(a_trace_without_events_is_fine),
        cmocka_unit_test(a_hundred_thousand_random_events_come_back),
        cmocka_unit_test(a_thousand_streams_come_in_time_order_whatever_the_batch),
        cmocka_unit_test(among_equal_times_frees_of_other_threads_come_first),
        cmocka_unit_test(a_stream_goes_on_with_another_thread),
        cmocka_unit_test(words_left_in_rings_are_read_once),
        cmocka_unit_test(words_that_are_no_record_are_passed_over),
        cmocka_unit_test(a_text_without_definition_is_named_by_number),
        cmocka_unit_test(more_names_than_a_dictionary_holds_come_back),
        cmocka_unit_test(more_sites_than_have_numbers_come_back),
        cmocka_unit_test(modules_carry_their_build_id_and_their_time),
        cmocka_unit_test(processes_follow_each_other_on_one_time_line),
        cmocka_unit_test(ticks_become_nanoseconds_exactly),
        cmocka_unit_test(folders_and_files_that_are_no_run_are_refused),
        cmocka_unit_test(a_bad_file_beside_a_good_one_becomes_a_note),
        cmocka_unit_test(a_chunk_that_is_there_twice_counts_once),
        cmocka_unit_test(a_damaged_chunk_costs_its_own_events_only),
        cmocka_unit_test(unknown_records_and_columns_are_passed_over),
    };
    struct CMUnitTest tests[COUNT_OF(fixed) + COUNT_OF(record_cases) + COUNT_OF(refusals) +
                            COUNT_OF(reload_cases)];
    size_t count = 0;

    for (size_t i = 0; i < COUNT_OF(fixed); i++)
        tests[count++] = fixed[i];
    for (size_t i = 0; i < COUNT_OF(record_cases); i++)
        tests[count++] = (struct CMUnitTest){record_cases[i].name, a_record_becomes_its_event, NULL,
                                             NULL, (void *)(uintptr_t)&record_cases[i]};
    for (size_t i = 0; i < COUNT_OF(refusals); i++)
        tests[count++] = (struct CMUnitTest){refusals[i].name, a_file_is_refused_in_one_sentence,
                                             NULL, NULL, (void *)(uintptr_t)&refusals[i]};
    for (size_t i = 0; i < COUNT_OF(reload_cases); i++)
        tests[count++] =
            (struct CMUnitTest){reload_cases[i].name, sites_belong_to_the_module_that_is_there,
                                NULL, NULL, (void *)(uintptr_t)&reload_cases[i]};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
