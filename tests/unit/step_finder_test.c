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

enum { SITES = 16, EVENTS_MOST = 80000 };

struct stream {
    struct model *model;
    struct event events[EVENTS_MOST];
    size_t count;
    uint16_t process;
    uint64_t size_bytes;
    uint32_t sites[SITES + 1];
};

static struct stream stream;

static int setup(void **state)
{
    struct model_process process = {.process_id = 1};
    struct mt_place device = {.device = 0, .kind = MT_KIND_DEVICE, .module = -1};

    memset(&stream, 0, sizeof(stream));
    stream.size_bytes = 4096;
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
        stream.events[stream.count++] = (struct event){.kind = EVENT_ALLOC,
                                                       .value = stream.size_bytes,
                                                       .process = stream.process,
                                                       .site = stream.sites[*sites - 'a' + 1]};
    }
}

static void put_times(const char *sites, int times)
{
    for (int i = 0; i < times; i++)
        put(sites);
}

static void put_operator(const char *name)
{
    uint32_t text = model_text(stream.model, name, strlen(name));

    assert_true(stream.count < EVENTS_MOST);
    stream.events[stream.count++] =
        (struct event){.kind = EVENT_OPERATOR_BEGIN, .process = stream.process, .text = text};
}

static void put_chance(int count, unsigned site_count)
{
    uint32_t seed = 5;
    char site[] = "a";

    for (int i = 0; i < count; i++) {
        seed = seed * 1664525u + 1013904223u;
        site[0] = (char)('a' + (seed >> 20) % site_count);
        put(site);
    }
}

/* A batch holds events of one process. */
static size_t batch_end(size_t first)
{
    size_t end = first;

    while (end < stream.count && stream.events[end].process == stream.events[first].process)
        end++;
    return end;
}

static struct found_steps find_in(uint16_t process)
{
    struct step_finder *finder = step_finder_create(stream.model);
    struct found_steps found;

    assert_non_null(finder);
    for (size_t i = 0; i < stream.count; i = batch_end(i))
        step_finder_feed(finder, stream.events + i, batch_end(i) - i);
    step_finder_finish(finder);
    found = step_finder_at(finder, process);
    step_finder_destroy(finder);
    return found;
}

static struct found_steps find(void)
{
    return find_in(0);
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

static void assert_found_operator(const char *name, uint64_t count)
{
    struct found_steps found = find();

    assert_int_equal(found.token.kind, TOKEN_OPERATOR);
    assert_string_equal(model_text_at(stream.model, (uint32_t)found.token.id), name);
    assert_int_equal(found.count, count);
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
    (void)state;
    put_chance(3000, SITES);
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

static void loop_at_the_end_of_a_long_start_is_found(void **state)
{
    (void)state;
    put_chance(50000, SITES / 2);
    put_times("ijklmnopabcdefgh", 1000);
    assert_found('i', 1000);
    assert_int_equal(find().earlier_count, 0);
}

static void beginnings_before_the_loop_are_no_steps(void **state)
{
    (void)state;
    put_times("ijklmnop", 7);
    put_chance(50000, SITES / 2);
    put_times("ijklmnopabcdefgh", 1000);
    assert_found('i', 1000);
    assert_int_equal(find().earlier_count, 7);
}

/* As the numbers of turns from 257 on, which Python has to make. */
static void what_comes_from_some_turn_on_begins_no_step(void **state)
{
    (void)state;
    put_chance(50000, SITES / 2);
    put_times("ijklmno", 400);
    put_times("pijklmno", 1200);
    assert_found('i', 1600);
    assert_int_equal(find().earlier_count, 0);
}

static void a_loop_before_with_some_of_its_sites_is_another(void **state)
{
    (void)state;
    put_chance(50000, SITES / 2);
    put_times("ij", 400);
    put_times("ijklmnop", 1500);
    assert_found('k', 1500);
}

static void end_with_uneven_rounds_has_no_steps(void **state)
{
    uint32_t seed = 7;

    (void)state;
    put_chance(40000, SITES);
    for (int i = 0; i < 600; i++) {
        seed = seed * 1664525u + 1013904223u;
        put_times("abcdefghijklmnop", 1 + (int)((seed >> 20) % 4));
        put("aab");
    }
    assert_none();
}

/* The start of `env` goes through a dozen categories of a locale. */
static void loop_of_a_few_bytes_is_no_step(void **state)
{
    (void)state;
    stream.size_bytes = 50;
    put_times("abcdefghijk", 12);
    assert_none();
}

static void helper_beside_a_large_process_has_no_steps(void **state)
{
    (void)state;
    put_times("abcdefghijk", 12);
    stream.process = 1;
    stream.size_bytes = 1 << 20;
    put_times("abcdefghijk", 60);
    assert_int_equal(find_in(0).token.kind, TOKEN_NONE);
    assert_int_equal(find_in(1).token.kind, TOKEN_SITE);
    assert_int_equal(find_in(1).count, 60);
}

/* As the state of an optimizer, which it makes in its first step, weight by weight. */
static void a_loop_within_a_step_explains_nothing_of_the_others(void **state)
{
    uint32_t seed = 3;
    char any[] = "a";

    (void)state;
    put("abcdefghijklm");
    put_times("n", 8);
    for (int i = 0; i < 400; i++) {
        seed = seed * 1664525u + 1013904223u;
        any[0] = (char)('a' + (seed >> 20) % 13);
        put(any);
    }
    assert_none();
}

static const char adam[] = "Optimizer.step#AdamW.step", sgd[] = "Optimizer.step#SGD.step";

/* A library trains, and evaluates after each epoch: half of what it does is not of the training. */
static void put_epochs(int count, const char *optimizer, const char *other)
{
    for (int epoch = 0; epoch < count; epoch++) {
        for (int i = 0; i < 24; i++) {
            put("abcd");
            put_operator(optimizer);
            if (other)
                put_operator(other);
        }
        put_times("efghij", 24);
    }
}

static void optimizer_begins_steps_where_nothing_has_a_period(void **state)
{
    (void)state;
    put_epochs(3, adam, NULL);
    assert_found_operator(adam, 72);
    assert_int_equal(find().confidence_percent, 0);
}

/* The last evaluation is a loop at the end, with a period of its own. */
static void optimizer_goes_before_a_loop_at_the_end(void **state)
{
    (void)state;
    for (int epoch = 0; epoch < 3; epoch++) {
        for (int i = 0; i < 24; i++) {
            put("abcd");
            put_operator(adam);
        }
        for (int i = 0; i < 24; i++) {
            put_times("efgh", 60);
            put("ijkl");
        }
    }
    assert_found_operator(adam, 72);
}

static void an_operator_of_another_name_begins_no_steps(void **state)
{
    (void)state;
    put_epochs(3, "Optimizer.zero_grad#AdamW.zero_grad", NULL);
    assert_none();
}

static void of_two_optimizers_the_first_begins_the_steps(void **state)
{
    (void)state;
    put_epochs(3, sgd, adam);
    assert_found_operator(sgd, 72);
}

static void of_two_optimizers_the_more_frequent_begins_the_steps(void **state)
{
    (void)state;
    put_operator(adam);
    put_epochs(3, sgd, "Optimizer.zero_grad#SGD.zero_grad");
    for (int i = 0; i < 9; i++)
        put_operator(adam);
    assert_found_operator(sgd, 72);
}

static void four_turns_of_an_optimizer_are_too_few(void **state)
{
    (void)state;
    for (int i = 0; i < 4; i++) {
        put_operator(adam);
        put_chance(1000, SITES);
    }
    assert_none();
}

/* It trains, and then does something else for long: that would be no step. */
static void an_optimizer_at_the_start_begins_no_steps(void **state)
{
    (void)state;
    put_epochs(3, adam, NULL);
    put_chance(1000, SITES);
    assert_none();
}

static void an_optimizer_after_a_long_start_begins_steps(void **state)
{
    (void)state;
    put_chance(10000, SITES);
    put_epochs(3, adam, NULL);
    assert_found_operator(adam, 72);
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
        T(loop_at_the_end_of_a_long_start_is_found),
        T(beginnings_before_the_loop_are_no_steps),
        T(what_comes_from_some_turn_on_begins_no_step),
        T(a_loop_before_with_some_of_its_sites_is_another),
        T(end_with_uneven_rounds_has_no_steps),
        T(loop_of_a_few_bytes_is_no_step),
        T(helper_beside_a_large_process_has_no_steps),
        T(a_loop_within_a_step_explains_nothing_of_the_others),
        T(optimizer_begins_steps_where_nothing_has_a_period),
        T(optimizer_goes_before_a_loop_at_the_end),
        T(an_operator_of_another_name_begins_no_steps),
        T(of_two_optimizers_the_first_begins_the_steps),
        T(of_two_optimizers_the_more_frequent_begins_the_steps),
        T(four_turns_of_an_optimizer_are_too_few),
        T(an_optimizer_at_the_start_begins_no_steps),
        T(an_optimizer_after_a_long_start_begins_steps),
    };
#undef T

    return cmocka_run_group_tests(tests, NULL, NULL);
}
