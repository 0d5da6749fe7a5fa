/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Heap profiles of jemalloc. The fixture is written by hand; jeprof gives the same sums.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tally.h"
#include "temporary_folder.h"
#include "trace_reading.h"

static struct trace_reading read_fixture(void)
{
    return trace_reading_of(MT_FIXTURES "/jemalloc/small.heap", 7);
}

static void samples_stand_for_what_was_not_sampled(void **state)
{
    struct trace_reading reading = read_fixture();
    const struct ledger *host;
    struct tally *tally;

    (void)state;
    assert_int_equal(reading.result, MT_OK);
    assert_int_equal(tally_create(reading.model, &tally, NULL), MT_OK);
    assert_int_equal(tally_feed(tally, reading.events, reading.count, NULL), MT_OK);
    tally_finish(tally);
    host = tally_ledger_at(tally, 0);
    /* 2097152 / (1 - exp(-2)) + 2048 / (1 - exp(-2048 / 3 / 524288)) */
    assert_int_equal(host->live_bytes, 2425393 + 1573888);
    assert_int_equal(host->live_count, 2 + 2306);
    assert_int_equal(tally_counts_of(tally)->overwritten, 0);
    tally_destroy(tally);
    trace_reading_release(&reading);
}

static void site_is_the_first_frame_outside_of_the_allocator(void **state)
{
    struct trace_reading reading = read_fixture();

    (void)state;
    assert_string_equal(trace_reading_label(&reading, reading.events[0].site), "program+0x2010");
    assert_int_equal(model_module_count(reading.model), 2);
    assert_int_equal(model_module_at(reading.model, 0)->size_bytes, 0x3000);
    trace_reading_release(&reading);
}

struct bad_file {
    const char *text, *words;
    enum mt_result result;
};

static const struct bad_file bad_files[] = {
    {"heap_v2/0\n", "line 1: no heap_v2 profile", MT_CORRUPT},
    {"heap_v2/10\n@ 0x1\n  t*: x\n", "line 3: no counts", MT_CORRUPT},
    {"heap_v2/10\n@ 0x1\n  t*: 0: 5 [0: 0]\n", "line 3: no counts", MT_CORRUPT},
    {"heap_v2/10\n@ 0x1\n  t*: 5: 0 [0: 0]\n", "line 3: blocks without a size", MT_CORRUPT},
    {"heap_v2/10\n@ 0x1\n  t*: 99999999: 9999999999 [0: 0]\n", "16 million", MT_UNSUPPORTED},
    {"heap_v2/10\n", "without live blocks", MT_NO_DATA},
};

static void damage_is_told_with_its_line(void **state)
{
    const struct bad_file *bad = *state;
    char *folder = temporary_folder_create();
    char *path = temporary_file_write(folder, "bad.heap", bad->text, strlen(bad->text));
    struct trace_reading reading = trace_reading_of(path, 0);

    assert_int_equal(reading.result, bad->result);
    if (!strstr(reading.error.message, bad->words))
        fail_msg("%s", reading.error.message);
    trace_reading_release(&reading);
    free(path);
    temporary_folder_remove(folder);
}

#define BAD(index)                                                                                 \
    {                                                                                              \
        .name = "damage " #index, .test_func = damage_is_told_with_its_line,                       \
        .initial_state = (void *)(uintptr_t)&bad_files[index]                                      \
    }

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(samples_stand_for_what_was_not_sampled),
        cmocka_unit_test(site_is_the_first_frame_outside_of_the_allocator),
        BAD(0),
        BAD(1),
        BAD(2),
        BAD(3),
        BAD(4),
        BAD(5),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
