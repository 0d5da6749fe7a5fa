/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A recording that is long enough to be decoded on a thread of its own gives the same answers as
 * one that is read by one thread, whatever is wrong with it. Runs under ThreadSanitizer, too.
 */
#define _GNU_SOURCE
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "leaktide/analyzer.h"
#include "temporary_folder.h"
#include "trace_builder.h"

enum { step_count = 12, pairs_in_step = 3500, kept_count = 700, streams = 2 };

struct fixture {
    char *folder, *path;
    uint8_t *bytes;
    size_t size_bytes;
    cpu_set_t processors;
};

/* Each step replaces blocks, and keeps one more. */
static void make_step(struct trace_builder *builder, uint64_t step, uint64_t *ticks)
{
    uint64_t begin[] = {step, 0};

    trace_builder_push(builder, 0, MT_RECORD_step_begin, *ticks += 50, begin);
    for (uint64_t i = 0; i < pairs_in_step; i++) {
        uint32_t stream = i % streams;
        uint64_t address = 0x10000000 + i % kept_count * 4096;

        if (step > 1 || i >= kept_count)
            trace_builder_host_free(builder, stream, *ticks += 50, address);
        trace_builder_host_alloc(builder, stream, *ticks += 50,
                                 (struct built_block){.address = address,
                                                      .size = 64 + i % 50 * 16,
                                                      .site = 0x400000 + i * 7 % 3000 * 16});
    }
    trace_builder_host_alloc(
        builder, 0, *ticks += 50,
        (struct built_block){.address = 0x7f0000000000 + step * 8192, .size = 8000, .site = 9});
    trace_builder_push(builder, 0, MT_RECORD_step_end, *ticks += 50, &step);
}

static int set_up(void **state)
{
    struct trace_builder *builder = trace_builder_create(&(struct trace_builder_setup){0});
    struct fixture *f = calloc(1, sizeof(*f));
    uint64_t ticks = 1000;
    const uint8_t *bytes;

    assert_non_null(f);
    assert_int_equal(sched_getaffinity(0, sizeof(f->processors), &f->processors), 0);
    for (uint32_t stream = 0; stream < streams; stream++)
        trace_builder_thread(builder, stream, ticks, 100 + stream, "worker");
    for (uint64_t step = 1; step <= step_count; step++)
        make_step(builder, step, &ticks);
    trace_builder_close(builder);
    bytes = trace_builder_bytes(builder, &f->size_bytes);
    f->bytes = malloc(f->size_bytes);
    assert_non_null(f->bytes);
    memcpy(f->bytes, bytes, f->size_bytes);
    trace_builder_destroy(builder);
    f->folder = temporary_folder_create();
    f->path = temporary_file_write(f->folder, "1000-1.mtt", f->bytes, f->size_bytes);
    *state = f;
    return 0;
}

static int tear_down(void **state)
{
    struct fixture *f = *state;

    sched_setaffinity(0, sizeof(f->processors), &f->processors);
    temporary_folder_remove(f->folder);
    free(f->path);
    free(f->bytes);
    free(f);
    return 0;
}

/* With one processor there is no second thread. */
static void use_processors(const struct fixture *f, bool is_one)
{
    cpu_set_t one;

    CPU_ZERO(&one);
    for (int i = 0; i < CPU_SETSIZE && !CPU_COUNT(&one); i++)
        if (CPU_ISSET(i, &f->processors))
            CPU_SET(i, &one);
    assert_int_equal(sched_setaffinity(0, sizeof(one), is_one ? &one : &f->processors), 0);
}

/* The answer as JSON, or why there is none; to be freed. */
static char *answer_of(const char *path, const char *question, const char *steps)
{
    struct mt_open_options options = {.size_bytes = sizeof(options), .steps = steps};
    struct mt_error error = {.message = ""};
    struct mt_answer *answer = NULL;
    struct mt_trace *trace = NULL;
    char *text = NULL;
    size_t size_bytes;
    FILE *out;

    options.is_partial = strcmp(question, "info") == 0;
    if (mt_trace_open_with(&path, 1, &options, &trace, &error) != MT_OK ||
        mt_trace_ask(trace, question, NULL, &answer, &error) != MT_OK) {
        mt_trace_close(trace);
        return strdup(error.message);
    }
    out = open_memstream(&text, &size_bytes);
    assert_non_null(out);
    assert_int_equal(mt_answer_write(answer, "json", out, &error), MT_OK);
    fclose(out);
    mt_answer_close(answer);
    mt_trace_close(trace);
    return text;
}

static void assert_same_answers(const struct fixture *f, const char *path)
{
    static const struct {
        const char *question, *steps;
    } cases[] = {
        {"report", NULL}, {"peak", NULL}, {"blocks", NULL},
        {"oom", NULL},    {"info", NULL}, {"report", "3-5"},
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        char *alone, *together;

        use_processors(f, true);
        alone = answer_of(path, cases[i].question, cases[i].steps);
        use_processors(f, false);
        together = answer_of(path, cases[i].question, cases[i].steps);
        assert_true(strlen(alone) > 20);
        assert_string_equal(alone, together);
        free(alone);
        free(together);
    }
}

static void a_second_thread_changes_no_answer(void **state)
{
    const struct fixture *f = *state;

    assert_same_answers(f, f->path);
}

static void damage_is_the_same_damage(void **state)
{
    const struct fixture *f = *state;

    for (size_t part = 1; part < 4; part++) {
        size_t at = f->size_bytes / 4 * part;
        uint8_t saved = f->bytes[at];
        char *path;

        f->bytes[at] = (uint8_t)~saved;
        path = temporary_file_write(f->folder, "1001-1.mtt", f->bytes, f->size_bytes);
        f->bytes[at] = saved;
        assert_same_answers(f, path);
        free(path);
        path = temporary_file_write(f->folder, "1001-1.mtt", f->bytes, at); /* cut short */
        assert_same_answers(f, path);
        free(path);
    }
}

static void a_trace_can_be_closed_at_any_time(void **state)
{
    const struct fixture *f = *state;
    const char *paths[] = {f->path, "/nowhere/at/all"};
    struct mt_answer *answer;
    struct mt_trace *trace;

    use_processors(f, false);
    assert_int_equal(mt_trace_open(paths, 1, &trace, NULL), MT_OK);
    mt_trace_close(trace);
    assert_int_equal(mt_trace_open(paths, 2, &trace, NULL), MT_NOT_FOUND);
    assert_int_equal(mt_trace_open(paths, 1, &trace, NULL), MT_OK);
    assert_int_equal(mt_trace_ask(trace, "blocks", NULL, &answer, NULL), MT_OK);
    mt_trace_close(trace); /* before its answer */
    mt_answer_close(answer);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_second_thread_changes_no_answer, set_up, tear_down),
        cmocka_unit_test_setup_teardown(damage_is_the_same_damage, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_trace_can_be_closed_at_any_time, set_up, tear_down),
    };

    return cmocka_run_group_tests_name("two_threads", tests, NULL, NULL);
}
