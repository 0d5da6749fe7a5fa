/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Names of strangers, as each reader gets them.
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

#include "outlet.h"

#define RLO "\xe2\x80\xae"

static const struct harmless_case {
    const char *name;
    enum audience audience;
    const char *words, *expected;
} cases[] = {
    {"plain words stay", FOR_TERMINAL, "conv2d <f>", "conv2d <f>"},
    {"other scripts stay", FOR_TERMINAL, "模型 é 😀", "模型 é 😀"},
    {"nothing stays nothing", FOR_TERMINAL, "", ""},
    {"colour", FOR_TERMINAL, "\x1b[31mred", "\\x1b[31mred"},
    {"title of the window", FOR_TERMINAL, "\x1b]0;T\a", "\\x1b]0;T\\x07"},
    {"delete", FOR_TERMINAL, "a\x7f", "a\\x7f"},
    {"breaks and tabs", FOR_TERMINAL, "a\tb\r\nc", "a\\tb\\r\\nc"},
    {"C1 in UTF-8", FOR_TERMINAL,
     "\xc2\x9b"
     "31m",
     "\\u009b31m"},
    {"C1 as a byte", FOR_TERMINAL,
     "\x9b"
     "31m",
     "\\x9b31m"},
    {"override", FOR_TERMINAL, "a" RLO "b", "a\\u202eb"},
    {"embedding", FOR_TERMINAL, "\xe2\x80\xaa", "\\u202a"},
    {"mark of direction", FOR_TERMINAL, "\xe2\x80\x8e\xe2\x80\x8f", "\\u200e\\u200f"},
    {"isolates", FOR_TERMINAL, "\xe2\x81\xa6\xe2\x81\xa9", "\\u2066\\u2069"},
    {"Arabic letter mark", FOR_TERMINAL, "\xd8\x9c", "\\u061c"},
    {"separator of lines", FOR_TERMINAL, "\xe2\x80\xa8", "\\u2028"},
    {"tag that is not seen", FOR_TERMINAL, "\xf3\xa0\x81\x81", "\\U000e0041"},
    {"no UTF-8", FOR_TERMINAL, "a\xff", "a\\xff"},
    {"UTF-8 cut short", FOR_TERMINAL, "\xe6\xa8", "\\xe6\\xa8"},
    {"longer than needed", FOR_TERMINAL, "\xc0\x9b", "\\xc0\\x9b"},
    {"surrogate", FOR_TERMINAL, "\xed\xa0\x80", "\\xed\\xa0\\x80"},
    {"lines stay lines", FOR_TERMINAL_LINES, "a\n\x1b", "a\n\\x1b"},

    {"csv, plain", FOR_CSV, "pta", "pta"},
    {"csv, comma", FOR_CSV, "a,b", "\"a,b\""},
    {"csv, quote", FOR_CSV, "a\"b", "\"a\"\"b\""},
    {"csv, formula", FOR_CSV, "=cmd|' /C calc'!A0", "'=cmd|' /C calc'!A0"},
    {"csv, formula with a comma", FOR_CSV, "=A(1,2)", "\"'=A(1,2)\""},
    {"csv, function", FOR_CSV, "@SUM(1)", "'@SUM(1)"},
    {"csv, at inside", FOR_CSV, "CANN@HCCL", "CANN@HCCL"},
    {"csv, plus", FOR_CSV, "+1+cmd", "'+1+cmd"},
    {"csv, minus", FOR_CSV, "-A1", "'-A1"},
    {"csv, minus alone", FOR_CSV, "-", "'-"},
    {"csv, negative number", FOR_CSV, "-12.5", "-12.5"},
    {"csv, number with its sign", FOR_CSV, "+1e9", "+1e9"},
    {"csv, tab before a formula", FOR_CSV, "\t=1", "\\t=1"},
    {"csv, return before a formula", FOR_CSV, "\r=1", "\\r=1"},
    {"csv, break", FOR_CSV, "a\nb", "a\\nb"},
    {"csv, override", FOR_CSV, RLO, "\\u202e"},
    {"csv, lines", FOR_CSV_LINES, "f\ng", "\"f\ng\""},
    {"csv, lines, formula", FOR_CSV_LINES, "=f\n", "\"'=f\n\""},
    {"csv, inside", FOR_CSV_INSIDE, "=\",=cmd", "=\"\",=cmd"},

    {"json, plain", FOR_JSON, "pta", "\"pta\""},
    {"json, quote and backslash", FOR_JSON, "\"\\", "\"\\\"\\\\\""},
    {"json, control", FOR_JSON, "\x1b\n\x7f", "\"\\u001b\\u000a\\u007f\""},
    {"json, C1", FOR_JSON, "\xc2\x9b", "\"\\u009b\""},
    {"json, override", FOR_JSON, RLO, "\"\\u202e\""},
    {"json, tag", FOR_JSON, "\xf3\xa0\x81\x81", "\"\\udb40\\udc41\""},
    {"json, no UTF-8", FOR_JSON, "\xff", "\"\\ufffd\""},
    {"json of a page", FOR_PAGE_JSON, "\x1b" RLO "\xff\\", "\"\\\\x1b\\\\u202e\\\\xff\\\\\""},

    {"html", FOR_HTML, "<b>&\"'\x1b" RLO, "&#60;b&#62;&#38;&#34;&#39;\\x1b\\u202e"},
    {"xml", FOR_XML, "<b>&\"\x1b\xff", "&lt;b&gt;&amp;&quot;\\x1b\\xff"},
    {"markdown", FOR_MARKDOWN, "a|b`[c](d)<e>\n\x1b", "a\\|b\\`\\[c\\](d)&lt;e&gt;\\\\n\\\\x1b"},
    {"label of a metric", FOR_METRICS, "a\"\\\n\x1b", "a\\\"\\\\\\\\n\\\\x1b"},
    {"message of a workflow", FOR_GITHUB, "100%\n::error::", "100%25\\n::error::"},
    {"property of a workflow", FOR_GITHUB_PROPERTY, "a:b,c\r", "a%3Ab%2Cc\\r"},
    {"line of a folded stack", FOR_FOLDED, "a;b\nc", "a:b\\nc"},
    {"pattern", FOR_PATTERN, "a\x1b b\"c", "\"a* b*c\""},
    {"pattern without blanks", FOR_PATTERN, "a\xff", "a*"},
};

static void words_become_harmless(void **state)
{
    const struct harmless_case *c = *state;
    struct text_builder text;

    text_init(&text);
    text_add_harmless(&text, c->audience, c->words);
    assert_string_equal(text_get(&text), c->expected);
    text_release(&text);
}

/* Every character there is, for every reader: none that moves, turns or breaks comes through. */
static void nothing_dangerous_passes(void **state)
{
    static const struct {
        uint32_t first, last;
    } ranges[] = {{0x01, 0x1f},     {0x7f, 0x9f},     {0x61c, 0x61c},
                  {0x200e, 0x200f}, {0x2028, 0x202e}, {0x2066, 0x2069}};

    (void)state;
    for (int audience = 0; audience < AUDIENCE_COUNT; audience++)
        for (size_t i = 0; i < sizeof(ranges) / sizeof(ranges[0]); i++)
            for (uint32_t point = ranges[i].first; point <= ranges[i].last; point++) {
                char bytes[4] = "";
                struct text_builder text;
                bool stays =
                    point == '\n' && (audience == FOR_TERMINAL_LINES || audience == FOR_CSV_LINES);

                if (point < 0x80) {
                    bytes[0] = (char)point;
                } else if (point < 0x800) {
                    bytes[0] = (char)(0xc0 | point >> 6);
                    bytes[1] = (char)(0x80 | (point & 0x3f));
                } else {
                    bytes[0] = (char)(0xe0 | point >> 12);
                    bytes[1] = (char)(0x80 | (point >> 6 & 0x3f));
                    bytes[2] = (char)(0x80 | (point & 0x3f));
                }
                text_init(&text);
                text_add_harmless(&text, (enum audience)audience, bytes);
                assert_int_equal(strstr(text_get(&text), bytes) != NULL, stays);
                text_release(&text);
            }
}

/* --- outlets ---------------------------------------------------------------------------------- */

static void assert_holds(struct outlet *outlet, const char *expected)
{
    size_t size_bytes;

    assert_string_equal(outlet_text(outlet, &size_bytes), expected);
    assert_int_equal(size_bytes, strlen(expected));
    assert_true(outlet_destroy(outlet));
}

static void formats_are_those_of_printf(void **state)
{
    struct outlet *outlet = outlet_create(FOR_TERMINAL, NULL);
    char expected[400];

    (void)state;
#define ALL                                                                                        \
    "%d|%5d|%-5d|%05d|%+d|%u|%x|%016" PRIx64 "|%" PRId64 "|%zu|%" PRIu16 "|%.2f|%8.3f|%g|%c|%%|%s" \
    "|%6s|%-6s|%.2s|%-*s|%.*s|%jd|%llu|%ld",                                                       \
        -1, 42, 42, 42, 7, 3000000000u, 255, UINT64_MAX, INT64_MIN, (size_t)9, (uint16_t)65535,    \
        2.005, 3.14159, 0.5, 'c', "text", "ab", "ab", "abcdef", 4, "x", 3, "abcdef", (intmax_t)-5, \
        18446744073709551615ull, -7L
    outlet_format(outlet, ALL);
    snprintf(expected, sizeof(expected), ALL);
#undef ALL
    assert_holds(outlet, expected);
}

static void every_word_of_a_format_is_made_harmless(void **state)
{
    struct outlet *outlet = outlet_create(FOR_TERMINAL, NULL);

    (void)state;
    outlet_format(outlet, "a\n%s|%c|%.3s|%8s|%-8s|", "\x1b[1m", '\a', "\xe6\xa8\xa1\x1b", "\n",
                  RLO);
    assert_holds(outlet, "a\n\\x1b[1m|\\x07|模|      \\n|\\u202e  |");
}

static void texts_of_json_have_their_quotes(void **state)
{
    struct outlet *outlet = outlet_create(FOR_JSON, NULL);

    (void)state;
    outlet_format(outlet, "{%s: %" PRIu64 ", \"b\": ", "a\"", UINT64_C(1));
    outlet_amount(outlet, text_add_count, 1234567);
    outlet_add(outlet, "}");
    assert_holds(outlet, "{\"a\\\"\": 1, \"b\": 1,234,567}");
}

static void blanks_before_the_end_of_a_line_are_taken_back(void **state)
{
    char *bytes = NULL;
    size_t size_bytes = 0;
    FILE *file = open_memstream(&bytes, &size_bytes);
    struct outlet *outlet = outlet_create(FOR_TERMINAL, file);

    (void)state;
    for (int line = 0; line < 3000; line++) {
        outlet_words(outlet, "some words of a line");
        outlet_blanks(outlet, 40);
        outlet_end_line(outlet);
    }
    assert_true(outlet_destroy(outlet));
    assert_int_equal(fclose(file), 0);
    assert_int_equal(size_bytes, 3000 * 21);
    assert_null(strstr(bytes, " \n"));
    free(bytes);
}

static void an_error_of_writing_is_remembered(void **state)
{
    FILE *file = fopen("/dev/full", "w");
    struct outlet *outlet = outlet_create(FOR_TERMINAL, file);

    (void)state;
    assert_non_null(file);
    setvbuf(file, NULL, _IONBF, 0);
    outlet_add(outlet, "words");
    assert_false(outlet_flush(outlet));
    assert_false(outlet_destroy(outlet));
    fclose(file);
}

static void no_outlet_takes_everything_and_has_failed(void **state)
{
    size_t size_bytes;

    (void)state;
    outlet_add(NULL, "a");
    outlet_format(NULL, "%s", "a");
    outlet_amount(NULL, text_add_size, 1);
    outlet_end_line(NULL);
    assert_string_equal(outlet_text(NULL, &size_bytes), "");
    assert_false(outlet_destroy(NULL));
}

int main(void)
{
    enum { row_count = sizeof(cases) / sizeof(cases[0]) };
    static struct CMUnitTest rows[row_count];
    static const struct CMUnitTest others[] = {
        cmocka_unit_test(nothing_dangerous_passes),
        cmocka_unit_test(formats_are_those_of_printf),
        cmocka_unit_test(every_word_of_a_format_is_made_harmless),
        cmocka_unit_test(texts_of_json_have_their_quotes),
        cmocka_unit_test(blanks_before_the_end_of_a_line_are_taken_back),
        cmocka_unit_test(an_error_of_writing_is_remembered),
        cmocka_unit_test(no_outlet_takes_everything_and_has_failed),
    };
    int failed;

    for (size_t i = 0; i < row_count; i++)
        rows[i] = (struct CMUnitTest){.name = cases[i].name,
                                      .test_func = words_become_harmless,
                                      .initial_state = (void *)&cases[i]};
    failed = cmocka_run_group_tests_name("harmless", rows, NULL, NULL);
    failed += cmocka_run_group_tests_name("outlet", others, NULL, NULL);
    return failed;
}
