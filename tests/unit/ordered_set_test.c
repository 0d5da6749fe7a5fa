/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Keys in order against a table of flags.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "ordered_set.h"

enum { keys = 3 * 4 * 5, changes = 20000 };

static struct ordered_key key_at(int index)
{
    return (struct ordered_key){(uint64_t)index / 20, (uint64_t)index / 5 % 4, (uint64_t)index % 5};
}

static int first_from(const int *is_there, int index)
{
    while (index < keys && !is_there[index])
        index++;
    return index;
}

static void finds_the_least_key_that_is_not_below(void **state)
{
    struct ordered_set set;
    int is_there[keys] = {0};
    size_t count = 0;

    (void)state;
    srand(5);
    ordered_set_init(&set);
    for (int change = 0; change < changes; change++) {
        int index = rand() % keys;
        int from = rand() % keys;
        int expected;
        const struct ordered_node *found;

        if (is_there[index])
            ordered_set_remove(&set, key_at(index));
        else
            assert_true(ordered_set_add(&set, key_at(index), (uint32_t)index));
        is_there[index] = !is_there[index];
        count += is_there[index] ? 1 : (size_t)-1;
        assert_int_equal(set.count, count);
        expected = first_from(is_there, from);
        found = ordered_set_at_least(&set, key_at(from));
        assert_int_equal(found != NULL, expected < keys);
        if (found)
            assert_int_equal(found->row, expected);
    }
    ordered_set_release(&set);
}

static void keys_that_come_in_order_do_not_make_it_deep(void **state)
{
    enum { many = 100000 };
    struct ordered_set set;
    size_t depth = 0;

    (void)state;
    ordered_set_init(&set);
    for (uint32_t i = 0; i < many; i++)
        assert_true(ordered_set_add(&set, (struct ordered_key){1, i, 0}, i));
    for (uint32_t at = set.root; at; at = set.nodes[at].above)
        depth++;
    assert_in_range(depth, 1, 100);
    ordered_set_release(&set);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(finds_the_least_key_that_is_not_below),
        cmocka_unit_test(keys_that_come_in_order_do_not_make_it_deep),
    };

    return cmocka_run_group_tests_name("ordered_set", tests, NULL, NULL);
}
