/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Recordings of msleaks and msmemscope: every generation of csv, the database, the folder of a run.
 *
 * The fixtures are written by fixtures/memscope/make.py.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "reference_recording.h"
#include "tally.h"
#include "temporary_folder.h"
#include "trace_reading.h"

static struct trace_reading read_fixture(const char *name)
{
    char path[512];

    snprintf(path, sizeof(path), "%s/memscope/%s", MT_FIXTURES, name);
    return trace_reading_of(path, 2);
}

static const struct ledger *ledger_of(const struct tally *tally, const char *pool, int32_t device)
{
    const struct model *model = tally_model(tally);

    for (size_t i = 0; i < tally_ledger_count(tally); i++) {
        const struct ledger *ledger = tally_ledger_at(tally, i);

        if (ledger->device == device &&
            strcmp(model_text_at(model, model_pool_name_at(model, ledger->pool)), pool) == 0)
            return ledger;
    }
    fail_msg("no ledger %s of device %d", pool, device);
    return NULL;
}

static const struct event *find_event(const struct trace_reading *reading, enum event_kind kind)
{
    for (size_t i = 0; i < reading->count; i++)
        if (reading->events[i].kind == kind)
            return &reading->events[i];
    fail_msg("no event %d", kind);
    return NULL;
}

static void csv_and_db_hold_the_same(void **state)
{
    struct trace_reading reading = read_fixture(*state);
    const struct ledger *pool;
    struct tally *tally;

    assert_int_equal(reading.result, MT_OK);
    tally = trace_reading_tally(&reading);
    pool = ledger_of(tally, "pta", 0);
    assert_int_equal(pool->peak_bytes, 512 + 1024);
    assert_int_equal(pool->live_bytes, 1024); /* its free was made up by the tool */
    assert_int_equal(pool->reserved_peak_bytes, 4194304);
    assert_int_equal(ledger_of(tally, "host_pinned", -1)->live_bytes, 8192);
    assert_int_equal(ledger_of(tally, "hal", 0)->failed_count, 1);
    assert_int_equal(tally_step_count(tally), 2);
    assert_true(tally_step_at(tally, 1)->is_ended);
    assert_int_equal(tally_step_at(tally, 1)->end_ns, 300);
    assert_int_equal(tally_event_count(tally, EVENT_ACCESS), 1);
    assert_int_equal(trace_reading_note(&reading, "never freed"), 1);
    assert_string_equal(model_text_at(reading.model, find_event(&reading, EVENT_TAG_BEGIN)->text),
                        "PTA@ops");
    assert_string_equal(
        model_text_at(reading.model, find_event(&reading, EVENT_OPERATOR_BEGIN)->text),
        "aten.mm.default");
    tally_destroy(tally);
    trace_reading_release(&reading);
}

static void rows_come_in_the_order_of_time(void **state)
{
    struct trace_reading reading = read_fixture("today.csv");

    (void)state;
    for (size_t i = 1; i < reading.count; i++)
        assert_true(reading.events[i].time_ns >= reading.events[i - 1].time_ns);
    assert_int_equal(model_process_at(reading.model, 0)->process_id, 100);
    trace_reading_release(&reading);
}

static void site_leaves_out_the_frames_of_the_tool(void **state)
{
    struct trace_reading reading = read_fixture("today.csv");
    const struct event *alloc = find_event(&reading, EVENT_ALLOC);

    (void)state;
    assert_string_equal(trace_reading_label(&reading, alloc->site), "layer (train)");
    trace_reading_release(&reading);
}

static void old_attributes_and_two_processes_are_read(void **state)
{
    struct trace_reading reading = read_fixture("attr2506.csv");
    struct tally *tally = trace_reading_tally(&reading);
    const struct event *alloc = find_event(&reading, EVENT_ALLOC);

    (void)state;
    assert_int_equal(model_process_count(reading.model), 2);
    assert_int_equal(ledger_of(tally, "hal", 0)->live_bytes, 0);
    assert_int_equal(ledger_of(tally, "hal", 0)->peak_bytes, 16384);
    assert_int_equal(ledger_of(tally, "hal", 1)->live_bytes, 100);
    assert_int_equal(alloc->time_ns, 199475000);
    assert_int_equal(model_place_at(reading.model, alloc->place).module, 7);
    assert_int_equal(trace_reading_note(&reading, "microseconds"), 1);
    tally_destroy(tally);
    trace_reading_release(&reading);
}

static void the_first_version_is_read(void **state)
{
    struct trace_reading reading = read_fixture("first.csv");
    struct tally *tally = trace_reading_tally(&reading);

    (void)state;
    assert_int_equal(ledger_of(tally, "pta", 0)->peak_bytes, 512);
    assert_int_equal(ledger_of(tally, "pta", 0)->live_bytes, 0);
    assert_int_equal(ledger_of(tally, "pta", 0)->reserved_peak_bytes, 2097152);
    assert_int_equal(find_event(&reading, EVENT_FREE)->time_ns, 10000);
    tally_destroy(tally);
    trace_reading_release(&reading);
}

static void rows_that_make_no_sense_are_counted(void **state)
{
    struct trace_reading reading = read_fixture("damaged.csv");
    struct tally *tally = trace_reading_tally(&reading);

    (void)state;
    assert_int_equal(reading.result, MT_OK);
    assert_int_equal(trace_reading_note(&reading, "the first is line 5"), 1);
    assert_non_null(strstr(model_first_damage(reading.model), "ends within a row"));
    assert_true(model_is_incomplete(reading.model));
    assert_int_equal(ledger_of(tally, "pta", 0)->peak_bytes, 512 + 1024);
    tally_destroy(tally);
    trace_reading_release(&reading);
}

#define MEMSCOPE_HEADER                                                                            \
    "ID,Event,Event Type,Name,Timestamp(ns),Process Id,Thread Id,Device Id,Ptr,Attr\n"
#define MEMSCOPE_BLOCK(number)                                                                     \
    number ",MALLOC,PTA,N/A,1764753084000000120,1,1,0,0x1000,\"{addr:0x1000,size:512}\""

static const char *const damaged_rows[] = {
    MEMSCOPE_HEADER MEMSCOPE_BLOCK("1") "\n2,MSTX,#?!,step start,1764753084000000130,1,1,0,N/A,\n",
    MEMSCOPE_HEADER MEMSCOPE_BLOCK("1") "\n2,OP_LAUNCH,,aten.mm,1764753084000000130,1,1,0,N/A,\n",
    MEMSCOPE_HEADER MEMSCOPE_BLOCK("1") "\n2,SYSTEM,#?!,N/A,1764753084000000130,1,1,0,N/A,\n",
    MEMSCOPE_HEADER MEMSCOPE_BLOCK("1") "\n" MEMSCOPE_BLOCK("2"), /* a last line without an end */
};

static void each_row_that_makes_no_sense_is_missed(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(damaged_rows) / sizeof(damaged_rows[0]); i++) {
        char *folder = temporary_folder_create();
        char *path =
            temporary_file_write(folder, "dump.csv", damaged_rows[i], strlen(damaged_rows[i]));
        struct trace_reading reading = trace_reading_of(path, 0);

        assert_int_equal(reading.result, MT_OK);
        if (i < 3)
            assert_int_equal(trace_reading_note(&reading, "the first is line 3"), 1);
        else
            assert_string_equal(model_first_damage(reading.model),
                                "dump.csv ends within a row, in line 3: it was cut, and nobody "
                                "knows how much is missing");
        assert_true(model_is_incomplete(reading.model));
        trace_reading_release(&reading);
        free(path);
        temporary_folder_remove(folder);
    }
}

static struct trace_reading read_text(const char *text)
{
    char *folder = temporary_folder_create();
    char *path = temporary_file_write(folder, "dump.csv", text, strlen(text));
    struct trace_reading reading = trace_reading_of(path, 0);

    free(path);
    temporary_folder_remove(folder);
    return reading;
}

#define KERNEL(number, type, ids)                                                                  \
    number ",KERNEL_LAUNCH," type ",add,1764753084000000130," ids ",N/A,N/A,\"{streamId:1}\"\n"

static void rows_that_do_not_matter_need_no_process(void **state)
{
    struct trace_reading reading = read_text(MEMSCOPE_HEADER MEMSCOPE_BLOCK("1") "\n" KERNEL(
        "2", "KERNEL_EXECUTE_START", "N/A,N/A") KERNEL("3", "KERNEL_EXECUTE_END", "N/A,N/A"));
    struct trace_reading damaged =
        read_text(MEMSCOPE_HEADER MEMSCOPE_BLOCK("1") "\n" KERNEL("2", "KERNEL_LAUNCH", "N/A,N/A"));

    (void)state;
    assert_int_equal(reading.result, MT_OK);
    assert_false(model_is_incomplete(reading.model));
    assert_int_equal(trace_reading_note(&reading, "kinds that nothing is computed from"), 2);
    assert_true(model_is_incomplete(damaged.model));
    trace_reading_release(&reading);
    trace_reading_release(&damaged);
}

#define HAL(number, event, device, address)                                                        \
    number "," event ",HAL,N/A,176475308400000012" number ",1,1," device                           \
           ",0x1000,\"{addr:" address ",size:512,MID:7}\"\n"

/* A free of the driver says no device. */
static void memory_of_the_driver_on_the_host_is_a_ledger_of_its_own(void **state)
{
    struct trace_reading reading =
        read_text(MEMSCOPE_HEADER HAL("1", "MALLOC", "host", "0x1000")
                      HAL("2", "MALLOC", "0", "0x2000") HAL("3", "MALLOC", "host", "0x3000")
                          HAL("4", "FREE", "N/A", "0x1000") HAL("5", "FREE", "N/A", "0x2000"));
    struct tally *tally = trace_reading_tally(&reading);

    (void)state;
    assert_int_equal(ledger_of(tally, "hal_host", -1)->peak_bytes, 1024);
    assert_int_equal(ledger_of(tally, "hal_host", -1)->live_bytes, 512);
    assert_int_equal(ledger_of(tally, "hal", 0)->peak_bytes, 512);
    assert_int_equal(ledger_of(tally, "hal", 0)->live_bytes, 0);
    assert_int_equal(tally_counts_of(tally)->unknown_frees, 0);
    tally_destroy(tally);
    trace_reading_release(&reading);
}

static void the_files_of_a_run_are_one_recording(void **state)
{
    struct trace_reading reading = read_fixture("run");
    struct tally *tally = trace_reading_tally(&reading);

    (void)state;
    assert_int_equal(reading.result, MT_OK);
    assert_int_equal(model_process_count(reading.model), 1);
    assert_int_equal(ledger_of(tally, "hal", 0)->live_bytes, 64);
    assert_int_equal(ledger_of(tally, "hal", 1)->live_bytes, 64);
    assert_int_equal(tally_step_count(tally), 1); /* the row of the system is in both files */
    tally_destroy(tally);
    trace_reading_release(&reading);
}

/* Beside a dump, and in a table of its database. */
static void calls_of_python_are_ranges(void **state)
{
    static const char *const fixtures[] = {"traced", "traced.db"};

    (void)state;
    for (size_t i = 0; i < 2; i++) {
        struct trace_reading reading = read_fixture(fixtures[i]);
        struct tally *tally = trace_reading_tally(&reading);
        const struct ledger *pool = ledger_of(tally, "pta", 0);

        assert_int_equal(reading.result, MT_OK);
        assert_int_equal(tally_event_count(tally, EVENT_RANGE_BEGIN), 2);
        assert_int_equal(tally_event_count(tally, EVENT_RANGE_END), 1); /* main goes on */
        assert_string_equal(model_text_at(reading.model, pool->peak_phase), "model.py:3 forward");
        assert_int_equal(tally_counts_of(tally)->unmatched_ends, 0);
        tally_destroy(tally);
        trace_reading_release(&reading);
    }
}

static void a_header_without_rows_is_no_data(void **state)
{
    static const char header[] = "ID,Event,Event Type,Name,Timestamp(ns),Process Id,Thread Id,"
                                 "Device Id,Ptr,Attr\n";
    char *folder = temporary_folder_create();
    char *path = temporary_file_write(folder, "empty.csv", header, sizeof(header) - 1);
    struct trace_reading reading = trace_reading_of(path, 0);

    (void)state;
    assert_int_equal(reading.result, MT_NO_DATA);
    trace_reading_release(&reading);
    free(path);
    temporary_folder_remove(folder);
}

/* --- recordings of others ------------------------------------------------------------------ */

/* The scenario: 1024 B of step 2 are never freed, nor are 2 MiB of the driver. */
static void leaks_of_the_scenario_are_found(void **state)
{
    struct trace_reading reading = reference_recording(*state);
    struct tally *tally = trace_reading_tally(&reading);

    assert_int_equal(reading.result, MT_OK);
    assert_int_equal(ledger_of(tally, "pta", 0)->live_bytes, 1024);
    assert_int_equal(ledger_of(tally, "hal", 0)->live_bytes, 2097152);
    assert_int_equal(tally_step_count(tally), 4);
    assert_int_equal(tally_counts_of(tally)->unknown_frees, 0);
    assert_int_equal(tally_counts_of(tally)->unmatched_ends, 0);
    tally_destroy(tally);
    trace_reading_release(&reading);
}

static void older_real_recording_is_read(void **state)
{
    struct trace_reading reading =
        reference_recording("memscope/upstream/smoke/memscope_dump_20250428113810.csv");
    struct tally *tally = trace_reading_tally(&reading);

    (void)state;
    assert_int_equal(reading.result, MT_OK);
    assert_int_equal(model_process_count(reading.model), 2);
    assert_int_equal(tally_event_count(tally, EVENT_ALLOC), 48 + 241);
    assert_int_equal(tally_event_count(tally, EVENT_FREE), 9 + 14);
    assert_int_equal(tally_event_count(tally, EVENT_LAUNCH), 12);
    assert_int_equal(tally_step_count(tally), 2);
    tally_destroy(tally);
    trace_reading_release(&reading);
}

static void kernels_of_others_are_complete(void **state)
{
    struct trace_reading reading =
        reference_recording("found-3/memscope/kernel_execute_2025-08-13.csv");

    (void)state;
    assert_int_equal(reading.result, MT_OK);
    assert_false(model_is_incomplete(reading.model));
    trace_reading_release(&reading);
}

#define WITH(test, text, data)                                                                     \
    {                                                                                              \
        .name = text, .test_func = test, .initial_state = (void *)(uintptr_t)(data)                \
    }
#define SCENARIO(file)                                                                             \
    WITH(leaks_of_the_scenario_are_found, "scenario " file, "memscope/generated/scenario/" file)

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH(csv_and_db_hold_the_same, "csv", "today.csv"),
        WITH(csv_and_db_hold_the_same, "db", "today.db"),
        cmocka_unit_test(rows_come_in_the_order_of_time),
        cmocka_unit_test(site_leaves_out_the_frames_of_the_tool),
        cmocka_unit_test(old_attributes_and_two_processes_are_read),
        cmocka_unit_test(the_first_version_is_read),
        cmocka_unit_test(rows_that_make_no_sense_are_counted),
        cmocka_unit_test(each_row_that_makes_no_sense_is_missed),
        cmocka_unit_test(rows_that_do_not_matter_need_no_process),
        cmocka_unit_test(memory_of_the_driver_on_the_host_is_a_ledger_of_its_own),
        cmocka_unit_test(kernels_of_others_are_complete),
        cmocka_unit_test(the_files_of_a_run_are_one_recording),
        cmocka_unit_test(calls_of_python_are_ranges),
        cmocka_unit_test(a_header_without_rows_is_no_data),
        SCENARIO("all_analysis_oom3.csv"),
        SCENARIO("leaks_decompose_inefficient.db"),
        SCENARIO("default_access.csv"),
        SCENARIO("callstack_c6.csv"),
        cmocka_unit_test(older_real_recording_is_read),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
