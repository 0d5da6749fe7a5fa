/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What every question costs, in readings of the recording, and that the verdict is the report's.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "analyses.h"
#include "error_sentence.h"
#include "event_list.h"
#include "report_writers.h"

enum { step_count = 12, block_count = 40 };

struct counted_source {
    struct event_source inner;
    size_t reading_count;
    bool is_damaged;
};

static enum mt_result rewind_counted(void *context, struct mt_error *error)
{
    struct counted_source *source = context;

    source->reading_count++;
    if (source->is_damaged)
        return mt_error_set(error, MT_IO, "the disk is gone");
    return source->inner.rewind(source->inner.context, error);
}

static enum mt_result next_counted(void *context, struct event *batch, size_t capacity,
                                   size_t *count, struct mt_error *error)
{
    struct counted_source *source = context;

    return source->inner.next(source->inner.context, batch, capacity, count, error);
}

struct fixture {
    struct event_list list;
    struct counted_source counted;
    struct event_source source;
    struct question question;
};

static void ask_of_list(struct fixture *f)
{
    f->question = *event_list_question(&f->list);
    f->question.is_for_pictures = true;
    f->question.blocks.most_bytes = f->question.blocks.to_ns = UINT64_MAX;
    f->counted.inner = f->list.source;
    f->source = (struct event_source){&f->counted, rewind_counted, next_counted, NULL};
    f->question.events = &f->source;
}

/* Steps of blocks that come and go, an operator, and a leak. */
static int setup(void **state)
{
    struct fixture *f = calloc(1, sizeof(*f));
    uint32_t brief, leak;
    uint64_t fresh = 0x100000;

    assert_non_null(f);
    event_list_init(&f->list);
    brief = event_list_site(&f->list, "brief");
    leak = event_list_site(&f->list, "leak");
    for (uint64_t step = 1; step <= step_count; step++) {
        event_list_step(&f->list, EVENT_STEP_BEGIN, step);
        event_list_operator(&f->list, EVENT_OPERATOR_BEGIN, "matmul");
        for (uint64_t i = 1; i <= block_count; i++)
            event_list_alloc(&f->list, i * 0x1000, 100 * i + step, brief);
        event_list_operator(&f->list, EVENT_OPERATOR_END, "matmul");
        event_list_alloc(&f->list, fresh += 0x1000, 4096, leak);
        for (uint64_t i = 1; i <= block_count; i++)
            event_list_free(&f->list, i * 0x1000);
        event_list_step(&f->list, EVENT_STEP_END, step);
    }
    ask_of_list(f);
    *state = f;
    return 0;
}

/* A job that ended, as one that ran out of memory does, within its first step. */
static int setup_first_step(void **state)
{
    struct fixture *f = calloc(1, sizeof(*f));
    uint32_t site;

    assert_non_null(f);
    event_list_init(&f->list);
    site = event_list_site(&f->list, "weights");
    event_list_alloc(&f->list, 0x1000, 4096, site);
    event_list_step(&f->list, EVENT_STEP_BEGIN, 1);
    event_list_alloc(&f->list, 0x3000, 8192, site);
    ask_of_list(f);
    *state = f;
    return 0;
}

static int teardown(void **state)
{
    struct fixture *f = *state;

    event_list_release(&f->list);
    free(f);
    return 0;
}

/* is_page: with all that is drawn. */
static struct report *ask(struct fixture *f, const char *name, bool is_page)
{
    const struct answer_kind *kind = answer_kind_find(name);
    struct report *report;

    assert_non_null(kind);
    assert_int_equal(report_create(name, &report, NULL), MT_OK);
    f->counted.reading_count = 0;
    f->question.top = kind->top;
    analyses_run(kind->analyses, is_page ? answer_page_analyses(kind) : NULL, &f->question, report);
    return report;
}

static void a_page_takes_one_reading_more(void **state)
{
    static const char *const names[] = {"report", "peak", "blocks", "leaks", "steps", "ops"};
    struct fixture *f = *state;

    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        report_destroy(ask(f, names[i], true));
        assert_int_equal(f->counted.reading_count, 1);
    }
}

static void a_step_that_did_not_end_has_no_row(void **state)
{
    struct fixture *f = *state;
    struct report *report = ask(f, "report", true), *steps = ask(f, "steps", true);

    assert_true(report_verdict_count(report) > 0);
    assert_string_equal(report_verdict_at(steps, 0),
                        "No step ended: the recording ends within the first one.");
    assert_int_equal(report_outcome_of(steps), REPORT_NO_DATA);
    report_destroy(report);
    report_destroy(steps);
}

static void the_verdict_is_that_of_the_report_without_another_reading(void **state)
{
    struct fixture *f = *state;
    struct report *whole = ask(f, "report", false), *verdict = ask(f, "verdict", false);

    assert_int_equal(f->counted.reading_count, 0);
    assert_true(report_verdict_count(whole) >= 2);
    assert_int_equal(report_verdict_count(verdict), report_verdict_count(whole));
    for (size_t i = 0; i < report_verdict_count(whole); i++)
        assert_string_equal(report_verdict_at(verdict, i), report_verdict_at(whole, i));
    assert_int_equal(report_outcome_of(verdict), report_outcome_of(whole));
    report_destroy(whole);
    report_destroy(verdict);
}

static void a_reading_that_fails_is_told_and_the_rest_is_there(void **state)
{
    struct fixture *f = *state;
    struct report *report;
    FILE *out;
    char *text = NULL;
    size_t size;

    f->counted.is_damaged = true;
    report = ask(f, "peak", false);
    out = open_memstream(&text, &size);
    assert_non_null(out);
    assert_true(report_write(report_writer_find("text"), report, NULL, out));
    fclose(out);
    assert_non_null(strstr(text, "near the peak: the second reading failed: the disk is gone"));
    assert_non_null(strstr(text, "peaks of steps: the second reading failed"));
    assert_true(report_verdict_count(report) > 0);
    free(text);
    report_destroy(report);
}

/* --- analyses that begin alike ----------------------------------------------------------------
 */

static size_t begun, released;
static void *written[2];

static void *begin_counted(const struct question *question, struct life_visitor *visitor)
{
    (void)question;
    (void)visitor;
    begun++;
    return &begun;
}

static void write_first(void *state, struct report *report)
{
    (void)report;
    written[0] = state;
}

static void write_second(void *state, struct report *report)
{
    (void)report;
    assert_int_equal(released, 0);
    written[1] = state;
}

static void release_counted(void *state)
{
    (void)state;
    released++;
}

/* The sentences of a report and a summary both need what survives: it was gathered twice. */
static void analyses_that_begin_alike_share_what_they_saw(void **state)
{
    static const struct block_analysis first = {
        .name = "first", .begin = begin_counted, .write = write_first, .release = release_counted};
    static const struct block_analysis second = {.name = "second",
                                                 .begin = begin_counted,
                                                 .write = write_second,
                                                 .release = release_counted};
    const struct analysis list[] = {{.of_blocks = &first}, {NULL, NULL}};
    const struct analysis further[] = {{.of_blocks = &second}, {NULL, NULL}};
    struct fixture *f = *state;
    struct report *report;

    assert_int_equal(report_create("leaks", &report, NULL), MT_OK);
    analyses_run(list, further, &f->question, report);
    assert_int_equal(begun, 1);
    assert_int_equal(released, 1);
    assert_ptr_equal(written[0], &begun);
    assert_ptr_equal(written[1], &begun);
    report_destroy(report);
}

/* --- sums that are pending -------------------------------------------------------------------- */

struct reading_that_waits {
    size_t missing; /* readings until it is done */
    enum mt_result result;
    size_t visitor_count;
    const struct tally *sums;
};

static enum mt_result read_now(void *context, struct question *question,
                               const struct life_visitor *visitors, size_t visitor_count,
                               bool *is_done, struct mt_error *error)
{
    struct reading_that_waits *waits = context;

    (void)visitors;
    waits->visitor_count = visitor_count;
    question->tally = waits->sums;
    *is_done = waits->result == MT_OK && !--waits->missing;
    return waits->result == MT_OK ? MT_OK : mt_error_set(error, waits->result, "the disk is gone");
}

static bool never(void *context, const struct life *life)
{
    (void)context;
    (void)life;
    return false;
}

static void *begin_seeing(const struct question *question, struct life_visitor *visitor)
{
    (void)question;
    visitor->born = never;
    begun++;
    return &begun;
}

static void write_seen(void *state, struct report *report)
{
    (void)report;
    assert_ptr_equal(state, &begun);
    written[0] = state;
}

static const struct pending_case {
    bool is_early;
    size_t missing;
    enum mt_result result;
    size_t told, begun, readings; /* told: visitors in the reading that waited */
} pending_cases[] = {
    {.is_early = true, .missing = 1, .told = 1, .begun = 1, .readings = 0},
    {.is_early = true, .missing = 2, .told = 1, .begun = 2, .readings = 0},
    {.is_early = false, .missing = 2, .told = 0, .begun = 1, .readings = 1},
    {.is_early = true, .missing = 2, .result = MT_IO, .told = 1, .begun = 1, .readings = 0},
};

static void what_is_pending_is_read_with_those_that_see_blocks_early(void **state)
{
    struct fixture *f = *state;

    for (size_t i = 0; i < sizeof(pending_cases) / sizeof(pending_cases[0]); i++) {
        const struct pending_case *c = &pending_cases[i];
        const struct block_analysis one = {.name = "one",
                                           .is_early = c->is_early,
                                           .begin = begin_seeing,
                                           .write = write_seen,
                                           .release = release_counted};
        const struct analysis list[] = {{.of_blocks = &one}, {NULL, NULL}};
        struct reading_that_waits waits = {c->missing, c->result, 0, f->question.tally};
        const struct pending_sums pending = {&waits, read_now};
        struct report *report;
        struct mt_error error;

        begun = released = f->counted.reading_count = 0;
        written[0] = NULL;
        assert_int_equal(report_create("leaks", &report, NULL), MT_OK);
        assert_int_equal(analyses_run_pending(list, NULL, &f->question, &pending, report, &error),
                         c->result);
        assert_int_equal(waits.visitor_count, c->told);
        assert_int_equal(begun, c->begun);
        assert_int_equal(released, c->begun);
        assert_int_equal(f->counted.reading_count, c->readings);
        assert_true(!written[0] == (c->result != MT_OK));
        report_destroy(report);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(analyses_that_begin_alike_share_what_they_saw, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(what_is_pending_is_read_with_those_that_see_blocks_early,
                                        setup, teardown),
        cmocka_unit_test_setup_teardown(a_page_takes_one_reading_more, setup, teardown),
        cmocka_unit_test_setup_teardown(a_step_that_did_not_end_has_no_row, setup_first_step,
                                        teardown),
        cmocka_unit_test_setup_teardown(the_verdict_is_that_of_the_report_without_another_reading,
                                        setup, teardown),
        cmocka_unit_test_setup_teardown(a_reading_that_fails_is_told_and_the_rest_is_there, setup,
                                        teardown),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
