/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Cells as the producers write them become exact integers, or say why not.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "csv_number.h"

struct number_case {
    const char *text;
    uint64_t unit;
    enum csv_cell cell;
    uint64_t value;
};

static const struct number_case times[] = {
    {"1736405443871259.720\t", 1000, CSV_CELL_NUMBER, UINT64_C(1736405443871259720)},
    {"1783000000000000.25", 1000, CSV_CELL_NUMBER, UINT64_C(1783000000000000250)},
    {"1695115378723902.5", 1000, CSV_CELL_NUMBER, UINT64_C(1695115378723902500)},
    {"1695115378723902", 1000, CSV_CELL_NUMBER, UINT64_C(1695115378723902000)},
    {"1.123456789", 1000, CSV_CELL_NUMBER, 1123},
    {"1.9999999999999999999999", 1000, CSV_CELL_NUMBER, 1999},
    {"1783000000000000250", 1, CSV_CELL_NUMBER, UINT64_C(1783000000000000250)},
    {" 7.5\t ", 1000000, CSV_CELL_NUMBER, 7500000},
    {"", 1000, CSV_CELL_MISSING, 0},
    {"\t", 1000, CSV_CELL_MISSING, 0},
    {"N/A", 1000, CSV_CELL_MISSING, 0},
    {"NULL", 1000, CSV_CELL_MISSING, 0},
    {"1.69512E+15", 1000, CSV_CELL_ROUNDED, 0},
    {"7.75991e+11", 1000, CSV_CELL_ROUNDED, 0},
    {"-5.000\t", 1000, CSV_CELL_NEGATIVE, 5000},
    {"0.0-5", 1000, CSV_CELL_BAD, 0},
    {"12.5.1", 1000, CSV_CELL_BAD, 0},
    {"abc", 1000, CSV_CELL_BAD, 0},
    {"-", 1000, CSV_CELL_BAD, 0},
    {".", 1000, CSV_CELL_BAD, 0},
    {"18446744073709551616", 1, CSV_CELL_TOO_LARGE, 0},
    {"18446744073709552", 1000, CSV_CELL_TOO_LARGE, 0},
};

static const struct number_case sizes[] = {
    {"4304.95751953125", 1 << 20, CSV_CELL_NUMBER, UINT64_C(4514075136)},
    {"25009.5", 1024, CSV_CELL_NUMBER, 25609728},
    {"192", 1024, CSV_CELL_NUMBER, 196608},
    {"0.0004", 1024, CSV_CELL_NUMBER, 0},
    {"0.001", 1024, CSV_CELL_NUMBER, 1},
    {"15415.123456789012345678901", 1 << 20, CSV_CELL_NUMBER, UINT64_C(16163928494)},
    {"110.592", 1024000, CSV_CELL_NUMBER, 113246208},
    {"1e+06", 1024, CSV_CELL_NUMBER, 1024000000},
    {"1.5E-3", 1000, CSV_CELL_NUMBER, 2},
    {"1.8014398509481984e+16", 1024, CSV_CELL_TOO_LARGE, 0},
    {"18446744073709551615", 1, CSV_CELL_NUMBER, UINT64_MAX},
    {"18446744073709551615", 1024, CSV_CELL_TOO_LARGE, 0},
    {"-0.0009765625", 1 << 20, CSV_CELL_NEGATIVE, 1024},
    {"-4.5", 1024, CSV_CELL_NEGATIVE, 4608},
    {"-0.0", 1024, CSV_CELL_NUMBER, 0},
    {"7.2", 0, CSV_CELL_NUMBER, 7},
    {"1e999", 1, CSV_CELL_TOO_LARGE, 0},
    {"1e", 1, CSV_CELL_BAD, 0},
    {"N/A", 1024, CSV_CELL_MISSING, 0},
};

static struct csv_field field_of(const char *text)
{
    return (struct csv_field){text, strlen(text)};
}

static void check(const struct number_case *c, enum csv_cell cell, uint64_t value)
{
    if (cell != c->cell || value != c->value)
        fail_msg("\"%s\" * %llu: cell %d, %llu", c->text, (unsigned long long)c->unit, cell,
                 (unsigned long long)value);
}

static void times_are_exact_nanoseconds(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(times) / sizeof(times[0]); i++) {
        uint64_t value = 0;
        enum csv_cell cell = csv_time(field_of(times[i].text), times[i].unit, &value);

        check(&times[i], cell, value);
    }
}

static void sizes_are_exact_bytes(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
        uint64_t value = 0;
        enum csv_cell cell = csv_size(field_of(sizes[i].text), sizes[i].unit, &value);

        check(&sizes[i], cell, value);
    }
}

static void devices_are_the_number_after_the_colon(void **state)
{
    (void)state;
    assert_int_equal(csv_device(field_of("NPU:0")), 0);
    assert_int_equal(csv_device(field_of("NPU:15\t")), 15);
    assert_int_equal(csv_device(field_of("4")), 4);
    assert_int_equal(csv_device(field_of("")), -1);
    assert_int_equal(csv_device(field_of("host")), -1);
    assert_int_equal(csv_device(field_of("NPU:70000")), -1);
}

/* Every byte at every place of long numbers, which are read eight digits at a time. */
static void a_byte_that_is_no_digit_is_found_wherever_it_is(void **state)
{
    static const char number[] = "1764246877074330.123456789";
    enum { point = 16, length = sizeof(number) - 1 };

    (void)state;
    for (size_t at = 1; at < length - 1; at++)
        for (int byte = 1; byte < 256; byte++) {
            bool is_digit = byte >= '0' && byte <= '9';
            char text[sizeof(number)];
            uint64_t value = 0, want = 0;
            enum csv_cell cell;

            if (at == point || byte == 'e' || byte == 'E')
                continue;
            memcpy(text, number, sizeof(number));
            text[at] = (char)byte;
            for (size_t i = 0; i < point + 4; i++) /* nanoseconds: three digits are kept */
                want = i == point ? want : want * 10 + (uint64_t)(text[i] - '0');
            cell = csv_time(field_of(text), 1000, &value);
            assert_int_equal(cell, is_digit ? CSV_CELL_NUMBER : CSV_CELL_BAD);
            if (is_digit)
                assert_int_equal(value, want);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(times_are_exact_nanoseconds),
        cmocka_unit_test(sizes_are_exact_bytes),
        cmocka_unit_test(a_byte_that_is_no_digit_is_found_wherever_it_is),
        cmocka_unit_test(devices_are_the_number_after_the_colon),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
