/* SPDX-License-Identifier: Apache-2.0 */
/*
 * When a stack is said to leak, without steps: each rule, and each way in which it fails.
 *
 * A story is a loop of turns among other births of the process. In each turn the stack makes some
 * blocks, and each is freed or stays.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "overdue.h"

enum { turn_births = 100, blocks_most = 4096, block_bytes = 64 };

/* How many turns a block of the turn lives; 0: it stays. */
typedef uint32_t (*life_of_block)(uint32_t turn, uint32_t index);
/* How many blocks the stack makes in this turn. */
typedef uint32_t (*births_of_turn)(uint32_t turn, uint32_t turns);

struct story {
    const char *name;
    uint32_t turns, quiet_turns; /* of other stacks, after the last turn */
    births_of_turn births;
    life_of_block life;
    bool is_swept;  /* what stays is freed while the interpreter ends */
    bool is_let_go; /* before its last collection */
    enum overdue_sweep sweep;
    enum overdue_reason reason;
    bool fades;
};

static uint32_t one(uint32_t turn, uint32_t turns)
{
    (void)turn;
    (void)turns;
    return 1;
}

static uint32_t three(uint32_t turn, uint32_t turns)
{
    (void)turn;
    (void)turns;
    return 3;
}

static uint32_t all_at_once(uint32_t turn, uint32_t turns)
{
    return turn == turns / 2 ? 60 : 0;
}

static uint32_t fewer_and_fewer(uint32_t turn, uint32_t turns)
{
    (void)turns;
    return turn == 0 || turn == 1 || turn == 2 || turn == 4 || turn == 8 || turn == 16 ||
           turn == 24 || turn == 32 || turn == 44 || turn == 56 || turn == 70 || turn == 88;
}

/* As the new keys of a cache: as many in all as the root of time. */
static uint32_t ever_rarer(uint32_t turn, uint32_t turns)
{
    (void)turns;
    return (uint32_t)(8 * sqrt(turn + 1)) - (uint32_t)(8 * sqrt(turn));
}

static uint32_t first_third(uint32_t turn, uint32_t turns)
{
    return turn < turns / 3;
}

static uint32_t but_for_five_turns(uint32_t turn, uint32_t turns)
{
    (void)turns;
    return turn < 40 || turn >= 45;
}

/* Less by more than a quarter in the last third than in the first. */
static uint32_t a_little_rarer(uint32_t turn, uint32_t turns)
{
    return turn + 1 - (turn + 1) * (turn + 1) / 5 / turns - (turn - turn * turn / 5 / turns);
}

/* Less by more than a third, of so few that chance may do it. */
static uint32_t a_few(uint32_t turn, uint32_t turns)
{
    static const uint32_t of[] = {0, 1, 3, 5, 7, 8, 9, 13, 16, 19, 22, 25, 28};

    (void)turns;
    for (size_t i = 0; i < sizeof(of) / sizeof(of[0]); i++)
        if (of[i] == turn)
            return 1;
    return 0;
}

static uint32_t stays(uint32_t turn, uint32_t index)
{
    (void)turn;
    (void)index;
    return 0;
}

static uint32_t is_temporary(uint32_t turn, uint32_t index)
{
    (void)turn;
    (void)index;
    return 1;
}

static uint32_t one_of_three_stays(uint32_t turn, uint32_t index)
{
    (void)turn;
    return index ? 1 : 0;
}

static uint32_t rolls_over_ten(uint32_t turn, uint32_t index)
{
    (void)turn;
    (void)index;
    return 10;
}

static uint32_t rolls_over_many(uint32_t turn, uint32_t index)
{
    (void)turn;
    (void)index;
    return 170;
}

static uint32_t late_half_stays(uint32_t turn, uint32_t index)
{
    (void)index;
    return turn < 38 ? 1 : 0;
}

static uint32_t both_ends_stay(uint32_t turn, uint32_t index)
{
    (void)index;
    return turn >= 8 && turn < 44 ? 1 : 0;
}

static uint32_t early_half_stays(uint32_t turn, uint32_t index)
{
    (void)index;
    return turn > 45 ? 1 : 0;
}

/* One block of half the recording's age, so that no three of its lives fit. */
static uint32_t one_long_life(uint32_t turn, uint32_t index)
{
    return turn == 2 && !index ? 24 : index ? 1 : 0;
}

static uint32_t each_tenth_stays(uint32_t turn, uint32_t index)
{
    (void)index;
    return turn % 10 ? 1 : 0;
}

static const struct story stories[] = {
    {"a block of each turn stays", 60, 0, one, stays, .reason = OVERDUE_YES},
    {"one of three stays", 60, 0, three, one_of_three_stays, .reason = OVERDUE_YES},
    {"a leak in each tenth turn", 100, 0, one, each_tenth_stays, .reason = OVERDUE_YES},
    {"a leak of twelve turns", 12, 0, one, stays, .reason = OVERDUE_YES},
    {"a leak of a thousand turns", 1000, 0, one, stays, .reason = OVERDUE_YES},
    {"seven turns say nothing", 7, 0, one, stays, .reason = OVERDUE_NOT_ACTIVE},
    {"a leak that is over is no loop", 60, 60, one, stays, .reason = OVERDUE_NOT_ACTIVE},
    {"silence of two turns is none", 60, 2, one, stays, .reason = OVERDUE_YES},
    {"made at once", 60, 0, all_at_once, stays, .reason = OVERDUE_NOT_ACTIVE},
    {"a cache that is full", 60, 0, first_third, stays, .reason = OVERDUE_NOT_ACTIVE},
    {"temporary", 60, 0, three, is_temporary, .reason = OVERDUE_FEW},
    {"a rolling window of ten turns", 60, 0, one, rolls_over_ten, .reason = OVERDUE_FEW},
    {"a rolling window as wide as two rows", 1000, 0, three, rolls_over_many,
     .reason = OVERDUE_FEW},
    {"one of three stays, in a thousand turns", 1000, 0, three, one_of_three_stays,
     .reason = OVERDUE_YES},
    {"seven are left", 70, 0, one, each_tenth_stays, .reason = OVERDUE_FEW},
    {"left until the middle only", 60, 0, one, early_half_stays, .reason = OVERDUE_STOPPED},
    {"a leak that begins late", 60, 0, one, late_half_stays, .reason = OVERDUE_YES},
    {"left at both ends of the loop", 60, 0, three, both_ends_stay, .reason = OVERDUE_UNEVEN},
    {"a life of more than a third", 60, 0, three, one_long_life, .reason = OVERDUE_LIVES_UNSEEN},
    {"a cache by key slows down", 100, 0, fewer_and_fewer, stays, .reason = OVERDUE_SLOWING},
    {"a cache by key still fills", 150, 0, ever_rarer, stays, .reason = OVERDUE_YES, .fades = true},
    {"a silence of four gaps is an end", 9, 4, one, stays, .reason = OVERDUE_NOT_ACTIVE},
    {"so is a shorter one after many turns", 60, 12, but_for_five_turns, stays,
     .reason = OVERDUE_NOT_ACTIVE},
    {"a quarter less is no cache that fills", 600, 0, a_little_rarer, stays, .reason = OVERDUE_YES},
    {"nor is more than a third less, of a few", 29, 0, a_few, stays, .reason = OVERDUE_YES},
    {"garbage of the last collection", 60, 0, one, stays, .is_swept = true,
     .sweep = OVERDUE_SWEEP_ALL, .reason = OVERDUE_FEW},
    {"garbage that nobody knows", 60, 0, one, stays, .is_swept = true,
     .sweep = OVERDUE_SWEEP_UNKNOWN, .reason = OVERDUE_YES},
    {"garbage after handlers", 60, 0, one, stays, .is_swept = true, .sweep = OVERDUE_SWEEP_LAST,
     .reason = OVERDUE_FEW},
    {"let go by a handler", 60, 0, one, stays, .is_swept = true, .is_let_go = true,
     .sweep = OVERDUE_SWEEP_LAST, .reason = OVERDUE_YES},
    {"let go by a handler that collects", 60, 0, one, stays, .is_swept = true, .is_let_go = true,
     .sweep = OVERDUE_SWEEP_ALL, .reason = OVERDUE_FEW},
};

struct block {
    uint32_t born, freed_turn;
    bool is_freed;
};

struct program {
    struct overdue_stack stack;
    struct block blocks[blocks_most];
    uint32_t block_count, clock;
};

static void free_due(struct program *program, uint32_t turn)
{
    for (uint32_t i = 0; i < program->block_count; i++) {
        struct block *block = &program->blocks[i];

        if (block->is_freed || block->freed_turn != turn)
            continue;
        block->is_freed = true;
        overdue_gone(&program->stack, block->born, program->clock, block_bytes, false);
    }
}

static void turn_run(struct program *program, const struct story *story, uint32_t turn)
{
    uint32_t count = story->births(turn, story->turns), begin = program->clock;

    free_due(program, turn);
    for (uint32_t i = 0; i < count; i++) {
        uint32_t life = story->life(turn, i);

        program->blocks[program->block_count++] =
            (struct block){program->clock, life ? turn + life : UINT32_MAX, false};
        assert_true(overdue_born(&program->stack, program->clock++, block_bytes));
    }
    program->clock = begin + turn_births;
}

static void the_story_is_judged(void **state)
{
    const struct story *story = *state;
    struct program program = {.clock = 0};
    struct overdue overdue;
    uint32_t end;

    for (uint32_t turn = 0; turn < story->turns; turn++)
        turn_run(&program, story, turn);
    end = program.clock - turn_births + 1 + story->quiet_turns * turn_births;
    for (uint32_t i = 0; story->is_swept && i < program.block_count; i++)
        overdue_gone(&program.stack, program.blocks[i].born, end, block_bytes, true);
    if (story->is_let_go)
        assert_int_equal(overdue_let_go(&program.stack), program.block_count);
    overdue = overdue_judge(&program.stack, end, story->sweep);
    assert_int_equal(overdue.reason, story->reason);
    assert_int_equal(overdue.is_fading, story->fades);
    overdue_release(&program.stack);
}

static void bytes_are_those_of_the_overdue(void **state)
{
    struct overdue_stack stack = {0};
    struct overdue overdue;

    (void)state;
    for (uint32_t turn = 0; turn < 1000; turn++) {
        assert_true(overdue_born(&stack, turn * 50, 100));
        assert_true(overdue_born(&stack, turn * 50 + 1, 24));
        overdue_gone(&stack, turn * 50 + 1, turn * 50 + 2, 24, false);
    }
    overdue = overdue_judge(&stack, 999 * 50 + 2, OVERDUE_SWEEP_ALL);
    assert_int_equal(overdue.reason, OVERDUE_YES);
    assert_int_equal(overdue.births, 2000);
    assert_int_equal(overdue.bytes, overdue.count * 100);
    assert_in_range(overdue.count, 850, 1000); /* less what shares a row with the newest */
    assert_in_range(stack.row_count, 8, OVERDUE_ROWS_MOST);
    overdue_release(&stack);
}

static void one_block_that_grows_is_seen(void **state)
{
    struct overdue_stack stack = {0};
    struct overdue overdue;
    uint64_t bytes = 4096;

    (void)state;
    for (uint32_t turn = 0; turn < 40; turn++, bytes += 1024) {
        assert_true(overdue_born(&stack, turn * 10, bytes));
        if (turn)
            overdue_gone(&stack, (turn - 1) * 10, turn * 10 + 1, bytes - 1024, false);
    }
    overdue = overdue_judge(&stack, 391, OVERDUE_SWEEP_ALL);
    assert_true(overdue.is_growing);
    assert_false(overdue.is_in_many_blocks);
    assert_in_range(overdue.bytes, 30 * 1024, 42 * 1024);
    overdue_release(&stack);
}

/* Passes of six layers, each with a block for itself and one until the end of the pass; the first
 * turn is longer. Wherever in a pass it is looked at, nothing grows from one to the next. */
static void passes_that_free_all_do_not_grow(void **state)
{
    struct overdue_stack stack = {0};
    uint32_t clock = 7;

    (void)state;
    for (uint32_t turn = 0; turn < 60; turn++) {
        uint32_t first = clock;

        for (uint32_t i = 0; i < 6; i++) {
            assert_true(overdue_born(&stack, clock++, 3 << 20));
            assert_true(overdue_born(&stack, clock++, 4 << 20));
            overdue_gone(&stack, clock - 2, clock, 3 << 20, false);
        }
        for (uint32_t i = 6; i-- > 0;)
            overdue_gone(&stack, first + 2 * i + 1, ++clock, 4 << 20, false);
        clock += turn ? 2 : 14;
    }
    assert_false(overdue_judge(&stack, clock, OVERDUE_SWEEP_ALL).is_growing);
    overdue_release(&stack);
}

/* A connection to a table that grows, opened and closed in each turn. */
static void passes_that_need_more_and_free_all_do_not_grow(void **state)
{
    struct overdue_stack stack = {0};
    struct overdue overdue;
    uint32_t clock = 0;

    (void)state;
    for (uint32_t turn = 0; turn < 300; turn++) {
        uint32_t first = clock, blocks = 1 + turn / 5;

        for (uint32_t i = 0; i < blocks; i++)
            assert_true(overdue_born(&stack, clock++, 4096));
        for (uint32_t i = 0; i < blocks; i++)
            overdue_gone(&stack, first + i, clock, 4096, false);
        clock += 20;
    }
    overdue = overdue_judge(&stack, clock, OVERDUE_SWEEP_ALL);
    assert_true(overdue.is_active);
    assert_false(overdue.is_growing);
    assert_int_equal(overdue.bytes, 0);
    overdue_release(&stack);
}

/* Cycles that a collection frees two turns before the end. */
static void what_is_freed_near_the_end_did_not_grow(void **state)
{
    struct overdue_stack stack = {0};

    (void)state;
    for (uint32_t turn = 0; turn < 300; turn++) {
        if (turn == 298)
            for (uint32_t i = 0; i < turn; i++)
                overdue_gone(&stack, i * 10, turn * 10, 8192, false);
        assert_true(overdue_born(&stack, turn * 10, 8192));
    }
    assert_false(overdue_judge(&stack, 2991, OVERDUE_SWEEP_ALL).is_growing);
    overdue_release(&stack);
}

/* Work that keeps two at a time, and later ten: what is alive rises, but no block does. */
static void many_blocks_that_stay_are_not_one_that_grows(void **state)
{
    struct overdue_stack stack = {0};
    struct overdue overdue;
    uint32_t clock = 0;

    (void)state;
    for (uint32_t turn = 0; turn < 60; turn++, clock += turn < 40 ? 100 : 20)
        for (uint32_t i = 0; i < (turn < 40 ? 2 : 10); i++)
            assert_true(overdue_born(&stack, clock + i, 8192));
    overdue = overdue_judge(&stack, clock, OVERDUE_SWEEP_ALL);
    assert_int_equal(overdue.reason, OVERDUE_UNEVEN);
    assert_true(overdue.is_growing);
    assert_true(overdue.is_in_many_blocks);
    overdue_release(&stack);
}

static void one_block_that_stays_as_large_is_none(void **state)
{
    struct overdue_stack stack = {0};
    struct overdue overdue;

    (void)state;
    for (uint32_t turn = 0; turn < 40; turn++) {
        assert_true(overdue_born(&stack, turn * 10, 8192));
        overdue_gone(&stack, turn * 10, turn * 10 + 1, 8192, false);
    }
    overdue = overdue_judge(&stack, 391, OVERDUE_SWEEP_ALL);
    assert_true(overdue.is_active);
    assert_false(overdue.is_growing);
    assert_int_equal(overdue.bytes, 0);
    overdue_release(&stack);
}

/* In each turn 20 blocks, one every other birth, and then 12 births of others. */
static void a_burst_early_in_the_turn_is_active(void **state)
{
    struct overdue_stack stack = {0};
    uint32_t clock = 0;

    (void)state;
    for (uint32_t turn = 0; turn < 300; turn++, clock += 12) {
        for (uint32_t i = 0; i < 20; i++, clock += 2) {
            assert_true(overdue_born(&stack, clock, 64));
            if (i)
                overdue_gone(&stack, clock, clock + 1, 64, false);
        }
    }
    assert_int_equal(overdue_judge(&stack, clock, OVERDUE_SWEEP_ALL).reason, OVERDUE_YES);
    overdue_release(&stack);
}

/* What is loaded in the first turn makes it as long as 40 others. */
static void a_long_first_turn_hides_no_leak(void **state)
{
    for (uint32_t many = 1; many <= 20; many += 19) {
        struct overdue_stack stack = {0};
        uint32_t clock = 0;

        (void)state;
        for (uint32_t turn = 0; turn < 60; turn++, clock += turn == 1 ? 2000 : 30)
            for (uint32_t i = 0; i < many; i++, clock++) {
                assert_true(overdue_born(&stack, clock, 64));
                if (i)
                    overdue_gone(&stack, clock, clock + 1, 64, false);
            }
        assert_int_equal(overdue_judge(&stack, clock, OVERDUE_SWEEP_ALL).reason, OVERDUE_YES);
        overdue_release(&stack);
    }
}

int main(void)
{
    enum { story_count = sizeof(stories) / sizeof(stories[0]) };
    struct CMUnitTest tests[story_count + 9];

    for (size_t i = 0; i < story_count; i++)
        tests[i] = (struct CMUnitTest){.name = stories[i].name,
                                       .test_func = the_story_is_judged,
                                       .initial_state = (void *)(uintptr_t)&stories[i]};
    tests[story_count] = (struct CMUnitTest)cmocka_unit_test(bytes_are_those_of_the_overdue);
    tests[story_count + 1] = (struct CMUnitTest)cmocka_unit_test(one_block_that_grows_is_seen);
    tests[story_count + 2] =
        (struct CMUnitTest)cmocka_unit_test(one_block_that_stays_as_large_is_none);
    tests[story_count + 3] = (struct CMUnitTest)cmocka_unit_test(passes_that_free_all_do_not_grow);
    tests[story_count + 4] =
        (struct CMUnitTest)cmocka_unit_test(a_burst_early_in_the_turn_is_active);
    tests[story_count + 5] = (struct CMUnitTest)cmocka_unit_test(a_long_first_turn_hides_no_leak);
    tests[story_count + 6] =
        (struct CMUnitTest)cmocka_unit_test(what_is_freed_near_the_end_did_not_grow);
    tests[story_count + 7] =
        (struct CMUnitTest)cmocka_unit_test(many_blocks_that_stay_are_not_one_that_grows);
    tests[story_count + 8] =
        (struct CMUnitTest)cmocka_unit_test(passes_that_need_more_and_free_all_do_not_grow);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
