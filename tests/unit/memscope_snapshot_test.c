/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rows of snapshots: at a request that fails, and where the program asks for one.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "event_list.h"
#include "memscope_events.h"

static struct event_list list;
static char rows[4][400];
static size_t row_count;
static const uint64_t mib = UINT64_C(1) << 20;

static int setup(void **state)
{
    (void)state;
    event_list_init(&list);
    model_process(list.model, &(struct model_process){.process_id = 7});
    model_thread(list.model, (struct model_thread){.thread_id = 7});
    row_count = 0;
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    event_list_release(&list);
    return 0;
}

static enum mt_result keep(void *context, const struct memscope_row *row, struct mt_error *error)
{
    char *to = rows[row_count];

    (void)context;
    (void)error;
    if (strcmp(row->event, "SNAPSHOT") != 0)
        return MT_OK;
    assert_true(row_count++ < 4);
    to += sprintf(to, "%s %s %d", row->type, row->name, (int)row->device);
    for (size_t i = 0; i < row->attribute_count; i++) {
        const struct memscope_attribute *attribute = &row->attributes[i];

        if (attribute->kind == MEMSCOPE_TEXT)
            to += sprintf(to, ",%s:%s", attribute->key, attribute->text);
        else
            to += sprintf(to, ",%s:%llu", attribute->key, (unsigned long long)attribute->number);
    }
    return MT_OK;
}

static void read_rows(void)
{
    const struct memscope_sink sink = {.row = keep};
    const struct export_request request = {.question = event_list_question(&list),
                                           .model = list.model};

    assert_int_equal(memscope_rows_read(&request, &sink, NULL), MT_OK);
}

static void load(const char *path)
{
    const struct model_module module = {.process = list.process,
                                        .base = 4096,
                                        .size_bytes = 4096,
                                        .unloaded_ns = UINT64_MAX,
                                        .path = event_list_text(&list, path)};

    model_module(list.model, &module);
}

static void add(enum event_kind kind, const char *pool, uint64_t address, uint64_t value)
{
    event_list_add(&list,
                   (struct event){.kind = (uint8_t)kind,
                                  .pool = model_pool(list.model, event_list_text(&list, pool)),
                                  .place = list.device,
                                  .address = address,
                                  .value = value});
}

static void sample(const char *counter, uint64_t bytes)
{
    event_list_add(&list, (struct event){.kind = EVENT_SAMPLE,
                                         .place = list.device,
                                         .text = event_list_text(&list, counter),
                                         .value = bytes});
}

/* 40 MiB reserved, 10 of them in use, after more were; the driver refuses 64. */
static void fill(void)
{
    sample("npu free", 600 * mib);
    sample("npu used", 400 * mib);
    add(EVENT_ALLOC, "hal", 100 * mib, 40 * mib);
    add(EVENT_ALLOC, "pta", 100 * mib, 10 * mib);
    add(EVENT_RESERVED, "pta", 0, 40 * mib);
    add(EVENT_ALLOC, "pta", 110 * mib, 20 * mib);
    add(EVENT_FREE, "pta", 110 * mib, 20 * mib);
    add(EVENT_ALLOC_FAILED, "hal", 6, 64 * mib);
}

static void a_request_that_fails_has_one_of_what_torch_npu_held(void **state)
{
    (void)state;
    load("/site-packages/torch_npu/lib/libtorch_npu.so");
    fill();
    read_rows();
    assert_int_equal(row_count, 1);
    assert_string_equal(rows[0], "SNAPSHOT OOM_Snapshot 0,reserved:41943040,max_reserved:41943040,"
                                 "allocated:10485760,max_allocated:31457280,total:1048576000,"
                                 "free:629145600,device_rate:40.000000,reserved_rate:25.000000");
}

/* Its cache is given back before the second try, and the pool tells nothing of it. */
static void what_was_given_back_is_not_reserved(void **state)
{
    (void)state;
    load("/site-packages/torch_npu/lib/libtorch_npu.so");
    add(EVENT_ALLOC, "hal", 500 * mib, 24 * mib);
    fill();
    add(EVENT_FREE, "hal", 500 * mib, 24 * mib);
    add(EVENT_ALLOC_FAILED, "hal", 6, 64 * mib);
    add(EVENT_ALLOC_FAILED, "pta", 0, 64 * mib); /* of the pool itself: not of the driver */
    read_rows();
    assert_int_equal(row_count, 2);
    assert_non_null(strstr(rows[1], "reserved:16777216,max_reserved:41943040,"));
    assert_non_null(strstr(rows[1], "reserved_rate:62.500000"));
}

static void take_snapshot(const char *name, const char *domain)
{
    event_list_add(&list, (struct event){.kind = EVENT_MARK,
                                         .text = event_list_text(&list, name),
                                         .detail = event_list_text(&list, domain)});
}

static void one_that_the_program_asks_for_has_its_name(void **state)
{
    (void)state;
    load("/site-packages/torch_npu/lib/libtorch_npu.so");
    add(EVENT_ALLOC, "pta", 100 * mib, 10 * mib);
    add(EVENT_RESERVED, "pta", 0, 40 * mib);
    take_snapshot("after warm-up", "leaktide");
    take_snapshot("of the program", "");
    read_rows();
    assert_int_equal(row_count, 1);
    assert_string_equal(rows[0], "SNAPSHOT after warm-up 0,reserved:41943040,max_reserved:41943040,"
                                 "allocated:10485760,max_allocated:10485760,"
                                 "reserved_rate:25.000000");
}

/* The tool asks torch_npu: a program of another language has no such rows there either. */
static void without_torch_npu_there_are_none(void **state)
{
    (void)state;
    load("/usr/lib/libhccl.so");
    fill();
    take_snapshot("after warm-up", "leaktide");
    read_rows();
    assert_int_equal(row_count, 0);
}

#define SNAPSHOT_TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        SNAPSHOT_TEST(a_request_that_fails_has_one_of_what_torch_npu_held),
        SNAPSHOT_TEST(what_was_given_back_is_not_reserved),
        SNAPSHOT_TEST(one_that_the_program_asks_for_has_its_name),
        SNAPSHOT_TEST(without_torch_npu_there_are_none),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
