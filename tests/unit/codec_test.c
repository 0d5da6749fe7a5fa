/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Varints and zigzag: every length, every edge, every cut.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "leaktide/codec.h"

struct varint_case {
    const char *name;
    uint8_t bytes[16];
    size_t size_bytes;
    size_t read_bytes; /* 0: rejected */
    uint64_t value;
};

static const struct varint_case cases[] = {
    {"zero", {0}, 1, 1, 0},
    {"one byte", {0x7f}, 1, 1, 127},
    {"two bytes", {0x80, 0x01}, 2, 2, 128},
    {"two bytes, more behind", {0xff, 0x7f, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff}, 9, 2, 16383},
    {"padded with zeros", {0x81, 0x80, 0x00}, 3, 3, 1},
    {"nine bytes", {0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f}, 9, 9, INT64_MAX},
    {"ten bytes", {0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01}, 10, 10, UINT64_MAX},
    {"nothing", {0}, 0, 0, 0},
    {"cut short", {0x80}, 1, 0, 0},
    {"cut short after eight", {0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80}, 8, 0, 0},
    {"more than 64 bits", {0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x02}, 10, 0, 0},
    {"eleven bytes", {0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x00}, 11, 0, 0},
};

static void varint_get_reads_or_rejects(void **state)
{
    const struct varint_case *c = *state;
    uint8_t *exact = malloc(c->size_bytes + 1); /* so that a sanitizer sees one byte too far */
    uint64_t value = 0;
    const uint8_t *behind;

    assert_non_null(exact);
    exact++;
    memcpy(exact, c->bytes, c->size_bytes);
    behind = mt_varint_get(exact, exact + c->size_bytes, &value);
    if (c->read_bytes)
        assert_ptr_equal(behind, exact + c->read_bytes);
    else
        assert_null(behind);
    assert_int_equal(value, c->value);
    assert_ptr_equal(mt_varint_skip(exact, exact + c->size_bytes), behind);
    free(exact - 1);
}

static void varints_come_back_at_every_length(void **state)
{
    (void)state;
    for (unsigned bit = 0; bit < 64; bit++) {
        for (int nudge = -1; nudge <= 1; nudge++) {
            uint64_t value = (UINT64_C(1) << bit) + (uint64_t)(int64_t)nudge;
            uint8_t bytes[16], plain[16];
            uint64_t got = 0;
            const uint8_t *behind = mt_varint_put(bytes, value);
            const uint8_t *plain_behind = mt_varint_put_long(plain, value);

            assert_int_equal(behind - bytes, plain_behind - plain);
            assert_memory_equal(bytes, plain, (size_t)(behind - bytes));
            assert_ptr_equal(mt_varint_get(bytes, bytes + sizeof(bytes), &got), behind);
            assert_int_equal(got, value);
            assert_ptr_equal(mt_varint_skip(bytes, bytes + sizeof(bytes)), behind);
            for (const uint8_t *end = bytes; end < behind; end++) {
                assert_null(mt_varint_get(bytes, end, &got));
                assert_null(mt_varint_skip(bytes, end));
            }
        }
    }
}

static void zigzag_gives_small_numbers_to_small_differences(void **state)
{
    static const int64_t differences[] = {0, -1, 1, -2, 2, INT64_MAX, INT64_MIN};
    static const uint64_t codes[] = {0, 1, 2, 3, 4, UINT64_MAX - 1, UINT64_MAX};

    (void)state;
    for (size_t i = 0; i < sizeof(codes) / sizeof(codes[0]); i++) {
        assert_int_equal(mt_zigzag((uint64_t)differences[i]), codes[i]);
        assert_int_equal(mt_unzigzag(codes[i]), (uint64_t)differences[i]);
    }
}

static void differences_of_addresses_come_back(void **state)
{
    static const int64_t differences[] = {
        0, 16, -16, 32, -32, 1, -1, 15, -15, INT64_MAX, INT64_MIN, 0x7fffffffff0, 17, -17, 4096};

    (void)state;
    assert_int_equal(mt_zigzag_address(16), 2);
    assert_int_equal(mt_zigzag_address((uint64_t)-16), 1);
    for (size_t i = 0; i < sizeof(differences) / sizeof(differences[0]); i++) {
        uint64_t difference = (uint64_t)differences[i];

        assert_int_equal(mt_unzigzag_address(mt_zigzag_address(difference)), difference);
    }
}

int main(void)
{
    enum { CASES = sizeof(cases) / sizeof(cases[0]) };
    struct CMUnitTest tests[CASES + 3] = {
        [CASES] = cmocka_unit_test(varints_come_back_at_every_length),
        [CASES + 1] = cmocka_unit_test(zigzag_gives_small_numbers_to_small_differences),
        [CASES + 2] = cmocka_unit_test(differences_of_addresses_come_back),
    };

    for (size_t i = 0; i < CASES; i++)
        tests[i] = (struct CMUnitTest){cases[i].name, varint_get_reads_or_rejects, NULL, NULL,
                                       (void *)(uintptr_t)&cases[i]};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
