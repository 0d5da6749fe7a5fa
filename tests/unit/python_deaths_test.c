/* SPDX-License-Identifier: Apache-2.0 */
/* Code objects that die: seen, and no longer seen when somebody else takes their place. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "python_deaths.h"

enum { SLOT = 2 };

typedef void destroy_function(void *code);

static destroy_function *type[SLOT + 1]; /* a type of objects, with its slot */
static char objects[3][64];              /* some two of them have generations of their own */
static char *const code = objects[0];
static char *other = objects[1];
static uint32_t destroyed_count;

/* Frees another one on its way, as a code with a constant that is a code does. */
static void destroy(void *dead)
{
    uint32_t generation = 0, before = python_generation(dead);

    destroyed_count++;
    assert_true(python_is_dying(dead, &generation));
    assert_int_equal(generation, before - 1);
    if (dead == code) {
        assert_false(python_is_dying(other, &generation));
        type[SLOT](other);
        assert_true(python_is_dying(code, &generation));
        assert_int_equal(generation, before - 1);
    }
}

static void destroy_unseen(void *dead)
{
    (void)dead;
}

static void watch(void)
{
    if (python_generation_slot(code) == python_generation_slot(other))
        other = objects[2];
    type[SLOT] = destroy;
    python_deaths_watch((const char *)type, SLOT * sizeof(type[0]));
}

static void a_death_moves_the_generation_on(void **state)
{
    uint32_t before = python_generation(code), unused;
    uint64_t count = python_death_count;

    (void)state;
    watch();
    assert_true(python_deaths_are_seen());
    type[SLOT](code);
    assert_int_equal(destroyed_count, 2);
    assert_int_equal(python_generation(code), before + 2); /* when it begins to die, and after */
    assert_int_equal(python_death_count, count + 4);
    assert_false(python_is_dying(code, &unused));
    assert_true(python_deaths_are_seen());
}

static void what_was_lost_once_is_not_trusted_again(void **state)
{
    destroy_function *ours;

    (void)state;
    watch();
    ours = type[SLOT];
    type[SLOT] = destroy_unseen;
    assert_false(python_deaths_are_seen());
    type[SLOT] = ours;
    assert_false(python_deaths_are_seen());
}

static void an_unknown_slot_is_left_alone(void **state)
{
    (void)state;
    type[0] = type[SLOT] = destroy;
    python_deaths_watch((const char *)type, 0);
    assert_ptr_equal(type[0], destroy);
    assert_false(python_deaths_are_seen());
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_unknown_slot_is_left_alone),
        cmocka_unit_test(a_death_moves_the_generation_on),
        cmocka_unit_test(what_was_lost_once_is_not_trusted_again),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
