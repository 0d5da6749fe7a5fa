/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The rules that stand on a number of thresholds.def and weigh what was found of a process, on both
 * sides of it.
 */
#include "doubt_finders.h"
#include "given_again.h"
#include "loop_story.h"
#include "refusals.h"
#include "survivor_answers.h"
#include "survivor_turns.h"

#define KIB(n)      (UINT64_C(1024) * (n))
#define MIB(n)      (KIB(1024) * (n))
#define COUNT(rows) (sizeof(rows) / sizeof((rows)[0]))

/* --- processes -------------------------------------------------------------------------------- */

static void data_is_much_of_its_process(void **state)
{
    struct survivor_process process = {.bytes = MIB(1), .peak_bytes = MIB(4)};

    (void)state;
    assert_true(survivors_may_be_data(&process));
    process.peak_bytes = MIB(5);
    assert_false(survivors_may_be_data(&process));
}

static void a_process_that_did_little_is_not_missed(void **state)
{
    struct survivor_process processes[] = {{.end = 1600, .is_judged = true}, {.end = 100}};
    struct survivors survivors = {processes, COUNT(processes)};

    (void)state;
    assert_int_equal(survivors_unjudged_processes(&survivors), 1);
    processes[1].end = 99;
    assert_int_equal(survivors_unjudged_processes(&survivors), 0);
}

/* A later one tells for itself, however little it weighs; within the episode only a heavier one. */
static void refusals_within_a_second_are_one_episode(void **state)
{
    static const uint64_t second_ns = UINT64_C(1000000000);
    struct refusal_episode episode = {0};

    (void)state;
    assert_true(refusal_episode_add(&episode, second_ns, 2));
    assert_false(refusal_episode_add(&episode, 2 * second_ns, 2));
    assert_true(refusal_episode_add(&episode, 3 * second_ns, 3));
    assert_true(refusal_episode_add(&episode, 4 * second_ns + 1, 1));
}

/* However much repeats within them. */
static void one_marked_step_or_two_are_no_loop(void **state)
{
    static const struct {
        uint64_t steps;
        bool is_loop;
    } cases[] = {{0, true}, {2, false}, {3, true}};
    struct survivor_process process = {.is_judged = true, .has_stacks = true};
    struct survivors survivors = {&process, 1};

    for (size_t c = 0; c < COUNT(cases); c++) {
        teardown(state);
        assert_int_equal(setup(state), 0);
        for (uint64_t i = 0; i < cases[c].steps; i++) {
            event_list_step(&list, EVENT_STEP_BEGIN, i + 1);
            event_list_step(&list, EVENT_STEP_END, i + 1);
        }
        assert_int_equal(survivors_can_judge(event_list_question(&list), &survivors, 0),
                         cases[c].is_loop);
    }
}

/* Two stacks that allocate as often as the one that leaks tell its turns; one may do so by chance.
 * Three of a loop within it allocate more often. */
static void turns_are_those_of_several_stacks(void **state)
{
    (void)state;
    for (uint32_t agreed = 1; agreed <= 2; agreed++) {
        struct survivor_stack stack = {.overdue.births = 24};
        struct survivor_origin origin = {.stacks = &stack, .stack_count = 1};
        struct active_stack active[] = {
            {100, 0, 990}, {100, 0, 990}, {100, 0, 990}, {24, 0, 920}, {24, 0, 920}};
        struct survivor_process process = {
            .origins = &origin, .origin_count = 1, .active_count = 3 + agreed, .end = 1000};

        survivor_turns_find(&process, active);
        assert_int_equal(process.turns, agreed == 1 ? 100 : 24);
        assert_int_equal((uint64_t)process.turn_births, agreed == 1 ? 10 : 40);
    }
}

/* --- what no stack tells ---------------------------------------------------------------------- */

static void a_rise_is_doubted_where_it_is_large(void **state)
{
    static const struct {
        uint64_t risen_bytes, peak_bytes;
        bool is_doubted;
    } cases[] = {{MIB(9), MIB(30), true}, {MIB(9), MIB(40), false}, {MIB(7), MIB(10), false}};

    (void)state;
    event_list_step(&list, EVENT_STEP_BEGIN, 1); /* a process */
    for (size_t c = 0; c < COUNT(cases); c++) {
        struct survivor_process process = {.risen = {cases[c].risen_bytes, 1},
                                           .peak_bytes = cases[c].peak_bytes};
        struct survivors survivors = {&process, 1};
        struct doubt_ground ground = {.question = event_list_question(&list),
                                      .survivors = &survivors};
        struct doubt doubt = {.bytes = 0};

        assert_int_equal(doubt_find_rise(&ground, &doubt), cases[c].is_doubted);
    }
}

static void note(const char *subject, const char *text, uint64_t first)
{
    event_list_add(&list, (struct event){.kind = EVENT_NOTE,
                                         .detail = event_list_text(&list, subject),
                                         .text = event_list_text(&list, text),
                                         .address = first,
                                         .value = first});
}

static void account(uint64_t mapped_bytes, uint64_t file_bytes)
{
    note(ACCOUNT_SUBJECT, "", 2);
    note("account part mapped without a file", "", mapped_bytes);
    note("account part mapped files", "/data/set", file_bytes);
    note(ACCOUNT_SUBJECT_FIGURE, "resident", mapped_bytes + file_bytes);
    note(ACCOUNT_SUBJECT_END, "", 0);
}

/* Mappings that no block explains, beside files that are mapped. */
static void what_is_not_seen_is_much_and_most_of_the_growth(void **state)
{
    static const struct {
        uint64_t mapped_bytes, file_bytes;
        bool is_told;
    } cases[] = {{MIB(12), MIB(8), true},
                 {MIB(9), MIB(15), false},
                 {MIB(6), MIB(4), false},
                 {MIB(30), 0, true}};
    enum { ACCOUNTS = 16, RISEN = 11 }; /* the first quarter is left out */

    for (size_t c = 0; c < COUNT(cases); c++) {
        struct unseen_watch watch;
        struct arena arena;

        teardown(state);
        assert_int_equal(setup(state), 0);
        for (uint64_t i = 0; i < ACCOUNTS; i++)
            account(cases[c].mapped_bytes * i / RISEN, cases[c].file_bytes * i / RISEN);
        event_list_question(&list);
        arena_init(&arena);
        assert_true(unseen_watch_init(&watch, list.tally));
        assert_int_equal(unseen_watch_end(&watch, 0, &arena).bytes > 0, cases[c].is_told);
        unseen_watch_release(&watch);
        arena_release(&arena);
    }
}

/* The same rise before the first block that is recorded, as of a program that loads what it needs
 * for its device, and after it. */
static void what_rises_before_the_first_block_is_the_start(void **state)
{
    enum { ACCOUNTS = 16, RISEN = 11 };

    for (size_t is_late = 0; is_late < 2; is_late++) {
        uint64_t born_ns = 0;
        struct unseen_watch watch;
        struct arena arena;

        teardown(state);
        assert_int_equal(setup(state), 0);
        for (uint64_t i = 0; i < ACCOUNTS; i++) {
            if (i == (is_late ? 12 : 1))
                born_ns = list.time_ns;
            account(MIB(24) * i / RISEN, 0);
        }
        event_list_alloc(&list, 0x1000, 1, 0);
        event_list_question(&list);
        arena_init(&arena);
        assert_true(unseen_watch_init(&watch, list.tally));
        unseen_watch_born(&watch, 0, born_ns, 1);
        assert_int_equal(unseen_watch_end(&watch, 0, &arena).bytes > 0, !is_late);
        unseen_watch_release(&watch);
        arena_release(&arena);
    }
}

/* --- what CPython gives again ----------------------------------------------------------------- */

struct given {
    const char *name;
    uint64_t other_bytes;    /* of the line that seems to leak, beside 1000 of 100 floats */
    uint64_t keeper_count;   /* blocks of another line */
    uint32_t keeper_moments; /* of the 1000 over which that line seems to leak */
    bool is_doubtful, has_keeper;
};

static const struct given givens[] = {
    {"another line that keeps half as many is the leak", 0, 50, 1000, true, true},
    {"one that keeps fewer is not", 0, 49, 1000, true, false},
    {"nor one that does so for less than half of the time", 0, 50, 499, true, false},
    {"but half is enough", 0, 50, 500, true, true},
    {"a line that keeps other things as well is in doubt", 999, 50, 1000, true, true},
    {"but not where they are most of it", 1001, 50, 1000, false, false},
};

static void who_keeps_is_found(void **state)
{
    const struct given *row = *state;
    struct survivor_stack stacks[3] = {0};
    struct survivor_origin origins[2] = {
        {.stacks = stacks, .stack_count = 2, .bytes = 1000 + row->other_bytes, .count = 100},
        {.stacks = &stacks[2], .stack_count = 1, .bytes = 800, .count = row->keeper_count}};
    const struct survivor_origin *given;

    setup(state);
    stacks[0].who.site = site_of("PyFloat_FromDouble", 20);
    stacks[0].overdue = (struct overdue){.bytes = 1000, .count = 99, .last = 1000};
    stacks[1].who.site = site_of("copy", 20);
    stacks[1].overdue = (struct overdue){.bytes = row->other_bytes, .count = 1};
    stacks[2].who.site = site_of("keep", 30);
    stacks[2].overdue = (struct overdue){.bytes = 800,
                                         .count = row->keeper_count,
                                         .first = 1000 - row->keeper_moments,
                                         .last = 1000};
    event_list_question(&list);
    given = given_again_settle(list.symbols, origins, 2);
    assert_ptr_equal(given, row->is_doubtful ? &origins[row->has_keeper] : NULL);
    assert_ptr_equal(origins[0].stacks, row->has_keeper ? &stacks[2] : stacks);
    teardown(state);
}

#define STORY(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    static const struct CMUnitTest single[] = {
        cmocka_unit_test(data_is_much_of_its_process),
        cmocka_unit_test(a_process_that_did_little_is_not_missed),
        cmocka_unit_test(refusals_within_a_second_are_one_episode),
        STORY(one_marked_step_or_two_are_no_loop),
        cmocka_unit_test(turns_are_those_of_several_stacks),
        STORY(a_rise_is_doubted_where_it_is_large),
        STORY(what_is_not_seen_is_much_and_most_of_the_growth),
        STORY(what_rises_before_the_first_block_is_the_start),
    };
    struct CMUnitTest tests[COUNT(single) + COUNT(givens)];
    size_t count = 0;

    for (size_t i = 0; i < COUNT(givens); i++)
        tests[count++] = (struct CMUnitTest){givens[i].name, who_keeps_is_found, NULL, NULL,
                                             (void *)(uintptr_t)&givens[i]};
    memcpy(&tests[count], single, sizeof(single));
    return cmocka_run_group_tests(tests, NULL, NULL);
}
