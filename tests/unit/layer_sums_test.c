/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What modules of a model hold: added up by the beginnings of their paths, and over their numbers.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "event_list.h"
#include "layer_sums.h"

enum { STEPS = 8 };

static struct event_list list;
static uint64_t next_address;

static int setup(void **state)
{
    (void)state;
    event_list_init(&list);
    next_address = 4096;
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    event_list_release(&list);
    return 0;
}

static void module_event(enum event_kind kind, const char *path)
{
    event_list_add(&list,
                   (struct event){.kind = (uint8_t)kind, .text = event_list_text(&list, path)});
}

/* Its address. */
static uint64_t take(const char *path, uint64_t size_bytes)
{
    uint64_t address = next_address;

    if (*path)
        module_event(EVENT_NN_MODULE_BEGIN, path);
    event_list_alloc(&list, address, size_bytes, event_list_site(&list, "work"));
    if (*path)
        module_event(EVENT_NN_MODULE_END, path);
    next_address += size_bytes;
    return address;
}

static void expect(const struct model_layers *layers, const char *path, uint64_t bytes,
                   uint64_t count)
{
    for (size_t i = 0; i < layers->rows.count; i++) {
        const struct model_layer *layer = model_layer_at(layers, i);

        if (strcmp(layer->path, path) != 0)
            continue;
        assert_int_equal(layer->held_bytes, bytes);
        assert_int_equal(layer->count, count);
        return;
    }
    fail_msg("no layer %s", path);
}

static void paths_are_added_up_by_their_beginnings_and_over_their_numbers(void **state)
{
    struct model_layers gathered, cut, joined;

    (void)state;
    take("Net.blocks.0.mlp.up", 5);
    take("Net.blocks.0.mlp", 1);
    take("Net.blocks.0.v2", 7); /* the number is no name */
    take("Net.blocks.1.mlp.up", 50);
    take("Net.Block_12", 100);
    take("Net.Block_3", 200);
    take("", 3);
    model_layers_gather(&gathered, event_list_question(&list));
    model_layers_cut(&cut, &gathered, 4);
    assert_int_equal(cut.rows.count, 6);
    expect(&cut, "Net.blocks.0.mlp", 6, 1);
    expect(&cut, "Net.blocks.1.mlp", 50, 1);
    expect(&cut, "", 3, 1);
    model_layers_join(&joined, &cut);
    assert_int_equal(joined.rows.count, 4);
    expect(&joined, "Net.blocks.*.mlp", 56, 2);
    expect(&joined, "Net.blocks.*.v2", 7, 1);
    expect(&joined, "Net.Block_*", 300, 2);
    model_layers_release(&joined);
    model_layers_release(&cut);
    model_layers_release(&gathered);
}

static void it_is_as_deep_as_fits(void **state)
{
    struct model_layers gathered;

    (void)state;
    take("Net.blocks.0.up", 1);
    take("Net.blocks.0.down", 1);
    take("Net.blocks.1.up", 1);
    take("Net.blocks.1.down.in", 1);
    model_layers_gather(&gathered, event_list_question(&list));
    assert_int_equal(model_layers_depth(&gathered, 1), 3); /* blocks.* */
    assert_true(model_layers_depth(&gathered, 2) == 4);    /* up and down */
    assert_int_equal(model_layers_depth(&gathered, 3), 5); /* and what is in one of them */
    assert_int_equal(model_layers_depth(&gathered, 0), 5);
    model_layers_release(&gathered);
}

/* From when the first judged step ended. */
static void what_grows_is_known_of_each(void **state)
{
    struct model_layers gathered;

    (void)state;
    take("Net.words", 1000);
    for (uint64_t step = 1; step <= STEPS; step++) {
        uint64_t address;

        event_list_step(&list, EVENT_STEP_BEGIN, step);
        address = take("Net.words", 500);
        take("Net.head", 10);
        event_list_free(&list, address);
        event_list_step(&list, EVENT_STEP_END, step);
    }
    model_layers_gather(&gathered, event_list_question(&list));
    for (size_t i = 0; i < gathered.rows.count; i++) {
        const struct model_layer *layer = model_layer_at(&gathered, i);
        bool is_head = strcmp(layer->path, "Net.head") == 0;

        assert_in_range(layer->grown_bytes, is_head ? 10 : 0, is_head ? 10 * (STEPS - 1) : 0);
        assert_int_equal(layer->grown_bytes % 10, 0);
        assert_int_equal(layer->alive_bytes, is_head ? 10 * STEPS : 1000);
    }
    model_layers_release(&gathered);
}

/* A segment is no layer's: what the pool above hands out of it is. */
static void segments_are_of_no_layer(void **state)
{
    struct model_layers gathered;

    (void)state;
    module_event(EVENT_NN_MODULE_BEGIN, "Net");
    event_list_add(&list,
                   (struct event){.kind = EVENT_ALLOC,
                                  .pool = model_pool(list.model, event_list_text(&list, "acl")),
                                  .address = next_address,
                                  .value = 4096});
    event_list_alloc(&list, next_address, 4096, 0);
    module_event(EVENT_NN_MODULE_END, "Net");
    model_layers_gather(&gathered, event_list_question(&list));
    assert_int_equal(gathered.rows.count, 1);
    expect(&gathered, "Net", 4096, 1);
    model_layers_release(&gathered);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(
            paths_are_added_up_by_their_beginnings_and_over_their_numbers, setup, teardown),
        cmocka_unit_test_setup_teardown(it_is_as_deep_as_fits, setup, teardown),
        cmocka_unit_test_setup_teardown(what_grows_is_known_of_each, setup, teardown),
        cmocka_unit_test_setup_teardown(segments_are_of_no_layer, setup, teardown),
    };

    return cmocka_run_group_tests_name("layers of models", tests, NULL, NULL);
}
