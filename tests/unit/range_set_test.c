/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Stretches of addresses against a map of single ones.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "range_set.h"

enum { address_count = 60, rounds = 200, changes = 40 };

static void check(const struct range_set *set, const int *owner)
{
    uint64_t sum = 0;

    for (size_t i = 0; i < set->count; i++) {
        assert_true(set->rows[i].from < set->rows[i].to);
        assert_true(!i || set->rows[i - 1].to <= set->rows[i].from);
        sum += set->rows[i].to - set->rows[i].from;
    }
    assert_int_equal(sum, set->size_bytes);
    for (uint64_t address = 0; address < address_count; address++) {
        size_t at = range_set_find(set, address);
        bool is_there = at < set->count && set->rows[at].from <= address;

        assert_int_equal(is_there, owner[address] != 0);
        /* Neighbours that were added apart stay apart. */
        if (is_there && address && owner[address - 1] && owner[address - 1] != owner[address])
            assert_int_equal(set->rows[at].from, address);
    }
}

static void holds_what_was_added_and_not_taken(void **state)
{
    (void)state;
    srand(3);
    for (int round = 0; round < rounds; round++) {
        struct range_set set;
        int owner[address_count] = {0};

        range_set_init(&set);
        for (int change = 1; change <= changes; change++) {
            uint64_t from = (uint64_t)rand() % address_count;
            struct range range = {from, from + (uint64_t)rand() % (address_count - from + 1)};
            bool is_add = rand() % 2;

            assert_true(is_add ? range_set_add(&set, range) : range_set_remove(&set, range));
            for (uint64_t i = range.from; i < range.to; i++)
                owner[i] = is_add ? change : 0;
            check(&set, owner);
        }
        range_set_release(&set);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(holds_what_was_added_and_not_taken),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
