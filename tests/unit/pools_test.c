/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What is known of pools, and what is said of those that are not.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "event_list.h"
#include "ledger_layers.h"
#include "measures.h"
#include "pools.h"

static struct event_list list;

static int setup(void **state)
{
    (void)state;
    event_list_init(&list);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    event_list_release(&list);
    return 0;
}

static void every_row_is_found_by_its_name_and_lies_in_no_circle(void **state)
{
    (void)state;
    for (size_t i = POOL_OTHER + 1; i < POOL_COUNT; i++) {
        const struct pool *row = pool_by_id((enum pool_id)i);
        size_t depth = 0;

        assert_string_equal(pool_by_name(row->name)->name, row->name);
        assert_true(pool_by_name(row->name) <= row);
        assert_true(*row->title && *row->release);
        for (const struct pool *at = row; at->lies_in != at->id; at = pool_by_id(at->lies_in))
            assert_true(++depth < POOL_COUNT);
        assert_false(pool_lies_in(row, row));
    }
}

static void a_name_may_end_in_a_number(void **state)
{
    const struct pool *plan = pool_by_name("static graph 12");

    (void)state;
    assert_int_equal(plan->id, POOL_STATIC_GRAPH);
    assert_string_equal(pool_rest(plan, "static graph 12"), "12");
    assert_int_equal(pool_by_name("static")->id, POOL_OTHER);
    assert_string_equal(pool_rest(pool_by_name("hal"), "hal"), "");
}

static void pools_lie_in_those_below_them(void **state)
{
    static const struct {
        const char *inner, *outer;
        bool lies_in;
    } rows[] = {
        {"pta", "acl", true},        {"pta", "hal", true},
        {"acl", "hal", true},        {"hal", "acl", false},
        {"pta", "cuda", false},      {"torch", "cudart", true},
        {"torch", "cuda", true},     {"cudart", "cuda", true},
        {"cuda", "cudart", false},   {"torch", "acl", false},
        {"torch_cpu", "host", true}, {"torch_cpu", "cuda", false},
        {"opencl", "cuda", false},   {"hip", "cuda", true},
        {"hip", "hal", true},        {"torch_cpu", "shared_memory", true},
        {"torch_cpu", "acl", false}, {"shared_memory", "host", false},
        {"hip", "pta", false},       {"hip", "host", false},
        {"cuda", "hip", false},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
        assert_int_equal(pool_lies_in(pool_by_name(rows[i].inner), pool_by_name(rows[i].outer)),
                         rows[i].lies_in);
}

static void pools_of_two_vendors_may_have_one_place(void **state)
{
    static const struct {
        const char *a, *b;
        bool is_peer;
    } rows[] = {
        {"torch", "pta", true},          {"torch", "mindspore", true},
        {"cudart", "acl", true},         {"cuda", "hal", true},
        {"cuda_host", "hal_host", true}, {"pta", "mindspore", false},
        {"pta", "pta", false},           {"acl", "cuda", false},
        {"torch", "acl", false},         {"torch_cpu", "pta", false},
        {"hip", "pta", false},           {"hip", "tpu", false},
        {"acl_virtual", "cuda", false},  {"opencl", "acl", false},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        const struct pool *a = pool_by_name(rows[i].a), *b = pool_by_name(rows[i].b);

        assert_int_equal(pool_is_peer(a, b), rows[i].is_peer);
        assert_int_equal(pool_is_peer(b, a), rows[i].is_peer);
    }
}

static void a_pool_without_a_row_gets_neutral_advice(void **state)
{
    (void)state;
    assert_non_null(strstr(pool_by_name("hip")->release, "matches its allocation"));
    assert_non_null(strstr(pool_by_name("cudart")->release, "call %s "));
    assert_string_equal(pool_by_name("cudart")->release_call, "cudaFree");
    assert_null(strstr(pool_by_name("mindspore")->release, ".detach()"));
}

static void a_budget_names_the_device_of_a_pool(void **state)
{
    static const struct {
        const char *pool;
        int32_t device;
        const char *key;
    } rows[] = {
        {"hal", 3, "npu:3"},        {"acl_host", -1, "npu"}, {"static graph 0", 1, "npu:1"},
        {"cudart", 0, "gpu:0"},     {"torch", 1, "gpu:1"},   {"opencl", 0, "opencl:0"},
        {"torch_cpu", -1, "host"},  {"host", -1, "host"},    {"mmap", -1, "host"},
        {"hip", 2, "hip:2"},        {"hip", -1, "host"},     {"cuda_of_mine", 0, "cuda_of_mine:0"},
        {"host_pinned", -1, "host"}};
    struct arena arena;

    (void)state;
    arena_init(&arena);
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct ledger ledger = {
            .pool = model_pool(list.model, event_list_text(&list, rows[i].pool)),
            .device = rows[i].device,
        };

        assert_string_equal(device_name(&arena, list.model, &ledger), rows[i].key);
    }
    arena_release(&arena);
}

static void counters_of_a_device_name_its_family(void **state)
{
    (void)state;
    assert_int_equal(device_family_of_used("npu used"), FAMILY_NPU);
    assert_int_equal(device_family_of_used("gpu used"), FAMILY_GPU);
    assert_int_equal(device_family_of_used("npu free"), FAMILY_NONE);
    assert_int_equal(device_family_of_used("host used"), FAMILY_NONE);
}

static void take(const char *pool, uint64_t address)
{
    event_list_add(&list,
                   (struct event){.kind = EVENT_ALLOC,
                                  .pool = model_pool(list.model, event_list_text(&list, pool)),
                                  .address = address,
                                  .value = 4096});
}

/* Pools from the top: torch, which lies in cudart, which lies in cuda, which lies in none. */
static void only_the_lowest_recorded_layer_is_counted(void **state)
{
    const struct question *question;

    (void)state;
    take("torch", 0x1000);
    take("cudart", 0x1000);
    take("cuda", 0x1000);
    take("hip", 0x1000);
    question = event_list_question(&list);
    for (size_t i = 0; i < tally_ledger_count(question->tally); i++) {
        const struct ledger *ledger = tally_ledger_at(question->tally, i);
        const struct pool *pool = model_pool_at(question->model, ledger->pool);

        assert_int_equal(!ledger_below(question->tally, ledger), pool->id == POOL_CUDA);
        assert_int_equal(ledger_is_of_device(question->tally, ledger), pool->id == POOL_CUDA);
        assert_int_equal(ledger_is_reserved(ledger),
                         pool->id == POOL_CUDA || pool->id == POOL_CUDART);
    }
}

#define POOLS_TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        POOLS_TEST(every_row_is_found_by_its_name_and_lies_in_no_circle),
        POOLS_TEST(a_name_may_end_in_a_number),
        POOLS_TEST(pools_lie_in_those_below_them),
        POOLS_TEST(pools_of_two_vendors_may_have_one_place),
        POOLS_TEST(a_pool_without_a_row_gets_neutral_advice),
        POOLS_TEST(a_budget_names_the_device_of_a_pool),
        POOLS_TEST(counters_of_a_device_name_its_family),
        POOLS_TEST(only_the_lowest_recorded_layer_is_counted),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
