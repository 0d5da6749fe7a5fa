/* SPDX-License-Identifier: Apache-2.0 */
/*
 * libleaktide as another program has it: linked as a shared library, by its headers alone.
 */
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "leaktide/analyzer.h"
#include "leaktide/summaries.h"
#include "temporary_folder.h"
#include "trace_builder.h"

/* Long enough that progress is told more than once in a reading. */
enum { step_count = 12, pairs_in_step = 3500, kept_count = 700, leaked_bytes = 8000 };

struct fixture {
    char *folder;
    const char *path; /* of the recording */
};

/* Each step replaces blocks, and keeps one more. */
static void make_step(struct trace_builder *builder, uint64_t step, uint64_t *ticks)
{
    const uint64_t begin[] = {step, 0};

    trace_builder_push(builder, 0, MT_RECORD_step_begin, *ticks += 50, begin);
    for (uint64_t i = 0; i < pairs_in_step; i++) {
        uint64_t address = 0x10000000 + i % kept_count * 4096;

        if (step > 1 || i >= kept_count)
            trace_builder_host_free(builder, 0, *ticks += 50, address);
        trace_builder_host_alloc(
            builder, 0, *ticks += 50,
            (struct built_block){.address = address, .size = 64, .site = 0x400000});
    }
    trace_builder_host_alloc(builder, 0, *ticks += 50,
                             (struct built_block){.address = 0x7f0000000000 + step * 8192,
                                                  .size = leaked_bytes,
                                                  .site = 0x500000});
    trace_builder_push(builder, 0, MT_RECORD_step_end, *ticks += 50, &step);
}

static int set_up(void **state)
{
    struct trace_builder *builder = trace_builder_create(&(struct trace_builder_setup){0});
    struct fixture *f = calloc(1, sizeof(*f));
    uint64_t ticks = 1000;

    assert_non_null(f);
    f->folder = temporary_folder_create();
    f->path = f->folder;
    trace_builder_thread(builder, 0, 1, 4711, "main");
    for (uint64_t step = 1; step <= step_count; step++)
        make_step(builder, step, &ticks);
    trace_builder_close(builder);
    trace_builder_write(builder, f->folder);
    trace_builder_destroy(builder);
    *state = f;
    return 0;
}

static int tear_down(void **state)
{
    struct fixture *f = *state;

    temporary_folder_remove(f->folder);
    free(f);
    return 0;
}

static struct mt_trace *open_trace(const struct fixture *f, const struct mt_open_options *options)
{
    struct mt_trace *trace = NULL;
    struct mt_error error = {.message = ""};

    if (mt_trace_open_with(&f->path, 1, options, &trace, &error) != MT_OK)
        fail_msg("%s", error.message);
    return trace;
}

static struct mt_answer *ask(struct mt_trace *trace, const char *question)
{
    struct mt_answer *answer = NULL;

    assert_int_equal(mt_trace_ask(trace, question, NULL, &answer, NULL), MT_OK);
    return answer;
}

static struct mt_answer *answer_to(const struct fixture *f, const char *question)
{
    struct mt_trace *trace = open_trace(f, NULL);
    struct mt_answer *answer = ask(trace, question);

    mt_trace_close(trace);
    return answer;
}

/* To be freed. */
static char *json_of(const struct mt_answer *answer)
{
    char *text = NULL;
    size_t size_bytes;
    FILE *out = open_memstream(&text, &size_bytes);

    assert_non_null(out);
    assert_int_equal(mt_answer_write(answer, "json", out, NULL), MT_OK);
    fclose(out);
    return text;
}

static void says_its_version(void **state)
{
    (void)state;
    assert_string_equal(mt_version(), LEAKTIDE_VERSION);
}

static void a_finding_is_read_value_by_value(void **state)
{
    struct mt_answer *answer = answer_to(*state, "leaks");
    const struct mt_finding *leak = mt_answer_finding_at(answer, 0);
    const struct mt_value *growth;
    const char *key;

    assert_int_equal(mt_answer_outcome(answer), MT_OUTCOME_FOUND);
    assert_non_null(strstr(mt_answer_verdict_at(answer, 0), "LEAK"));
    assert_null(mt_answer_verdict_at(answer, mt_answer_verdict_count(answer)));
    assert_int_equal(mt_value_number(mt_answer_fact(answer, "step_count")), step_count);

    assert_non_null(leak);
    assert_null(mt_answer_finding_at(answer, 1));
    assert_string_equal(mt_finding_kind(leak), "leak");
    assert_non_null(strstr(mt_finding_sentence(leak), "leak"));
    growth = mt_finding_value(leak, "growth_bytes_per_step");
    assert_int_equal(mt_value_kind(growth), MT_VALUE_BYTES);
    assert_int_equal(mt_value_number(growth), leaked_bytes);
    assert_true(*mt_value_text(mt_finding_value(leak, "site")));
    assert_non_null(mt_finding_value_at(leak, 0, &key));
    assert_ptr_equal(mt_finding_value(leak, key), mt_finding_value_at(leak, 0, NULL));
    assert_null(mt_finding_value(leak, "no such key"));
    mt_answer_close(answer);
}

static void a_stack_is_read_call_by_call(void **state)
{
    const struct fixture earlier = {.path = EARLIER_RECORDING};
    struct mt_answer *answer = answer_to(&earlier, "leaks");
    const struct mt_value *stack = mt_finding_value(mt_answer_finding_at(answer, 0), "stack");
    struct mt_frame frame;
    size_t count = 0;

    (void)state;
    assert_int_equal(mt_value_kind(stack), MT_VALUE_STACK);
    assert_true(mt_value_frame_at(stack, 0, &frame));
    assert_string_equal(frame.function, "leak+0x3018");
    assert_string_equal(frame.module, "leak");
    assert_string_equal(frame.file, "");
    assert_false(frame.is_plumbing);
    while (mt_value_frame_at(stack, count, &frame))
        count++;
    assert_int_equal(count, 6);
    mt_answer_close(answer);
}

static const struct mt_table *table_named(const struct mt_answer *answer, const char *name)
{
    const struct mt_table *table = NULL;

    for (size_t i = 0; (table = mt_answer_table_at(answer, i)); i++)
        if (strcmp(mt_table_name(table), name) == 0)
            return table;
    return NULL;
}

static size_t column_named(const struct mt_table *table, const char *name)
{
    const char *key;

    for (size_t i = 0; (key = mt_table_column_at(table, i, NULL)); i++)
        if (strcmp(key, name) == 0)
            return i;
    fail_msg("there is no column %s", name);
    return 0;
}

static void a_table_is_read_cell_by_cell(void **state)
{
    struct mt_answer *answer = answer_to(*state, "leaks");
    const struct mt_table *table = table_named(answer, "leaks");
    const struct mt_value *series;
    const uint64_t *numbers;
    enum mt_value_kind kind;
    const char *title = NULL;
    size_t count, grows, rises;

    assert_non_null(table);
    assert_int_equal(mt_table_row_count(table), 1);
    grows = column_named(table, "growth_bytes_per_step");
    rises = column_named(table, "alive_bytes_by_step");
    assert_non_null(mt_table_column_at(table, grows, &title));
    assert_non_null(title);
    assert_int_equal(mt_value_number(mt_table_value(table, 0, grows)), leaked_bytes);
    series = mt_table_value(table, 0, rises);
    numbers = mt_value_series(series, &count, &kind);
    assert_int_equal(kind, MT_VALUE_BYTES);
    assert_true(count > 1);
    assert_int_equal(numbers[count - 1], step_count * leaked_bytes);
    assert_null(mt_table_value(table, 1, grows));
    assert_null(mt_table_value(table, 0, mt_table_column_count(table)));
    mt_answer_close(answer);
}

static void what_is_not_there_is_not_known(void **state)
{
    size_t count = 1;
    struct mt_frame frame;

    (void)state;
    assert_int_equal(mt_value_kind(NULL), MT_VALUE_NONE);
    assert_int_equal(mt_value_number(NULL), 0);
    assert_int_equal(mt_value_change(NULL), 0);
    assert_string_equal(mt_value_text(NULL), "");
    assert_null(mt_value_series(NULL, &count, NULL));
    assert_int_equal(count, 0);
    assert_false(mt_value_frame_at(NULL, 0, &frame));
}

static void a_change_has_a_sign(void **state)
{
    const struct fixture *f = *state;
    struct mt_trace *trace = open_trace(f, NULL);
    const struct mt_diff_side sides[] = {{.trace = trace, .is_step = true, .step_number = 9},
                                         {.trace = trace, .is_step = true, .step_number = 3}};
    const struct mt_value *value = NULL;
    const struct mt_table *table;
    struct mt_answer *answer;
    int64_t lowest = 0;

    assert_int_equal(mt_trace_diff(sides, 2, NULL, &answer, NULL), MT_OK);
    for (size_t i = 0; (table = mt_answer_table_at(answer, i)); i++)
        for (size_t row = 0; row < mt_table_row_count(table); row++)
            for (size_t c = 0; (value = mt_table_value(table, row, c)); c++)
                if (mt_value_kind(value) == MT_VALUE_BYTES_CHANGE &&
                    mt_value_change(value) < lowest)
                    lowest = mt_value_change(value);
    assert_int_equal(lowest, -6 * leaked_bytes);
    mt_answer_close(answer);
    mt_trace_close(trace);
}

struct taken {
    char *text;
    size_t size_bytes, most_bytes;
};

static bool take(void *context, const void *bytes, size_t size_bytes)
{
    struct taken *taken = context;

    if (taken->size_bytes + size_bytes > taken->most_bytes)
        return false;
    taken->text = realloc(taken->text, taken->size_bytes + size_bytes + 1);
    assert_non_null(taken->text);
    memcpy(taken->text + taken->size_bytes, bytes, size_bytes);
    taken->size_bytes += size_bytes;
    taken->text[taken->size_bytes] = 0;
    return true;
}

static void a_function_gets_what_a_stream_gets(void **state)
{
    struct mt_answer *answer = answer_to(*state, "leaks");
    struct taken all = {.most_bytes = SIZE_MAX}, none = {.most_bytes = 0};
    struct mt_error error = {.message = ""};
    char *text = json_of(answer);

    assert_int_equal(mt_answer_write_to(answer, "json", take, &all, &error), MT_OK);
    assert_string_equal(all.text, text);
    assert_int_equal(mt_answer_write_to(answer, "json", take, &none, &error), MT_IO);
    assert_non_null(strstr(error.message, "cannot be written"));
    assert_int_equal(mt_answer_write_to(answer, "runes", take, &all, &error), MT_USAGE);
    free(all.text);
    free(text);
    mt_answer_close(answer);
}

/* Cancels at that call; 0: never. */
struct watching {
    unsigned cancel_at, calls;
    unsigned in_order;
    struct mt_progress last;
};

static bool watch(void *context, const struct mt_progress *progress)
{
    struct watching *watching = context;

    watching->in_order += progress->reading > watching->last.reading
                              ? progress->event_count == 0
                              : progress->event_count > watching->last.event_count;
    watching->last = *progress;
    return ++watching->calls != watching->cancel_at;
}

static struct mt_open_options watched_by(struct watching *watching)
{
    return (struct mt_open_options){.size_bytes = sizeof(struct mt_open_options),
                                    .on_progress = watch,
                                    .progress_context = watching};
}

static void progress_is_told_in_order(void **state)
{
    struct watching watching = {.cancel_at = 0};
    const struct mt_open_options options = watched_by(&watching);
    struct mt_trace *trace = open_trace(*state, &options);
    uint64_t events = mt_trace_event_count(trace);
    unsigned calls = watching.calls;

    assert_true(calls >= 2);
    mt_answer_close(ask(trace, "peak"));
    assert_true(watching.calls >= calls + 2);
    assert_int_equal(watching.in_order, watching.calls);
    assert_int_equal(watching.last.reading, 2);
    assert_int_equal(watching.last.expected_count, events);
    assert_true(watching.last.event_count <= events);
    mt_trace_close(trace);
}

static void opening_can_be_cancelled_at_any_call(void **state)
{
    const struct fixture *f = *state;
    struct watching watching = {.cancel_at = 0};
    struct mt_open_options options = watched_by(&watching);
    struct mt_error error;
    unsigned calls;

    mt_trace_close(open_trace(f, &options));
    calls = watching.calls;
    for (unsigned at = 1; at <= calls; at++) {
        struct mt_trace *trace = NULL;

        watching = (struct watching){.cancel_at = at};
        assert_int_equal(mt_trace_open_with(&f->path, 1, &options, &trace, &error), MT_CANCELLED);
        assert_string_equal(error.message, "reading was cancelled");
        assert_null(trace);
        assert_int_equal(watching.calls, at);
    }
}

static void what_was_cancelled_can_be_asked_again(void **state)
{
    struct watching watching = {.cancel_at = 0};
    const struct mt_open_options options = watched_by(&watching);
    struct mt_trace *trace = open_trace(*state, &options);
    struct mt_answer *whole = ask(trace, "peak"), *answer = NULL;
    char *text = json_of(whole), *again;

    for (unsigned further = 1; further <= 2; further++) {
        watching.cancel_at = watching.calls + further;
        assert_int_equal(mt_trace_ask(trace, "peak", NULL, &answer, NULL), MT_CANCELLED);
        assert_null(answer);
        assert_int_equal(mt_trace_export(trace, "csv", "/dev/null", NULL), MT_OK);
    }
    answer = ask(trace, "peak");
    again = json_of(answer);
    assert_string_equal(again, text);
    free(text);
    free(again);
    mt_answer_close(whole);
    mt_answer_close(answer);
    mt_trace_close(trace);
}

static void *report_to_be_freed(void *context)
{
    struct mt_answer *answer = answer_to(context, "report");
    char *text = json_of(answer);

    mt_answer_close(answer);
    return text;
}

static void recordings_are_read_by_several_threads(void **state)
{
    char *alone = report_to_be_freed(*state);
    pthread_t threads[4];

    for (size_t i = 0; i < sizeof(threads) / sizeof(threads[0]); i++)
        assert_int_equal(pthread_create(&threads[i], NULL, report_to_be_freed, *state), 0);
    for (size_t i = 0; i < sizeof(threads) / sizeof(threads[0]); i++) {
        void *text;

        pthread_join(threads[i], &text);
        assert_string_equal(text, alone);
        free(text);
    }
    free(alone);
}

/* What a program has that was built with the first version of the header, or with one to come. */
static void options_of_other_versions_are_taken(void **state)
{
    const struct fixture *f = *state;
    struct {
        struct mt_open_options known;
        void *unknown;
    } newer = {.known = {.size_bytes = sizeof(newer)}};
    struct mt_open_options older = {.size_bytes = offsetof(struct mt_open_options, steps),
                                    .steps = "no number, and not looked at"};
    struct mt_open_options none = {.size_bytes = 0};
    struct mt_trace *trace = NULL;
    struct mt_error error;

    mt_trace_close(open_trace(f, &newer.known));
    mt_trace_close(open_trace(f, &older));
    newer.unknown = &error;
    assert_int_equal(mt_trace_open_with(&f->path, 1, &newer.known, &trace, &error), MT_UNSUPPORTED);
    assert_int_equal(mt_trace_open_with(&f->path, 1, &none, &trace, &error), MT_USAGE);
    assert_string_equal(error.option, "size_bytes");
    assert_null(trace);
}

static void an_error_names_the_option(void **state)
{
    const struct {
        struct mt_open_options options;
        const char *option;
    } wrong[] = {
        {{.steps = "x"}, "steps"},
        {{.schedule = {.wait = 1}}, "schedule.active"},
        {{.step_site = "nowhere"}, "step_site"},
        {{.site_rules = "/no/such"}, "site_rules"},
        {{.sysroot = "/no/such"}, "sysroot"},
        {{.debug_folders = "/no/such"}, "debug_folders"},
        {{.question = "nothing"}, "question"},
    };
    const struct fixture *f = *state;
    const char *nowhere = "/no/such/recording";
    struct mt_trace *trace = NULL;
    struct mt_error error;

    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
        struct mt_open_options options = wrong[i].options;

        options.size_bytes = sizeof(options);
        assert_int_equal(mt_trace_open_with(&f->path, 1, &options, &trace, &error), MT_USAGE);
        assert_string_equal(error.option, wrong[i].option);
        assert_null(strstr(error.message, "--"));
    }
    assert_int_equal(mt_trace_open(&nowhere, 1, &trace, &error), MT_NOT_FOUND);
    assert_null(error.option);
}

/* What nobody named is not judged. */
static void a_recording_must_be_named(void **state)
{
    struct mt_trace *trace = NULL;
    struct mt_answer *answer = NULL;
    struct mt_error error;

    (void)state;
    assert_int_equal(mt_trace_open(NULL, 0, &trace, &error), MT_USAGE);
    assert_non_null(strstr(error.message, "no recording is named"));
    assert_null(trace);
    assert_int_equal(mt_summaries_ask(NULL, 0, NULL, &answer, &error), MT_USAGE);
    assert_int_equal(mt_summaries_history(NULL, 0, 0, NULL, &answer, &error), MT_USAGE);
    assert_int_equal(mt_summaries_merge(NULL, 0, "/no/such/folder", &error), MT_USAGE);
    assert_null(answer);
}

/* What it does not need was not read, so nothing else may be asked. */
static void one_question_is_answered_alone(void **state)
{
    const struct fixture *f = *state;
    const struct mt_open_options options = {.size_bytes = sizeof(options), .question = "info"};
    const struct mt_ask_options drawn = {.size_bytes = sizeof(drawn), .flags = MT_ASK_PICTURES};
    struct mt_trace *trace = open_trace(f, &options);
    const struct mt_diff_side sides[] = {{.trace = trace}, {.trace = trace}};
    struct mt_answer *any = answer_to(f, "info"), *alone = ask(trace, "info"), *none = NULL;
    char *expected = json_of(any), *given = json_of(alone);

    assert_string_equal(given, expected);
    assert_int_equal(mt_trace_ask(trace, "leaks", NULL, &none, NULL), MT_USAGE);
    assert_int_equal(mt_trace_ask(trace, "info", &drawn, &none, NULL), MT_USAGE);
    assert_int_equal(mt_trace_diff(sides, 2, NULL, &none, NULL), MT_USAGE);
    assert_int_equal(mt_trace_export(trace, "sqlite", "/no/such/file", NULL), MT_USAGE);
    assert_int_equal(mt_trace_keep_names(trace, NULL), MT_USAGE);
    assert_null(none);
    free(expected);
    free(given);
    mt_answer_close(any);
    mt_answer_close(alone);
    mt_trace_close(trace);
}

/* --- a reading that waits for its question ------------------------------------------------------
 */

enum { turns = 60, pairs_in_turn = 40 };

static void turn_alloc(struct trace_builder *builder, uint64_t *ticks, uint64_t address,
                       uint64_t site)
{
    trace_builder_host_alloc(builder, 0, *ticks += 500,
                             (struct built_block){.address = address, .size = 4096, .site = site});
}

/* A loop without marks; each turn keeps blocks. */
static void make_turns(struct trace_builder *builder, uint64_t *ticks)
{
    for (uint64_t turn = 0; turn < turns; turn++) {
        turn_alloc(builder, ticks, 0x700000000000 + turn * 8192, 0x500000);
        for (uint64_t i = 0; i < pairs_in_turn; i++) {
            turn_alloc(builder, ticks, 0x10000000 + i * 8192, 0x400000 + i % 3 * 64);
            trace_builder_host_free(builder, 0, *ticks += 500, 0x10000000 + i * 8192);
        }
    }
}

/* A program that takes down what it has: with a period, too, but these are no steps. */
static void make_taken_down(struct trace_builder *builder, uint64_t *ticks)
{
    for (uint64_t i = 0; i < turns * pairs_in_turn; i++)
        turn_alloc(builder, ticks, 0x10000000 + i * 8192, 0x800000 + i * 64);
    for (uint64_t turn = 0; turn < turns; turn++) {
        turn_alloc(builder, ticks, 0x700000000000, 0x500000);
        for (uint64_t i = 0; i < pairs_in_turn; i++)
            trace_builder_host_free(builder, 0, *ticks += 500,
                                    0x10000000 + (turn * pairs_in_turn + i) * 8192);
        trace_builder_host_free(builder, 0, *ticks += 500, 0x700000000000);
    }
}

static char *drawn_json(struct mt_trace *trace, const char *question)
{
    const struct mt_ask_options drawn = {.size_bytes = sizeof(drawn), .flags = MT_ASK_PICTURES};
    struct mt_answer *answer = NULL;
    char *text;

    assert_int_equal(mt_trace_ask(trace, question, &drawn, &answer, NULL), MT_OK);
    text = json_of(answer);
    mt_answer_close(answer);
    return text;
}

static void assert_drawn_alike(const struct fixture *f, const char *question)
{
    const struct mt_open_options options = {
        .size_bytes = sizeof(options), .question = question, .ask_flags = MT_ASK_PICTURES};
    struct mt_trace *trace = open_trace(f, &options), *any = open_trace(f, NULL);
    char *expected = drawn_json(any, question), *given = drawn_json(trace, question);

    assert_string_equal(given, expected);
    free(expected);
    free(given);
    mt_trace_close(trace);
    mt_trace_close(any);
}

/* Answers are the same, whether a trace was opened for the question or for any. */
static void assert_alike(void (*make)(struct trace_builder *builder, uint64_t *ticks),
                         bool has_steps)
{
    static const char *const questions[] = {"leaks", "report", "verdict", "ranks"};
    struct trace_builder *builder = trace_builder_create(&(struct trace_builder_setup){0});
    struct fixture f = {.folder = temporary_folder_create()};
    uint64_t ticks = 1000;

    f.path = f.folder;
    trace_builder_thread(builder, 0, 1, 4711, "main");
    make(builder, &ticks);
    trace_builder_close(builder);
    trace_builder_write(builder, f.folder);
    trace_builder_destroy(builder);
    for (size_t i = 0; i < sizeof(questions) / sizeof(questions[0]); i++) {
        const struct mt_open_options options = {.size_bytes = sizeof(options),
                                                .question = questions[i]};
        struct mt_trace *trace = open_trace(&f, &options);
        struct mt_answer *any = answer_to(&f, questions[i]), *alone = ask(trace, questions[i]);
        struct mt_answer *again = ask(trace, questions[i]);
        char *expected = json_of(any), *given = json_of(alone), *repeated = json_of(again);

        assert_string_equal(given, expected);
        assert_string_equal(repeated, expected);
        if (!i)
            assert_true(!strstr(expected, "found by its period") == !has_steps);
        free(expected);
        free(given);
        free(repeated);
        mt_answer_close(any);
        mt_answer_close(alone);
        mt_answer_close(again);
        mt_trace_close(trace);
        assert_drawn_alike(&f, questions[i]);
    }
    assert_drawn_alike(&f, "info");
    temporary_folder_remove(f.folder);
}

static void steps_that_are_found_are_the_same_in_one_reading_less(void **state)
{
    (void)state;
    assert_alike(make_turns, true);
}

static void what_seemed_to_be_steps_is_none(void **state)
{
    (void)state;
    assert_alike(make_taken_down, false);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(says_its_version),
        cmocka_unit_test(a_finding_is_read_value_by_value),
        cmocka_unit_test(a_stack_is_read_call_by_call),
        cmocka_unit_test(a_table_is_read_cell_by_cell),
        cmocka_unit_test(what_is_not_there_is_not_known),
        cmocka_unit_test(a_change_has_a_sign),
        cmocka_unit_test(a_function_gets_what_a_stream_gets),
        cmocka_unit_test(progress_is_told_in_order),
        cmocka_unit_test(opening_can_be_cancelled_at_any_call),
        cmocka_unit_test(what_was_cancelled_can_be_asked_again),
        cmocka_unit_test(recordings_are_read_by_several_threads),
        cmocka_unit_test(options_of_other_versions_are_taken),
        cmocka_unit_test(an_error_names_the_option),
        cmocka_unit_test(a_recording_must_be_named),
        cmocka_unit_test(one_question_is_answered_alone),
        cmocka_unit_test(steps_that_are_found_are_the_same_in_one_reading_less),
        cmocka_unit_test(what_seemed_to_be_steps_is_none),
    };

    return cmocka_run_group_tests(tests, set_up, tear_down);
}
