/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What memory is for, where only lives tell it: of a framework's pool, and of the driver's.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "account_analyses.h"
#include "event_list.h"
#include "language.h"
#include "sentence.h"

#define MIB (UINT64_C(1) << 20)

enum { STEPS = 6 };

static struct event_list list;
static struct report *report;
static uint16_t place; /* where all is taken; 0: as the event says */

static int setup(void **state)
{
    (void)state;
    event_list_init(&list);
    return report_create("breakdown", &report, NULL);
}

static int teardown(void **state)
{
    (void)state;
    report_destroy(report);
    event_list_release(&list);
    return 0;
}

static void take(const char *pool, struct event event, const char *site)
{
    event.kind = EVENT_ALLOC;
    event.pool = model_pool(list.model, event_list_text(&list, pool));
    if (place)
        event.place = place;
    event.site = event_list_site(&list, site);
    event_list_add(&list, event);
}

static void drop(const char *pool, uint64_t address)
{
    event_list_add(&list,
                   (struct event){.kind = EVENT_FREE,
                                  .pool = model_pool(list.model, event_list_text(&list, pool)),
                                  .address = address});
}

static void optimizer(enum event_kind kind)
{
    event_list_add(
        &list,
        (struct event){.kind = kind, .text = event_list_text(&list, "optimizer"), .address = 7});
}

/* One life of each kind: made before all steps, in the first, for the next step, within a step. */
static void train_with(const char *pool, bool has_optimizer)
{
    take(pool, (struct event){.address = 1 * MIB, .value = 40 * MIB}, "load");
    for (uint64_t step = 1; step <= STEPS; step++) {
        event_list_step(&list, EVENT_STEP_BEGIN, step);
        if (has_optimizer)
            optimizer(EVENT_RANGE_BEGIN);
        if (step == 1)
            take(pool, (struct event){.address = 100 * MIB, .value = 8 * MIB}, "moments");
        if (has_optimizer)
            optimizer(EVENT_RANGE_END);
        if (step > 1)
            drop(pool, (200 + step - 1) * MIB);
        take(pool, (struct event){.address = (200 + step) * MIB, .value = 1 * MIB}, "backward");
        take(pool, (struct event){.address = 300 * MIB, .value = 2 * MIB}, "scratch");
        drop(pool, 300 * MIB);
        event_list_step(&list, EVENT_STEP_END, step);
    }
}

static void train(const char *pool)
{
    train_with(pool, true);
}

static void ask(void)
{
    const struct analysis analyses[] = {{.write = analyse_categories}, {NULL, NULL}};

    analyses_run(analyses, NULL, event_list_question(&list), report);
}

static void expect_rows(const char *const *names, size_t count)
{
    assert_int_equal(report_table_at(report, 0).row_count, count);
    for (size_t i = 0; i < count; i++)
        assert_string_equal(report_row_at(report, 0, i)[0].text, names[i]);
}

static void lives_in_a_framework_pool_are_guessed_to_be_tensors(void **state)
{
    static const char *const names[] = {"weights", "optimizer state", "gradients", "temporary"};

    (void)state;
    train("pta");
    ask();
    expect_rows(names, 4);
    assert_string_equal(report_verdict_at(report, 0),
                        "At its peak, 40.0 MiB of the 51.0 MiB of pta device 0: probably weights "
                        "(75 % sure, by how long blocks live).");
}

/* As a service does, whose first turn makes what the others use. */
static void without_an_optimizer_nothing_is_its_state(void **state)
{
    static const char *const names[] = {"weights", "gradients", "temporary", "kept from steps"};

    (void)state;
    train_with("pta", false);
    ask();
    expect_rows(names, 4);
}

static void take_owned(const char *owner, struct event event)
{
    uint32_t text = event_list_text(&list, owner);

    event_list_add(&list, (struct event){.kind = EVENT_TAG_BEGIN, .text = text});
    take("torch", event, "owned");
    event_list_add(&list, (struct event){.kind = EVENT_TAG_END, .text = text});
}

/* Owners of tensors are told by identity: nothing else is one of them. */
static void a_role_that_owners_tell_is_not_guessed_of_others(void **state)
{
    static const char *const names[] = {"weights",        "optimizer state", "gradients",
                                        "temporary",      "kept from steps", "for several steps",
                                        "held throughout"};

    (void)state;
    take_owned("model@weight", (struct event){.address = 400 * MIB, .value = 2 * MIB});
    take_owned("model@gradient", (struct event){.address = 500 * MIB, .value = 2 * MIB});
    take_owned("model@optimizer_state", (struct event){.address = 600 * MIB, .value = 2 * MIB});
    train("torch");
    ask();
    expect_rows(names, 7);
    for (size_t i = 0; i < 3; i++)
        assert_int_equal(report_row_at(report, 0, i)[1].number, 2 * MIB);
}

static void functions_say_what_they_make(void **state)
{
    static const char *const names[] = {"kv cache", "workspace"};

    (void)state;
    take("torch", (struct event){.address = 1 * MIB, .value = 32 * MIB},
         "at::cuda::getCUDABlasLtWorkspace");
    take("torch", (struct event){.address = 100 * MIB, .value = 16 * MIB},
         "CacheEngine._allocate_kv_cache");
    ask();
    expect_rows(names, 2);
}

/* A state of an allocator is older than its recording, and has stacks all the same. */
static void functions_tell_of_what_is_older_than_the_recording_too(void **state)
{
    static const char *const names[] = {"weights", "activations", "kv cache",
                                        "older than the recording"};
    static const char *const makers[] = {"LinearBase.create_weights", "Model.forward",
                                         "CacheEngine._allocate_kv_cache", "helper"};

    (void)state;
    for (uint64_t i = 0; i < 4; i++)
        take("torch",
             (struct event){
                 .address = (1 + 100 * i) * MIB, .value = 16 * MIB, .flags = EVENT_IS_OLDER},
             makers[i]);
    ask();
    expect_rows(names, 4);
}

/* One number of a pool: weights, caches and all else that was there. */
static void what_stands_for_a_total_has_no_kind(void **state)
{
    struct event older = {
        .kind = EVENT_ALLOC, .flags = EVENT_IS_OLDER, .address = 900 * MIB, .value = 100 * MIB};

    (void)state;
    older.pool = model_pool(list.model, event_list_text(&list, "torch"));
    event_list_add(&list, older);
    train("torch");
    ask();
    assert_string_equal(report_verdict_at(report, 0),
                        "At its peak, 100 MiB of the 151 MiB of torch device 0: older than the "
                        "recording.");
}

/* What is pinned for batches is no tensor of a model. */
static void lives_in_memory_that_a_runtime_pins_are_not(void **state)
{
    static const char *const names[] = {"temporary", "kept from steps", "for several steps",
                                        "held throughout"};
    const struct mt_place host = {.device = -1, .kind = MT_KIND_HOST, .module = -1};

    (void)state;
    place = model_place(list.model, host);
    train("cudart_host");
    place = 0;
    ask();
    expect_rows(names, 4);
}

/* A row of a profile: an operator around one block. */
static void make(const char *name, uint64_t address, uint64_t size_bytes)
{
    event_list_operator(&list, EVENT_OPERATOR_BEGIN, name);
    take("pta", (struct event){.address = address * MIB, .value = size_bytes}, "row");
    event_list_operator(&list, EVENT_OPERATOR_END, name);
}

static void free_at(uint64_t address)
{
    drop("pta", address * MIB);
}

static void expect_verdict(const char *sentence)
{
    ask();
    assert_string_equal(report_verdict_at(report, 0), sentence);
}

/* One iteration without marks, as profiles have it. Most of a way back has no name of its own. */
static void what_a_backward_pass_frees_are_activations(void **state)
{
    (void)state;
    make("aten::matmul", 1, 20 * MIB);
    make("npu::npu_swiglu", 100, 20 * MIB);
    make("aten::mul", 200, 1 * MIB);
    free_at(200);
    make("npu::npu_swiglu_backward", 300, 2 * MIB);
    make("aten::mm", 400, 2 * MIB);
    free_at(100);
    free_at(300);
    make("aten::add", 500, 1 * MIB);
    free_at(1);
    expect_verdict("At its peak, 40.0 MiB of the 44.0 MiB of pta device 0: probably activations "
                   "(90 % sure, by what the backward pass frees).");
}

/* An operator most of whose blocks the backward pass leaves made no activations. */
static void what_a_backward_pass_frees_little_of_nobody_knows(void **state)
{
    (void)state;
    for (unsigned i = 0; i < 3; i++)
        make("aten::matmul", 1 + 20 * i, 20 * MIB);
    make("npu::npu_swiglu_backward", 300, 2 * MIB);
    make("aten::mm", 400, 2 * MIB);
    free_at(1);
    make("aten::add", 500, 1 * MIB);
    ask();
    assert_int_equal(report_verdict_count(report), 0);
}

/* Its clean twin: the same lives, and nothing went back. */
static void without_a_backward_pass_nobody_knows(void **state)
{
    (void)state;
    make("aten::matmul", 1, 20 * MIB);
    make("npu::npu_swiglu", 100, 20 * MIB);
    make("aten::mm", 400, 2 * MIB);
    free_at(100);
    free_at(1);
    ask();
    assert_int_equal(report_verdict_count(report), 0);
}

static void what_a_backward_pass_makes_for_itself_is_none(void **state)
{
    (void)state;
    make("npu::npu_swiglu", 1, 2 * MIB);
    make("npu::npu_swiglu_backward", 100, 1 * MIB);
    make("aten::mm", 200, 40 * MIB);
    make("npu::npu_swiglu_backward", 300, 1 * MIB);
    free_at(200);
    free_at(1);
    ask();
    expect_rows((const char *const[]){"gradients", "activations", "unknown"}, 3);
    assert_int_equal(report_row_at(report, 0, 2)[1].number, 40 * MIB);
}

/* A pipeline: the second goes forward after the first has gone back. */
static void micro_batches_have_a_backward_pass_each(void **state)
{
    (void)state;
    for (uint64_t i = 0; i < 3; i++) {
        make("npu::npu_swiglu", 100 + i, 20 * MIB);
        make("aten::mm", 200 + i, (5 * i + 1) * MIB);
        make("npu::npu_swiglu_backward", 300 + i, 1 * MIB);
        free_at(300 + i);
        free_at(200 + i);
        free_at(100 + i);
    }
    expect_verdict("At its peak, 31.0 MiB of the 32.0 MiB of pta device 0: probably activations "
                   "(90 % sure, by what the backward pass frees).");
}

static void what_is_called_forward_ends_a_backward_pass_too(void **state)
{
    (void)state;
    for (uint64_t i = 0; i < 2; i++) {
        make("linear_forward", 100 + i, 1 * MIB);
        make("aten::mm", 200 + i, (5 * i + 20) * MIB);
        make("linear_backward", 300 + i, 1 * MIB);
        free_at(300 + i);
        free_at(200 + i);
    }
    expect_verdict("At its peak, 27.0 MiB of the 28.0 MiB of pta device 0: probably activations "
                   "(88 % sure, by what the backward pass frees).");
}

/* Where modules of the model are known, that one begins is a way forward. */
static void a_module_that_begins_ends_a_backward_pass(void **state)
{
    uint32_t module = event_list_text(&list, "layers.0");

    (void)state;
    for (uint64_t i = 0; i < 2; i++) {
        event_list_add(&list, (struct event){.kind = EVENT_NN_MODULE_BEGIN, .text = module});
        make("aten::mm", 200 + i, (5 * i + 20) * MIB);
        event_list_add(&list, (struct event){.kind = EVENT_NN_MODULE_END, .text = module});
        make("linear_backward", 300 + i, 1 * MIB);
        free_at(300 + i);
        free_at(200 + i);
    }
    expect_verdict("At its peak, 25.0 MiB of the 26.0 MiB of pta device 0: probably activations "
                   "(90 % sure, by what the backward pass frees).");
}

static void expect_gradients_and_unknown(uint64_t unknown_bytes)
{
    ask();
    expect_rows((const char *const[]){"gradients", "unknown"}, 2);
    assert_int_equal(report_row_at(report, 0, 1)[1].number, unknown_bytes);
}

static void an_optimizer_ends_the_backward_pass(void **state)
{
    (void)state;
    make("aten::matmul", 1, 20 * MIB);
    make("npu::npu_swiglu_backward", 300, 1 * MIB);
    make("aten::_fused_adamw_", 400, 1 * MIB);
    free_at(1);
    expect_gradients_and_unknown(21 * MIB);
}

static void what_an_iteration_leaves_to_the_next_did_not_wait(void **state)
{
    (void)state;
    make("aten::matmul", 1, 20 * MIB);
    make("aten::_fused_adamw_", 400, 1 * MIB);
    make("npu::npu_swiglu_backward", 300, 1 * MIB);
    free_at(1);
    expect_gradients_and_unknown(21 * MIB);
}

static void what_is_made_after_the_peak_tells_nothing_of_it(void **state)
{
    (void)state;
    make("aten::matmul", 1, 20 * MIB);
    make("npu::npu_swiglu_backward", 300, 50 * MIB);
    free_at(300);
    make("npu::npu_swiglu", 500, 1 * MIB);
    make("aten::matmul", 2, 15 * MIB);
    make("npu::npu_swiglu_backward", 600, 1 * MIB);
    free_at(2);
    expect_gradients_and_unknown(20 * MIB);
}

/* The driver hands out what a runtime or a pool cuts up: the lives are those of its segments. */
static void lives_in_the_pool_of_the_driver_are_not(void **state)
{
    static const char *const names[] = {"temporary", "kept from steps", "for several steps",
                                        "held throughout"};

    (void)state;
    train("hal");
    ask();
    expect_rows(names, 4);
    assert_string_equal(report_verdict_at(report, 0),
                        "At its peak, 40.0 MiB of the 51.0 MiB of hal device 0: held throughout "
                        "(90 % sure, by how long blocks live).");
}

/* What a pool has cut up is that pool's, whatever its segments live like; what it has not is not.
 */
static void segments_are_reserved(void **state)
{
    static const char *const names[] = {"unknown", "reserved by a pool", "unknown"};

    (void)state;
    take("hal", (struct event){.address = 100 * MIB, .value = 64 * MIB}, "segment");
    take("pta", (struct event){.address = 110 * MIB, .value = 48 * MIB}, "tensor");
    take("hal", (struct event){.address = 500 * MIB, .value = 2 * MIB}, "own");
    ask();
    expect_rows(names, 3);
}

/* What a program imports is held throughout as well, and its small objects are no tensors. */
static void lives_in_the_heap_of_a_program_are_not(void **state)
{
    static const char *const names[] = {"temporary", "kept from steps", "for several steps",
                                        "held throughout"};

    (void)state;
    train("host");
    ask();
    expect_rows(names, 4);
}

static void an_owner_says_it_of_any_pool(void **state)
{
    (void)state;
    event_list_add(&list, (struct event){.kind = EVENT_TAG_BEGIN,
                                         .text = event_list_text(&list, "model@weight")});
    take("hal", (struct event){.address = 1 * MIB, .value = 40 * MIB}, "load");
    ask();
    assert_string_equal(report_verdict_at(report, 0),
                        "At its peak, 40.0 MiB of the 40.0 MiB of hal device 0: weights.");
}

static void take_for(const char *owner, uint64_t address, uint64_t size_bytes)
{
    uint32_t text = event_list_text(&list, owner);

    event_list_add(&list, (struct event){.kind = EVENT_TAG_BEGIN, .text = text});
    take("hal", (struct event){.address = address, .value = size_bytes}, "load");
    event_list_add(&list, (struct event){.kind = EVENT_TAG_END, .text = text});
}

/* One alone reads as if nothing else were as large. */
static void parts_that_have_half_of_the_largest_are_named_beside_it(void **state)
{
    (void)state;
    take_for("model@weight", 1 * MIB, 20 * MIB);
    take_for("optimizer@state", 100 * MIB, 40 * MIB);
    take_for("model@grad", 200 * MIB, 19 * MIB);
    ask();
    assert_string_equal(report_verdict_at(report, 0),
                        "At its peak, 40.0 MiB of the 79.0 MiB of hal device 0: optimizer state; "
                        "20.0 MiB: weights.");
}

static void parts_have_their_names_in_the_language_that_is_asked_for(void **state)
{
    const char *said;

    (void)state;
    take_for("optimizer@state", 100 * MIB, 40 * MIB);
    assert_true(language_choose("zh"));
    ask();
    said = report_verdict_at(report, 0);
    assert_non_null(strstr(said, translated("optimizer state")));
    assert_null(strstr(said, "optimizer state"));
    assert_true(language_choose("en"));
}

static void the_module_of_the_driver_says_it(void **state)
{
    const struct mt_place hccl = {.device = 0, .kind = MT_KIND_DEVICE, .module = 3};

    (void)state;
    take("hal",
         (struct event){
             .address = 1 * MIB, .value = 40 * MIB, .place = model_place(list.model, hccl)},
         "connect");
    ask();
    assert_string_equal(report_verdict_at(report, 0),
                        "At its peak, 40.0 MiB of the 40.0 MiB of hal device 0: communication.");
}

#define CATEGORY_TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        CATEGORY_TEST(lives_in_a_framework_pool_are_guessed_to_be_tensors),
        CATEGORY_TEST(without_an_optimizer_nothing_is_its_state),
        CATEGORY_TEST(a_role_that_owners_tell_is_not_guessed_of_others),
        CATEGORY_TEST(functions_say_what_they_make),
        CATEGORY_TEST(functions_tell_of_what_is_older_than_the_recording_too),
        CATEGORY_TEST(what_stands_for_a_total_has_no_kind),
        CATEGORY_TEST(lives_in_memory_that_a_runtime_pins_are_not),
        CATEGORY_TEST(lives_in_the_pool_of_the_driver_are_not),
        CATEGORY_TEST(segments_are_reserved),
        CATEGORY_TEST(what_a_backward_pass_frees_are_activations),
        CATEGORY_TEST(what_a_backward_pass_frees_little_of_nobody_knows),
        CATEGORY_TEST(without_a_backward_pass_nobody_knows),
        CATEGORY_TEST(what_a_backward_pass_makes_for_itself_is_none),
        CATEGORY_TEST(micro_batches_have_a_backward_pass_each),
        CATEGORY_TEST(an_optimizer_ends_the_backward_pass),
        CATEGORY_TEST(what_is_called_forward_ends_a_backward_pass_too),
        CATEGORY_TEST(a_module_that_begins_ends_a_backward_pass),
        CATEGORY_TEST(what_an_iteration_leaves_to_the_next_did_not_wait),
        CATEGORY_TEST(what_is_made_after_the_peak_tells_nothing_of_it),
        CATEGORY_TEST(lives_in_the_heap_of_a_program_are_not),
        CATEGORY_TEST(an_owner_says_it_of_any_pool),
        CATEGORY_TEST(parts_that_have_half_of_the_largest_are_named_beside_it),
        CATEGORY_TEST(parts_have_their_names_in_the_language_that_is_asked_for),
        CATEGORY_TEST(the_module_of_the_driver_says_it),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
