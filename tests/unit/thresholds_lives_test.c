/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The rules of overdue.c that stand on a number of thresholds.def, on both sides of it: when blocks
 * of a stack come, and how large the one is that is made anew.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "collector_watch.h"
#include "overdue.h"

#define COUNT(rows) (sizeof(rows) / sizeof((rows)[0]))

enum { PARTS = 3, TURNS = 30 };

/* --- when they come --------------------------------------------------------------------------- */

/* Turns that make so many blocks one after the other; the next begins so many births of others
 * later. */
struct part {
    uint32_t turns, blocks, gap;
};

static const struct history {
    const char *name;
    size_t freed; /* parts, the first ones, that free each block at once */
    struct part parts[PARTS];
    enum overdue_reason reason;
} histories[] = {
    {"each birth is a moment where all are as near", 0, {{36, 1, 1}}, OVERDUE_YES},
    {"a burst is one moment", 0, {{5, 10, 1000}}, OVERDUE_NOT_ACTIVE},
    {"so is one of three blocks", 0, {{3, 1, 2}, {5, 1, 80}}, OVERDUE_NOT_ACTIVE},
    {"many bursts are enough", 0, {{20, 10, 1000}}, OVERDUE_YES},
    {"bursts stay bursts after a pause", 0, {{4, 1, 200}, {3, 10, 20}}, OVERDUE_NOT_ACTIVE},
    {"slow turns of the beginning make of later ones no burst",
     1,
     {{12, 2, 80}, {30, 10, 2}},
     OVERDUE_YES},
    {"nor do they excuse a silence", 0, {{5, 10, 8}, {10, 20, 2}, {1, 1, 8}}, OVERDUE_NOT_ACTIVE},
    {"later ones do", 0, {{5, 10, 2}, {10, 20, 8}, {1, 1, 8}}, OVERDUE_YES},
};

static void part_run(struct overdue_stack *stack, const struct part *part, bool is_freed,
                     uint32_t *clock)
{
    for (uint32_t i = 0; i < part->turns; i++) {
        for (uint32_t k = 0; k < part->blocks; k++, ++*clock) {
            assert_true(overdue_born(stack, *clock, 64));
            if (is_freed)
                overdue_gone(stack, *clock, *clock + 1, 64, false);
        }
        *clock += part->gap - 1;
    }
}

static void moments_tell(void **state)
{
    const struct history *row = *state;
    struct overdue_stack stack = {0};
    uint32_t clock = 0;

    for (size_t i = 0; i < PARTS && row->parts[i].turns; i++)
        part_run(&stack, &row->parts[i], i < row->freed, &clock);
    assert_int_equal(overdue_judge(&stack, clock, OVERDUE_SWEEP_ALL).reason, row->reason);
    overdue_release(&stack);
}

/* Too few births, and too few moments of many. */
static void what_was_seen_too_seldom_says_how_often(void **state)
{
    static const struct part births = {7, 1, 10}, bursts = {5, 10, 1000};
    struct overdue_stack few = {0}, dense = {0};
    struct overdue overdue;
    uint32_t clock = 0;

    (void)state;
    part_run(&few, &births, false, &clock);
    overdue = overdue_judge(&few, clock, OVERDUE_SWEEP_ALL);
    assert_false(overdue.is_in_bursts);
    assert_int_equal(overdue.measured, 7);
    assert_int_equal(overdue.needed, 8);
    part_run(&dense, &bursts, false, &clock);
    overdue = overdue_judge(&dense, clock, OVERDUE_SWEEP_ALL);
    assert_true(overdue.is_in_bursts);
    assert_int_equal(overdue.measured, 5);
    assert_int_equal(overdue.needed, 8);
    overdue_release(&few);
    overdue_release(&dense);
}

/* --- what a collector told ---------------------------------------------------------------------
 */

/* All that was made before a collection went with it, all that was made after it waits. Where most
 * was made before, the rest will go as well. */
static void most_was_there_when_a_collection_came(void **state)
{
    (void)state;
    for (uint32_t collected = 140; collected <= 160; collected += 20) {
        struct collector_watch watch = {.last = collected + 10, .before = collected, .count = 2};
        struct overdue_stack stack = {0};
        bool is_garbage;

        for (uint32_t born = 0; born <= 300; born += 10) {
            assert_true(overdue_born(&stack, born, 64));
            for (uint32_t old = 0; born == collected && old < born; old += 10)
                overdue_gone(&stack, old, born + 1, 64, false);
        }
        collector_judge(&watch, &stack, 301, OVERDUE_SWEEP_UNKNOWN, &is_garbage);
        assert_int_equal(is_garbage, collected < 150);
        overdue_release(&stack);
    }
}

/* --- how large it is -------------------------------------------------------------------------- */

static uint64_t rises(uint32_t turn)
{
    return 8192 + 1024 * turn;
}

static uint64_t rises_less(uint32_t turn)
{
    return turn < 20 ? rises(turn) : rises(20) + 512 * (turn - 20);
}

static uint64_t hardly_rises(uint32_t turn)
{
    return turn < 20 ? rises(turn) : rises(20) + 64 * (turn - 20);
}

static uint64_t varies(uint32_t turn)
{
    return turn + 1 == TURNS ? 16384 : 8192 + turn * 7 % 10 * 512;
}

static const struct sizes {
    const char *name;
    uint64_t (*of)(uint32_t turn);
    bool is_growing;
} sizes[] = {
    {"a block grows", rises, true},
    {"it may grow less in the end", rises_less, true},
    {"but not hardly any more", hardly_rises, false},
    {"a size that varies, and is large once, does not grow", varies, false},
};

static void sizes_tell(void **state)
{
    const struct sizes *row = *state;
    struct overdue_stack stack = {0};

    for (uint32_t turn = 0; turn < TURNS; turn++) {
        assert_true(overdue_born(&stack, turn * 10, row->of(turn)));
        if (turn)
            overdue_gone(&stack, (turn - 1) * 10, turn * 10 + 1, row->of(turn - 1), false);
    }
    assert_int_equal(overdue_judge(&stack, TURNS * 10, OVERDUE_SWEEP_ALL).is_growing,
                     row->is_growing);
    overdue_release(&stack);
}

#define ROWS(rows, run)                                                                            \
    for (size_t i = 0; i < COUNT(rows); i++)                                                       \
        tests[count++] = (struct CMUnitTest){(rows)[i].name, run, NULL, NULL, (void *)&(rows)[i]};

int main(void)
{
    struct CMUnitTest tests[COUNT(histories) + COUNT(sizes) + 2];
    size_t count = 0;

    ROWS(histories, moments_tell)
    ROWS(sizes, sizes_tell)
    tests[count++] = (struct CMUnitTest)cmocka_unit_test(most_was_there_when_a_collection_came);
    tests[count] = (struct CMUnitTest)cmocka_unit_test(what_was_seen_too_seldom_says_how_often);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
