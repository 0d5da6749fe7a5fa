/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One block that is made anew and larger: by what is given back beside it, is it the work that
 * grows?
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "larger_work.h"

enum { TURNS = 100, KIB = 1024, OTHER_BIRTHS = 5 };

/* How a stack has its blocks. */
enum habit { WITHIN_A_TURN, UNTIL_THE_NEXT, SEVERAL };

static struct overdue_stack grown, other;
static uint64_t first_bytes;

static int setup(void **state)
{
    (void)state;
    grown = other = (struct overdue_stack){0};
    first_bytes = 0;
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    overdue_release(&grown);
    overdue_release(&other);
    return 0;
}

static void begin_anew(void **state)
{
    teardown(state);
    setup(state);
}

static void gone(struct overdue_stack *stack, uint32_t born, uint32_t clock, uint64_t bytes)
{
    assert_true(overdue_gone(stack, born, clock, bytes, false));
}

/* KiB of the first turn, and more in each that follows. */
struct sizes {
    uint64_t first, step;
};

static uint64_t bytes_of(struct sizes sizes, uint32_t turn)
{
    return (sizes.first + sizes.step * turn) * KIB;
}

/* The block that grows lives until the next one is there. */
static void turn_of_grown(struct sizes sizes, uint32_t turn, uint32_t clock)
{
    uint64_t bytes = bytes_of(sizes, turn);

    first_bytes = turn ? first_bytes : bytes;
    assert_true(overdue_born(&grown, clock, bytes));
    if (turn)
        gone(&grown, clock - OTHER_BIRTHS, clock + 1, bytes_of(sizes, turn - 1));
}

static void turn_of_other(struct sizes sizes, enum habit habit, uint32_t turn, uint32_t clock)
{
    uint64_t bytes = bytes_of(sizes, turn);

    if (habit == UNTIL_THE_NEXT && turn)
        gone(&other, clock - OTHER_BIRTHS, clock, bytes_of(sizes, turn - 1));
    assert_true(overdue_born(&other, clock, bytes));
    if (habit == SEVERAL)
        assert_true(overdue_born(&other, clock + 1, bytes));
    if (habit == WITHIN_A_TURN || habit == SEVERAL)
        gone(&other, clock, clock + 2, bytes);
    if (habit == SEVERAL)
        gone(&other, clock + 1, clock + 2, bytes);
}

static void see(struct brief_blocks *brief, const struct overdue_stack *stack)
{
    if (brief_blocks_are(stack))
        brief_blocks_add(brief, stack);
}

static enum work_kind work(uint32_t turns, struct sizes grown_sizes, struct sizes other_sizes,
                           enum habit habit)
{
    struct brief_blocks brief = {0};

    for (uint32_t i = 0; i < turns; i++) {
        turn_of_grown(grown_sizes, i, i * OTHER_BIRTHS);
        turn_of_other(other_sizes, habit, i, i * OTHER_BIRTHS + 1);
    }
    see(&brief, &grown);
    see(&brief, &other);
    return larger_work_kind(&grown, first_bytes, &brief);
}

static void longer_sequences_are_larger_work(void **state)
{
    (void)state;
    assert_int_equal(work(TURNS, (struct sizes){16, 1}, (struct sizes){32, 2}, WITHIN_A_TURN),
                     WORK_GROWS);
}

static void a_history_beside_equal_work_is_none(void **state)
{
    assert_int_equal(work(TURNS, (struct sizes){16, 1}, (struct sizes){32, 0}, WITHIN_A_TURN),
                     WORK_IS_THE_SAME);
    begin_anew(state);
    assert_int_equal(work(TURNS, (struct sizes){16, 1}, (struct sizes){0, 0}, WITHIN_A_TURN),
                     WORK_IS_THE_SAME);
}

/* A list that realloc() moves is given back a moment before the next one is made. */
static void two_histories_are_no_work(void **state)
{
    (void)state;
    assert_int_equal(work(TURNS, (struct sizes){16, 1}, (struct sizes){16, 1}, UNTIL_THE_NEXT),
                     WORK_IS_THE_SAME);
}

static void what_has_several_at_a_time_is_not_brief(void **state)
{
    (void)state;
    assert_int_equal(work(TURNS, (struct sizes){16, 1}, (struct sizes){16, 1}, SEVERAL),
                     WORK_IS_THE_SAME);
}

static void a_history_that_is_worked_on_may_be(void **state)
{
    assert_int_equal(work(TURNS, (struct sizes){7, 1}, (struct sizes){7, 1}, WITHIN_A_TURN),
                     WORK_MAY_GROW);
    begin_anew(state);
    assert_int_equal(work(TURNS, (struct sizes){9, 1}, (struct sizes){9, 1}, WITHIN_A_TURN),
                     WORK_GROWS);
}

/* 16 to 115 KiB: by the factor 4.3 in thirds. */
static void others_must_grow_by_half_as_much(void **state)
{
    assert_int_equal(work(TURNS, (struct sizes){16, 1}, (struct sizes){80, 1}, WITHIN_A_TURN),
                     WORK_IS_THE_SAME);
    begin_anew(state);
    assert_int_equal(work(TURNS, (struct sizes){16, 1}, (struct sizes){30, 1}, WITHIN_A_TURN),
                     WORK_GROWS);
}

/* Of 16 to 115 KiB. */
static void a_rise_is_that_of_thirds(void **state)
{
    struct overdue_rise rise;

    (void)state;
    for (uint32_t i = 0; i < TURNS; i++)
        turn_of_other((struct sizes){16, 1}, WITHIN_A_TURN, i, i * OTHER_BIRTHS);
    rise = overdue_rise_of(&other);
    assert_true(rise.early_bytes > 28 * KIB && rise.early_bytes < 44 * KIB);
    assert_true(rise.late_bytes > 92 * KIB && rise.late_bytes < 104 * KIB);
}

/* It is larger in the last third, but does not rise. */
static void what_is_larger_once_does_not_grow(void **state)
{
    struct brief_blocks brief = {0};

    (void)state;
    for (uint32_t i = 0; i < TURNS; i++)
        turn_of_other((struct sizes){i == TURNS - 10 ? 4000 : 16, 0}, WITHIN_A_TURN, i,
                      i * OTHER_BIRTHS);
    see(&brief, &other);
    assert_true(brief.early_bytes > 0);
    assert_true(brief.growth_bytes == 0);
}

static void few_others_and_small_ones_say_nothing(void **state)
{
    struct brief_blocks brief = {0};

    for (uint32_t i = 0; i < 7; i++)
        turn_of_other((struct sizes){16, 1}, WITHIN_A_TURN, i, i * OTHER_BIRTHS);
    see(&brief, &other);
    assert_true(brief.early_bytes == 0);
    begin_anew(state);
    for (uint32_t i = 0; i < TURNS; i++)
        turn_of_other((struct sizes){3, 0}, WITHIN_A_TURN, i, i * OTHER_BIRTHS);
    see(&brief, &other);
    assert_true(brief.early_bytes == 0);
}

int main(void)
{
#define STORY(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
    static const struct CMUnitTest tests[] = {
        STORY(longer_sequences_are_larger_work),
        STORY(a_history_beside_equal_work_is_none),
        STORY(two_histories_are_no_work),
        STORY(what_has_several_at_a_time_is_not_brief),
        STORY(a_history_that_is_worked_on_may_be),
        STORY(others_must_grow_by_half_as_much),
        STORY(a_rise_is_that_of_thirds),
        STORY(what_is_larger_once_does_not_grow),
        STORY(few_others_and_small_ones_say_nothing),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
