/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sequences of names side by side: as few left over as possible, in both ways of searching.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "name_diff.h"

enum { LENGTH_MOST = 6000 };

static uint32_t base[LENGTH_MOST], other[LENGTH_MOST];
static struct name_pair pairs[2 * LENGTH_MOST];

/* "a-" is only in the base, "+a" only in the other. */
static void diff_of(const char *first, const char *second, char *text)
{
    size_t count = 0, base_count = strlen(first), other_count = strlen(second);

    for (size_t i = 0; i < base_count; i++)
        base[i] = (uint32_t)first[i];
    for (size_t i = 0; i < other_count; i++)
        other[i] = (uint32_t)second[i];
    assert_true(name_diff(base, base_count, other, other_count, pairs, &count));
    for (size_t i = 0; i < count; i++)
        if (pairs[i].base == NAME_DIFF_NONE)
            text += sprintf(text, "+%c", second[pairs[i].other]);
        else
            text += sprintf(text, "%c%s", first[pairs[i].base],
                            pairs[i].other == NAME_DIFF_NONE ? "-" : "");
    *text = 0;
}

static const struct diff_case {
    const char *name, *first, *second, *expected;
} cases[] = {
    {"equal sequences are kept", "abc", "abc", "abc"},
    {"two empty ones", "", "", ""},
    {"all added", "", "ab", "+a+b"},
    {"all dropped", "ab", "", "a-b-"},
    {"one in the middle", "abcd", "abXcd", "ab+Xcd"},
    {"of equal names the last is dropped", "aaaaaa", "aaaaa", "aaaaaa-"},
    {"of equal names the last is added", "aaa", "aaaa", "aaa+a"},
    {"the example of the paper", "abcabba", "cbabac", "a-b-c+babb-a+c"},
    {"nothing in common", "ab", "cd", "a-b-+c+d"},
};

static void sequences_are_put_side_by_side(void **state)
{
    const struct diff_case *c = *state;
    char text[64];

    diff_of(c->first, c->second, text);
    assert_string_equal(text, c->expected);
}

/* Longest common subsequence, by the book. */
static size_t longest_common(size_t base_count, size_t other_count)
{
    static uint16_t rows[2][LENGTH_MOST + 1];

    memset(rows, 0, sizeof(rows));
    for (size_t i = 0; i < base_count; i++)
        for (size_t j = 0; j < other_count; j++) {
            uint16_t *row = rows[(i + 1) & 1], *above = rows[i & 1];

            row[j + 1] = base[i] == other[j]     ? (uint16_t)(above[j] + 1)
                         : above[j + 1] > row[j] ? above[j + 1]
                                                 : row[j];
        }
    return rows[base_count & 1][other_count];
}

static void check_pairs(size_t base_count, size_t other_count, size_t count)
{
    size_t i = 0, j = 0, kept = 0;

    for (size_t n = 0; n < count; n++) {
        if (pairs[n].base != NAME_DIFF_NONE)
            assert_int_equal(pairs[n].base, i++);
        if (pairs[n].other != NAME_DIFF_NONE)
            assert_int_equal(pairs[n].other, j++);
        if (pairs[n].base != NAME_DIFF_NONE && pairs[n].other != NAME_DIFF_NONE) {
            assert_int_equal(base[pairs[n].base], other[pairs[n].other]);
            kept++;
        }
    }
    assert_int_equal(i, base_count);
    assert_int_equal(j, other_count);
    assert_int_equal(kept, longest_common(base_count, other_count));
}

static uint32_t random_state;

static uint32_t random_below(uint32_t limit)
{
    random_state = random_state * 1664525u + 1013904223u;
    return (random_state >> 16) % limit;
}

static void check_random(size_t base_count, size_t other_count, uint32_t names)
{
    size_t count = 0;

    for (size_t i = 0; i < base_count; i++)
        base[i] = random_below(names);
    for (size_t i = 0; i < other_count; i++)
        other[i] = random_below(names);
    assert_true(name_diff(base, base_count, other, other_count, pairs, &count));
    check_pairs(base_count, other_count, count);
}

static void as_few_as_possible_are_left_over(void **state)
{
    (void)state;
    random_state = 1;
    for (unsigned i = 0; i < 3000; i++)
        check_random(random_below(30), random_below(30), 1 + random_below(8));
}

static void also_when_there_are_very_many_differences(void **state)
{
    (void)state;
    random_state = 2;
    check_random(3000, 3200, 40);
    check_random(LENGTH_MOST, 2000, 40);
    check_random(1500, 1500, 100000); /* nearly nothing in common */
}

int main(void)
{
    enum { case_count = sizeof(cases) / sizeof(cases[0]) };
    struct CMUnitTest tests[case_count + 2] = {
        cmocka_unit_test(as_few_as_possible_are_left_over),
        cmocka_unit_test(also_when_there_are_very_many_differences),
    };

    for (size_t i = 0; i < case_count; i++)
        tests[i + 2] = (struct CMUnitTest){.name = cases[i].name,
                                           .test_func = sequences_are_put_side_by_side,
                                           .initial_state = (void *)&cases[i]};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
