/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which part of a process's resident memory grows, whether that is a leak, and what is not said.
 * Each complaint has a twin that is mended.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "account_analyses.h"
#include "event_list.h"

#define MIB (UINT64_C(1) << 20)

enum { ACCOUNTS = 24 };

static struct event_list list;
static struct report *report;

static int setup(void **state)
{
    (void)state;
    event_list_init(&list);
    return report_create("account", &report, NULL);
}

static int teardown(void **state)
{
    (void)state;
    report_destroy(report);
    event_list_release(&list);
    return 0;
}

/* Another recording. */
static void start_again(void **state)
{
    teardown(state);
    setup(state);
}

static void note(const char *subject, const char *text, uint64_t first, uint64_t second)
{
    list.time_ns += UINT64_C(1000000);
    event_list_add(&list, (struct event){.kind = EVENT_NOTE,
                                         .time_ns = list.time_ns,
                                         .detail = event_list_text(&list, subject),
                                         .text = event_list_text(&list, text),
                                         .address = first,
                                         .value = second});
}

static void figure(const char *key, uint64_t number)
{
    note(ACCOUNT_SUBJECT_FIGURE, key, number, 0);
}

/* Beside 40 MiB of code. */
struct moment {
    const char *part, *name;
    uint64_t bytes, threads, charged, cache, shared, limit;
};

static void account(struct moment moment)
{
    note(ACCOUNT_SUBJECT, "", 2, 0);
    note("account part code and its data", "/bin/server", 40 * MIB, 40 * MIB);
    note(moment.part, moment.name, moment.bytes, moment.bytes);
    figure("resident", 40 * MIB + moment.bytes);
    figure("trim", moment.bytes / 2);
    figure("threads", moment.threads);
    if (moment.charged) {
        note(ACCOUNT_SUBJECT_CGROUP_AT, "/job", 2, 0);
        note(ACCOUNT_SUBJECT_CGROUP, "current", moment.charged, 0);
        if (moment.limit)
            note(ACCOUNT_SUBJECT_CGROUP, "limit", moment.limit, 0);
        note(ACCOUNT_SUBJECT_CGROUP, "inactive_file", moment.cache, 0);
        note(ACCOUNT_SUBJECT_CGROUP, "file", moment.cache + moment.shared, 0);
        note(ACCOUNT_SUBJECT_CGROUP, "shared", moment.shared, 0);
    }
    note(ACCOUNT_SUBJECT_END, "", 0, 0);
}

static void ask(void)
{
    const struct analysis analyses[] = {{.write = analyse_resident}, {NULL, NULL}};

    analyses_run(analyses, NULL, event_list_question(&list), report);
}

/* The words that the verdict has in this order; or, of a twin, that nothing grew. */
static void expect_said(const char *words)
{
    for (size_t i = 0; i < report_verdict_count(report); i++)
        if (strstr(report_verdict_at(report, i), words))
            return;
    fail_msg("nobody says \"%s\" but \"%s\"", words,
             report_verdict_count(report) ? report_verdict_at(report, 0) : "nothing");
}

static const struct value *cell(const char *table, size_t row, const char *key)
{
    for (size_t i = 0; i < report_table_count(report); i++) {
        struct report_table_view view = report_table_at(report, i);

        if (strcmp(view.name, table) != 0 || row >= view.row_count)
            continue;
        for (size_t k = 0; k < view.column_count; k++)
            if (strcmp(view.columns[k].key, key) == 0)
                return &report_row_at(report, i, row)[k];
    }
    return NULL;
}

static void expect_no_growth(void)
{
    ask();
    assert_null(cell("resident_growth", 0, "cause"));
    assert_null(strstr(report_verdict_at(report, 0), "grew"));
}

/* Grows by 4 MiB a second; the last account comes soon after the one before, as of a busy machine.
 */
static void growth_is_seen_however_accounts_lie(void **state)
{
    static const uint64_t seconds[] = {3, 9, 16, 23, 26, 27};
    const uint64_t second_ns = UINT64_C(1000000000);

    (void)state;
    for (size_t i = 0; i < sizeof(seconds) / sizeof(seconds[0]); i++) {
        list.time_ns = seconds[i] * second_ns;
        account((struct moment){.part = "account part mapped files",
                                .name = "/data/set",
                                .bytes = seconds[i] * 4 * MIB});
    }
    ask();
    expect_said("mapped files");
    assert_non_null(cell("resident_growth", 0, "cause"));
}

/* For the last ten of its 27 seconds it does not. */
static void growth_that_is_over_is_none_however_accounts_lie(void **state)
{
    static const uint64_t seconds[] = {1, 3, 5, 8, 11, 14, 16, 17, 27};

    (void)state;
    for (size_t i = 0; i < sizeof(seconds) / sizeof(seconds[0]); i++) {
        list.time_ns = seconds[i] * UINT64_C(1000000000);
        account((struct moment){.part = "account part mapped files",
                                .name = "/data/set",
                                .bytes = (seconds[i] < 17 ? seconds[i] : 17) * 4 * MIB});
    }
    expect_no_growth();
}

struct complaint {
    const char *test, *part, *name, *cause, *said;
    bool is_leak;
};

static const struct complaint complaints[] = {
    {"blocks", "account part blocks of malloc", "main arena", "blocks",
     "is blocks that are not freed", true},
    {"kept by malloc", "account part kept free by malloc", "main arena", "kept by malloc",
     "freed, and kept by malloc: no leak", false},
    {"kept by jemalloc", "account part kept free by malloc", "jemalloc of redis-server",
     "kept by malloc", "freed, and kept by jemalloc: no leak", false},
    {"shared memory", "account part shared memory", "/dev/shm/queue (deleted)", "shared memory",
     "shared memory that is not given back, /dev/shm/queue (deleted)", true},
    {"mapped files", "account part mapped files", "/data/shard.bin", "mapped files",
     "files that stay mapped", false},
    {"stacks", "account part stacks of threads", "", "stacks of threads",
     "stacks of threads that do not end, with 123 threads", true},
    {"python", "account part kept free by python", "", "kept by python",
     "pools of Python that few objects pin", false},
    {"java", "account part java objects", "", "java objects", "objects of Java that are in use",
     true},
    {"javascript", "account part mapped without a file", ACCOUNT_NAME_V8_OBJECTS,
     "javascript objects", "objects of JavaScript that are in use", true},
    {"kept by v8", "account part mapped without a file", ACCOUNT_NAME_V8_KEPT, "kept by v8",
     "kept free by V8 for its heap: no leak", false},
    {"anonymous", "account part mapped without a file", "", "anonymous mappings",
     "mapped without a file and not unmapped", true},
};

static void what_grows_is_named_with_its_cause(void **state)
{
    for (size_t c = 0; c < sizeof(complaints) / sizeof(complaints[0]); c++) {
        const struct complaint *complaint = &complaints[c];

        start_again(state);
        for (uint64_t i = 0; i < ACCOUNTS; i++)
            account((struct moment){.part = complaint->part,
                                    .name = complaint->name,
                                    .bytes = (10 + 4 * i) * MIB,
                                    .threads = 100 + i});
        ask();
        assert_string_equal(cell("resident_growth", 0, "cause")->text, complaint->cause);
        assert_int_equal(cell("resident_growth", 0, "growth_bytes")->number, 4 * 17 * MIB);
        assert_int_equal(cell("resident_growth", 0, "is_leak")->number, complaint->is_leak);
        expect_said(complaint->said);
    }
}

static void mapped(const char *pool, uint64_t address, uint64_t bytes, const char *site)
{
    list.time_ns += UINT64_C(1000000);
    event_list_add(&list,
                   (struct event){.kind = EVENT_ALLOC,
                                  .time_ns = list.time_ns,
                                  .pool = model_pool(list.model, event_list_text(&list, pool)),
                                  .address = address,
                                  .value = bytes,
                                  .site = event_list_site(&list, site)});
}

static void who_mapped_most_of_what_grew_is_named(void **state)
{
    (void)state;
    mapped("mapped_file", 1, 900 * MIB, "weights");
    mapped("shared_memory", 4096, 20 * MIB, "queue");
    for (uint64_t i = 0; i < ACCOUNTS; i++) {
        mapped("shared_memory", (i + 10) << 24, 4 * MIB, "batch");
        account((struct moment){
            .part = complaints[3].part, .name = "/dev/shm/queue", .bytes = (10 + 4 * i) * MIB});
    }
    ask();
    expect_said("/dev/shm/queue, mapped by batch. To do:");
    assert_string_equal(cell("resident_growth", 0, "site")->text, "batch");
}

static void who_pins_what_malloc_keeps_is_named(void **state)
{
    (void)state;
    for (uint64_t i = 0; i < 2000; i++) /* many, but they fill their pages */
        mapped("host", ((i + 1) << 12) + 16, 4072, "import");
    for (uint64_t i = 0; i < 900; i++)
        mapped("host", ((i + 10000) << 12) + 16, 88, "keep");
    for (uint64_t i = 0; i < ACCOUNTS; i++)
        account((struct moment){
            .part = complaints[1].part, .name = "main arena", .bytes = (10 + 4 * i) * MIB});
    ask();
    /* Of each page, all but 96 bytes. */
    expect_said(
        ", and 3.43 MiB are held back on the pages of 900 blocks of keep that stay. To do:");
    assert_int_equal(cell("resident_growth", 0, "held_back_bytes")->number, 900 * (4096 - 96));
    assert_string_equal(cell("resident_growth", 0, "held_back_by")->text, "keep");
}

/* One that is small beside what others hold back is not blamed. */
static void a_line_that_holds_back_little_is_not_named(void **state)
{
    (void)state;
    for (uint64_t i = 0; i < 5000; i++) {
        char name[16];

        snprintf(name, sizeof(name), "line%d", (int)(i % 5));
        mapped("host", ((i + 10) << 12) + 16, 88, name);
    }
    for (uint64_t i = 0; i < ACCOUNTS; i++)
        account((struct moment){
            .part = complaints[1].part, .name = "main arena", .bytes = (10 + 4 * i) * MIB});
    ask();
    assert_int_equal(cell("resident_growth", 0, "held_back_by")->kind, VALUE_NONE);
}

/* Mappings past the hooks: a line that made little of it is not blamed. */
static void a_line_that_mapped_little_of_it_is_not_named(void **state)
{
    (void)state;
    mapped("shared_memory", 4096, 20 * MIB, "queue");
    for (uint64_t i = 0; i < ACCOUNTS; i++)
        account((struct moment){
            .part = complaints[3].part, .name = "/dev/shm/queue", .bytes = (10 + 4 * i) * MIB});
    ask();
    expect_said("/dev/shm/queue. To do:");
    assert_int_equal(cell("resident_growth", 0, "site")->kind, VALUE_NONE);
}

static void what_fills_up_and_stays_is_no_growth(void **state)
{
    (void)state;
    for (uint64_t i = 0; i < ACCOUNTS; i++)
        account((struct moment){.part = complaints[0].part,
                                .name = "main arena",
                                .bytes = (10 + 4 * (i < 12 ? i : 12)) * MIB});
    expect_no_growth();
}

static void what_goes_up_and_down_is_no_growth(void **state)
{
    (void)state;
    for (uint64_t i = 0; i < ACCOUNTS; i++)
        account((struct moment){.part = complaints[3].part,
                                .name = "/dev/shm/queue",
                                .bytes = (10 + i % 4 * 30) * MIB});
    expect_no_growth();
}

static void little_growth_is_not_said(void **state)
{
    (void)state;
    for (uint64_t i = 0; i < ACCOUNTS; i++)
        account((struct moment){
            .part = complaints[0].part, .name = "main arena", .bytes = 10 * MIB + i * 4096});
    expect_no_growth();
}

static void few_accounts_are_not_judged(void **state)
{
    (void)state;
    for (uint64_t i = 0; i < 5; i++)
        account((struct moment){
            .part = complaints[0].part, .name = "main arena", .bytes = (10 + 40 * i) * MIB});
    expect_no_growth();
}

static void page_cache_of_the_cgroup_is_no_leak(void **state)
{
    (void)state;
    for (uint64_t i = 0; i < ACCOUNTS; i++)
        account((struct moment){.part = complaints[0].part,
                                .name = "main arena",
                                .bytes = MIB,
                                .charged = (100 + 20 * i) * MIB,
                                .cache = (50 + 20 * i) * MIB});
    ask();
    assert_string_equal(cell("resident_growth", 0, "cause")->text, "page cache");
    assert_int_equal(cell("resident_growth", 0, "is_leak")->number, 0);
    expect_said("page cache, which the kernel takes back when it is needed: no leak");
}

/* Made, unmapped and never unlinked: no process has it, the cgroup does. */
static void files_left_in_shared_memory_are_a_leak_of_the_cgroup(void **state)
{
    (void)state;
    for (uint64_t i = 0; i < ACCOUNTS; i++)
        account((struct moment){.part = complaints[0].part,
                                .name = "main arena",
                                .bytes = MIB,
                                .charged = (100 + 20 * i) * MIB,
                                .cache = 50 * MIB,
                                .shared = (10 + 20 * i) * MIB});
    ask();
    assert_string_equal(cell("resident_growth", 0, "cause")->text, "shared memory of the cgroup");
    assert_int_equal(cell("resident_growth", 0, "is_leak")->number, 1);
    expect_said("its names are not unlinked");
}

static void a_limit_that_is_near_is_said(void **state)
{
    for (uint64_t charged = 70; charged <= 90; charged += 20) {
        start_again(state);
        account((struct moment){.part = complaints[0].part,
                                .name = "main arena",
                                .bytes = MIB,
                                .charged = charged * MIB,
                                .cache = 30 * MIB,
                                .limit = 100 * MIB});
        ask();
        if (charged == 90)
            expect_said("The cgroup /job is charged 90.0 MiB of its limit of 100 MiB (90 %); the "
                        "kernel can take back 30.0 MiB by itself.");
        else
            assert_int_equal(report_verdict_count(report), 1);
    }
}

static void an_account_with_a_missing_row_is_left_out(void **state)
{
    (void)state;
    account((struct moment){.part = complaints[0].part, .name = "main arena", .bytes = MIB});
    note(ACCOUNT_SUBJECT, "", 3, 0);
    note("account part code and its data", "/bin/server", 900 * MIB, 900 * MIB);
    figure("resident", 900 * MIB);
    note(ACCOUNT_SUBJECT_END, "", 0, 0);
    ask();
    assert_int_equal(cell("resident", 0, "resident_bytes")->number, 41 * MIB);
    assert_int_equal(cell("resident_figures", 0, "account_count")->number, 1);
}

static void very_many_accounts_are_thinned_out(void **state)
{
    (void)state;
    for (uint64_t i = 0; i < 2000; i++)
        account((struct moment){.part = complaints[0].part,
                                .name = "main arena",
                                .bytes = i == 777 ? 900 * MIB : (1 + i % 2) * MIB});
    ask();
    assert_true(cell("resident_figures", 0, "account_count")->number <= MEMORY_ACCOUNTS_MOST);
    assert_int_equal(cell("resident", 0, "highest_bytes")->number, 940 * MIB);
    assert_int_equal(cell("resident", 0, "first_bytes")->number, 41 * MIB);
    assert_int_equal(cell("resident", 0, "resident_bytes")->number, 42 * MIB);
}

/* age_ns: between reading the process and saying so. */
static void aged_account(uint64_t bytes, uint64_t age_ns)
{
    note(ACCOUNT_SUBJECT, "", 1, 0);
    note(complaints[0].part, "main arena", bytes, bytes);
    figure("resident", bytes);
    figure("step", 7);
    figure("late_ns", 2000000);
    figure("age_ns", age_ns);
    note(ACCOUNT_SUBJECT_END, "", 0, 0);
}

static void an_account_is_of_when_the_process_was_read(void **state)
{
    (void)state;
    for (uint64_t i = 0; i < ACCOUNTS - 1; i++)
        aged_account((10 + 4 * i) * MIB, 0);
    list.time_ns += UINT64_C(5000000000);
    aged_account((10 + 4 * ACCOUNTS) * MIB, UINT64_C(5000000000));
    ask();
    assert_int_equal(cell("resident_growth", 0, "duration_ns")->number,
                     (ACCOUNTS - 1 - ACCOUNTS / 4) * UINT64_C(7000000));
    assert_int_equal(cell("resident_figures", 0, "step")->number, 7);
    assert_int_equal(cell("resident_figures", 0, "late_ns")->number, 2000000);
}

/* What no recorder says. */
static void an_account_is_not_older_than_the_one_before(void **state)
{
    (void)state;
    for (uint64_t i = 0; i < ACCOUNTS; i++)
        aged_account((10 + 4 * i) * MIB, i % 2 ? UINT64_MAX : i << 40);
    ask();
    assert_non_null(cell("resident_figures", 0, "step"));
}

static void account_at_exit(uint64_t bytes)
{
    note(ACCOUNT_SUBJECT, "", 1, 0);
    note(complaints[0].part, "main arena", bytes, bytes);
    figure("resident", bytes);
    figure("at_exit", 1);
    note(ACCOUNT_SUBJECT_END, "", 0, 0);
}

/* It may just have freed everything: that ends no growth, and is no newest account. */
static void what_is_left_at_the_exit_stands_apart(void **state)
{
    (void)state;
    for (uint64_t i = 0; i < ACCOUNTS; i++)
        aged_account((10 + 4 * i) * MIB, 0);
    account_at_exit(3 * MIB);
    ask();
    assert_non_null(cell("resident_growth", 0, "cause"));
    assert_int_equal(cell("resident", 0, "resident_bytes")->number,
                     (10 + 4 * (ACCOUNTS - 1)) * MIB);
    assert_int_equal(cell("resident", 0, "exit_bytes")->number, 3 * MIB);
    assert_int_equal(cell("resident_figures", 0, "account_count")->number, ACCOUNTS);
}

static void an_account_at_the_exit_is_better_than_none(void **state)
{
    (void)state;
    account_at_exit(3 * MIB);
    ask();
    assert_int_equal(cell("resident", 0, "resident_bytes")->number, 3 * MIB);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
        TEST(growth_is_seen_however_accounts_lie),
        TEST(growth_that_is_over_is_none_however_accounts_lie),
        TEST(what_grows_is_named_with_its_cause),
        TEST(who_pins_what_malloc_keeps_is_named),
        TEST(a_line_that_holds_back_little_is_not_named),
        TEST(what_is_left_at_the_exit_stands_apart),
        TEST(an_account_at_the_exit_is_better_than_none),
        TEST(who_mapped_most_of_what_grew_is_named),
        TEST(a_line_that_mapped_little_of_it_is_not_named),
        TEST(what_fills_up_and_stays_is_no_growth),
        TEST(what_goes_up_and_down_is_no_growth),
        TEST(little_growth_is_not_said),
        TEST(few_accounts_are_not_judged),
        TEST(page_cache_of_the_cgroup_is_no_leak),
        TEST(files_left_in_shared_memory_are_a_leak_of_the_cgroup),
        TEST(a_limit_that_is_near_is_said),
        TEST(an_account_with_a_missing_row_is_left_out),
        TEST(very_many_accounts_are_thinned_out),
        TEST(an_account_is_of_when_the_process_was_read),
        TEST(an_account_is_not_older_than_the_one_before),
#undef TEST
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
