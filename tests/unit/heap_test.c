/* SPDX-License-Identifier: Apache-2.0 */
/* A list grows and keeps its rows; a heap hands them out in order. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "heap.h"
#include "list.h"

struct row {
    uint64_t key, copy;
};

static bool comes_first(const void *row, const void *other)
{
    return ((const struct row *)row)->key < ((const struct row *)other)->key;
}

/* Numbers that look random, each time the same. */
static uint64_t next_number(uint64_t *state)
{
    *state = *state * UINT64_C(6364136223846793005) + 1442695040888963407;
    return *state >> 40;
}

static void assert_handed_out_in_order(struct row *rows, size_t count)
{
    uint64_t last = 0;

    while (count) {
        assert_true(rows[0].key >= last);
        assert_int_equal(rows[0].copy, ~rows[0].key);
        last = rows[0].key;
        rows[0] = rows[--count];
        if (count)
            heap_sift_down(rows, count, sizeof(*rows), 0, comes_first);
    }
}

static void rows_put_one_by_one_come_out_in_order(void **state)
{
    struct row *rows = NULL;
    size_t count = 0, capacity = 0;
    uint64_t numbers = 7;

    (void)state;
    while (count < 5000) {
        uint64_t key = next_number(&numbers) % 1000; /* many are equal */

        assert_true(list_has_room(&rows, &capacity, count, sizeof(*rows)));
        rows[count] = (struct row){key, ~key};
        heap_sift_up(rows, sizeof(*rows), count++, comes_first);
    }
    assert_true(capacity >= count);
    assert_handed_out_in_order(rows, count);
    free(rows);
}

static void rows_in_any_order_become_a_heap(void **state)
{
    uint64_t numbers = 11;

    (void)state;
    for (size_t count = 0; count < 40; count++) {
        struct row rows[40];

        for (size_t i = 0; i < count; i++) {
            uint64_t key = next_number(&numbers);

            rows[i] = (struct row){key, ~key};
        }
        heap_make(rows, count, sizeof(*rows), comes_first);
        assert_handed_out_in_order(rows, count);
    }
}

static void a_list_without_memory_stays_as_it_was(void **state)
{
    uint64_t first = 1, *rows = &first;
    size_t capacity = SIZE_MAX / 16;

    (void)state;
    assert_false(list_grow(&rows, &capacity, sizeof(*rows)));
    assert_ptr_equal(rows, &first);
    assert_int_equal(capacity, SIZE_MAX / 16);
    assert_false(list_reach(&rows, &capacity, SIZE_MAX, sizeof(*rows)));
    assert_false(list_reach(&rows, &capacity, SIZE_MAX / 2, sizeof(*rows)));
    assert_ptr_equal(rows, &first);
    assert_int_equal(capacity, SIZE_MAX / 16);
}

static void rows_reached_by_number_are_zero_and_stay(void **state)
{
    static const size_t numbers[] = {0, 63, 64, 1, 5000, 300};
    uint64_t *rows = NULL;
    size_t count = 0, set = 0;

    (void)state;
    for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++) {
        assert_true(list_reach(&rows, &count, numbers[i], sizeof(*rows)));
        assert_true(count > numbers[i]);
        assert_int_equal(rows[numbers[i]], 0);
        rows[numbers[i]] = numbers[i] + 1;
    }
    for (size_t i = 0; i < count; i++)
        set += rows[i] == i + 1;
    assert_int_equal(set, sizeof(numbers) / sizeof(numbers[0]));
    free(rows);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_put_one_by_one_come_out_in_order),
        cmocka_unit_test(rows_in_any_order_become_a_heap),
        cmocka_unit_test(a_list_without_memory_stays_as_it_was),
        cmocka_unit_test(rows_reached_by_number_are_zero_and_stay),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
