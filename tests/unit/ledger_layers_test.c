/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which blocks are reserved memory of a pool above, and which are the program's own.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "event_list.h"
#include "leaktide/format.h"
#include "ledger_layers.h"

static const uint64_t mib = UINT64_C(1) << 20;

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

static void take(const char *pool, uint64_t address, uint64_t size_bytes, const char *site,
                 uint16_t place_flags)
{
    struct mt_place place = {.device = 0, .kind = MT_KIND_DEVICE, .module = -1};

    place.flags = (uint8_t)place_flags;
    event_list_add(&list,
                   (struct event){.kind = EVENT_ALLOC,
                                  .pool = model_pool(list.model, event_list_text(&list, pool)),
                                  .place = model_place(list.model, place),
                                  .site = event_list_site(&list, site),
                                  .address = address,
                                  .value = size_bytes});
}

static void give_back(const char *pool, uint64_t address)
{
    event_list_add(&list,
                   (struct event){.kind = EVENT_FREE,
                                  .pool = model_pool(list.model, event_list_text(&list, pool)),
                                  .address = address});
}

/* Of the ledger that the pool's blocks are in, by site. */
static bool is_reserved(const struct question *question, const char *pool, const char *site)
{
    const struct tally *tally = question->tally;
    uint32_t number = event_list_site(&list, site);

    for (size_t i = 1; i < tally_group_count(tally); i++) {
        const struct ledger *ledger = tally_ledger_at(tally, tally_group_at(tally, i)->ledger);

        if (tally_detail_at(tally, i)->site == number &&
            strcmp(model_pool_at(tally_model(tally), ledger->pool)->name, pool) == 0)
            return group_is_reserved(question, i);
    }
    fail_msg("%s has no block of %s", pool, site);
    return false;
}

static void segments_are_reserved_and_the_programs_own_blocks_are_not(void **state)
{
    const struct question *question;

    (void)state;
    for (uint64_t i = 0; i < 4; i++) {
        take("acl", (100 + 20 * i) * mib, 20 * mib, "segment", 0);
        take("pta", (100 + 20 * i) * mib, 3 * mib, "tensor", 0);
        take("pta", (104 + 20 * i) * mib, 3 * mib, "tensor", 0);
        take("acl", (500 + i) * mib, mib / 2, "own", 0);
    }
    question = event_list_question(&list);
    assert_true(is_reserved(question, "acl", "segment"));
    assert_false(is_reserved(question, "acl", "own"));
    assert_false(is_reserved(question, "pta", "tensor"));
    assert_true(ledger_is_reserved(tally_ledger_at(question->tally, 0)));
    assert_int_equal(ledger_outside_peak(question->tally, 0), 2 * mib);
}

/* A segment that is used again and again is one segment. */
static void a_site_of_few_segments_is_the_programs(void **state)
{
    const struct question *question;

    (void)state;
    for (uint64_t i = 0; i < 5; i++)
        take("cudart", (100 + 20 * i) * mib, 20 * mib, "mixed", 0);
    for (uint64_t i = 0; i < 50; i++) {
        take("torch", 100 * mib, 3 * mib, "tensor", 0);
        give_back("torch", 100 * mib);
    }
    question = event_list_question(&list);
    assert_false(is_reserved(question, "cudart", "mixed"));
}

/* The last of them was not used yet. */
static void a_site_most_of_whose_segments_are_used_is_the_pools(void **state)
{
    const struct question *question;

    (void)state;
    for (uint64_t i = 0; i < 5; i++)
        take("cudart", (100 + 20 * i) * mib, 20 * mib, "segment", 0);
    for (uint64_t i = 0; i < 3; i++)
        take("torch", (100 + 20 * i) * mib, 3 * mib, "tensor", 0);
    question = event_list_question(&list);
    assert_true(is_reserved(question, "cudart", "segment"));
}

/* The driver's block is the runtime's: the same address, and mostly the same size. */
static void what_a_runtime_has_of_its_driver_is_reserved(void **state)
{
    const struct question *question;

    (void)state;
    for (uint64_t i = 0; i < 4; i++) {
        take("hal", (100 + i) * mib, mib, "below", 0);
        take("acl", (100 + i) * mib, mib, "asked", 0);
        take("hal", (900 + i) * mib, mib, "hccl", 0);
    }
    question = event_list_question(&list);
    assert_true(is_reserved(question, "hal", "below"));
    assert_false(is_reserved(question, "hal", "hccl"));
    assert_false(is_reserved(question, "acl", "asked"));
}

/* Memory has no address before it is mapped; a block may lie on several pieces. */
static void memory_is_reserved_where_it_is_mapped(void **state)
{
    const struct question *question;

    (void)state;
    for (uint64_t i = 0; i < 3; i++)
        take("cuda", 7000 + i, 20 * mib, "expand", 0);
    for (uint64_t i = 0; i < 3; i++)
        take("cuda_mapping", (1000 + 20 * i) * mib, 20 * mib, "map", MT_PLACE_MAPPING);
    take("torch", 1001 * mib, 50 * mib, "tensor", 0);
    take("cuda", 9000, 2 * mib, "own", 0);
    take("cuda_mapping", 5000 * mib, 2 * mib, "own map", MT_PLACE_MAPPING);
    question = event_list_question(&list);
    assert_true(is_reserved(question, "cuda", "expand"));
    assert_false(is_reserved(question, "cuda", "own"));
}

/* A pool maps its memory piece by piece, and may not have used each of them. */
static void handles_are_reserved_where_half_of_what_is_mapped_is_used(void **state)
{
    const struct question *question;

    (void)state;
    for (uint64_t i = 0; i < 3; i++) {
        take("cuda", 7000 + i, 20 * mib, "expand", MT_PLACE_HANDLE);
        take("cuda_mapping", (1000 + 20 * i) * mib, 20 * mib, "map", MT_PLACE_MAPPING);
    }
    for (uint64_t i = 0; i < 3; i++) {
        take("cuda", 8000 + i, 10 * mib, "mixed", MT_PLACE_HANDLE);
        take("cuda_mapping", (2000 + 10 * i) * mib, 10 * mib, "map", MT_PLACE_MAPPING);
    }
    take("cuda", 9000, 2 * mib, "refused", MT_PLACE_HANDLE);
    take("torch", 1001 * mib, 30 * mib, "tensor", 0);
    take("torch", 2001 * mib, 5 * mib, "tensor", 0);
    question = event_list_question(&list);
    assert_true(is_reserved(question, "cuda", "expand"));
    assert_false(is_reserved(question, "cuda", "mixed"));
    assert_true(is_reserved(question, "cuda", "refused"));
}

/* Recordings without mappings tell of memory that nothing is seen to lie in. */
static void without_mappings_all_is_reserved(void **state)
{
    const struct question *question;

    (void)state;
    take("hal", 7000, 20 * mib, "expand", 0);
    take("pta", 1000 * mib, 3 * mib, "tensor", 0);
    question = event_list_question(&list);
    assert_true(is_reserved(question, "hal", "expand"));
}

/* The pool lies in memory that the driver maps, and the program asks its runtime as well. */
static void of_two_ledgers_below_one_may_be_the_programs(void **state)
{
    const struct question *question;

    (void)state;
    take("cuda", 7000, 20 * mib, "expand", 0);
    take("cuda_mapping", 1000 * mib, 20 * mib, "map", MT_PLACE_MAPPING);
    take("torch", 1001 * mib, 5 * mib, "tensor", 0);
    take("cudart", 100 * mib, mib, "own", 0);
    question = event_list_question(&list);
    assert_true(is_reserved(question, "cuda", "expand"));
    assert_false(is_reserved(question, "cudart", "own"));
}

static void take_of_host(const char *pool, uint64_t address, const char *site)
{
    const struct mt_place place = {.device = -1, .kind = MT_KIND_HOST, .module = -1};

    event_list_add(&list,
                   (struct event){.kind = EVENT_ALLOC,
                                  .pool = model_pool(list.model, event_list_text(&list, pool)),
                                  .place = model_place(list.model, place),
                                  .site = event_list_site(&list, site),
                                  .address = address,
                                  .value = mib});
}

/* A tensor begins where malloc's block does. One that processes share begins where its mapping
 * does, or after its header. */
static void host_memory_that_a_framework_has_is_reserved(void **state)
{
    const struct question *question;

    (void)state;
    take_of_host("host", 100 * mib + 16, "malloc");
    take_of_host("torch_cpu", 100 * mib + 16, "tensor");
    take_of_host("shared_memory", 200 * mib, "batch");
    take_of_host("torch_cpu", 200 * mib, "tensor");
    take_of_host("shared_memory", 300 * mib, "batch of another strategy");
    take_of_host("torch_cpu", 300 * mib + 64, "tensor");
    take_of_host("shared_memory", 400 * mib, "queue");
    take_of_host("host", 500 * mib, "list");
    take_of_host("torch_cpu", 500 * mib + 64, "tensor");
    take_of_host("mmap", 600 * mib, "stack");
    question = event_list_question(&list);
    assert_true(is_reserved(question, "host", "malloc"));
    assert_true(is_reserved(question, "shared_memory", "batch"));
    assert_true(is_reserved(question, "shared_memory", "batch of another strategy"));
    assert_false(is_reserved(question, "shared_memory", "queue"));
    assert_false(is_reserved(question, "host", "list"));
    assert_false(is_reserved(question, "mmap", "stack"));
}

static void host_memory_that_no_framework_is_seen_in_is_the_programs(void **state)
{
    const struct question *question;

    (void)state;
    take_of_host("host", 100 * mib, "list");
    take_of_host("torch_cpu", 300 * mib, "tensor");
    question = event_list_question(&list);
    assert_false(is_reserved(question, "host", "list"));
    assert_false(ledger_is_reserved(tally_ledger_at(question->tally, 0)));
}

static void without_a_pool_above_nothing_is(void **state)
{
    const struct question *question;

    (void)state;
    take("acl", 100 * mib, mib, "own", 0);
    question = event_list_question(&list);
    assert_false(is_reserved(question, "acl", "own"));
    assert_false(ledger_is_reserved(tally_ledger_at(question->tally, 0)));
    assert_int_equal(ledger_outside_peak(question->tally, 0), mib);
}

#define LAYERS_TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        LAYERS_TEST(segments_are_reserved_and_the_programs_own_blocks_are_not),
        LAYERS_TEST(a_site_most_of_whose_segments_are_used_is_the_pools),
        LAYERS_TEST(handles_are_reserved_where_half_of_what_is_mapped_is_used),
        LAYERS_TEST(a_site_of_few_segments_is_the_programs),
        LAYERS_TEST(what_a_runtime_has_of_its_driver_is_reserved),
        LAYERS_TEST(memory_is_reserved_where_it_is_mapped),
        LAYERS_TEST(without_mappings_all_is_reserved),
        LAYERS_TEST(of_two_ledgers_below_one_may_be_the_programs),
        LAYERS_TEST(host_memory_that_a_framework_has_is_reserved),
        LAYERS_TEST(host_memory_that_no_framework_is_seen_in_is_the_programs),
        LAYERS_TEST(without_a_pool_above_nothing_is),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
