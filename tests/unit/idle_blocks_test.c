/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Memory that is there and not used: each kind alone, and what is none of them.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "event_list.h"
#include "idle_blocks.h"

enum { first_address = 0x10000, size_a = 1000, size_b = 3000 };

static struct event_list list;
static struct idle_blocks idle;

static int setup(void **state)
{
    (void)state;
    event_list_init(&list);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    idle_blocks_release(&idle);
    event_list_release(&list);
    return 0;
}

static void operate(unsigned count)
{
    for (unsigned i = 0; i < count; i++) {
        event_list_operator(&list, EVENT_OPERATOR_BEGIN, "work");
        event_list_operator(&list, EVENT_OPERATOR_END, "work");
    }
}

static void use(uint64_t address)
{
    event_list_operator(&list, EVENT_OPERATOR_BEGIN, "use");
    event_list_access(&list, address);
    event_list_operator(&list, EVENT_OPERATOR_END, "use");
}

/* Of all sites together. */
static struct waste sum_of(enum waste_kind kind)
{
    struct waste sum = {0};

    for (size_t i = 0; i < idle.origins.count; i++) {
        const struct waste *waste = waste_of(&idle, i, kind);

        sum.count += waste->count;
        sum.size_bytes += waste->size_bytes;
        sum.peak_bytes += waste->peak_bytes;
        sum.byte_ns += waste->byte_ns;
    }
    return sum;
}

static void read_all(const uint64_t counts[WASTE_KINDS])
{
    assert_int_equal(idle_blocks_read(event_list_question(&list), &idle, NULL), MT_OK);
    for (int kind = 0; kind < WASTE_KINDS; kind++)
        assert_int_equal(sum_of((enum waste_kind)kind).count, counts[kind]);
}

/* Allocated inside of the operator that uses it, freed before the next begins. */
static void what_is_used_at_once_is_no_waste(void **state)
{
    (void)state;
    event_list_operator(&list, EVENT_OPERATOR_BEGIN, "use");
    event_list_alloc(&list, first_address, size_a, 0);
    event_list_access(&list, first_address);
    event_list_free(&list, first_address);
    event_list_operator(&list, EVENT_OPERATOR_END, "use");
    read_all((const uint64_t[WASTE_KINDS]){0});
}

static void early_and_late(void **state)
{
    (void)state;
    event_list_alloc(&list, first_address, size_a, 0);
    operate(3);
    use(first_address + 5); /* a view */
    operate(2);
    event_list_free(&list, first_address);
    read_all((const uint64_t[WASTE_KINDS]){[WASTE_EARLY] = 1, [WASTE_LATE] = 1});
    /* A microsecond between events: 6 of the operators, the begin of the one that uses it, it. */
    assert_true(sum_of(WASTE_EARLY).byte_ns == (unsigned __int128)size_a * 8000);
    assert_int_equal(sum_of(WASTE_EARLY).peak_bytes, size_a);
    assert_int_equal(sum_of(WASTE_LATE).peak_bytes, 0);
    assert_int_equal(idle.missed_count, 0);
}

static void idle_in_between(void **state)
{
    (void)state;
    event_list_operator(&list, EVENT_OPERATOR_BEGIN, "use");
    event_list_alloc(&list, first_address, size_a, 0);
    event_list_access(&list, first_address);
    event_list_operator(&list, EVENT_OPERATOR_END, "use");
    operate(IDLE_POSITIONS_LEAST - 2);
    use(first_address); /* a little too soon */
    operate(IDLE_POSITIONS_LEAST - 1);
    event_list_operator(&list, EVENT_OPERATOR_BEGIN, "use");
    event_list_access(&list, first_address);
    event_list_free(&list, first_address);
    read_all((const uint64_t[WASTE_KINDS]){[WASTE_IDLE] = 1});
}

static void never_used(void **state)
{
    (void)state;
    event_list_alloc(&list, first_address, size_a, 0);
    event_list_operator(&list, EVENT_OPERATOR_BEGIN, "use");
    event_list_alloc(&list, first_address + 0x1000, size_b, 0);
    event_list_access(&list, first_address + 0x1000);
    event_list_free(&list, first_address + 0x1000);
    event_list_free(&list, first_address);
    event_list_alloc(&list, first_address, size_a, 0); /* gone before anything runs */
    event_list_free(&list, first_address);
    read_all((const uint64_t[WASTE_KINDS]){[WASTE_UNUSED] = 1});
}

/* The second could have taken the place of the first, which was only kept. */
static void one_beside_another_that_is_done_with(void **state)
{
    (void)state;
    for (uint64_t i = 0; i < 2; i++) {
        event_list_operator(&list, EVENT_OPERATOR_BEGIN, "use");
        event_list_alloc(&list, first_address + i * 0x1000, size_a, 0);
        event_list_access(&list, first_address + i * 0x1000);
        event_list_operator(&list, EVENT_OPERATOR_END, "use");
    }
    event_list_free(&list, first_address);
    event_list_free(&list, first_address + 0x1000);
    read_all((const uint64_t[WASTE_KINDS]){[WASTE_LATE] = 1, [WASTE_REDUNDANT] = 1});
    assert_int_equal(sum_of(WASTE_REDUNDANT).peak_bytes, size_a);
}

static void one_after_another_is_not_redundant(void **state)
{
    (void)state;
    for (uint64_t i = 0; i < 2; i++) {
        event_list_operator(&list, EVENT_OPERATOR_BEGIN, "use");
        event_list_alloc(&list, first_address + i * 0x1000, size_a, 0);
        event_list_access(&list, first_address + i * 0x1000);
        event_list_free(&list, first_address + i * 0x1000);
        event_list_operator(&list, EVENT_OPERATOR_END, "use");
    }
    read_all((const uint64_t[WASTE_KINDS]){0});
}

/* Blocks of a pool whose accesses nobody records are not called unused. */
static void a_pool_without_accesses_says_nothing(void **state)
{
    uint16_t hal = model_pool(list.model, event_list_text(&list, "hal"));

    (void)state;
    event_list_add(
        &list, (struct event){
                   .kind = EVENT_ALLOC, .pool = hal, .address = first_address, .value = size_b});
    event_list_operator(&list, EVENT_OPERATOR_BEGIN, "use");
    event_list_alloc(&list, first_address, size_a, 0);
    event_list_access(&list, first_address);
    event_list_free(&list, first_address);
    read_all((const uint64_t[WASTE_KINDS]){0});
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(what_is_used_at_once_is_no_waste, setup, teardown),
        cmocka_unit_test_setup_teardown(early_and_late, setup, teardown),
        cmocka_unit_test_setup_teardown(idle_in_between, setup, teardown),
        cmocka_unit_test_setup_teardown(never_used, setup, teardown),
        cmocka_unit_test_setup_teardown(one_beside_another_that_is_done_with, setup, teardown),
        cmocka_unit_test_setup_teardown(one_after_another_is_not_redundant, setup, teardown),
        cmocka_unit_test_setup_teardown(a_pool_without_accesses_says_nothing, setup, teardown),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
