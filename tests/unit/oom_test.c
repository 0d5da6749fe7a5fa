/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What is said of a request that failed: small devices, counted by hand.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "event_list.h"
#include "pool_analyses.h"

enum { PAGE = 20 /* MiB */ };

static const uint64_t MIB = 1 << 20;

static struct event_list list;
static struct report *report;
static uint16_t mapped, reserved;
static uint64_t handles;

static int setup(void **state)
{
    (void)state;
    event_list_init(&list);
    mapped = model_place(list.model,
                         (struct mt_place){.kind = MT_KIND_DEVICE, .flags = MT_PLACE_MAPPING});
    reserved = model_place(list.model,
                           (struct mt_place){.kind = MT_KIND_DEVICE, .flags = MT_PLACE_VIRTUAL});
    handles = 0;
    return report_create("leaktide oom", &report, NULL) == MT_OK ? 0 : -1;
}

static int teardown(void **state)
{
    (void)state;
    report_destroy(report);
    event_list_release(&list);
    return 0;
}

/* --- an allocator with expandable segments -------------------------------------------------- */

static void add(enum event_kind kind, const char *pool, uint16_t place, uint64_t address,
                uint64_t bytes, uint32_t site)
{
    event_list_add(&list,
                   (struct event){.kind = (uint8_t)kind,
                                  .pool = model_pool(list.model, event_list_text(&list, pool)),
                                  .place = place,
                                  .address = address,
                                  .value = bytes,
                                  .site = site});
}

/* In both layers. */
static void in_layers(enum event_kind kind, uint64_t address, uint64_t bytes, const char *who)
{
    uint32_t site = event_list_site(&list, who);

    add(kind, "hal", 0, address, bytes, site);
    add(kind, "acl", 0, address, bytes, site);
}

static void map_pages(uint64_t address, uint64_t count, const char *who)
{
    for (uint64_t i = 0; i < count; i++)
        in_layers(EVENT_ALLOC, ++handles, PAGE * MIB, who);
    for (uint64_t i = 0; i < count; i++)
        add(EVENT_ALLOC, "acl_mapping", mapped, address + i * PAGE * MIB, PAGE * MIB, 0);
}

/* So many parts are there, then the device is full, and they go back. */
static void fail_in_parts(uint64_t count, const char *who)
{
    uint64_t first = handles + 1;

    for (uint64_t i = 0; i < count; i++)
        in_layers(EVENT_ALLOC, ++handles, PAGE * MIB, who);
    in_layers(EVENT_ALLOC_FAILED, 0, PAGE * MIB, who);
    for (; first <= handles; first++)
        in_layers(EVENT_FREE, first, 0, who);
}

/* 24 MiB of "weights" in 40 that are mapped of 680 that are reserved; then "attention". */
static void play_expandable(void)
{
    add(EVENT_ALLOC, "acl_virtual", reserved, 1024 * MIB, 680 * MIB,
        event_list_site(&list, "weights"));
    map_pages(1024 * MIB, 2, "weights");
    add(EVENT_RESERVED, "pta", 0, 0, 40 * MIB, 0);
    event_list_alloc(&list, 1024 * MIB, 24 * MIB, event_list_site(&list, "weights"));
    event_list_operator(&list, EVENT_OPERATOR_BEGIN, "aten::empty");
    add(EVENT_ALLOC, "acl_virtual", reserved, 4096 * MIB, 680 * MIB,
        event_list_site(&list, "attention"));
    for (int tries = 0; tries < 2; tries++)
        fail_in_parts(28, "attention");
}

static void expect(const char *words)
{
    for (size_t i = 0; i < report_verdict_count(report); i++)
        if (strstr(report_verdict_at(report, i), words))
            return;
    for (size_t i = 0; i < report_verdict_count(report); i++)
        print_message("%s\n", report_verdict_at(report, i));
    fail_msg("nobody says: %s", words);
}

/* Rows of the table. */
static size_t rows_of(const char *name)
{
    for (size_t i = 0; i < report_table_count(report); i++)
        if (strcmp(report_table_at(report, i).name, name) == 0)
            return report_table_at(report, i).row_count;
    fail_msg("no table %s", name);
    return 0;
}

/* --- tests ---------------------------------------------------------------------------------- */

/* Nobody tells how large it was: what it got, and what was refused, it asked for at least. */
static void parts_that_come_back_are_one_request(void **state)
{
    (void)state;
    play_expandable();
    analyse_oom(event_list_question(&list), report);
    expect("acl device 0 (the driver) refused at least 580 MiB to attention");
    expect("when it had handed out 40.0 MiB.");
    expect("held only 16.0 MiB unused, and the device itself had about 560 MiB left");
    assert_int_equal(rows_of("held_at_failure"), 1);
}

static void the_pool_above_says_how_much_was_asked_for(void **state)
{
    (void)state;
    play_expandable();
    add(EVENT_ALLOC_FAILED, "pta", 0, 0, 602 * MIB, event_list_site(&list, "attention"));
    analyse_oom(event_list_question(&list), report);
    expect("pta device 0 refused 602 MiB to attention");
    expect("when it had handed out 24.0 MiB of the 40.0 MiB that it held");
    expect("26.0 MiB more than the pools had unused and the device had left were needed; weights "
           "held the most, 24.0 MiB");
    assert_int_equal(rows_of("held_at_failure"), 1);
}

static void a_large_request_is_compared_with_what_pools_held(void **state)
{
    (void)state;
    play_expandable();
    add(EVENT_ALLOC_FAILED, "pta", 0, 0, 902 * MIB, event_list_site(&list, "attention"));
    analyse_oom(event_list_question(&list), report);
    expect(
        "902 MiB were asked for at once, 22 times the most that a pool of this device ever held");
}

/* Without addresses to map it at, each is a request of its own: a program that kept all that it got
 * held it, even if it frees all before it ends. */
static void blocks_of_a_program_are_no_parts(void **state)
{
    (void)state;
    fail_in_parts(28, "fill");
    analyse_oom(event_list_question(&list), report);
    expect("refused 20.0 MiB to fill");
    expect("when it had handed out 560 MiB");
    assert_int_equal(rows_of("held_at_failure"), 1);
}

static void what_stays_is_no_part(void **state)
{
    (void)state;
    add(EVENT_ALLOC, "acl_virtual", reserved, 1024 * MIB, 680 * MIB, 0);
    for (uint64_t i = 1; i <= 28; i++)
        in_layers(EVENT_ALLOC, i, PAGE * MIB, "fill");
    in_layers(EVENT_ALLOC_FAILED, 0, PAGE * MIB, "fill");
    analyse_oom(event_list_question(&list), report);
    expect("refused 20.0 MiB to fill");
    expect("when it had handed out 560 MiB");
}

/* torch_npu tells of the segment that it wanted; the block is smaller. */
static void what_is_granted_when_asked_again_is_known_by_its_segment(void **state)
{
    static const struct {
        uint64_t block_bytes;
        bool is_granted;
    } cases[] = {{(900 << 20) + 512, true}, {450 << 20, false}};

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        if (i) {
            teardown(state);
            assert_int_equal(setup(state), 0);
        }
        play_expandable();
        add(EVENT_ALLOC_FAILED, "pta", 0, 0, 902 * MIB, event_list_site(&list, "attention"));
        event_list_alloc(&list, 8192 * MIB, cases[i].block_bytes, event_list_site(&list, "again"));
        analyse_oom(event_list_question(&list), report);
        expect(cases[i].is_granted ? "REFUSED, AND GRANTED WHEN ASKED AGAIN: pta device 0"
                                   : "OUT OF MEMORY: pta device 0");
    }
}

/* Each step keeps 10 MiB; every other one touches a new segment, in a function that keeps nothing.
 */
static void play_leak_until_full(void)
{
    uint32_t keep = event_list_site(&list, "remember");

    for (uint64_t i = 1; i <= 6; i++) {
        event_list_step(&list, EVENT_STEP_BEGIN, i);
        if (i % 2) {
            in_layers(EVENT_ALLOC, 1024 * MIB + (i - 1) * 10 * MIB, PAGE * MIB, "softmax");
            add(EVENT_RESERVED, "pta", 0, 0, (i + 1) / 2 * PAGE * MIB, 0);
        }
        event_list_alloc(&list, 1024 * MIB + (i - 1) * 10 * MIB, 10 * MIB, keep);
        event_list_step(&list, EVENT_STEP_END, i);
    }
    event_list_step(&list, EVENT_STEP_BEGIN, 7);
    in_layers(EVENT_ALLOC_FAILED, 0, PAGE * MIB, "softmax");
    event_list_step(&list, EVENT_STEP_END, 7);
}

static void who_grew_is_who_keeps_blocks_of_the_pool(void **state)
{
    (void)state;
    play_leak_until_full();
    analyse_oom(event_list_question(&list), report);
    expect("GREW: since the end of step 2 remember by 40.0 MiB.");
    expect("WHY: remember grew by 40.0 MiB since the end of step 2");
    assert_int_equal(rows_of("held_at_failure"), 1);
    assert_int_equal(rows_of("grown_at_failure"), 1);
}

/* A little of torch in a runtime that the program itself asks for much more. */
static void a_small_pool_does_not_hide_who_asks_below_it(void **state)
{
    (void)state;
    in_layers(EVENT_ALLOC, 1024 * MIB, 10 * MIB, "torch");
    in_layers(EVENT_ALLOC, 2048 * MIB, 500 * MIB, "engine");
    event_list_alloc(&list, 1024 * MIB, 8 * MIB, event_list_site(&list, "tensor"));
    in_layers(EVENT_ALLOC_FAILED, 0, 100 * MIB, "engine");
    add(EVENT_RESERVED, "pta", 0, 0, 10 * MIB, 0);
    analyse_oom(event_list_question(&list), report);
    expect("refused 100 MiB to engine");
    expect("engine held the most, 500 MiB");
}

/* --- of the host ---------------------------------------------------------------------------- */

/* The process of the list: how it ended, and when, which is the time of its last event. */
static struct model_process *process_ends(uint64_t end_ns, uint8_t exit_status)
{
    struct model_process *process = model_process_at(list.model, list.process);

    process->is_end_known = true;
    process->exit_status = exit_status;
    event_list_add(&list, (struct event){.kind = EVENT_MARK, .time_ns = end_ns});
    return process;
}

static void add_host(enum event_kind kind, const char *pool, uint64_t time_ns, uint64_t address,
                     uint64_t bytes, const char *who)
{
    struct mt_place place = {.device = -1, .kind = MT_KIND_HOST, .module = -1};

    event_list_add(&list,
                   (struct event){.kind = (uint8_t)kind,
                                  .pool = model_pool(list.model, event_list_text(&list, pool)),
                                  .place = model_place(list.model, place),
                                  .time_ns = time_ns,
                                  .address = address,
                                  .value = bytes,
                                  .site = event_list_site(&list, who)});
}

enum { SECOND_NS = 1000000000 };

/* Blocks of a mebibyte each, one in a millisecond, from there on. */
static void keep_on_host(uint64_t from_ns, uint64_t count, const char *who)
{
    for (uint64_t i = 0; i < count; i++)
        add_host(EVENT_ALLOC, "host", from_ns + i * 1000000, (from_ns + i + 1) * 16, MIB, who);
}

static void refuse_on_host(const char *pool, uint64_t time_ns, uint64_t bytes, const char *who)
{
    add_host(EVENT_ALLOC_FAILED, pool, time_ns, 12, bytes, who);
}

/* What the process held, who, and who grew since half of it was there. */
static void a_process_that_dies_of_a_refusal_is_out_of_memory(void **state)
{
    (void)state;
    keep_on_host(1, 40, "start");
    keep_on_host(SECOND_NS, 60, "keep");
    add_host(EVENT_ALLOC, "python", 2 * (uint64_t)SECOND_NS, 8, 2 * MIB, "object");
    refuse_on_host("host", 2 * (uint64_t)SECOND_NS + 1, MIB, "keep");
    process_ends(9 * (uint64_t)SECOND_NS, 1)->limits.address_bytes = 128 * MIB;
    analyse_oom(event_list_question(&list), report);
    expect(
        "OUT OF MEMORY: host refused 1.00 MiB to keep, 2.000 s after the start, when it had handed "
        "out 102 MiB. The address space of the process was limited to 128 MiB");
    expect("GREW: since half of the blocks were made (1.010 s after the start) keep by 50.0 MiB.");
    assert_int_equal(rows_of("held_at_failure"), 3);
}

/* What is taken for the death of a process: each case but one thing is that of a death. */
static void only_what_ended_the_process_is_its_death(void **state)
{
    static const struct {
        uint8_t exit_status;
        uint64_t births_after, end_s;
        uint64_t machine_bytes;
        const char *words;
    } cases[] = {
        {1, 0, 9, 0, "OUT OF MEMORY: host refused 64.0 MiB to keep"},
        {1, 5, 9, 0, "OUT OF MEMORY: "},
        {1, 50, 2, 0, "OUT OF MEMORY: "},
        {0, 0, 9, 0, "REFUSED, AND THE PROGRAM WENT ON: host refused 64.0 MiB to keep"},
        {1, 50, 9, 0, "REFUSED, AND THE PROGRAM WENT ON: "},
        {1, 0, 9, UINT64_C(1) << 30, "OUT OF MEMORY: "},
        {1, 0, 9, UINT64_C(1) << 25, "REFUSED, MORE THAN THERE IS: host refused 64.0 MiB to keep"},
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        teardown(state);
        assert_int_equal(setup(state), 0);
        keep_on_host(1, 100, "keep");
        refuse_on_host("host", SECOND_NS + 1, 64 * MIB, "keep");
        keep_on_host(SECOND_NS + 2, cases[i].births_after, "after");
        process_ends(cases[i].end_s * SECOND_NS, cases[i].exit_status)->limits.machine_bytes =
            cases[i].machine_bytes;
        analyse_oom(event_list_question(&list), report);
        expect(cases[i].words);
    }
}

/* Programs catch it, say so, and end with 0. */
static void what_a_device_refuses_is_told_however_the_program_ended(void **state)
{
    (void)state;
    in_layers(EVENT_ALLOC, 1024 * MIB, 500 * MIB, "weights");
    in_layers(EVENT_ALLOC_FAILED, 0, 100 * MIB, "forward");
    process_ends(9 * (uint64_t)SECOND_NS, 0);
    analyse_oom(event_list_question(&list), report);
    expect("OUT OF MEMORY: ");
    expect("refused 100 MiB to forward");
}

/* An allocator that is refused an arena asks malloc; a program that is refused a block gives up,
 * and what it then asks for to say so is refused as well. */
static void the_refusal_that_ended_it_is_the_first_of_a_heap_in_the_last_second(void **state)
{
    (void)state;
    keep_on_host(1, 10, "keep");
    refuse_on_host("host", SECOND_NS, 7 * MIB, "once");
    refuse_on_host("mmap", 3 * (uint64_t)SECOND_NS, 256 << 10, "arena");
    refuse_on_host("host", 3 * (uint64_t)SECOND_NS + 5, 3 * MIB, "keep");
    refuse_on_host("host", 3 * (uint64_t)SECOND_NS + 9, 100, "traceback");
    process_ends(4 * (uint64_t)SECOND_NS, 1);
    analyse_oom(event_list_question(&list), report);
    expect("OUT OF MEMORY: host refused 3.00 MiB to keep");
}

/* Of a heap, the same size alone is anybody's; the same line has asked again. */
static void a_heap_grants_the_request_to_who_was_refused(void **state)
{
    static const struct {
        const char *who, *words;
    } cases[] = {
        {"traceback", "OUT OF MEMORY: host refused 3.00 MiB to keep"},
        {"keep", "REFUSED, AND GRANTED WHEN ASKED AGAIN: host refused 3.00 MiB to keep"},
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        teardown(state);
        assert_int_equal(setup(state), 0);
        keep_on_host(1, 10, "keep");
        refuse_on_host("host", SECOND_NS, 3 * MIB, "keep");
        add_host(EVENT_ALLOC, "host", SECOND_NS + 1, 1 << 20, 3 * MIB, cases[i].who);
        process_ends(SECOND_NS + 2, 1);
        analyse_oom(event_list_question(&list), report);
        expect(cases[i].words);
    }
}

static void a_mapping_that_was_refused_alone_is_told(void **state)
{
    (void)state;
    keep_on_host(1, 10, "keep");
    refuse_on_host("mmap", 3 * (uint64_t)SECOND_NS, MIB, "map");
    process_ends(4 * (uint64_t)SECOND_NS, 1);
    analyse_oom(event_list_question(&list), report);
    expect("OUT OF MEMORY: mmap refused 1.00 MiB to map");
}

/* PyTorch is refused what it asks malloc for: its own request, and its pool, are what is told. */
static void the_framework_above_is_named(void **state)
{
    (void)state;
    keep_on_host(1, 10, "keep");
    add_host(EVENT_ALLOC, "torch_cpu", SECOND_NS, 1 << 30, MIB, "tensor");
    refuse_on_host("host", SECOND_NS + 1, 4 * MIB, "alloc_cpu");
    refuse_on_host("torch_cpu", SECOND_NS + 2, 4 * MIB, "matmul");
    process_ends(2 * (uint64_t)SECOND_NS, 1);
    analyse_oom(event_list_question(&list), report);
    expect("OUT OF MEMORY: torch_cpu refused 4.00 MiB to matmul");
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(parts_that_come_back_are_one_request),
        TEST(the_pool_above_says_how_much_was_asked_for),
        TEST(a_large_request_is_compared_with_what_pools_held),
        TEST(blocks_of_a_program_are_no_parts),
        TEST(what_is_granted_when_asked_again_is_known_by_its_segment),
        TEST(what_stays_is_no_part),
        TEST(who_grew_is_who_keeps_blocks_of_the_pool),
        TEST(a_small_pool_does_not_hide_who_asks_below_it),
        TEST(a_process_that_dies_of_a_refusal_is_out_of_memory),
        TEST(only_what_ended_the_process_is_its_death),
        TEST(what_a_device_refuses_is_told_however_the_program_ended),
        TEST(the_refusal_that_ended_it_is_the_first_of_a_heap_in_the_last_second),
        TEST(a_heap_grants_the_request_to_who_was_refused),
        TEST(a_mapping_that_was_refused_alone_is_told),
        TEST(the_framework_above_is_named),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
