/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The live set: finds what was put, nothing else, while it grows and shrinks.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "live_set.h"

static bool put(struct live_set *set, uint64_t address, uint64_t size_bytes, uint32_t group)
{
    struct live_block block = {
        .address = address, .size_bytes = size_bytes, .group = group, .birth = 7};

    return live_set_put(set, live_hash(address), &block);
}

static void every_block_is_found_while_it_grows(void **state)
{
    enum { count = 300000 };
    struct live_set set;

    (void)state;
    assert_true(live_set_init(&set));
    for (uint64_t i = 0; i < count; i++) {
        assert_true(put(&set, i * 16, i, (uint32_t)(i + 1)));
        if (i % 1000 == 0) /* an old one, after each of many growths */
            assert_non_null(live_set_find(&set, live_hash(i / 2 * 16), i / 2 * 16).bucket);
    }
    assert_int_equal(live_set_count(&set), count);
    for (uint64_t i = 0; i < count; i++) {
        struct live_place place = live_set_find(&set, live_hash(i * 16), i * 16);

        assert_non_null(place.bucket);
        assert_int_equal(live_set_at(&set, place).size_bytes, i);
        assert_int_equal(live_set_at(&set, place).group, i + 1);
        assert_int_equal(live_set_at(&set, place).birth, 7);
        assert_null(live_set_find(&set, live_hash(i * 16 + 8), i * 16 + 8).bucket);
    }
    live_set_release(&set);
}

static void what_is_taken_is_gone(void **state)
{
    struct live_set set;

    (void)state;
    assert_true(live_set_init(&set));
    for (uint64_t round = 0; round < 20; round++) {
        for (uint64_t i = 0; i < 5000; i++)
            assert_true(put(&set, i << 12, i, 1));
        for (uint64_t i = 0; i < 5000; i++) {
            uint64_t hash = live_hash(i << 12);
            struct live_place place = live_set_find(&set, hash, i << 12);

            assert_non_null(place.bucket);
            assert_int_equal(live_set_take(&set, hash, place).size_bytes, i);
            assert_null(live_set_find(&set, hash, i << 12).bucket);
        }
        assert_int_equal(live_set_count(&set), 0);
    }
    live_set_release(&set);
}

static void one_address_in_two_pools_is_two_blocks(void **state)
{
    struct live_set set;
    uint64_t hash = live_hash(0x5000);
    struct live_place first, second;

    (void)state;
    assert_true(live_set_init(&set));
    for (uint32_t group = 1; group <= 8; group++) /* more than a bucket holds */
        assert_true(put(&set, 0x5000, group, group));
    first = live_set_find(&set, hash, 0x5000);
    for (uint32_t left = 8; left > 0; left--) {
        assert_non_null(first.bucket);
        second = live_set_find_next(&set, 0x5000, first);
        assert_int_equal(second.bucket != NULL, left > 1);
        first = second;
    }
    live_set_release(&set);
}

static void blocks_of_4_gib_and_more_keep_their_size(void **state)
{
    static const uint64_t sizes[] = {UINT32_MAX - 1, UINT32_MAX, UINT64_C(1) << 32, UINT64_MAX};
    struct live_set set;

    (void)state;
    assert_true(live_set_init(&set));
    for (uint64_t i = 0; i < 4; i++)
        assert_true(put(&set, i * 64, sizes[i], 1));
    for (uint64_t i = 0; i < 4; i++) {
        struct live_place place = live_set_find(&set, live_hash(i * 64), i * 64);

        assert_int_equal(live_set_take(&set, live_hash(i * 64), place).size_bytes, sizes[i]);
    }
    assert_int_equal(set.large_count, 0);
    live_set_release(&set);
}

static void cleared_it_is_empty_and_works(void **state)
{
    struct live_set set;

    (void)state;
    assert_true(live_set_init(&set));
    for (uint64_t i = 0; i < 100000; i++)
        assert_true(put(&set, i * 16, i, 1));
    live_set_clear(&set);
    assert_int_equal(live_set_count(&set), 0);
    for (uint64_t i = 0; i < 100000; i++)
        assert_null(live_set_find(&set, live_hash(i * 16), i * 16).bucket);
    assert_true(put(&set, 16, 1, 1));
    assert_non_null(live_set_find(&set, live_hash(16), 16).bucket);
    live_set_release(&set);
}

static void a_large_set_takes_at_most_32_bytes_a_block(void **state)
{
    enum { count = 6000000 };
    struct live_set set;

    (void)state;
    assert_true(live_set_init(&set));
    for (uint64_t i = 0; i < count; i++)
        assert_true(put(&set, i * 48, 8, 1));
    assert_true(live_set_bytes(&set) <= (uint64_t)count * 32);
    for (uint64_t i = 0; i < count; i += 97)
        assert_non_null(live_set_find(&set, live_hash(i * 48), i * 48).bucket);
    live_set_release(&set);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_block_is_found_while_it_grows),
        cmocka_unit_test(what_is_taken_is_gone),
        cmocka_unit_test(one_address_in_two_pools_is_two_blocks),
        cmocka_unit_test(blocks_of_4_gib_and_more_keep_their_size),
        cmocka_unit_test(cleared_it_is_empty_and_works),
        cmocka_unit_test(a_large_set_takes_at_most_32_bytes_a_block),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
