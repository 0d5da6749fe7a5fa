/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Each rule that stands on a number of thresholds.def, on both sides of it.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "arena.h"
#include "births.h"
#include "leak_weight.h"
#include "resident_rise.h"
#include "spread_leak.h"
#include "step_verdict.h"
#include "survivor_evidence.h"
#include "survivor_ground.h"

#define KIB(n)      (UINT64_C(1024) * (n))
#define MIB(n)      (KIB(1024) * (n))
#define GIB(n)      (MIB(1024) * (n))
#define COUNT(list) (sizeof(list) / sizeof((list)[0]))

/* --- weight ----------------------------------------------------------------------------------- */

struct weight {
    const char *name;
    uint64_t bytes, loop_bytes, peak_bytes;
    bool is_light;
};

static const struct weight weights[] = {
    {"what a short program learns is light", KIB(15), 0, MIB(1), true},
    {"what is heavier is not", KIB(17), 0, MIB(1), false},
    {"a larger program learns more", KIB(31), 0, MIB(32), true},
    {"and not twice as much", KIB(34), 0, MIB(32), false},
    {"no program learns so much", KIB(65), 0, GIB(1), false},
    {"a list of losses is light", MIB(1), GIB(1024), GIB(1), true},
    {"it is not in a short loop", MIB(1), GIB(64), GIB(1), false},
    {"nor where it is much of the process", MIB(20), GIB(4096), GIB(1), false},
};

static void weight_decides(void **state)
{
    const struct weight *row = *state;

    assert_int_equal(leak_is_light(row->bytes, row->loop_bytes, row->peak_bytes), row->is_light);
}

static void what_stays_of_each_step_is_not_learned(void **state)
{
    (void)state;
    assert_true(leak_of_each_step_is_light(KIB(15), 0, GIB(1)));
    assert_false(leak_of_each_step_is_light(KIB(17), 0, GIB(1)));
    assert_true(leak_of_each_step_is_light(MIB(10), GIB(4096), GIB(1)));
    assert_false(leak_of_each_step_is_light(MIB(20), GIB(4096), GIB(1)));
}

static void a_line_beside_a_leak_is_light(void **state)
{
    (void)state;
    assert_true(leak_is_beside(KIB(1), KIB(17)));
    assert_false(leak_is_beside(KIB(1), KIB(8)));
    assert_false(leak_is_beside(KIB(3), KIB(64)));
    assert_true(leak_is_beside(KIB(15), MIB(4)));
    assert_false(leak_is_beside(KIB(15), MIB(3)));
    assert_false(leak_is_beside(KIB(20), MIB(100)));
}

/* --- births ----------------------------------------------------------------------------------- */

struct births {
    const char *name;
    const char *steps; /* blocks that each left: a digit, or nothing */
    size_t site_count;
    bool go_on;
};

static const struct births births[] = {
    {"a block a step goes on", "111111111111", 1, true},
    {"two steps are too few", "   11", 1, false},
    {"four of five steps say enough among many sites", "111 1", 100000, true},
    {"five of many do not", "1   1  1 1   1  ", 100000, false},
    {"ten of many do", "11 1 1  11 1  1 1 1 ", 100000, true},
    {"what begins in the last quarter may be anything", "                                11111111",
     1, false},
    {"a silence of four gaps is an end", "1111    ", 1, false},
    {"so is one that chance does not make", "111111        1111111111          ", 1, false},
    {"what halves is no cache by key", "999988887777666655554444", 1, true},
    {"what falls to a ninth is", "999988876544332211111111", 1, false},
};

static void births_tell(void **state)
{
    const struct births *row = *state;
    uint64_t counts[64], bytes[64];
    size_t count = strlen(row->steps);

    for (size_t i = 0; i < count; i++) {
        counts[i] = row->steps[i] == ' ' ? 0 : (uint64_t)(row->steps[i] - '0');
        bytes[i] = counts[i] * (64 + i);
    }
    assert_int_equal(births_go_on(counts, bytes, count, row->site_count), row->go_on);
}

/* --- steps ------------------------------------------------------------------------------------ */

enum { STEPS = 30 };

struct levels {
    const char *name;
    size_t count;
    uint64_t (*alive)(size_t i);
    uint64_t kept_bytes; /* of one block, of the step before the last but three */
    enum step_verdict verdict;
};

static uint64_t dips(size_t i)
{
    return i == 0 ? 1000 : i % 4 < 2 ? 2000 : 1800;
}

static uint64_t falls_once(size_t i)
{
    return i / 10 == 1 ? 2000 : 1000;
}

static uint64_t turns_in_each_step(size_t i)
{
    return i % 2 ? 2000 : 1000;
}

static uint64_t rises(size_t i)
{
    return 4096 + 64 * i;
}

static uint64_t rises_but_once(size_t i)
{
    return rises(i) - (i == 12 ? 70 : 0);
}

static uint64_t rises_in_jumps(size_t i)
{
    return 100 * i + (i % 2 ? 0 : 150);
}

static uint64_t rises_and_stays(size_t i)
{
    return i < 5 ? 0 : 1000;
}

static uint64_t falls_by_most(size_t i)
{
    return i < 5 ? 0 : i < 15 ? 2000 : 900;
}

static uint64_t falls_by_little(size_t i)
{
    return i < 5 ? 0 : i < 15 ? 1000 : 900;
}

static const struct levels levels[] = {
    {"a dip is no sawtooth", STEPS, dips, 0, VERDICT_STABLE},
    {"one fall is none", STEPS, falls_once, 0, VERDICT_STABLE},
    {"turning in each step is none", STEPS, turns_in_each_step, 0, VERDICT_STABLE},
    {"six steps rise by chance", 6, rises, 0, VERDICT_STABLE},
    {"a block that grows may once be smaller", STEPS, rises_but_once, 0, VERDICT_LEAK},
    {"what falls in each second step is no such block", STEPS, rises_in_jumps, 0, VERDICT_STABLE},
    {"most of what grew is kept", STEPS, rises_and_stays, 600, VERDICT_CACHE},
    {"less than half is not", STEPS, rises_and_stays, 400, VERDICT_STABLE},
    {"what falls by most of it is no cache", STEPS, falls_by_most, 900, VERDICT_STABLE},
    {"it may fall by a little", STEPS, falls_by_little, 900, VERDICT_CACHE},
};

static void levels_tell(void **state)
{
    const struct levels *row = *state;
    uint64_t alive[STEPS], counts[STEPS] = {0}, bytes[STEPS] = {0};
    struct step_history history = {alive, counts, bytes, row->count, 1, 1};

    for (size_t i = 0; i < row->count; i++)
        alive[i] = row->alive(i);
    counts[row->count - 4] = row->kept_bytes > 0;
    bytes[row->count - 4] = row->kept_bytes;
    assert_string_equal(step_verdict_name(step_judge(&history).verdict),
                        step_verdict_name(row->verdict));
}

/* A cache that is full: some are lucky, and the whole hardly grows. */
static void survivors_promise_growth(void **state)
{
    uint64_t alive[STEPS], counts[STEPS], bytes[STEPS];
    struct step_history history = {alive, counts, bytes, STEPS, 1, 5};

    (void)state;
    for (size_t i = 0; i < STEPS; i++) {
        alive[i] = 100000 + (i < 20 ? 0 : 50);
        counts[i] = 1;
        bytes[i] = 640;
    }
    assert_int_equal(step_judge(&history).verdict, VERDICT_CACHE);
    for (size_t i = 20; i < STEPS; i++)
        alive[i] += 3000;
    assert_int_equal(step_judge(&history).verdict, VERDICT_LEAK);
}

static void what_is_known_to_stay_needs_steps_too(void **state)
{
    uint64_t alive[5] = {64, 128, 192, 256, 320}, counts[5] = {1, 1, 1, 1, 1};
    struct step_history history = {alive, counts, alive, 4, 1, 1};

    (void)state;
    assert_int_equal(step_judge_known(&history).verdict, VERDICT_UNSURE);
    history.count = 5;
    assert_int_equal(step_judge_known(&history).verdict, VERDICT_LEAK);
}

static void what_comes_and_goes_does_not_hide_the_rise(void **state)
{
    uint64_t alive[STEPS], counts[STEPS], bytes[STEPS];
    struct step_history history = {alive, counts, bytes, STEPS, 1, 1};
    struct step_judgement judgement;

    (void)state;
    for (size_t i = 0; i < STEPS; i++) {
        alive[i] = 100000 + i * 2654435761U % 9000;
        counts[i] = 1;
        bytes[i] = 64;
    }
    judgement = step_judge(&history);
    assert_int_equal(judgement.verdict, VERDICT_LEAK);
    step_measure(&history, 1, &judgement);
    assert_true(judgement.trend.rise_chance < 0.01);
}

/* --- sites, each of which left something once ---------------------------------------------------
 */

struct spread {
    const char *name;
    size_t sites, births; /* of each */
    uint64_t bytes;       /* of each, of a thousand */
    double chance;        /* of the rise of the ledger */
    bool is_leak;
};

static const struct spread spreads[] = {
    {"ten sites that left all of it", 10, 1, 100, 0.001, true},
    {"most of it is enough", 10, 2, 60, 0.001, true},
    {"less is not", 10, 1, 40, 0.001, false},
    {"nine sites are a handful", 9, 1, 110, 0.001, false},
    {"sites that leave something thrice say it themselves", 10, 3, 100, 0.001, false},
    {"what may rise by chance is no leak", 10, 1, 100, 0.02, false},
};

static void a_leak_is_spread(void **state)
{
    const struct spread *row = *state;
    struct origin origin = {.ledger = 1};
    struct judged rows[16] = {{0}};
    struct judged ledger = {.origin = &origin};
    struct judged_list sites = {.rows = rows, .count = row->sites};

    ledger.judgement.overdue_bytes = 1000;
    ledger.judgement.trend.rise_chance = row->chance;
    for (size_t i = 0; i < row->sites; i++) {
        rows[i].origin = &origin;
        rows[i].judgement.birth_count = row->births;
        rows[i].judgement.overdue_bytes = row->bytes;
    }
    assert_int_equal(is_spread_leak(&sites, &ledger), row->is_leak);
}

/* --- resident memory
 * ------------------------------------------------------------------------------ */

enum { ACCOUNTS = 16 };

struct resident {
    const char *name;
    size_t accounts;
    uint64_t first_bytes, step_bytes, late_step_bytes; /* in the last third */
    bool rises;
};

static const struct resident residents[] = {
    {"what rises evenly", ACCOUNTS, MIB(10), MIB(1), MIB(1), true},
    {"four looks rise by chance", 5, MIB(10), MIB(10), MIB(10), false},
    {"four mebibytes are little", ACCOUNTS, MIB(10), MIB(1) / 3, MIB(1) / 3, false},
    {"twelve are little in a large process", ACCOUNTS, GIB(1), MIB(1), MIB(1), false},
    {"what hardly rises any more", ACCOUNTS, MIB(10), MIB(2), 4096, false},
};

static void resident_memory_rises(void **state)
{
    const struct resident *row = *state;
    struct memory_account accounts[ACCOUNTS] = {{.time_ns = 0}};
    uint64_t bytes = row->first_bytes;
    struct arena arena;

    arena_init(&arena);
    for (size_t i = 0; i < row->accounts; i++) {
        accounts[i].time_ns = 1000 * (i + 1);
        accounts[i].figures[ACCOUNT_FIGURE_RESIDENT] = bytes;
        bytes += i * 3 > row->accounts * 2 ? row->late_step_bytes : row->step_bytes;
    }
    assert_int_equal(resident_rise_base(&arena, accounts, row->accounts, resident_bytes_of) <
                         row->accounts,
                     row->rises);
    arena_release(&arena);
}

/* --- evidence --------------------------------------------------------------------------------- */

static void a_pool_that_holds_little_lacks_nothing(void **state)
{
    struct survivor_evidence little = {.births = 10, .unjudged_bytes = KIB(15)};
    struct survivor_evidence much = {.births = 10, .unjudged_bytes = KIB(17)};
    struct survivor_evidence judged = {10, 6, KIB(17)};
    struct arena arena;
    size_t count;

    (void)state;
    arena_init(&arena);
    survivor_evidence_lacking(&little, 1, &arena, &count);
    assert_int_equal(count, 0);
    survivor_evidence_lacking(&much, 1, &arena, &count);
    assert_int_equal(count, 1);
    survivor_evidence_lacking(&judged, 1, &arena, &count);
    assert_int_equal(count, 0);
    arena_release(&arena);
}

static void few_births_say_nothing(void **state)
{
    struct overdue overdue = {.reason = OVERDUE_NOT_ACTIVE, .births = 7, .left_bytes = 100};
    struct survivor_ground ground = survivor_ground_of(1, false, &overdue);

    (void)state;
    assert_false(ground.has_stopped);
    assert_int_equal(ground.unsure_bytes, 100);
    overdue.births = 8;
    ground = survivor_ground_of(1, false, &overdue);
    assert_true(ground.has_stopped);
    assert_int_equal(ground.gone_bytes, 100);
}

#define ROWS(list, run)                                                                            \
    for (size_t i = 0; i < COUNT(list); i++)                                                       \
        tests[count++] = (struct CMUnitTest){(list)[i].name, run, NULL, NULL, (void *)&(list)[i]};

int main(void)
{
    static const struct CMUnitTest single[] = {
        cmocka_unit_test(what_stays_of_each_step_is_not_learned),
        cmocka_unit_test(a_line_beside_a_leak_is_light),
        cmocka_unit_test(survivors_promise_growth),
        cmocka_unit_test(what_is_known_to_stay_needs_steps_too),
        cmocka_unit_test(what_comes_and_goes_does_not_hide_the_rise),
        cmocka_unit_test(a_pool_that_holds_little_lacks_nothing),
        cmocka_unit_test(few_births_say_nothing),
    };
    struct CMUnitTest tests[COUNT(weights) + COUNT(births) + COUNT(levels) + COUNT(spreads) +
                            COUNT(residents) + COUNT(single)];
    size_t count = 0;

    ROWS(weights, weight_decides)
    ROWS(births, births_tell)
    ROWS(levels, levels_tell)
    ROWS(spreads, a_leak_is_spread)
    ROWS(residents, resident_memory_rises)
    memcpy(&tests[count], single, sizeof(single));
    return cmocka_run_group_tests(tests, NULL, NULL);
}
