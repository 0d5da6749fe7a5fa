/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A line that blocks came from in several ways: what is said of it is of those that are counted,
 * not of the first that came.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "analyses.h"
#include "event_list.h"
#include "report_writers.h"

enum { step_count = 8 };

static struct event_list list;

static int setup(void **state)
{
    (void)state;
    event_list_init(&list);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    event_list_release(&list);
    return 0;
}

/* What is said as text; for free(). */
static char *answer_of(const char *name)
{
    const struct answer_kind *kind = answer_kind_find(name);
    struct question question = *event_list_question(&list);
    struct report *report;
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);

    assert_non_null(kind);
    assert_non_null(out);
    assert_int_equal(report_create(name, &report, NULL), MT_OK);
    analyses_run(kind->analyses, NULL, &question, report);
    assert_true(report_write(report_writer_find("text"), report, NULL, out));
    fclose(out);
    report_destroy(report);
    return text;
}

/* Whether a line of the table with this title has both. Ends the text after the table. */
static bool has_line_with(char *text, const char *title, const char *first, const char *second)
{
    char *table = strstr(text, title);

    assert_non_null(table);
    text = table;
    if (strstr(table, "\n\n"))
        *strstr(table, "\n\n") = '\0';
    for (const char *at = strstr(text, first); at; at = strstr(at + 1, first)) {
        const char *end = strchr(at, '\n'), *found = strstr(at, second);

        if (found && (!end || found < end))
            return true;
    }
    return false;
}

static void make_in(const char *operator_name, uint64_t address, uint64_t bytes, uint32_t site)
{
    event_list_operator(&list, EVENT_OPERATOR_BEGIN, operator_name);
    event_list_alloc(&list, address, bytes, site);
    event_list_operator(&list, EVENT_OPERATOR_END, operator_name);
}

static void what_steps_left_is_named_by_the_operator_that_left_most(void **state)
{
    uint32_t site = event_list_site(&list, "line");
    char *text;

    (void)state;
    for (uint64_t step = 1; step <= step_count; step++) {
        event_list_step(&list, EVENT_STEP_BEGIN, step);
        make_in("little", 0x100000 + step * 0x1000, 10, site);
        make_in("much", 0x200000 + step * 0x1000, 500, site);
        event_list_step(&list, EVENT_STEP_END, step);
        event_list_free(&list, 0x100000 + step * 0x1000);
        event_list_free(&list, 0x200000 + step * 0x1000);
    }
    text = answer_of("leaks");
    assert_true(has_line_with(text, "Born in a step", "line", "much"));
    assert_false(has_line_with(text, "Born in a step", "line", "little"));
    free(text);
}

static void tag(enum event_kind kind, const char *owner)
{
    event_list_add(&list, (struct event){.kind = kind, .text = event_list_text(&list, owner)});
}

static void a_peak_is_named_by_what_is_alive_in_it(void **state)
{
    uint32_t site = event_list_site(&list, "line");
    char *text;

    (void)state;
    event_list_alloc(&list, 0x1000, 10, site);
    event_list_free(&list, 0x1000);
    tag(EVENT_TAG_BEGIN, "mine");
    event_list_alloc(&list, 0x2000, 5000, site);
    tag(EVENT_TAG_END, "mine");
    text = answer_of("peak");
    assert_true(has_line_with(text, "Who held", "line", "mine"));
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(what_steps_left_is_named_by_the_operator_that_left_most,
                                        setup, teardown),
        cmocka_unit_test_setup_teardown(a_peak_is_named_by_what_is_alive_in_it, setup, teardown),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
