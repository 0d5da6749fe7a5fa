/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A process that the kernel killed: what is said of it, and of none that ended otherwise.
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
    return report_create("oom", &report, NULL);
}

static int teardown(void **state)
{
    (void)state;
    report_destroy(report);
    event_list_release(&list);
    return 0;
}

static void note(const char *subject, const char *text, uint64_t first, uint64_t second)
{
    event_list_add(&list, (struct event){.kind = EVENT_NOTE,
                                         .detail = event_list_text(&list, subject),
                                         .text = event_list_text(&list, text),
                                         .address = first,
                                         .value = second});
}

static void held(uint64_t address, uint64_t bytes, const char *site)
{
    const struct mt_place host = {.device = -1, .module = -1};

    event_list_add(&list,
                   (struct event){.kind = EVENT_ALLOC,
                                  .place = model_place(list.model, host),
                                  .pool = model_pool(list.model, event_list_text(&list, "host")),
                                  .address = address,
                                  .value = bytes,
                                  .site = event_list_site(&list, site)});
}

static void account(uint64_t bytes)
{
    note(ACCOUNT_SUBJECT, "", 2, 0);
    note("account part code and its data", "/bin/server", 4 * MIB, 4 * MIB);
    note("account part blocks of malloc", "main arena", bytes, bytes);
    note(ACCOUNT_SUBJECT_FIGURE, "resident", bytes + 4 * MIB, 0);
    note(ACCOUNT_SUBJECT_END, "", 0, 0);
}

static void ask(void)
{
    const struct analysis analyses[] = {{.write = analyse_killed}, {NULL, NULL}};

    analyses_run(analyses, NULL, event_list_question(&list), report);
}

static void expect_said(size_t index, const char *words)
{
    assert_true(index < report_verdict_count(report));
    if (!strstr(report_verdict_at(report, index), words))
        fail_msg("\"%s\" is not in \"%s\"", words, report_verdict_at(report, index));
}

static void the_last_account_and_the_holder_are_said(void **state)
{
    (void)state;
    held(1 * MIB, 30 * MIB, "cache");
    held(100 * MIB, 20 * MIB, "batch");
    held(200 * MIB, 20 * MIB, "batch");
    account(10 * MIB);
    account(66 * MIB);
    note(ACCOUNT_SUBJECT_KILLED, "/job", 1, 80 * MIB);
    ask();
    expect_said(0, "no memory left in its cgroup /job (limit 80.0 MiB).");
    expect_said(1, "70.0 MiB resident: 66.0 MiB blocks of malloc, 4.00 MiB code and its data.");
    expect_said(2, "40.0 MiB in 2 blocks, was made by batch.");
    assert_int_equal(report_table_at(report, 1).row_count, 2);
}

static void without_an_account_the_rest_is_said(void **state)
{
    (void)state;
    held(1 * MIB, 30 * MIB, "cache");
    note(ACCOUNT_SUBJECT_KILLED, "/job", 1, UINT64_MAX);
    ask();
    expect_said(0, "no memory left in its cgroup /job.");
    expect_said(1, "30.0 MiB in 1 block, was made by cache.");
}

static void one_that_called_exit_was_not_killed(void **state)
{
    (void)state;
    held(1 * MIB, 30 * MIB, "cache");
    note(ACCOUNT_SUBJECT_KILLED, "/job", 1, 80 * MIB);
    model_process_exited(list.model, 0, 0);
    ask();
    assert_int_equal(report_verdict_count(report), 0);
    assert_int_equal(report_table_count(report), 0);
}

static void nobody_was_killed_without_a_note(void **state)
{
    (void)state;
    held(1 * MIB, 30 * MIB, "cache");
    account(66 * MIB);
    ask();
    assert_int_equal(report_verdict_count(report), 0);
}

#define KILLED_TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        KILLED_TEST(the_last_account_and_the_holder_are_said),
        KILLED_TEST(without_an_account_the_rest_is_said),
        KILLED_TEST(one_that_called_exit_was_not_killed),
        KILLED_TEST(nobody_was_killed_without_a_note),
    };

    return cmocka_run_group_tests_name("killed", tests, NULL, NULL);
}
