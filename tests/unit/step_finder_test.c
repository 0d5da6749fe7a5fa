/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Steps that are found by their period, and periods that are no steps.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "step_finder.h"

enum { SITES = 16, EVENTS_MOST = 20000 };

struct stream {
    struct model *model;
    struct event events[EVENTS_MOST];
    size_t count;
    uint32_t sites[SITES + 1];
};

static struct stream stream;

static int setup(void **state)
{
    struct model_process process = {.process_id = 1};
    struct mt_place device = {.device = 0, .kind = MT_KIND_DEVICE, .module = -1};

    memset(&stream, 0, sizeof(stream));
    assert_int_equal(model_create(&stream.model, NULL), MT_OK);
    model_process(stream.model, &process);
    model_place(stream.model, device);
    for (uint32_t i = 1; i <= SITES; i++)
        stream.sites[i] = model_site(stream.model, (struct model_site){.address = 0x1000 * i});
    *state = &stream;
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    model_destroy(stream.model);
    return 0;
}

/* A letter is a site: 'a' is the first. */
static void put(const char *sites)
{
    for (; *sites; sites++) {
        assert_true(stream.count < EVENTS_MOST);
        stream.events[stream.count++] = (struct event){
            .kind = EVENT_ALLOC, .value = 64, .site = stream.sites[*sites - 'a' + 1]};
    }
}

static void put_times(const char *sites, int times)
{
    for (int i = 0; i < times; i++)
        put(sites);
}

static struct found_steps find(void)
{
    struct step_finder *finder = step_finder_create(stream.model);
    struct found_steps found;

    assert_non_null(finder);
    step_finder_feed(finder, stream.events, stream.count);
    step_finder_finish(finder);
    found = step_finder_at(finder, 0);
    step_finder_destroy(finder);
    return found;
}

static void assert_found(char site, uint64_t count)
{
    struct found_steps found = find();

    assert_int_equal(found.token.kind, TOKEN_SITE);
    assert_int_equal(found.token.id, stream.sites[site - 'a' + 1]);
    assert_int_equal(found.count, count);
    assert_true(found.confidence_percent >= 85);
}

static void assert_none(void)
{
    assert_int_equal(find().token.kind, TOKEN_NONE);
}

static void loop_begins_at_its_first_site(void **state)
{
    (void)state;
    put("mnop");
    put_times("abcddef", 30);
    assert_found('a', 30);
}

static void layers_inside_of_a_step_are_no_steps(void **state)
{
    (void)state;
    for (int i = 0; i < 20; i++) {
        put("a");
        put_times("bcd", 12);
        put_times("efg", 12);
        put("hij");
    }
    assert_found('a', 20);
}

static void layers_of_one_pass_are_no_steps(void **state)
{
    (void)state;
    put_times("abcd", 24);
    put_times("efgh", 24);
    assert_none();
}

static void last_step_may_be_cut(void **state)
{
    (void)state;
    put_times("abcdefgh", 25);
    put("abc");
    assert_found('a', 26);
}

static void first_step_may_be_longer(void **state)
{
    (void)state;
    put_times("mnop", 3);
    put("a");
    put_times("opm", 2);
    put("bcdef");
    put_times("abcdef", 24);
    assert_found('a', 25);
}

static void four_steps_are_too_few(void **state)
{
    (void)state;
    put_times("abcdef", 4);
    assert_none();
}

static void chance_has_no_period(void **state)
{
    uint32_t seed = 5;
    char site[] = "a";

    (void)state;
    for (int i = 0; i < 3000; i++) {
        seed = seed * 1664525u + 1013904223u;
        site[0] = (char)('a' + (seed >> 20) % SITES);
        put(site);
    }
    assert_none();
}

static void program_that_marks_is_left_alone(void **state)
{
    (void)state;
    put_times("abc", 10);
    stream.events[stream.count++] = (struct event){.kind = EVENT_STEP_BEGIN, .value = 1};
    put_times("abc", 10);
    assert_none();
    assert_true(find().has_marks);
}

int main(void)
{
#define T(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
    const struct CMUnitTest tests[] = {
        T(loop_begins_at_its_first_site),
        T(layers_inside_of_a_step_are_no_steps),
        T(layers_of_one_pass_are_no_steps),
        T(last_step_may_be_cut),
        T(first_step_may_be_longer),
        T(four_steps_are_too_few),
        T(chance_has_no_period),
        T(program_that_marks_is_left_alone),
    };
#undef T

    return cmocka_run_group_tests(tests, NULL, NULL);
}
