/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tables of locations as CPython 3.11 and newer writes them.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <stdlib.h>

#include <cmocka.h>

#include "python_lines.h"

#define ENTRY(form, units) (uint8_t)(0x80 | (form) << 3 | ((units)-1))

/* 10 is the first line: +0, +2 with columns, -3 without, none, +100 in the long form. */
static const uint8_t table[] = {
    ENTRY(0, 1),  0x12,                     /* bytes 0 and 1: line 10 */
    ENTRY(12, 3), 4,    9,                  /* 2 to 7: line 12 */
    ENTRY(13, 1), 7,                        /* 8 and 9: line 9 */
    ENTRY(15, 2),                           /* 10 to 13: none */
    ENTRY(14, 8), 0x48, 3, 0x41, 1, 5, 0x6, /* 14 to 29: line 109 */
};

static uint32_t line_in(const uint8_t *lines, size_t size_bytes, int32_t offset)
{
    struct python_line_place start = {0, 0, 0};

    return python_lines_find(lines, size_bytes, 10, offset, &start);
}

static uint32_t line_at(int32_t offset)
{
    return line_in(table, sizeof(table), offset);
}

static void every_form_tells_its_line(void **state)
{
    (void)state;
    assert_int_equal(line_at(0), 10);
    assert_int_equal(line_at(2), 12);
    assert_int_equal(line_at(7), 12);
    assert_int_equal(line_at(8), 9);
    assert_int_equal(line_at(10), 0);
    assert_int_equal(line_at(14), 109);
    assert_int_equal(line_at(28), 109);
}

static void before_the_first_instruction_it_is_the_first_line(void **state)
{
    (void)state;
    assert_int_equal(line_at(-2), 10);
}

static void nothing_is_after_the_end(void **state)
{
    (void)state;
    assert_int_equal(line_at(30), 0);
    assert_int_equal(line_in(table, 0, 0), 0);
}

static void a_cut_table_ends(void **state)
{
    (void)state;
    for (size_t size = 0; size <= sizeof(table); size++)
        assert_true(line_in(table, size, 28) <= 109);
}

/* Bytes of any kind are a table, too: a look that goes on must answer as one from the start. */
static void going_on_answers_as_beginning_anew(void **state)
{
    uint8_t bytes[200];
    uint32_t moved_count = 0;

    (void)state;
    srand(1);
    for (int round = 0; round < 500; round++) {
        struct python_line_place place = {0, 0, 0};

        for (size_t i = 0; i < sizeof(bytes); i++)
            bytes[i] = (uint8_t)(rand() >> 7);
        for (int look = 0; look < 60; look++) {
            int32_t offset = rand() % 900 - 1;

            assert_int_equal(python_lines_find(bytes, sizeof(bytes), 10, offset, &place),
                             line_in(bytes, sizeof(bytes), offset));
            moved_count += place.table_bytes > 0;
        }
    }
    assert_true(moved_count > 10000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_form_tells_its_line),
        cmocka_unit_test(before_the_first_instruction_it_is_the_first_line),
        cmocka_unit_test(nothing_is_after_the_end),
        cmocka_unit_test(a_cut_table_ends),
        cmocka_unit_test(going_on_answers_as_beginning_anew),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
