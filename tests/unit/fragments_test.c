/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where the memory of a pool was: small pools, counted by hand.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "event_list.h"
#include "fragments.h"

enum { KIB = 1024, MIB = 1024 * KIB };

static void add(struct event_list *list, enum event_kind kind, uint64_t address, uint64_t value)
{
    event_list_add(list, (struct event){.kind = (uint8_t)kind, .address = address, .value = value});
}

static const struct fragment_ledger *read_it(struct event_list *list, struct fragments *fragments)
{
    assert_int_equal(fragments_read(event_list_question(list), NULL, fragments, NULL), MT_OK);
    assert_int_equal(fragments->count, 1);
    return &fragments->ledgers[0];
}

/* |  a (1000)  | hole | b | hole |      a segment without a block | */
static void every_byte_reserved_is_somewhere(void **state)
{
    struct event_list list;
    struct fragments fragments;
    const struct fragment_moment *end;

    (void)state;
    event_list_init(&list);
    add(&list, EVENT_SEGMENT, 16 * MIB, 2 * MIB);
    add(&list, EVENT_RESERVED, 0, 2 * MIB);
    event_list_alloc(&list, 16 * MIB, 1000, 0);
    event_list_alloc(&list, 16 * MIB + 1 * MIB, 64 * KIB, 0);
    add(&list, EVENT_SEGMENT, 32 * MIB, 20 * MIB);
    add(&list, EVENT_RESERVED, 0, 22 * MIB);
    end = &read_it(&list, &fragments)->moments[MOMENT_END];
    assert_int_equal(end->reserved_bytes, 22 * MIB);
    assert_int_equal(end->active_bytes, 1000 + 64 * KIB);
    assert_int_equal(end->rounding_bytes, 24);
    assert_int_equal(end->hole_count, 2);
    assert_int_equal(end->largest_hole_bytes, 1 * MIB - 1024);
    assert_int_equal(end->free_segment_bytes, 20 * MIB);
    assert_int_equal(end->segment_count, 2);
    assert_int_equal(end->active_bytes + end->rounding_bytes + end->hole_bytes +
                         end->free_segment_bytes,
                     end->reserved_bytes);
    fragments_release(&fragments);
    event_list_release(&list);
}

/* Before anything is allocated a pool is at its emptiest; that counts as well. */
static void the_worst_moment_is_when_most_is_unused(void **state)
{
    struct event_list list;
    struct fragments fragments;
    const struct fragment_ledger *ledger;

    (void)state;
    event_list_init(&list);
    add(&list, EVENT_SEGMENT, 16 * MIB, 8 * MIB);
    add(&list, EVENT_RESERVED, 0, 8 * MIB);
    event_list_alloc(&list, 16 * MIB, 6 * MIB, 0);
    event_list_alloc(&list, 22 * MIB, 1 * MIB, 0);
    event_list_free(&list, 16 * MIB);
    event_list_alloc(&list, 16 * MIB, 6 * MIB, 0);
    ledger = read_it(&list, &fragments);
    assert_int_equal(ledger->moments[MOMENT_WORST].event, 2);
    assert_int_equal(ledger->moments[MOMENT_WORST].unused_bytes, 8 * MIB);
    fragments_release(&fragments);
    event_list_release(&list);
}

static void a_block_pins_its_segment(void **state)
{
    struct event_list list;
    struct fragments fragments;
    const struct fragment_moment *worst;

    (void)state;
    event_list_init(&list);
    event_list_alloc(&list, 16 * MIB, 6 * MIB, 0);
    event_list_alloc(&list, 22 * MIB, 1 * MIB, 0);
    add(&list, EVENT_SEGMENT, 16 * MIB, 8 * MIB);
    add(&list, EVENT_RESERVED, 0, 8 * MIB);
    event_list_free(&list, 16 * MIB);
    event_list_alloc(&list, 16 * MIB, 6 * MIB, 0);
    worst = &read_it(&list, &fragments)->moments[MOMENT_WORST];
    assert_int_equal(worst->event, 5);
    assert_int_equal(worst->unused_bytes, 7 * MIB);
    assert_int_equal(worst->block_count, 1);
    assert_int_equal(worst->segments[0].hole_count, 2);
    assert_int_equal(worst->segments[0].hole_bytes, 7 * MIB);
    assert_int_equal(worst->segments[0].live_bytes, 1 * MIB);
    fragments_release(&fragments);
    event_list_release(&list);
}

static void a_free_that_waits_is_told_apart(void **state)
{
    struct event_list list;
    struct fragments fragments;
    const struct fragment_moment *end;

    (void)state;
    event_list_init(&list);
    add(&list, EVENT_SEGMENT, 16 * MIB, 2 * MIB);
    add(&list, EVENT_RESERVED, 0, 2 * MIB);
    event_list_alloc(&list, 16 * MIB, 512, 0);
    add(&list, EVENT_FREE_WAITS, 16 * MIB, 0);
    event_list_free(&list, 16 * MIB);
    event_list_alloc(&list, 16 * MIB, 512, 0); /* another block there, which does not wait */
    event_list_alloc(&list, 17 * MIB, 1024, 0);
    add(&list, EVENT_FREE_WAITS, 17 * MIB, 0);
    end = &read_it(&list, &fragments)->moments[MOMENT_END];
    assert_int_equal(end->waiting_count, 1);
    assert_int_equal(end->waiting_bytes, 1024);
    fragments_release(&fragments);
    event_list_release(&list);
}

/* Pages of one mapping are one place to allocate from; segments beside each other are not. */
static void mapped_pages_go_on_in_their_neighbours(void **state)
{
    (void)state;
    for (int is_mapped = 0; is_mapped < 2; is_mapped++) {
        struct event_list list;
        struct fragments fragments;

        event_list_init(&list);
        for (uint64_t i = 0; i < 4; i++)
            event_list_add(&list, (struct event){.kind = EVENT_SEGMENT,
                                                 .address = (16 + 2 * i) * MIB,
                                                 .value = 2 * MIB,
                                                 .flags = is_mapped ? EVENT_IS_MAPPED : 0});
        add(&list, EVENT_SEGMENT_GONE, 22 * MIB, 2 * MIB);
        add(&list, EVENT_RESERVED, 0, 6 * MIB);
        event_list_alloc(&list, 16 * MIB, 512, 0);
        assert_int_equal(read_it(&list, &fragments)->moments[MOMENT_END].segment_count,
                         is_mapped ? 1 : 3);
        fragments_release(&fragments);
        event_list_release(&list);
    }
}

static void blocks_of_the_driver_stand_for_segments(void **state)
{
    struct event_list list;
    struct fragments fragments;
    const struct fragment_ledger *ledger;
    uint16_t hal;

    (void)state;
    event_list_init(&list);
    hal = model_pool(list.model, event_list_text(&list, "hal"));
    for (uint64_t i = 0; i < 2; i++)
        event_list_add(&list, (struct event){.kind = EVENT_ALLOC,
                                             .pool = hal,
                                             .address = (16 + 4 * i) * MIB,
                                             .value = 4 * MIB});
    add(&list, EVENT_RESERVED, 0, 8 * MIB);
    event_list_alloc(&list, 17 * MIB, 1 * MIB, 0);
    ledger = read_it(&list, &fragments);
    assert_true(ledger->are_segments_from_below);
    assert_int_equal(ledger->moments[MOMENT_END].segment_count, 1);
    assert_int_equal(ledger->moments[MOMENT_END].hole_bytes, 3 * MIB);
    fragments_release(&fragments);
    event_list_release(&list);
}

static void add_below(struct event_list *list, const char *pool, uint64_t address, uint64_t bytes)
{
    event_list_add(list,
                   (struct event){.kind = EVENT_ALLOC,
                                  .pool = model_pool(list->model, event_list_text(list, pool)),
                                  .address = address,
                                  .value = bytes});
}

static void expect_sum(const struct fragment_moment *moment)
{
    assert_int_equal(moment->active_bytes + moment->rounding_bytes + moment->hole_bytes +
                         moment->free_segment_bytes,
                     moment->reserved_bytes);
}

/* The runtime and the driver have one segment both; the second is empty when all is over. */
static void the_same_addresses_are_one_segment(void **state)
{
    static const char *const below[][2] = {{"acl", "hal"}, {"hal", "acl"}};
    struct event_list list;
    struct fragments fragments;
    const struct fragment_moment *end;

    (void)state;
    for (size_t order = 0; order < 2; order++) {
        event_list_init(&list);
        for (uint64_t i = 0; i < 2; i++) {
            add_below(&list, below[order][0], (16 + 20 * i) * MIB, 20 * MIB);
            add_below(&list, below[order][1], (16 + 20 * i) * MIB, 20 * MIB);
        }
        add(&list, EVENT_RESERVED, 0, 40 * MIB);
        event_list_alloc(&list, 16 * MIB, 12 * MIB, 0);
        event_list_alloc(&list, 36 * MIB, 12 * MIB, 0);
        event_list_free(&list, 36 * MIB);
        end = &read_it(&list, &fragments)->moments[MOMENT_END];
        assert_int_equal(end->segment_count, 2);
        assert_int_equal(end->hole_bytes, 8 * MIB);
        assert_int_equal(end->free_segment_bytes, 20 * MIB);
        expect_sum(end);
        fragments_release(&fragments);
        event_list_release(&list);
    }
}

/* The driver gives more than it was asked for: the runtime's blocks are the segments. */
static void the_nearest_layer_has_the_segments(void **state)
{
    struct event_list list;
    struct fragments fragments;
    const struct fragment_moment *end;

    (void)state;
    event_list_init(&list);
    add_below(&list, "hal", 16 * MIB, 64 * MIB);
    add_below(&list, "acl", 16 * MIB, 14 * MIB);
    add_below(&list, "acl", 32 * MIB, 14 * MIB);
    add(&list, EVENT_RESERVED, 0, 28 * MIB);
    event_list_alloc(&list, 16 * MIB, 12 * MIB, 0);
    event_list_alloc(&list, 32 * MIB, 12 * MIB, 0);
    end = &read_it(&list, &fragments)->moments[MOMENT_END];
    assert_int_equal(end->segment_count, 2);
    assert_int_equal(end->hole_bytes, 4 * MIB);
    expect_sum(end);
    fragments_release(&fragments);
    event_list_release(&list);
}

/* What was mapped is a segment, the addresses that were reserved for it are none, and a handle is
 * no address. */
static void mapped_memory_is_a_segment(void **state)
{
    struct event_list list;
    struct fragments fragments;
    const struct fragment_ledger *ledger;
    uint16_t mapped, reserved;

    (void)state;
    event_list_init(&list);
    mapped = model_place(list.model, (struct mt_place){.flags = MT_PLACE_MAPPING});
    reserved = model_place(list.model, (struct mt_place){.flags = MT_PLACE_VIRTUAL});
    event_list_add(
        &list, (struct event){.kind = EVENT_ALLOC,
                              .pool = model_pool(list.model, event_list_text(&list, "acl_virtual")),
                              .place = reserved,
                              .address = 1024 * (uint64_t)MIB,
                              .value = 680 * (uint64_t)MIB});
    for (uint64_t i = 0; i < 2; i++) {
        add_below(&list, "hal", 77 + i, 20 * MIB);
        add_below(&list, "acl", 77 + i, 20 * MIB);
        for (int layer = 0; layer < 2; layer++)
            event_list_add(&list, (struct event){.kind = EVENT_ALLOC,
                                                 .pool = model_pool(
                                                     list.model,
                                                     event_list_text(&list, layer ? "acl_mapping"
                                                                                  : "hal_mapping")),
                                                 .place = mapped,
                                                 .address = (1024 + 20 * i) * (uint64_t)MIB,
                                                 .value = 20 * MIB});
    }
    add(&list, EVENT_RESERVED, 0, 40 * MIB);
    event_list_alloc(&list, 1024 * (uint64_t)MIB, 24 * MIB, 0);
    ledger = read_it(&list, &fragments);
    assert_true(ledger->is_mapped);
    assert_int_equal(ledger->moments[MOMENT_END].segment_count, 1);
    assert_int_equal(ledger->moments[MOMENT_END].largest_hole_bytes, 16 * MIB);
    expect_sum(&ledger->moments[MOMENT_END]);
    fragments_release(&fragments);
    event_list_release(&list);
}

/* Its cache went back to the driver; the pool says so with its next request only, or before. */
static void what_went_back_is_not_reserved(void **state)
{
    struct event_list list;
    struct fragments fragments;
    const struct fragment_ledger *ledger;

    (void)state;
    for (int is_told_before = 0; is_told_before < 2; is_told_before++) {
        event_list_init(&list);
        for (uint64_t i = 0; i < 2; i++) {
            add_below(&list, "hal", (16 + 20 * i) * MIB, 20 * MIB);
            add_below(&list, "acl", (16 + 20 * i) * MIB, 20 * MIB);
            add(&list, EVENT_RESERVED, 0, (i + 1) * 20 * MIB);
            event_list_alloc(&list, (16 + 20 * i) * MIB, 12 * MIB, 0);
        }
        event_list_free(&list, 36 * MIB);
        if (is_told_before)
            add(&list, EVENT_RESERVED, 0, 20 * MIB);
        for (int layer = 0; layer < 2; layer++)
            event_list_add(&list, (struct event){.kind = EVENT_FREE,
                                                 .pool = model_pool(
                                                     list.model,
                                                     event_list_text(&list, layer ? "hal" : "acl")),
                                                 .address = 36 * MIB});
        ledger = read_it(&list, &fragments);
        assert_int_equal(ledger->moments[MOMENT_END].reserved_bytes, 20 * MIB);
        assert_int_equal(ledger->moments[MOMENT_END].unused_bytes, 8 * MIB);
        assert_int_equal(ledger->given_back_bytes, 20 * MIB);
        assert_int_equal(ledger->give_back_count, 1);
        expect_sum(&ledger->moments[MOMENT_END]);
        fragments_release(&fragments);
        event_list_release(&list);
    }
}

static bool count_birth(void *context, const struct life *life)
{
    size_t *count = context;

    (void)life;
    ++*count;
    return true;
}

/* Two readings where the pool tells what it reserves; one for the visitor where none does. */
static void a_visitor_sees_each_birth_once(void **state)
{
    (void)state;
    for (int has_reserved = 0; has_reserved < 2; has_reserved++) {
        size_t births = 0;
        const struct life_visitor visitor = {.context = &births, .born = count_birth};
        struct fragments fragments;
        struct event_list list;

        event_list_init(&list);
        if (has_reserved)
            add(&list, EVENT_RESERVED, 0, 2 * MIB);
        event_list_alloc(&list, 16 * MIB, 1000, 0);
        event_list_alloc(&list, 17 * MIB, 1000, 0);
        assert_int_equal(fragments_read(event_list_question(&list), &visitor, &fragments, NULL),
                         MT_OK);
        assert_int_equal(fragments.count, has_reserved);
        assert_int_equal(births, 2);
        fragments_release(&fragments);
        event_list_release(&list);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_byte_reserved_is_somewhere),
        cmocka_unit_test(the_worst_moment_is_when_most_is_unused),
        cmocka_unit_test(a_block_pins_its_segment),
        cmocka_unit_test(a_free_that_waits_is_told_apart),
        cmocka_unit_test(mapped_pages_go_on_in_their_neighbours),
        cmocka_unit_test(blocks_of_the_driver_stand_for_segments),
        cmocka_unit_test(the_same_addresses_are_one_segment),
        cmocka_unit_test(the_nearest_layer_has_the_segments),
        cmocka_unit_test(mapped_memory_is_a_segment),
        cmocka_unit_test(what_went_back_is_not_reserved),
        cmocka_unit_test(a_visitor_sees_each_birth_once),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
