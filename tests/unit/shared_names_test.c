/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Names of shared memory: which of them nobody unlinked.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "account_analyses.h"
#include "event_list.h"

#define MIB (UINT64_C(1) << 20)

static struct event_list list;
static struct report *report;

static int setup(void **state)
{
    (void)state;
    event_list_init(&list);
    return report_create("leaks", &report, NULL);
}

static int teardown(void **state)
{
    (void)state;
    report_destroy(report);
    event_list_release(&list);
    return 0;
}

static void add(enum event_kind kind, uint64_t time_ns, uint64_t address, struct event event)
{
    event.kind = kind;
    event.time_ns = time_ns;
    event.address = address;
    event.pool = model_pool(list.model, event_list_text(&list, "shared_name"));
    event_list_add(&list, event);
}

static void made(uint64_t time_ns, uint64_t address, uint64_t bytes, const char *site)
{
    add(EVENT_ALLOC, time_ns, address,
        (struct event){.value = bytes, .site = event_list_site(&list, site)});
}

static void unlinked(uint64_t time_ns, uint64_t address)
{
    add(EVENT_FREE, time_ns, address, (struct event){0});
}

static void noted(uint64_t time_ns, uint64_t address, const char *subject, const char *name)
{
    add(EVENT_NOTE, time_ns, address,
        (struct event){.detail = event_list_text(&list, subject),
                       .text = event_list_text(&list, name)});
}

static void ask(void)
{
    const struct analysis analyses[] = {{.of_blocks = &shared_names_analysis}, {NULL, NULL}};

    analyses_run(analyses, NULL, event_list_question(&list), report);
}

/* The rows of the table: bytes, names, and what one of them is called. */
static void expect_row(size_t row, uint64_t bytes, uint64_t count, const char *name)
{
    const struct value *cells = report_row_at(report, 0, row);

    assert_int_equal(cells[1].number, bytes);
    assert_int_equal(cells[2].number, count);
    if (name)
        assert_string_equal(cells[3].text, name);
    else
        assert_int_equal(cells[3].kind, VALUE_NONE);
}

static void what_is_not_unlinked_is_left_by_its_maker(void **state)
{
    (void)state;
    made(100, 7, 3 * MIB, "queue");
    made(200, 8, 2 * MIB, "batch");
    made(300, 9, 2 * MIB, "batch");
    made(400, 10, 50 * MIB, "scratch");
    unlinked(500, 10);
    noted(600, 9, "shared memory named", "/dev/shm/batch-9");
    ask();
    assert_int_equal(report_table_at(report, 0).row_count, 2);
    expect_row(0, 4 * MIB, 2, "/dev/shm/batch-9");
    expect_row(1, 3 * MIB, 1, NULL);
    assert_non_null(
        strstr(report_verdict_at(report, 0), "SHARED MEMORY: 3 names with 7.00 MiB not unlinked"));
    assert_non_null(strstr(report_verdict_at(report, 0), "made by batch: /dev/shm/batch-9."));
    assert_int_equal(report_outcome_of(report), REPORT_FINE);
}

static void what_another_process_unlinks_is_not_left(void **state)
{
    (void)state;
    noted(500, 7, "shared memory unlinked", "");
    made(100, 7, 3 * MIB, "batch");
    ask();
    assert_int_equal(report_table_at(report, 0).row_count, 0);
    assert_int_equal(report_verdict_count(report), 0);
}

/* The kernel gives numbers of files again. */
static void a_name_is_not_taken_for_one_before_it(void **state)
{
    (void)state;
    noted(50, 7, "shared memory unlinked", "");
    noted(60, 7, "shared memory named", "/dev/shm/other");
    made(100, 7, 3 * MIB, "batch");
    ask();
    assert_int_equal(report_table_at(report, 0).row_count, 1);
    expect_row(0, 3 * MIB, 1, NULL);
}

static void little_is_listed_and_not_said(void **state)
{
    (void)state;
    made(100, 7, 4096, "lock");
    ask();
    expect_row(0, 4096, 1, NULL);
    assert_int_equal(report_verdict_count(report), 0);
}

static void a_site_that_leaves_many_leaks(void **state)
{
    (void)state;
    for (uint64_t i = 0; i < 4; i++)
        made(100 + i, 7 + i, MIB, "batch");
    ask();
    assert_int_equal(report_outcome_of(report), REPORT_FOUND);
}

static void while_a_process_runs_nothing_is_said(void **state)
{
    (void)state;
    made(100, 7, 3 * MIB, "batch");
    model_process_fill(list.model, 0)->is_complete = false;
    ask();
    assert_int_equal(report_table_at(report, 0).row_count, 1);
    assert_int_equal(report_verdict_count(report), 0);
}

static void other_pools_are_not_read_again(void **state)
{
    (void)state;
    event_list_alloc(&list, 7, MIB, event_list_site(&list, "tensor"));
    ask();
    assert_int_equal(report_table_count(report), 0);
    assert_int_equal(report_verdict_count(report), 0);
}

#define NAMES_TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        NAMES_TEST(what_is_not_unlinked_is_left_by_its_maker),
        NAMES_TEST(what_another_process_unlinks_is_not_left),
        NAMES_TEST(a_name_is_not_taken_for_one_before_it),
        NAMES_TEST(little_is_listed_and_not_said),
        NAMES_TEST(a_site_that_leaves_many_leaks),
        NAMES_TEST(while_a_process_runs_nothing_is_said),
        NAMES_TEST(other_pools_are_not_read_again),
    };

    return cmocka_run_group_tests_name("shared_names", tests, NULL, NULL);
}
