/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rows that are found by their key.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "keyed_table.h"

struct row {
    uint64_t key;
    uint32_t value;
};

static struct arena arena;
static struct keyed_table table;

static int begin(void **state)
{
    (void)state;
    arena_init(&arena);
    keyed_table_init(&table, &arena, sizeof(struct row));
    return 0;
}

static int end(void **state)
{
    (void)state;
    keyed_table_release(&table);
    arena_release(&arena);
    return 0;
}

static void nothing_is_found_in_an_empty_one(void **state)
{
    (void)state;
    assert_null(keyed_table_find(&table, 0));
    assert_null(keyed_table_find(&table, UINT64_MAX));
}

static void a_new_row_is_zero_but_for_its_key(void **state)
{
    struct row *row = keyed_table_add(&table, 7);

    (void)state;
    assert_int_equal(row->key, 7);
    assert_int_equal(row->value, 0);
    assert_ptr_equal(keyed_table_find(&table, 7), row);
    assert_null(keyed_table_find(&table, 8));
}

/* Keys that follow each other, that differ in their upper bits alone, and the least and the most.
 */
static uint64_t key_at(uint32_t index)
{
    return index % 2 ? (uint64_t)index << 40 : UINT64_MAX - index;
}

static void each_of_many_is_found_where_it_was_added(void **state)
{
    enum { COUNT = 20000 };
    static struct row *rows[COUNT];

    (void)state;
    for (uint32_t i = 0; i < COUNT; i++) {
        assert_null(keyed_table_find(&table, key_at(i)));
        rows[i] = keyed_table_add(&table, key_at(i));
        rows[i]->value = i;
    }
    for (uint32_t i = 0; i < COUNT; i++) {
        assert_ptr_equal(keyed_table_find(&table, key_at(i)), rows[i]);
        assert_int_equal(rows[i]->value, i);
    }
}

/* An index that cannot grow: nobody meets a row that was not filled in. */
static void a_row_that_the_index_has_no_room_for_is_not_there(void **state)
{
    (void)state;
    table.index.capacity = (size_t)1 << 32;
    table.index.count = (size_t)3 << 30;
    assert_null(keyed_table_add(&table, 5));
    assert_int_equal(table.rows.count, 0);
    table.index.capacity = table.index.count = 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(nothing_is_found_in_an_empty_one, begin, end),
        cmocka_unit_test_setup_teardown(a_new_row_is_zero_but_for_its_key, begin, end),
        cmocka_unit_test_setup_teardown(a_row_that_the_index_has_no_room_for_is_not_there, begin,
                                        end),
        cmocka_unit_test_setup_teardown(each_of_many_is_found_where_it_was_added, begin, end),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
