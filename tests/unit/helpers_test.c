/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which processes of a run are small programs around the one that was meant.
 */
#include "helpers.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

enum { KIB = 1024 };

struct row {
    const char *executable;
    uint64_t start_ns, end_ns, bytes;
    bool has_device, has_step, is_helper;
    uint64_t births; /* 0: one */
    bool is_errand;
};

static void feed(struct tally *tally, struct event event)
{
    assert_int_equal(tally_feed(tally, &event, 1, NULL), MT_OK);
}

static void feed_process(struct model *model, struct tally *tally, uint16_t index,
                         const struct row *row)
{
    uint16_t place =
        model_place(model, (struct mt_place){.device = row->has_device ? 0 : -1, .module = -1});
    uint16_t pool = model_known_pool(model, POOL_HOST);

    if (row->has_step)
        feed(tally,
             (struct event){.kind = EVENT_STEP_BEGIN, .process = index, .time_ns = 1, .value = 1});
    for (uint64_t i = 0; i < row->births + !row->births; i++)
        feed(tally, (struct event){.kind = EVENT_ALLOC,
                                   .process = index,
                                   .pool = pool,
                                   .place = place,
                                   .time_ns = 2,
                                   .address = 4096 * (i + 1),
                                   .value = i ? 1 : row->bytes});
}

static void run(const struct row *rows, size_t count)
{
    struct model *model;
    struct tally *tally;
    size_t helpers = 0;

    assert_int_equal(model_create(&model, NULL), MT_OK);
    assert_int_equal(tally_create(model, &tally, NULL), MT_OK);
    for (uint16_t i = 0; i < count; i++) {
        const struct model_process process = {
            .process_id = 10u + i,
            .executable = model_text(model, rows[i].executable, strlen(rows[i].executable)),
            .start_ns = rows[i].start_ns,
            .end_ns = rows[i].end_ns,
        };

        model_process(model, &process);
        feed_process(model, tally, i, &rows[i]);
    }
    tally_finish(tally);
    helpers_mark(model, tally);
    for (uint16_t i = 0; i < count; i++) {
        if (model_process_at(model, i)->is_helper != rows[i].is_helper ||
            model_process_at(model, i)->is_errand != rows[i].is_errand)
            fail_msg("%s, row %u", rows[i].executable, i);
        helpers += rows[i].is_helper;
    }
    assert_int_equal(model_helper_count(model), helpers);
    tally_destroy(tally);
    model_destroy(model);
}

static void shells_that_lead_to_a_program_are_helpers(void **state)
{
    static const struct row rows[] = {
        {"/bin/bash", 0, 10, 100 * KIB, false, false, true, 0, false},
        {"/bin/readlink", 2, 5, 12 * KIB, false, false, true, 0, false},
        {"/bin/python", 10, 90, 200 * KIB, false, false, false, 0, false}, /* small itself */
        {"/bin/bash", 6, 14, 100 * KIB, false, false, true, 0, false},
        {"/bin/bash", 6, 15, 100 * KIB, false, false, false, 0, false}, /* mostly beside it */
    };

    (void)state;
    run(rows, 5);
}

static void what_holds_little_beside_it_is_a_helper(void **state)
{
    static const struct row rows[] = {
        {"/bin/python", 0, 90, 64000 * KIB, false, false, false, 0, false},
        {"/bin/cc1", 20, 30, 1999 * KIB, false, false, true, 0, false},
        {"/bin/ld", 40, 50, 2000 * KIB, false, false, false, 0, false},
        {"/bin/python", 60, 70, 1 * KIB, false, false, false, 0, false}, /* a worker */
    };

    (void)state;
    run(rows, 4);
}

static void what_ran_before_and_held_much_is_none(void **state)
{
    static const struct row rows[] = {
        {"/bin/prepare", 0, 10, 1024 * KIB, false, false, false, 0, false},
        {"/bin/python", 10, 90, 2048 * KIB, false, false, false, 0, false},
    };

    (void)state;
    run(rows, 2);
}

static void devices_and_steps_are_meant(void **state)
{
    static const struct row rows[] = {
        {"/bin/python", 0, 90, 64000 * KIB, false, false, false, 0, false},
        {"/bin/infer", 0, 90, 1 * KIB, true, false, false, 0, false},
        {"/bin/train", 0, 90, 1 * KIB, false, true, false, 0, false},
        {"/bin/sh", 0, 90, 1 * KIB, false, false, true, 0, false},
    };

    (void)state;
    run(rows, 4);
}

static void one_program_has_no_helpers(void **state)
{
    static const struct row rows[] = {
        {"/bin/python", 0, 10, 1 * KIB, false, false, false, 0, false},
        {"/bin/python", 10, 90, 64000 * KIB, false, false, false, 0,
         false}, /* became itself again */
    };

    (void)state;
    run(rows, 2);
    run(rows, 1);
}

static void programs_that_a_job_calls_and_outlives_are_errands(void **state)
{
    static const struct row rows[] = {
        {"/bin/python", 0, 90, 64000 * KIB, false, false, false, 100, false},
        {"/bin/cc1plus", 20, 40, 99000 * KIB, false, false, true, 10, true},   /* holds more */
        {"/bin/cc1plus", 20, 70, 64000 * KIB, false, false, false, 10, false}, /* for long */
        {"/bin/python", 20, 40, 64000 * KIB, false, false, false, 10, false},  /* a worker */
        {"/bin/infer", 20, 40, 64000 * KIB, true, false, false, 10, false},
    };

    (void)state;
    run(rows, 5);
}

static void what_a_test_driver_runs_is_no_errand(void **state)
{
    static const struct row rows[] = {
        {"/bin/ctest", 0, 90, 2000 * KIB, false, false, false, 20, false},
        {"/bin/one_test", 20, 40, 2000 * KIB, false, false, false, 15, false},
        {"/bin/other_test", 40, 60, 2000 * KIB, false, false, false, 15, false},
    };

    (void)state;
    run(rows, 3);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(shells_that_lead_to_a_program_are_helpers),
        cmocka_unit_test(programs_that_a_job_calls_and_outlives_are_errands),
        cmocka_unit_test(what_a_test_driver_runs_is_no_errand),
        cmocka_unit_test(what_holds_little_beside_it_is_a_helper),
        cmocka_unit_test(what_ran_before_and_held_much_is_none),
        cmocka_unit_test(devices_and_steps_are_meant),
        cmocka_unit_test(one_program_has_no_helpers),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
