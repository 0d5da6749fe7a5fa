/* SPDX-License-Identifier: Apache-2.0 */
/* The list of what the recorder mapped in a process. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "leaktide/rings.h"
#include "own_memory.h"

enum { PAGE = OWN_PAGE_BYTES, AT = 0x10000000 };

static struct mt_rings_process *place;

static const void *at(uint64_t page)
{
    return (const void *)(uintptr_t)(AT + page * PAGE);
}

/* Pages of the list, and in how many ranges. */
static uint64_t listed_pages(int *range_count)
{
    uint64_t count = 0;

    *range_count = 0;
    for (int i = 0; i < MT_RINGS_OWN_RANGES; i++) {
        struct own_range range = own_range_of(place->own_ranges[i]);

        *range_count += range.end > range.start;
        count += (range.end - range.start) / PAGE;
    }
    return count;
}

static void assert_listed(uint64_t pages, int ranges)
{
    int range_count;

    assert_int_equal(listed_pages(&range_count), pages);
    assert_int_equal(range_count, ranges);
}

static int begin(void **unused)
{
    (void)unused;
    place = calloc(1, sizeof(*place));
    own_memory_show(place);
    return place ? 0 : -1;
}

static int end(void **unused)
{
    (void)unused;
    own_memory_forget(at(0), UINT64_C(1) << 40);
    own_memory_show(NULL);
    free(place);
    return 0;
}

static void neighbours_are_one_range(void **unused)
{
    (void)unused;
    own_memory_note(at(0), PAGE);
    own_memory_note(at(2), PAGE);
    assert_listed(2, 2);
    own_memory_note(at(3), 2 * PAGE);
    assert_listed(4, 2);
    assert_int_equal(own_range_of(place->own_ranges[0]).start, AT);
}

static void parts_may_go(void **unused)
{
    (void)unused;
    own_memory_note(at(0), 10 * PAGE);
    own_memory_forget(at(0), PAGE);
    assert_listed(9, 1);
    own_memory_forget(at(9), PAGE);
    assert_listed(8, 1);
    own_memory_forget(at(4), 2 * PAGE);
    assert_listed(6, 2);
    own_memory_forget(at(0), 10 * PAGE);
    assert_listed(0, 0);
}

static void a_full_list_takes_no_more(void **unused)
{
    (void)unused;
    for (uint64_t i = 0; i < 2 * MT_RINGS_OWN_RANGES; i++)
        own_memory_note(at(2 * i), PAGE);
    assert_listed(MT_RINGS_OWN_RANGES, MT_RINGS_OWN_RANGES);
    own_memory_forget(at(0), PAGE);
    own_memory_note(at(1000), PAGE);
    assert_listed(MT_RINGS_OWN_RANGES, MT_RINGS_OWN_RANGES);
}

static void the_first_range_within_others_is_found(void **unused)
{
    struct own_range first;
    uint64_t start = (uint64_t)(uintptr_t)at(0), page = PAGE;

    (void)unused;
    own_memory_note(at(8), 2 * PAGE);
    own_memory_note(at(2), 2 * PAGE);
    assert_true(own_memory_next(start, start + 20 * page, &first));
    assert_true(first.start == start + 2 * page && first.end == start + 4 * page);
    assert_true(own_memory_next(start + 3 * page, start + 20 * page, &first));
    assert_true(first.start == start + 3 * page && first.end == start + 4 * page);
    assert_true(own_memory_next(start + 4 * page, start + 9 * page, &first));
    assert_true(first.start == start + 8 * page && first.end == start + 9 * page);
    assert_false(own_memory_next(start + 4 * page, start + 8 * page, &first));
}

static void what_was_noted_before_is_shown(void **unused)
{
    struct mt_rings_process *other = calloc(1, sizeof(*other));

    (void)unused;
    own_memory_note(at(0), PAGE);
    own_memory_fill(100);
    own_memory_show(other);
    assert_int_equal(other->own_ranges[0], place->own_ranges[0]);
    assert_int_equal(other->own_bytes, own_memory_filled());
    own_memory_note(at(5), PAGE); /* no longer there */
    assert_listed(1, 1);
    own_memory_show(place);
    free(other);
}

static void what_we_map_is_listed(void **unused)
{
    void *memory;

    (void)unused;
    memory = own_memory_map(3 * PAGE);
    assert_non_null(memory);
    assert_listed(3, 1);
    own_memory_unmap(memory, 3 * PAGE);
    assert_listed(0, 0);
}

#define OWN_TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)

int main(void)
{
    const struct CMUnitTest tests[] = {
        OWN_TEST(neighbours_are_one_range),  OWN_TEST(parts_may_go),
        OWN_TEST(a_full_list_takes_no_more), OWN_TEST(what_was_noted_before_is_shown),
        OWN_TEST(what_we_map_is_listed),     OWN_TEST(the_first_range_within_others_is_found),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
