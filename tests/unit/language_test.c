/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which language is chosen, and how wide and where Chinese text may be broken.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "language.h"
#include "sentence.h"
#include "terminal_look.h"

static const char known[] = "this text, or a command's own", unknown[] = "no such message";

static void language_is_known_by_the_names_of_locales(void **state)
{
    (void)state;
    assert_true(language_choose("zh_CN.UTF-8"));
    assert_false(language_is_english());
    assert_string_not_equal(translated(known), known);
    assert_ptr_equal(translated(unknown), unknown);
    assert_string_equal(translated(""), "");
    assert_false(language_choose("zhuang"));
    assert_false(language_choose("de_DE"));
    assert_false(language_is_english());
    assert_true(language_choose("C"));
    assert_ptr_equal(translated(known), known);
    assert_true(language_choose("zh") && language_choose("en") && language_choose("en_US.UTF-8"));
    assert_true(language_is_english());
}

static void environment_decides_in_its_order(void **state)
{
    (void)state;
    setenv("LC_ALL", "", 1);
    setenv("LC_MESSAGES", "zh_CN", 1);
    setenv("LANG", "en_US.UTF-8", 1);
    language_choose_usual();
    assert_false(language_is_english());
    setenv("LC_ALL", "fr_FR.UTF-8", 1);
    language_choose_usual();
    assert_true(language_is_english());
    unsetenv("LC_ALL");
    unsetenv("LC_MESSAGES");
    unsetenv("LANG");
    language_choose("zh");
    language_choose_usual(); /* nothing is asked for, and nothing changes */
    assert_false(language_is_english());
    language_choose("en");
}

static void chinese_signs_are_two_columns_wide(void **state)
{
    (void)state;
    assert_int_equal(text_width("peak"), 4);
    assert_int_equal(text_width("峰值 1"), 6);
    assert_int_equal(text_width("：（）"), 6);
    assert_int_equal(text_width("é…"), 2);
    assert_int_equal(text_width("\xe5"), 1); /* cut off */
    assert_int_equal(text_width("\xe5\xb3"), 1);
    assert_int_equal(text_width("\xf0\xa0\x80\x80"), 2);
}

static void chinese_lines_end_between_signs_and_not_before_a_comma(void **state)
{
    const struct terminal_look look = {.columns = 10};
    struct text_builder text;

    (void)state;
    text_init(&text);
    text_add(&text, "每一步都泄漏，直到结束");
    text_fill(&text, &look, 0, 2);
    assert_string_equal(text_get(&text), "每一步都泄\n  漏，直到\n  结束");
    text_release(&text);
    text_init(&text);
    text_add(&text, "一步留下了，以及");
    text_fill(&text, &look, 0, 0);
    assert_string_equal(text_get(&text), "一步留下\n了，以及");
    text_release(&text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(language_is_known_by_the_names_of_locales),
        cmocka_unit_test(environment_decides_in_its_order),
        cmocka_unit_test(chinese_signs_are_two_columns_wide),
        cmocka_unit_test(chinese_lines_end_between_signs_and_not_before_a_comma),
    };

    return cmocka_run_group_tests_name("language", tests, NULL, NULL);
}
