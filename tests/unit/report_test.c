/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Numbers as people read them, and a report in each format.
 */
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "report_writers.h"
#include "text_builder.h"

static const struct size_case {
    uint64_t bytes;
    const char *text;
} size_cases[] = {
    {0, "0 B"},
    {1023, "1023 B"},
    {1024, "1.00 KiB"},
    {1536, "1.50 KiB"},
    {10235, "10.0 KiB"},
    {102348, "99.9 KiB"},
    {102400, "100 KiB"},
    {1048063, "1023 KiB"},
    {1048064, "1.00 MiB"},
    {1048576, "1.00 MiB"},
    {UINT64_C(1610612736), "1.50 GiB"},
    {UINT64_MAX, "16.0 EiB"},
};

static void numbers_have_all_their_digits(void **state)
{
    static const uint64_t numbers[] = {0, 9, 10, 99, 100, 101, 1000, 1610612736, UINT64_MAX};
    struct text_builder text;
    char expected[32];

    (void)state;
    text_init(&text);
    for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++) {
        text_clear(&text);
        text_add_number(&text, numbers[i]);
        snprintf(expected, sizeof(expected), "%" PRIu64, numbers[i]);
        assert_string_equal(text_get(&text), expected);
    }
    text_release(&text);
}

static void sizes_have_three_digits(void **state)
{
    struct text_builder text;

    (void)state;
    text_init(&text);
    for (size_t i = 0; i < sizeof(size_cases) / sizeof(size_cases[0]); i++) {
        text_clear(&text);
        text_add_size(&text, size_cases[i].bytes);
        assert_string_equal(text_get(&text), size_cases[i].text);
    }
    text_clear(&text);
    text_add_size_exact(&text, UINT64_C(1610612736));
    assert_string_equal(text_get(&text), "1.50 GiB (1,610,612,736 B)");
    text_release(&text);
}

static void durations_and_times_name_their_unit(void **state)
{
    struct text_builder text;

    (void)state;
    text_init(&text);
    text_add_duration(&text, 512);
    text_add(&text, " ");
    text_add_duration(&text, 23400000);
    text_add(&text, " ");
    text_add_time(&text, 12345678901);
    assert_string_equal(text_get(&text), "512 ns 23.4 ms 12.345678 s");
    text_release(&text);
}

static void add_holder(struct report *report, struct report_table *table, const char *site,
                       uint64_t held_bytes)
{
    const struct field fields[] = {
        {"site", "site", value_text(site)},
        {"held_bytes", "held", value_bytes(held_bytes)},
        {"owner", "owner", value_none()},
    };

    report_row(report, table, fields, sizeof(fields) / sizeof(fields[0]));
}

static const char *function_of(struct value stack)
{
    return stack.stack->frame->function;
}

/* Equal stacks are one; a place that has another text by then does not bring the old one. */
static void equal_stacks_are_one(void **state)
{
    char name[] = "forward";
    const struct report_frame frame = {.function = name, .file = "model.py", .module = ""};
    struct report *report;
    struct mt_error error;
    struct value first, same, other;

    (void)state;
    assert_int_equal(report_create("leaks", &report, &error), MT_OK);
    first = report_stack(report, &frame, 1);
    same = report_stack(report, &frame, 1);
    memcpy(name, "reverse", sizeof(name));
    other = report_stack(report, &frame, 1);
    assert_string_equal(function_of(first), "forward");
    assert_ptr_equal(same.stack, first.stack);
    assert_string_equal(function_of(other), "reverse");
    report_destroy(report);
}

/* However each was given: the texts of the second are at other places. */
static void stacks_of_one_caller_share_it(void **state)
{
    char caller[] = "train", file[] = "model.py";
    const struct report_frame one[] = {{.function = "forward", .file = file, .module = ""},
                                       {.function = caller, .file = file, .module = ""}};
    const struct report_frame other[] = {{.function = "backward", .file = "model.py", .module = ""},
                                         {.function = "train", .file = "model.py", .module = ""}};
    struct report *report;
    const struct report_stack *first, *second;

    (void)state;
    assert_int_equal(report_create("leaks", &report, NULL), MT_OK);
    first = report_stack(report, one, 2).stack;
    second = report_stack(report, other, 2).stack;
    assert_ptr_not_equal(first, second);
    assert_ptr_equal(first->caller, second->caller);
    assert_int_equal(first->depth, 2);
    assert_null(first->caller->caller);
    assert_int_equal(report_stack(report, one, 0).kind, VALUE_NONE);
    report_destroy(report);
}

static struct report *example(void)
{
    static const uint64_t numbers[] = {1, 2, 3};
    struct report *report;
    struct report_table *table;

    assert_int_equal(report_create("peak", &report, NULL), MT_OK);
    report_verdict(report, 2, "second");
    report_verdict(report, 1, "first \"quoted\"");
    report_outcome(report, REPORT_FOUND);
    report_outcome(report, REPORT_NO_DATA);
    report_fact(report, "event_count", "Events", value_count(1234567));
    report_fact(report, "hidden_bytes", NULL, value_bytes(5));
    table = report_table(report, "held", "Who held it", NULL);
    add_holder(report, table, "main", 2048);
    add_holder(report, table, "a\xff\n", 1);
    report_fact(report, "series", NULL,
                value_series(report_series(report, VALUE_BYTES, numbers, 3)));
    report_note(report, 3, "events lost");
    return report;
}

static char *written_as(const struct report *report, const char *format,
                        const struct report_shown *shown)
{
    char *text = NULL;
    size_t size_bytes;
    FILE *out = open_memstream(&text, &size_bytes);

    assert_non_null(out);
    assert_true(report_write(report_writer_find(format), report, shown, out));
    fclose(out);
    return text;
}

static char *written(const struct report *report, const char *format)
{
    return written_as(report, format, NULL);
}

/* What rules look at, before anybody asks whether there was memory for all of it. */
static void a_finding_without_memory_is_not_there(void **state)
{
    const size_t too_many = SIZE_MAX / 2 / sizeof(struct field) + 1;
    const struct field fact = {"bytes", NULL, value_bytes(1)};
    struct report *report;
    struct mt_error error;

    (void)state;
    assert_int_equal(report_create("leaks", &report, &error), MT_OK);
    report_finding(report, "leak", "It grows.", &fact, 1);
    report_finding(report, "advice", "Free it.", &fact, too_many);
    assert_int_equal(report_finding_count(report), 1);
    assert_int_equal(report_status(report, &error), MT_NO_MEMORY);
    report_destroy(report);
}

static void text_puts_the_verdict_first_and_leaves_out_empty_columns(void **state)
{
    struct report *report = example();
    char *text = written(report, "text");

    (void)state;
    assert_string_equal(text, "first \"quoted\"\n"
                              "second\n"
                              "\n"
                              "Events  1,234,567\n"
                              "\n"
                              "Who held it\n"
                              "  site         held\n"
                              "  main     2.00 KiB\n"
                              "  a\\xff\\n       1 B\n"
                              "\n"
                              "Data quality\n"
                              "  3  events lost\n");
    free(text);
    report_destroy(report);
}

/* Sentences are broken at blanks; of a table, what repeats goes, and then names are cut. */
static void text_keeps_to_the_width_of_a_terminal(void **state)
{
    const struct report_shown narrow = {.look = {.columns = 30}};
    const struct report_shown wide = {.look = {.columns = 30}, .is_wide = true};
    const struct field fields[] = {
        {"site", "site", value_text("a_function_with_a_long_name (net.py:12)")},
        {"ledger", "ledger", value_text("pta device 0")},
        {"held_bytes", "held", value_bytes(16 << 20)},
    };
    struct report *report;
    char *text;

    (void)state;
    assert_int_equal(report_create("peak", &report, NULL), MT_OK);
    report_verdict(report, 1, "PEAK: of all sites one holds 16.0 MiB alone");
    report_row(report, report_table(report, "held", "Who held it", NULL), fields, 3);
    text = written_as(report, "text", &narrow);
    assert_string_equal(text, "PEAK: of all sites one holds\n"
                              "  16.0 MiB alone\n"
                              "\n"
                              "Who held it\n"
                              "  site                    held\n"
                              "  a_functio…t.py:12)  16.0 MiB\n"
                              "\n"
                              "Columns and names are cut to\n"
                              "fit: --wide shows all.\n");
    free(text);
    text = written_as(report, "text", &wide);
    assert_non_null(strstr(text, "  a_function_with_a_long_name (net.py:12)  pta device 0  16.0"));
    free(text);
    report_destroy(report);
}

/* A ledger repeats what a site says; where nothing else says who, it stays. */
static void who_it_is_stays_in_a_narrow_table(void **state)
{
    const struct report_shown narrow = {.look = {.columns = 40}};
    struct report *report;
    struct report_table *table;
    const struct field row[] = {
        {"ledger", "ledger", value_text("pta device 0")},
        {"unreleased_bytes", "unreleased", value_bytes(4096)},
        {"unreleased_count", "blocks", value_count(12)},
        {"older_released_bytes", "older, released", value_bytes(1024)},
    };
    char *text;

    (void)state;
    assert_int_equal(report_create("leaks", &report, NULL), MT_OK);
    table = report_table(report, "window", "The window", NULL);
    report_row(report, table, row, sizeof(row) / sizeof(row[0]));
    text = written_as(report, "text", &narrow);
    assert_non_null(strstr(text, "pta device 0"));
    assert_null(strstr(text, "older, released"));
    free(text);
    report_destroy(report);
}

/* A row of which `path` says who called resize, one letter for each; in lower case it is folded. */
static void add_resize(struct report *report, struct report_table *table, const char *path)
{
    char names[8][2];
    struct report_frame frames[9] = {
        {.function = "malloc", .file = "", .module = "", .folded_as = "the allocator"},
        {.function = "resize", .file = "list.c", .module = "", .line = 21}};
    size_t count = 2;

    for (size_t i = 0; path[i]; i++) {
        names[i][0] = path[i];
        names[i][1] = 0;
        frames[count++] = (struct report_frame){.function = names[i],
                                                .file = path[i] == 'L' ? "list.h" : "a.c",
                                                .module = "",
                                                .line = 7,
                                                .folded_as = path[i] >= 'a' ? "libraries" : NULL};
    }
    report_row(report, table,
               (struct field[]){
                   {"site", "site", value_text("resize (list.c:21)")},
                   {"held_bytes", "held", value_bytes(4096)},
                   {"stack", "stack", report_stack(report, frames, count)},
               },
               3);
}

/* One function allocates for all of them: the first caller that only one has is said, if there is
 * one. */
static void rows_that_read_the_same_say_who_called(void **state)
{
    static const struct {
        const char *paths[3]; /* NULL: no such row */
        const char *texts[3];
    } cases[] = {
        {{"AC", "BC", "xDC"}, {"21) < A:7 ", "21) < B:7 ", "21) < D:7 "}},
        {{"AB", "AC", "D"}, {"21) < B:7 ", "21) < C:7 ", "21) < D:7 "}},
        {{"A", "AB", NULL}, {"21)       ", "21) < B:7 ", ""}}, /* A has nobody of its own */
        {{"AB", "AB", NULL}, {"21)  4.0", "21)  4.0", ""}},    /* as of two pools */
        {{"A", NULL, NULL}, {"21)  4.0", "", ""}},
        {{"LA", "B", NULL}, {"21) < A:7 ", "21) < B:7 ", ""}}, /* L is a helper of resize */
        {{"L", "B", NULL}, {"21) < L:7 ", "21) < B:7 ", ""}},
        {{"LA", "A", NULL}, {"21)  4.0", "21)  4.0", ""}}, /* one caller, with and without it */
        {{"", "", "A"}, {"21)       ", "21)       ", "21) < A:7 "}},
    };

    (void)state;
    for (size_t c = 0; c < sizeof(cases) / sizeof(cases[0]); c++) {
        struct report *report;
        struct report_table *table;
        char *text, *at;

        assert_int_equal(report_create("peak", &report, NULL), MT_OK);
        table = report_table(report, "held", "Who held it", NULL);
        for (size_t i = 0; i < 3 && cases[c].paths[i]; i++)
            add_resize(report, table, cases[c].paths[i]);
        text = written(report, "md");
        assert_int_equal(strstr(text, "list.c:21) < ") != NULL,
                         strstr(cases[c].texts[0], " < ") || strstr(cases[c].texts[1], " < ") ||
                             strstr(cases[c].texts[2], " < "));
        free(text);
        at = text = written(report, "text");
        for (size_t i = 0; i < 3 && cases[c].paths[i]; i++) {
            at = strstr(at, "  resize (list.c:");
            assert_non_null(at);
            at += strlen("  resize (list.c:");
            assert_int_equal(strncmp(at, cases[c].texts[i], strlen(cases[c].texts[i])), 0);
        }
        free(text);
        report_destroy(report);
    }
}

static void text_stops_where_the_screen_does(void **state)
{
    const struct report_shown shown = {.lines = 6};
    struct report *report = example();
    struct report_table *table = report_table(report, "more", "More", NULL);
    char *text;

    (void)state;
    add_holder(report, table, "other", 1);
    text = written_as(report, "text", &shown);
    assert_non_null(strstr(text, "Who held it")); /* the first table always */
    assert_null(strstr(text, "other"));
    assert_non_null(strstr(text, "\n2 more parts: -v shows all.\n"));
    free(text);
    report_destroy(report);
}

static void text_has_colours_where_it_may(void **state)
{
    const struct report_shown shown = {.look = {.has_colours = true}};
    struct report *report;
    char *text;

    (void)state;
    assert_int_equal(report_create("leaks", &report, NULL), MT_OK);
    report_verdict(report, 1, "LEAK: it grows.");
    report_verdict(report, 2, "No leak: nothing does.");
    text = written_as(report, "text", &shown);
    assert_string_equal(text, "\033[1;31mLEAK:\033[0m it grows.\n"
                              "\033[1;32mNo leak:\033[0m nothing does.\n");
    free(text);
    text = written(report, "text");
    assert_null(strchr(text, '\033'));
    free(text);
    report_destroy(report);
}

static void csv_has_keys_and_raw_numbers(void **state)
{
    const struct report_shown one = {.table = "held"};
    struct report *report = example();
    struct report_table *table = report_ledger_table(report, "of", "pta, 0", "Of", NULL);
    char *text;

    (void)state;
    add_holder(report, table, "x,y", 7);
    text = written(report, "csv");
    assert_string_equal(text, "# held\nsite,held_bytes,owner\nmain,2048,\na\\xff\\n,1,\n\n"
                              "# of\nledger,site,held_bytes,owner\n\"pta, 0\",\"x,y\",7,\n");
    free(text);
    text = written_as(report, "csv", &one);
    assert_string_equal(text, "site,held_bytes,owner\nmain,2048,\na\\xff\\n,1,\n");
    free(text);
    report_destroy(report);
}

static void markdown_has_tables(void **state)
{
    struct report *report = example();
    char *text = written(report, "md");

    (void)state;
    assert_string_equal(text, "first \"quoted\"\n\nsecond\n\n- Events: 1,234,567\n"
                              "\n### Who held it\n\n| site | held | owner |\n|---|---:|---|\n"
                              "| main | 2.00 KiB | - |\n| a\\\\xff\\\\n | 1 B | - |\n"
                              "\n### Data quality\n\n- 3 × events lost\n");
    free(text);
    report_destroy(report);
}

static void json_is_escaped_and_keeps_integers(void **state)
{
    struct report *report = example();
    char *text = written(report, "json");

    (void)state;
    assert_non_null(strstr(text, "\"verdict\": [\"first \\\"quoted\\\"\", \"second\"]"));
    assert_non_null(strstr(text, "\"outcome\": \"found\""));
    assert_non_null(strstr(text, "{\"site\": \"main\", \"held_bytes\": 2048, \"owner\": null}"));
    assert_non_null(strstr(text, "{\"site\": \"a\\ufffd\\u000a\", \"held_bytes\": 1"));
    assert_non_null(strstr(text, "\"hidden_bytes\": 5"));
    assert_non_null(strstr(text, "\"series\": [1, 2, 3]"));
    assert_non_null(strstr(text, "{\"count\": 3, \"sentence\": \"events lost\"}"));
    free(text);
    report_destroy(report);
}

/* A word, a text that only people need, an empty text, and a table of a ledger. */
static void json_has_keys_and_null_where_people_read_words(void **state)
{
    const struct field fields[] = {
        {"verdict", "verdict", value_word("growing cache")},
        {"site", "site", value_unknown("(unknown)")},
        {"owner", "owner", value_text("")},
    };
    struct report *report;
    char *text;

    (void)state;
    assert_int_equal(report_create("leaks", &report, NULL), MT_OK);
    report_outcome(report, REPORT_NO_DATA);
    report_row(report, report_ledger_table(report, "held_at_peak", "host", "Who", NULL), fields, 3);
    text = written(report, "json");
    assert_non_null(strstr(text, "\"outcome\": \"no_data\""));
    assert_non_null(strstr(text, "{\"name\": \"held_at_peak\", \"ledger\": \"host\", \"rows\": ["));
    assert_non_null(
        strstr(text, "{\"verdict\": \"growing_cache\", \"site\": null, \"owner\": null}"));
    free(text);
    text = written(report, "text");
    assert_non_null(strstr(text, "growing cache  (unknown)"));
    free(text);
    report_destroy(report);
}

/* Of a path, whose letters are functions, innermost first; in lower case they are folded. */
static struct value stack_of_path(struct report *report, const char *path)
{
    struct report_frame frames[8];
    char names[8][2];
    size_t count = 0;

    for (; path[count]; count++) {
        names[count][0] = path[count];
        names[count][1] = 0;
        frames[count] = (struct report_frame){.function = names[count],
                                              .file = "",
                                              .module = "",
                                              .folded_as = path[count] >= 'a' ? "libraries" : NULL};
    }
    return report_stack(report, frames, count);
}

/* Stacks of a finding that are written alike are one, with their share of both. */
static void stacks_that_read_the_same_are_written_once(void **state)
{
    static const struct {
        const char *paths[3];
        const char *text;
    } cases[] = {
        {{"aGb", "aGc", "dGb"},
         "  1. leaks\n      ... 1 frame of libraries\n      G\n      ... 1 frame of libraries\n"},
        {{"GH", "aGH", "GH"},
         "  1. leaks\n      80 %:\n        G\n        H\n      15 %:\n        ... 1 frame of "
         "libraries\n"
         "        G\n        H\n"},
        {{"Gb", "Gbc", "H"},
         "      60 %:\n        G\n        ... 1 frame of libraries\n      15 %:\n        G\n"
         "        ... 2 frames of libraries\n      20 %:\n        H\n"},
        {{"GH", "G", "G"}, "      60 %:\n        G\n        H\n      35 %:\n        G\n"},
    };

    (void)state;
    for (size_t c = 0; c < sizeof(cases) / sizeof(cases[0]); c++) {
        struct report *report;
        char *text;

        assert_int_equal(report_create("leaks", &report, NULL), MT_OK);
        report_finding(report, "leak", "leaks",
                       (struct field[]){
                           {"stack_percent", NULL, value_number(VALUE_PERCENT, 60)},
                           {"stack", NULL, stack_of_path(report, cases[c].paths[0])},
                           {"second_stack_percent", NULL, value_number(VALUE_PERCENT, 15)},
                           {"second_stack", NULL, stack_of_path(report, cases[c].paths[1])},
                           {"third_stack_percent", NULL, value_number(VALUE_PERCENT, 20)},
                           {"third_stack", NULL, stack_of_path(report, cases[c].paths[2])},
                       },
                       6);
        text = written(report, "text");
        if (!strstr(text, cases[c].text))
            print_message("%s\n", text);
        assert_non_null(strstr(text, cases[c].text));
        free(text);
        report_destroy(report);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(equal_stacks_are_one),
        cmocka_unit_test(stacks_of_one_caller_share_it),
        cmocka_unit_test(a_finding_without_memory_is_not_there),
        cmocka_unit_test(numbers_have_all_their_digits),
        cmocka_unit_test(sizes_have_three_digits),
        cmocka_unit_test(durations_and_times_name_their_unit),
        cmocka_unit_test(text_puts_the_verdict_first_and_leaves_out_empty_columns),
        cmocka_unit_test(who_it_is_stays_in_a_narrow_table),
        cmocka_unit_test(rows_that_read_the_same_say_who_called),
        cmocka_unit_test(stacks_that_read_the_same_are_written_once),
        cmocka_unit_test(text_keeps_to_the_width_of_a_terminal),
        cmocka_unit_test(text_stops_where_the_screen_does),
        cmocka_unit_test(text_has_colours_where_it_may),
        cmocka_unit_test(csv_has_keys_and_raw_numbers),
        cmocka_unit_test(markdown_has_tables),
        cmocka_unit_test(json_is_escaped_and_keeps_integers),
        cmocka_unit_test(json_has_keys_and_null_where_people_read_words),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
