/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What other settings would have reserved: a pool whose requests are known to the byte.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "event_list.h"
#include "pool_analyses.h"
#include "report_writers.h"
#include "what_if.h"

#define MIB (UINT64_C(1) << 20)

static void reserve(struct event_list *list, uint64_t bytes)
{
    event_list_add(list, (struct event){.kind = EVENT_RESERVED, .value = bytes});
}

/*
 * Two segments of 20 MiB, each with 8 MiB free and 8 MiB taken; then 16 MiB that fit into neither.
 * recorded: what the pool says to have reserved then.
 */
static void play(struct event_list *list, uint64_t recorded_bytes)
{
    reserve(list, 20 * MIB);
    event_list_alloc(list, 1 * MIB, 8 * MIB, 0);
    event_list_alloc(list, 9 * MIB, 8 * MIB, 0);
    reserve(list, 40 * MIB);
    event_list_alloc(list, 41 * MIB, 8 * MIB, 0);
    event_list_alloc(list, 49 * MIB, 8 * MIB, 0);
    event_list_free(list, 1 * MIB);
    event_list_free(list, 49 * MIB);
    reserve(list, recorded_bytes);
    event_list_alloc(list, 81 * MIB, 16 * MIB, 0);
}

static void the_model_says_how_far_it_is_off(void **state)
{
    struct event_list list;
    struct what_ifs what_ifs;
    const struct what_if_ledger *ledger = &what_ifs.ledgers[0];

    (void)state;
    event_list_init(&list);
    play(&list, 56 * MIB);
    assert_int_equal(what_ifs_read(event_list_question(&list), NULL, &what_ifs, NULL), MT_OK);
    assert_int_equal(what_ifs.count, 1);
    assert_int_equal(ledger->recorded_bytes, 56 * MIB);
    assert_int_equal(ledger->as_it_ran.totals.reserved_peak_bytes, 56 * MIB);
    assert_int_equal(ledger->error_permille, 0);
    assert_true(ledger->is_believed);
    /* On one line, the last 8 MiB that are free lie beside 8 that were never used. */
    assert_string_equal(what_if_best(ledger)->setting, "expandable_segments:True");
    assert_int_equal(what_if_best(ledger)->totals.reserved_peak_bytes, 40 * MIB);
    event_list_release(&list);
}

static void a_model_that_is_off_is_not_believed(void **state)
{
    struct event_list list;
    struct what_ifs what_ifs;
    const struct what_if_ledger *ledger = &what_ifs.ledgers[0];

    (void)state;
    event_list_init(&list);
    play(&list, 80 * MIB);
    assert_int_equal(what_ifs_read(event_list_question(&list), NULL, &what_ifs, NULL), MT_OK);
    assert_int_equal(ledger->error_permille, 300);
    assert_false(ledger->is_believed);
    assert_null(what_if_best(ledger));
    event_list_release(&list);
}

static void older_blocks_of_unknown_places_are_no_base(void **state)
{
    struct event_list list;
    struct what_ifs what_ifs;

    (void)state;
    event_list_init(&list);
    event_list_add(&list,
                   (struct event){.kind = EVENT_SAMPLE, .flags = EVENT_IS_OLDER, .value = 8 * MIB});
    play(&list, 56 * MIB);
    assert_int_equal(what_ifs_read(event_list_question(&list), NULL, &what_ifs, NULL), MT_OK);
    assert_int_equal(what_ifs.count, 1);
    assert_non_null(what_ifs.ledgers[0].trouble);
    event_list_release(&list);
}

static void what_is_asked_for_is_tried_too(void **state)
{
    struct event_list list;
    struct what_ifs what_ifs;
    const struct what_if_ledger *ledger = &what_ifs.ledgers[0];
    const struct what_if *asked;

    (void)state;
    event_list_init(&list);
    play(&list, 56 * MIB);
    assert_int_equal(
        what_ifs_read(event_list_question(&list), "max_split_size_mb:64", &what_ifs, NULL), MT_OK);
    asked = &ledger->others[ledger->other_count - 1];
    assert_string_equal(asked->setting, "max_split_size_mb:64");
    assert_int_equal(asked->totals.reserved_peak_bytes, 56 * MIB);
    assert_int_equal(what_ifs_read(event_list_question(&list), "nonsense", &what_ifs, NULL),
                     MT_USAGE);
    event_list_release(&list);
}

/* What the pool gave back, told segment by segment, is one emptying. */
static void giving_back_is_told_to_the_model_once(void **state)
{
    struct event_list list;
    struct what_ifs what_ifs;
    const struct what_if_ledger *ledger = &what_ifs.ledgers[0];

    (void)state;
    event_list_init(&list);
    reserve(&list, 20 * MIB);
    event_list_alloc(&list, 1 * MIB, 20 * MIB, 0);
    reserve(&list, 40 * MIB);
    event_list_alloc(&list, 31 * MIB, 20 * MIB, 0);
    event_list_free(&list, 1 * MIB);
    event_list_free(&list, 31 * MIB);
    reserve(&list, 20 * MIB);
    reserve(&list, 0);
    reserve(&list, 30 * MIB);
    event_list_alloc(&list, 61 * MIB, 30 * MIB, 0);
    assert_int_equal(what_ifs_read(event_list_question(&list), NULL, &what_ifs, NULL), MT_OK);
    assert_int_equal(ledger->give_back_count, 1);
    assert_int_equal(ledger->as_it_ran.totals.reserved_peak_bytes, 40 * MIB);
    assert_int_equal(ledger->as_it_ran.totals.reserved_bytes, 30 * MIB);
    event_list_release(&list);
}

/* A column that people are not shown has no title; a page names it after its key. */
static void the_answer_can_be_written_in_every_format(void **state)
{
    struct event_list list;
    struct report *report;

    (void)state;
    event_list_init(&list);
    play(&list, 56 * MIB);
    assert_int_equal(report_create("frag", &report, NULL), MT_OK);
    analyse_fragmentation(event_list_question(&list), report);
    for (const struct report_writer *writer = report_writers; writer->name; writer++) {
        FILE *out = tmpfile();

        assert_non_null(out);
        assert_true(report_write(writer, report, NULL, out));
        assert_true(ftell(out) > 0);
        fclose(out);
    }
    report_destroy(report);
    event_list_release(&list);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_model_says_how_far_it_is_off),
        cmocka_unit_test(a_model_that_is_off_is_not_believed),
        cmocka_unit_test(older_blocks_of_unknown_places_are_no_base),
        cmocka_unit_test(what_is_asked_for_is_tried_too),
        cmocka_unit_test(giving_back_is_told_to_the_model_once),
        cmocka_unit_test(the_answer_can_be_written_in_every_format),
    };

    return cmocka_run_group_tests_name("what_if", tests, NULL, NULL);
}
