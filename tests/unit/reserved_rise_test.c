/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A pool that reserves ever more and uses no more; and its twins that do not.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "event_list.h"
#include "reserved_rise.h"

#define MIB(count)  ((uint64_t)(count) << 20)
#define COUNT(rows) (sizeof(rows) / sizeof((rows)[0]))

enum { STEPS = 30, ADDRESS = 0x1000 };

static struct event_list list;

/* A step that uses so much at most, and reserves so much at its end. */
static void add_step(uint64_t number, uint64_t reserved_bytes, uint64_t used_bytes)
{
    event_list_step(&list, EVENT_STEP_BEGIN, number);
    event_list_add(&list, (struct event){.kind = EVENT_RESERVED,
                                         .pool = list.pool,
                                         .place = list.device,
                                         .value = reserved_bytes});
    event_list_alloc(&list, ADDRESS, used_bytes, event_list_site(&list, "work"));
    event_list_free(&list, ADDRESS);
    event_list_step(&list, EVENT_STEP_END, number);
}

struct story {
    uint64_t reserved_mib, each_mib;       /* in the first step, and more in each step */
    uint64_t until;                        /* the last step that reserves more */
    uint64_t used_mib, used_more_each_kib; /* likewise */
    uint64_t steps;
    uint64_t falls_every; /* in each so manieth step all is given back; 0: never */
    uint64_t rise_mib;
};

static uint64_t rise_of(const struct story *story)
{
    struct reserved_rise rise;

    event_list_init(&list);
    for (uint64_t i = 0; i < story->steps; i++) {
        uint64_t more = i < story->until ? i : story->until;
        uint64_t reserved = story->reserved_mib + more * story->each_mib;

        if (story->falls_every && i % story->falls_every == 0)
            reserved = story->reserved_mib;
        add_step(i + 1, MIB(reserved),
                 MIB(story->used_mib) + (i * story->used_more_each_kib << 10));
    }
    rise = reserved_rise_of(event_list_question(&list), 0, 1, (uint32_t)story->steps);
    event_list_release(&list);
    return rise.bytes;
}

static void a_pool_that_reserves_more_and_uses_no_more_is_told(void **state)
{
    static const struct story stories[] = {
        {100, 2, STEPS, 80, 0, STEPS, 0, 58},
        {100, 2, STEPS, 80, 900, STEPS, 0, 58}, /* 25 MiB more are used */
        {100, 2, STEPS, 80, 1100, STEPS, 0, 0}, /* 31 MiB */
        {100, 1, STEPS, 80, 0, 9, 0, 8},
        {100, 1, STEPS, 80, 0, 8, 0, 0},   /* 7 MiB */
        {100, 4, STEPS, 80, 0, 4, 0, 0},   /* too few steps */
        {100, 2, 23, 80, 0, STEPS, 0, 46}, /* a sixth of it in the last third */
        {100, 2, 22, 80, 0, STEPS, 0, 0},  /* less: it has ended */
        {100, 2, STEPS, 80, 0, STEPS, 2, 0},
        {100, 0, STEPS, 80, 0, STEPS, 0, 0},
    };

    (void)state;
    for (size_t i = 0; i < COUNT(stories); i++)
        assert_int_equal(rise_of(&stories[i]), MIB(stories[i].rise_mib));
}

static void a_pool_that_does_not_tell_is_not_judged(void **state)
{
    (void)state;
    event_list_init(&list);
    for (uint64_t i = 1; i <= STEPS; i++) {
        event_list_step(&list, EVENT_STEP_BEGIN, i);
        event_list_alloc(&list, ADDRESS * i, MIB(1), event_list_site(&list, "work"));
        event_list_step(&list, EVENT_STEP_END, i);
    }
    assert_int_equal(reserved_rise_of(event_list_question(&list), 0, 1, STEPS).bytes, 0);
    event_list_release(&list);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_pool_that_reserves_more_and_uses_no_more_is_told),
        cmocka_unit_test(a_pool_that_does_not_tell_is_not_judged),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
