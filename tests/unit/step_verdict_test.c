/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What each pattern of memory is called.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "step_verdict.h"

enum { steps = 30 };

struct story {
    const char *name;
    size_t count;
    /* Alive when step i ended, and born in step i and alive at the end of the last. */
    uint64_t (*alive)(size_t i);
    uint64_t (*survivors)(size_t i, size_t count);
    enum step_verdict verdict;
    size_t freed_age;
};

static uint64_t noise(size_t i)
{
    return (i * 2654435761U >> 7) % 5;
}

static uint64_t alive_leak(size_t i)
{
    return 1000 + i * 64;
}

static uint64_t alive_leak_in_noise(size_t i)
{
    return 1000 + i * 8 + noise(i) * 10;
}

static uint64_t alive_slow_leak(size_t i)
{
    return 1000 + i / 5 * 64;
}

static uint64_t alive_cache(size_t i)
{
    return i < 8 ? i * 512 : 8 * 512;
}

static uint64_t alive_sawtooth(size_t i)
{
    return i % 10 * 100 + 5000 / 10;
}

static uint64_t alive_level(size_t i)
{
    (void)i;
    return 4096;
}

static uint64_t alive_rounding(size_t i)
{
    return 1000000 + noise(i) * 16;
}

static uint64_t alive_gradients(size_t i)
{
    return 3000 + noise(i);
}

static uint64_t alive_once(size_t i)
{
    return i >= 12 ? 640 : 0;
}

static uint64_t survive_all(size_t i, size_t count)
{
    (void)i;
    (void)count;
    return 1;
}

static uint64_t survive_each_fifth(size_t i, size_t count)
{
    (void)count;
    return i % 5 == 0;
}

static uint64_t survive_first_eight(size_t i, size_t count)
{
    (void)count;
    return i < 8;
}

static uint64_t survive_since_tooth(size_t i, size_t count)
{
    return i >= (count - 1) / 10 * 10;
}

static uint64_t survive_last(size_t i, size_t count)
{
    return i + 1 == count ? 3 : 0;
}

static uint64_t survive_none(size_t i, size_t count)
{
    (void)i;
    (void)count;
    return 0;
}

static uint64_t survive_twelfth(size_t i, size_t count)
{
    (void)count;
    return i == 12;
}

static const struct story stories[] = {
    {"a block a step is a leak", steps, alive_leak, survive_all, VERDICT_LEAK, 1},
    {"five rising steps are enough for a leak", 5, alive_leak, survive_all, VERDICT_LEAK, 1},
    {"four steps are too few", 4, alive_leak, survive_all, VERDICT_UNSURE, 1},
    {"no step is too few", 0, alive_leak, survive_all, VERDICT_UNSURE, 1},
    {"a leak is seen through noise", steps, alive_leak_in_noise, survive_all, VERDICT_LEAK, 1},
    {"a block each fifth step is a leak", steps, alive_slow_leak, survive_each_fifth, VERDICT_LEAK,
     1},
    {"what fills up and stops is a cache", steps, alive_cache, survive_first_eight, VERDICT_CACHE,
     1},
    {"a buffer kept from one step is a cache", steps, alive_once, survive_twelfth, VERDICT_CACHE,
     1},
    {"rising and falling is a sawtooth", steps, alive_sawtooth, survive_since_tooth,
     VERDICT_SAWTOOTH, 10},
    {"what the next step frees is temporary", steps, alive_gradients, survive_last,
     VERDICT_TEMPORARY, 1},
    {"a level is stable", steps, alive_level, survive_none, VERDICT_STABLE, 1},
    {"noise of rounding is stable", steps, alive_rounding, survive_none, VERDICT_STABLE, 1},
};

static void story_has_its_verdict(void **state)
{
    const struct story *story = *state;
    uint64_t alive[steps], counts[steps], bytes[steps];
    struct step_history history = {alive, counts, bytes, story->count, 1, story->freed_age};
    struct step_judgement judgement;

    for (size_t i = 0; i < story->count; i++) {
        alive[i] = story->alive(i);
        counts[i] = story->survivors(i, story->count);
        bytes[i] = counts[i] * 640;
    }
    judgement = step_judge(&history);
    assert_string_equal(step_verdict_name(judgement.verdict), step_verdict_name(story->verdict));
}

/* Five births in thirty steps are a slow leak of one site; of many sites, chance makes such ones.
 */
static void slow_leak_needs_more_births_among_many_sites(void **state)
{
    uint64_t alive[steps] = {0}, counts[steps] = {0}, bytes[steps] = {0};
    static const size_t births[] = {2, 9, 13, 20, 25};
    struct step_history history = {alive, counts, bytes, steps, 1, 1};

    (void)state;
    for (size_t i = 0; i < sizeof(births) / sizeof(births[0]); i++) {
        counts[births[i]] = 1;
        bytes[births[i]] = 64;
        for (size_t step = births[i]; step < steps; step++)
            alive[step] += 64;
    }
    assert_int_equal(step_judge(&history).verdict, VERDICT_LEAK);
    history.site_count = 100000;
    assert_int_equal(step_judge(&history).verdict, VERDICT_CACHE);
    for (size_t i = 0; i < steps; i++) { /* one in each step is beyond chance */
        counts[i] = 1;
        bytes[i] = 64;
        alive[i] = 64 * (i + 1);
    }
    assert_int_equal(step_judge(&history).verdict, VERDICT_LEAK);
}

/* history = cat(history, loss) */
static void one_block_that_grows_is_a_leak(void **state)
{
    uint64_t alive[steps], counts[steps] = {0}, bytes[steps] = {0};
    struct step_history history = {alive, counts, bytes, steps, 1, 1};
    struct step_judgement judgement;

    (void)state;
    for (size_t i = 0; i < steps; i++)
        alive[i] = 4096 + 64 * i;
    counts[steps - 1] = 1;
    bytes[steps - 1] = alive[steps - 1];
    judgement = step_judge(&history);
    assert_int_equal(judgement.verdict, VERDICT_LEAK);
    assert_true(judgement.is_one_growing_block);
    step_measure(&history, 1, &judgement);
    assert_int_equal(judgement.growth_per_step, 64);
    assert_int_equal(judgement.growth_low, 64);
    assert_int_equal(judgement.growth_high, 64);
}

int main(void)
{
    enum { story_count = sizeof(stories) / sizeof(stories[0]) };
    struct CMUnitTest tests[story_count + 2];

    memset(tests, 0, sizeof(tests));
    for (size_t i = 0; i < sizeof(stories) / sizeof(stories[0]); i++) {
        tests[i].name = stories[i].name;
        tests[i].test_func = story_has_its_verdict;
        tests[i].initial_state = (void *)&stories[i];
    }
    tests[story_count].name = "slow_leak_needs_more_births_among_many_sites";
    tests[story_count].test_func = slow_leak_needs_more_births_among_many_sites;
    tests[story_count + 1].name = "one_block_that_grows_is_a_leak";
    tests[story_count + 1].test_func = one_block_that_grows_is_a_leak;
    return cmocka_run_group_tests(tests, NULL, NULL);
}
