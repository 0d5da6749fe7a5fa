/* SPDX-License-Identifier: Apache-2.0 */
/* Stacks and their ids: one id never stands for two stacks, whatever the hash says. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "stack_set.h"

enum { ID_MAX = 1 << 18, DEPTH_MAX = 40, ROUND = 50 };

struct fixture {
    struct stack_set set;
    void *memory;
    uint64_t pcs[DEPTH_MAX];
    struct unwind_stack stack;
    /* The truth: what each id was given for. */
    uint64_t (*known)[DEPTH_MAX];
    uint8_t *known_count;
    uint32_t last_new;
};

static void set_up(struct fixture *fixture, size_t size_bytes)
{
    memset(fixture, 0, sizeof(*fixture));
    fixture->memory = calloc(1, size_bytes);
    fixture->known = calloc(ID_MAX, sizeof(*fixture->known));
    fixture->known_count = calloc(ID_MAX, 1);
    assert_true(fixture->memory && fixture->known && fixture->known_count);
    stack_set_init(&fixture->set, fixture->memory, size_bytes);
    fixture->stack.pcs = fixture->pcs;
}

static void tear_down(struct fixture *fixture)
{
    free(fixture->memory);
    free(fixture->known);
    free(fixture->known_count);
}

/* Finds the id of fixture->pcs and holds it against the truth. */
static struct stack_name find(struct fixture *fixture)
{
    struct unwind_stack *stack = &fixture->stack;
    struct stack_name name;

    stack_set_find(&fixture->set, stack, &name);
    if (name.id == 0)
        return name;
    assert_in_range(name.id, 1, ID_MAX - 1);
    if (name.is_new) {
        assert_int_equal(fixture->known_count[name.id], 0);
        assert_true(name.shared_count <= stack->count);
        assert_memory_equal(fixture->known[fixture->last_new], stack->pcs,
                            name.shared_count * sizeof(*stack->pcs));
        memcpy(fixture->known[name.id], stack->pcs, stack->count * sizeof(*stack->pcs));
        fixture->known_count[name.id] = (uint8_t)stack->count;
        fixture->last_new = name.id;
    }
    assert_int_equal(fixture->known_count[name.id], stack->count);
    assert_memory_equal(fixture->known[name.id], stack->pcs, stack->count * sizeof(*stack->pcs));
    return name;
}

static uint32_t id_of(struct fixture *fixture)
{
    struct stack_name name;

    stack_set_find(&fixture->set, &fixture->stack, &name);
    return name.id;
}

/* hash_bits: how good the hash is. */
static void change(struct fixture *fixture, uint32_t seed, uint32_t keeps, int hash_bits)
{
    struct unwind_stack *stack = &fixture->stack;

    stack->number++;
    stack->reused_count = keeps < stack->count ? keeps : stack->count;
    stack->count = stack->reused_count + 1 + seed / 7 % 6;
    if (stack->count > DEPTH_MAX) {
        stack->count = 1;
        stack->reused_count = 0;
    }
    stack->hash = 0;
    for (uint32_t i = stack->reused_count; i < stack->count; i++)
        fixture->pcs[i] = 0x7f0000001000u + (seed >> i % 8) % 5 * 16;
    for (uint32_t i = 0; i < stack->count; i++)
        stack->hash = unwind_hash(stack->hash, fixture->pcs[i]);
    stack->hash = unwind_hash_end(stack->hash) & ((UINT64_C(1) << hash_bits) - 1);
}

static void the_same_stack_has_the_same_id(void **state)
{
    struct fixture fixture;
    struct stack_name first, again;

    (void)state;
    set_up(&fixture, STACK_SET_MIN_BYTES);
    change(&fixture, 12345, 0, 32);
    first = find(&fixture);
    assert_true(first.is_new);
    fixture.stack.number++;
    fixture.stack.reused_count = fixture.stack.count;
    again = find(&fixture);
    assert_false(again.is_new);
    assert_int_equal(again.id, first.id);
    fixture.stack.number += 5; /* captures that were not looked up lie between */
    assert_int_equal(find(&fixture).id, first.id);
    fixture.stack.reused_count = --fixture.stack.count;
    fixture.stack.number++;
    assert_int_not_equal(find(&fixture).id, first.id);
    tear_down(&fixture);
}

static void walk_randomly(struct fixture *fixture, int steps, int hash_bits)
{
    uint32_t seed = 1;

    for (int i = 0; i < steps; i++) {
        seed = seed * 1664525u + 1013904223u;
        change(fixture, seed >> 8, (seed >> 4) % 16, hash_bits);
        if (seed >> 29 == 0)
            fixture->stack.number++; /* one was not looked up, and reused_count says nothing */
        if (find(fixture).id == 0)
            break;
    }
}

static void an_id_stands_for_one_stack(void **state)
{
    struct fixture fixture;

    (void)state;
    set_up(&fixture, 32 << 20);
    walk_randomly(&fixture, 200000, 32);
    assert_int_equal(fixture.set.unnamed_count, 0);
    assert_int_equal(fixture.set.restart_count, 0);
    assert_true(fixture.set.stack_count > 50000);
    tear_down(&fixture);
}

static void a_hash_that_says_nothing_changes_nothing(void **state)
{
    struct fixture fixture;

    (void)state;
    set_up(&fixture, 8 << 20);
    walk_randomly(&fixture, 3000, 0);
    assert_int_equal(fixture.set.unnamed_count, 0);
    tear_down(&fixture);
}

static void a_full_set_begins_anew_and_never_reuses_an_id(void **state)
{
    struct fixture fixture;

    (void)state;
    set_up(&fixture, STACK_SET_MIN_BYTES);
    walk_randomly(&fixture, 100000, 32);
    assert_int_equal(fixture.set.unnamed_count, 0);
    assert_true(fixture.set.restart_count > 20);
    tear_down(&fixture);
}

/* The same stacks one after the other, as a loop of a program has them. */
static uint32_t walk_round(struct fixture *fixture, int steps)
{
    uint32_t seed = 1, new_count = 0;

    for (int i = 0; i < steps; i++) {
        seed = seed * 1664525u + 1013904223u;
        change(fixture, seed >> 8, i == 0 ? 0 : (seed >> 4) % 16, 32);
        new_count += find(fixture).is_new;
    }
    return new_count;
}

static void what_follows_is_known_without_its_slot(void **state)
{
    struct fixture fixture;
    struct stack_set *set = &fixture.set;

    (void)state;
    set_up(&fixture, 8 << 20);
    assert_int_equal(walk_round(&fixture, ROUND), ROUND); /* all differ */
    assert_int_equal(walk_round(&fixture, ROUND), 0);
    memset(set->tags, 0, set->slot_count * sizeof(*set->tags));
    assert_int_equal(walk_round(&fixture, ROUND), 0);
    tear_down(&fixture);
}

/* Every other stack of the round keeps its id in a word of its own. */
static uint32_t walk_named_round(struct fixture *fixture, uint32_t *names)
{
    uint32_t seed = 1, new_count = 0;

    for (int i = 0; i < ROUND; i++) {
        seed = seed * 1664525u + 1013904223u;
        change(fixture, seed >> 8, i == 0 ? 0 : (seed >> 4) % 16, 32);
        fixture->stack.name = i % 2 ? &names[i] : NULL;
        new_count += find(fixture).is_new;
    }
    fixture->stack.name = NULL;
    return new_count;
}

static void a_stack_that_keeps_its_id_is_not_looked_up(void **state)
{
    uint32_t names[ROUND] = {0}, wrong[ROUND];
    struct fixture fixture;

    (void)state;
    set_up(&fixture, 8 << 20);
    assert_int_equal(walk_named_round(&fixture, names), ROUND);
    memcpy(wrong, names, sizeof(wrong));
    for (int i = 0; i < ROUND; i++)
        assert_int_equal(names[i] != 0, i % 2);
    assert_int_equal(walk_named_round(&fixture, names), 0);
    stack_set_restart(&fixture.set); /* what was kept is not used any more */
    assert_int_equal(walk_named_round(&fixture, names), ROUND);
    assert_int_equal(walk_named_round(&fixture, names), 0);
    for (int i = 1; i < ROUND; i += 2)
        assert_int_not_equal(names[i], wrong[i]);
    stack_set_check(&fixture.set);
    tear_down(&fixture);
}

static void when_ids_are_spent_there_are_none(void **state)
{
    struct fixture fixture;

    (void)state;
    set_up(&fixture, STACK_SET_MIN_BYTES);
    fixture.set.first_id = UINT32_MAX - 1;
    change(&fixture, 1, 0, 32);
    assert_int_equal(id_of(&fixture), UINT32_MAX - 1);
    change(&fixture, 99, 0, 32);
    assert_int_equal(id_of(&fixture), 0);
    assert_int_equal(fixture.set.unnamed_count, 1);
    tear_down(&fixture);
}

static void an_empty_stack_has_no_id(void **state)
{
    struct fixture fixture;

    (void)state;
    set_up(&fixture, STACK_SET_MIN_BYTES);
    assert_int_equal(id_of(&fixture), 0);
    assert_int_equal(fixture.set.unnamed_count, 0);
    tear_down(&fixture);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_same_stack_has_the_same_id),
        cmocka_unit_test(an_id_stands_for_one_stack),
        cmocka_unit_test(a_hash_that_says_nothing_changes_nothing),
        cmocka_unit_test(a_full_set_begins_anew_and_never_reuses_an_id),
        cmocka_unit_test(what_follows_is_known_without_its_slot),
        cmocka_unit_test(a_stack_that_keeps_its_id_is_not_looked_up),
        cmocka_unit_test(when_ids_are_spent_there_are_none),
        cmocka_unit_test(an_empty_stack_has_no_id),
    };

    return cmocka_run_group_tests_name("stack set", tests, NULL, NULL);
}
