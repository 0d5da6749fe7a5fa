/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The rules of growth.c that stand on a number of thresholds.def, on both sides of it.
 */
#include <stdio.h>

#include "growth.h"
#include "leaks_by_steps.h"
#include "loop_story.h"

#define COUNT(rows) (sizeof(rows) / sizeof((rows)[0]))

/* --- warm-up ---------------------------------------------------------------------------------- */

struct warm_up {
    const char *name;
    uint32_t steps, first_sites; /* that allocate in the first step */
    uint32_t new_sites, until;   /* in each of the others up to this one */
    uint32_t warm_up;
    uint32_t paused; /* the first steps, which are none */
};

static const struct warm_up warm_ups[] = {
    {"two steps are warm-up", 30, 10, 0, 1, 2, 0},
    {"so are more that bring several new sites", 30, 10, 2, 6, 6, 0},
    {"one new site is no warm-up", 30, 10, 1, 6, 2, 0},
    {"nor are few of many", 30, 300, 3, 3, 2, 0},
    {"a third of the steps is left at most", 30, 10, 2, 20, 10, 0},
    {"of seven steps five are judged", 7, 10, 0, 1, 2, 0},
    {"of six as well", 6, 10, 0, 1, 1, 0},
    {"and all of five", 5, 10, 0, 1, 0, 0},
    {"after two in a pause none is left", 30, 10, 0, 1, 0, 2},
    {"after one there are two more", 30, 10, 0, 1, 2, 1},
};

static void allocate_at_new_sites(uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        char name[32];

        snprintf(name, sizeof(name), "site %u", (unsigned)list.count);
        event_list_alloc(&list, next_address++ << 12, 64, event_list_site(&list, name));
    }
}

static void warm_up_ends(void **state)
{
    const struct warm_up *row = *state;

    setup(state);
    for (uint32_t step = 1; step <= row->steps; step++) {
        if (step <= row->paused + 1)
            event_list_add(
                &list, (struct event){.kind = EVENT_PAUSE, .value = step <= row->paused ? 1 : 0});
        event_list_step(&list, EVENT_STEP_BEGIN, step);
        allocate_at_new_sites(step == 1            ? row->first_sites
                              : step <= row->until ? row->new_sites
                                                   : 0);
        event_list_step(&list, EVENT_STEP_END, step);
    }
    assert_int_equal(growth_steps_of(event_list_question(&list), 0).warm_up, row->warm_up);
    teardown(state);
}

/* --- what grows ------------------------------------------------------------------------------- */

/* A line that makes a block in each step but the last ten: they stay, or each takes the place of
 * the one before. By steps alone either is a block that grows. */
static void blocks_that_stopped_are_not_one_that_grows(void **state)
{
    for (size_t is_one = 0; is_one < 2; is_one++) {
        uint32_t other, grows;
        uint64_t last = 0;

        teardown(state);
        assert_int_equal(setup(state), 0);
        other = site_of("other", 10);
        grows = site_of("grow", 20);
        for (uint64_t i = 0; i < STEPS; i++) {
            event_list_step(&list, EVENT_STEP_BEGIN, i + 1);
            work(100, other);
            if (i < STEPS - 10) {
                uint64_t next = make(is_one ? 4096 * (i + 1) : 4096, grows);

                if (is_one && last)
                    drop(last);
                last = next;
            }
            event_list_step(&list, EVENT_STEP_END, i + 1);
        }
        ask();
        assert_int_equal(report_finding_count(report), is_one);
    }
}

/* A line that keeps this much of each step in a cache that says how much it holds, and the rest
 * elsewhere. */
static void most_of_what_grew_is_of_a_bounded_cache(void **state)
{
    static const struct {
        uint64_t bounded_bytes, other_bytes;
        enum report_outcome outcome;
    } cases[] = {{9500, 500, REPORT_FINE}, {8500, 1500, REPORT_FOUND}};

    for (size_t c = 0; c < COUNT(cases); c++) {
        uint32_t cache, stays;

        teardown(state);
        assert_int_equal(setup(state), 0);
        cache = site_of("bounded_lru_cache_wrapper", 20);
        stays = site_of("copy", 20);
        for (uint64_t i = 0; i < STEPS; i++) {
            event_list_step(&list, EVENT_STEP_BEGIN, i + 1);
            make(cases[c].bounded_bytes, cache);
            make(cases[c].other_bytes, stays);
            event_list_step(&list, EVENT_STEP_END, i + 1);
        }
        leaks_by_steps(event_list_question(&list), report);
        assert_int_equal(report_outcome_of(report), cases[c].outcome);
    }
}

int main(void)
{
    static const struct CMUnitTest single[] = {
        cmocka_unit_test_setup_teardown(blocks_that_stopped_are_not_one_that_grows, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(most_of_what_grew_is_of_a_bounded_cache, setup, teardown),
    };
    struct CMUnitTest tests[COUNT(warm_ups) + COUNT(single)];
    size_t count = 0;

    for (size_t i = 0; i < COUNT(warm_ups); i++)
        tests[count++] = (struct CMUnitTest){warm_ups[i].name, warm_up_ends, NULL, NULL,
                                             (void *)(uintptr_t)&warm_ups[i]};
    memcpy(&tests[count], single, sizeof(single));
    return cmocka_run_group_tests(tests, NULL, NULL);
}
