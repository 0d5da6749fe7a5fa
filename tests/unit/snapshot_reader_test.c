/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Allocator snapshots of PyTorch and torch_npu: what is read from them, and what is refused.
 *
 * The fixtures are written by fixtures/snapshot/make.py.
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

    snprintf(path, sizeof(path), "%s/snapshot/%s", MT_FIXTURES, name);
    return trace_reading_of(path, 3);
}

static const struct event *find_event(const struct trace_reading *reading, enum event_kind kind,
                                      uint64_t value)
{
    for (size_t i = 0; i < reading->count; i++)
        if (reading->events[i].kind == kind && reading->events[i].value == value)
            return &reading->events[i];
    fail_msg("no event %d of %llu", kind, (unsigned long long)value);
    return NULL;
}

/* protocol 2, 4, 5 and JSON hold the same. */
static void one_snapshot_reads_the_same_in_every_form(void **state)
{
    struct trace_reading reading = read_fixture(*state);
    const struct ledger *first, *second;
    struct tally *tally;

    assert_int_equal(reading.result, MT_OK);
    tally = trace_reading_tally(&reading);
    assert_int_equal(tally_ledger_count(tally), 2);
    first = tally_ledger_at(tally, 0);
    second = tally_ledger_at(tally, 1);
    /* 300 + 700 are older; 1000 and 2000 are made, 300 and 1000 freed */
    assert_int_equal(first->peak_bytes, 700 + 1000 + 2000);
    assert_int_equal(first->live_bytes, 700 + 2000);
    assert_int_equal(first->reserved_peak_bytes, 0x20000);
    assert_int_equal(first->failed_count, 1);
    assert_int_equal(first->device, 0);
    assert_int_equal(second->peak_bytes, 5000);
    assert_int_equal(second->reserved_bytes, 0x200000);
    assert_int_equal(second->reserved_peak_bytes, 0x400000);
    assert_int_equal(tally_step_count(tally), 1);
    assert_int_equal(tally_step_at(tally, 0)->number, 7);
    assert_int_equal(trace_reading_note(&reading, "older than the history"), 2);
    assert_int_equal(trace_reading_note(&reading, "wait for another stream"), 1);
    tally_destroy(tally);
    trace_reading_release(&reading);
}

static void times_are_ns_since_the_first_event(void **state)
{
    struct trace_reading reading = read_fixture("protocol4.pickle");
    const struct event *alloc = find_event(&reading, EVENT_ALLOC, 1000);
    uint64_t last_ns = 0;

    (void)state;
    assert_int_equal(alloc->time_ns, 15 * 1000 + 1); /* the step began at 5 us */
    for (size_t i = 0; i < reading.count; i++) {
        assert_true(reading.events[i].time_ns >= last_ns);
        last_ns = reading.events[i].time_ns;
    }
    assert_int_equal(model_process_at(reading.model, 0)->start_realtime_ns,
                     UINT64_C(1700000000000005000));
    trace_reading_release(&reading);
}

static void addresses_of_64_bits_stay_whole(void **state)
{
    struct trace_reading reading = read_fixture(*state);

    assert_int_equal(find_event(&reading, EVENT_ALLOC, 5000)->address,
                     UINT64_C(0xffff800000000000));
    trace_reading_release(&reading);
}

static void site_is_the_innermost_frame_of_the_program(void **state)
{
    struct trace_reading reading = read_fixture("protocol4.pickle");

    (void)state;
    assert_string_equal(
        trace_reading_label(&reading, find_event(&reading, EVENT_ALLOC, 1000)->site),
        "forward (models/net.py:12)");
    assert_string_equal(
        trace_reading_label(&reading, find_event(&reading, EVENT_ALLOC, 2000)->site),
        "BmmBackward0::apply");
    assert_string_equal(trace_reading_label(&reading, find_event(&reading, EVENT_ALLOC, 700)->site),
                        "forward (models/net.py:12)");
    assert_int_equal(find_event(&reading, EVENT_ALLOC, 300)->site, 0);
    trace_reading_release(&reading);
}

static void segments_alone_are_what_is_alive(void **state)
{
    struct trace_reading reading = read_fixture("bare_list.pickle");
    struct tally *tally = trace_reading_tally(&reading);

    (void)state;
    assert_int_equal(reading.result, MT_OK);
    assert_int_equal(tally_ledger_at(tally, 0)->live_bytes, 700 + 2000);
    assert_int_equal(tally_ledger_at(tally, 1)->live_bytes, 5000);
    tally_destroy(tally);
    trace_reading_release(&reading);
}

static void blocks_of_torch_2_0_follow_each_other(void **state)
{
    struct trace_reading reading = read_fixture("torch2.0.pickle");
    const struct event *alloc = find_event(&reading, EVENT_ALLOC, 500);

    (void)state;
    assert_int_equal(alloc->address, 0x1200);
    assert_string_equal(trace_reading_label(&reading, alloc->site), "forward (models/net.py:12)");
    trace_reading_release(&reading);
}

/* Python writes a list once, and then refers to it: while it is open, and after it was used. */
static void frames_may_be_shared(void **state)
{
    struct trace_reading reading = read_fixture("shared.pickle");
    const struct event *first = find_event(&reading, EVENT_ALLOC, 100);
    const struct event *second = find_event(&reading, EVENT_ALLOC, 101);
    const struct event *older = find_event(&reading, EVENT_ALLOC, 500);

    (void)state;
    assert_int_equal(reading.result, MT_OK);
    assert_int_not_equal(first->site, second->site);
    assert_int_equal(find_event(&reading, EVENT_ALLOC, 102)->site, first->site);
    assert_int_equal(find_event(&reading, EVENT_ALLOC, 103)->site, second->site);
    assert_string_equal(trace_reading_label(&reading, older->site), "forward (models/net.py:12)");
    trace_reading_release(&reading);
}

static void without_times_the_number_of_the_event_stands_for_it(void **state)
{
    struct trace_reading reading = read_fixture("no_times.pickle");
    const struct event *alloc = find_event(&reading, EVENT_ALLOC, 1);

    (void)state;
    assert_int_equal(alloc->time_ns, 2);
    assert_string_equal(
        model_text_at(reading.model, model_pool_name_at(reading.model, alloc->pool)), "pta");
    assert_true(model_note_count(reading.model) > 0);
    trace_reading_release(&reading);
}

struct refusal {
    const char *file;
    enum mt_result result;
    const char *words;
};

static const struct refusal refusals[] = {
    {"evil.pickle", MT_UNSUPPORTED, "pickle at byte 66: instruction STACK_GLOBAL"},
    {"other.pickle", MT_UNSUPPORTED, "no memory snapshot"},
    {"empty.pickle", MT_NO_DATA, "no segments and no events"},
    {"twice.pickle", MT_UNSUPPORTED, "an event or a block in two lists"},
};

static void what_is_no_snapshot_is_refused(void **state)
{
    const struct refusal *refusal = *state;
    struct trace_reading reading = read_fixture(refusal->file);

    assert_int_equal(reading.result, refusal->result);
    if (!strstr(reading.error.message, refusal->words))
        fail_msg("%s", reading.error.message);
    trace_reading_release(&reading);
}

static void a_pickle_that_is_cut_says_where(void **state)
{
    char path[512];
    unsigned char bytes[8192];
    size_t size_bytes;
    FILE *file;
    char *folder = temporary_folder_create();

    (void)state;
    snprintf(path, sizeof(path), "%s/snapshot/protocol4.pickle", MT_FIXTURES);
    file = fopen(path, "rb");
    assert_non_null(file);
    size_bytes = fread(bytes, 1, sizeof(bytes), file);
    fclose(file);
    for (size_t length = 3; length < size_bytes; length++) {
        char *cut = temporary_file_write(folder, "cut.pickle", bytes, length);
        struct trace_reading reading = trace_reading_of(cut, 0);

        assert_int_equal(reading.result, MT_CORRUPT);
        assert_non_null(strstr(reading.error.message, "cut.pickle: pickle at byte "));
        trace_reading_release(&reading);
        free(cut);
    }
    temporary_folder_remove(folder);
}

static void a_list_that_holds_itself_does_no_harm(void **state)
{
    static const unsigned char bytes[] = "\x80\x04]\x94h\x00"
                                         "ah\x00"
                                         "a.";
    char *folder = temporary_folder_create();
    char *path = temporary_file_write(folder, "loop.pickle", bytes, sizeof(bytes) - 1);
    struct trace_reading reading = trace_reading_of(path, 0);

    (void)state;
    assert_int_not_equal(reading.result, MT_OK);
    trace_reading_release(&reading);
    free(path);
    temporary_folder_remove(folder);
}

/* --- recordings of others ------------------------------------------------------------------ */

struct reference {
    const char *file;
    uint64_t peak_bytes, reserved_peak_bytes, live_bytes;
};

static const struct reference references[] = {
    {"pytorch/torch2.0_flexgen_state.pickle", 5692346376, 7608467456, 5683449864},
    {"pytorch/torch2.4_sketchkv2_state.pickle", 16380108176, 17133731840, 16380108168},
    {"pytorch/torch2.6_cs336_silmont_small.pickle", 3249143816, 3781165056, 31719428},
    {"pytorch/torch2.6_cs336_silmont_bf16.pickle", 779837440, 861929472, 523811840},
    {"pytorch/torch2.9_decomfl_opt.pickle", 1783664516, 1897922560, 1011485828},
    {"pytorch/torch2.11_cs336_magma27.pickle", 13923997700, 14180941824, 1373919236},
    {"ascend/memsnapshot/snapshot_with_empty_cache.pkl", 597327488, 662700032, 408384288},
    {"ascend/memsnapshot/snapshot_expandable.pkl", 597327488, 643825664, 408384288},
};

static void peaks_are_right_to_the_byte(void **state)
{
    const struct reference *reference = *state;
    struct trace_reading reading = reference_recording(reference->file);
    struct tally *tally = trace_reading_tally(&reading);
    const struct ledger *ledger = tally_ledger_at(tally, 0);

    assert_int_equal(reading.result, MT_OK);
    assert_int_equal(tally_ledger_count(tally), 1);
    assert_int_equal(ledger->peak_bytes, reference->peak_bytes);
    assert_int_equal(ledger->reserved_peak_bytes, reference->reserved_peak_bytes);
    assert_int_equal(ledger->live_bytes, reference->live_bytes);
    assert_int_equal(tally_counts_of(tally)->unknown_frees, 0);
    assert_int_equal(tally_counts_of(tally)->overwritten, 0);
    tally_destroy(tally);
    trace_reading_release(&reading);
}

#define WITH(test, text, data)                                                                     \
    {                                                                                              \
        .name = text, .test_func = test, .initial_state = (void *)(uintptr_t)(data)                \
    }
#define FORM(file)       WITH(one_snapshot_reads_the_same_in_every_form, "reads " file, file)
#define REFUSED(index)   WITH(what_is_no_snapshot_is_refused, "refuses " #index, &refusals[index])
#define REFERENCE(index) WITH(peaks_are_right_to_the_byte, "reference " #index, &references[index])

int main(void)
{
    const struct CMUnitTest tests[] = {
        FORM("protocol4.pickle"),
        FORM("protocol2.pickle"),
        FORM("protocol5.pickle"),
        FORM("cpp.pickle"),
        FORM("snapshot.json"),
        cmocka_unit_test(times_are_ns_since_the_first_event),
        WITH(addresses_of_64_bits_stay_whole, "addresses, pickle", "protocol2.pickle"),
        WITH(addresses_of_64_bits_stay_whole, "addresses, JSON", "snapshot.json"),
        cmocka_unit_test(site_is_the_innermost_frame_of_the_program),
        cmocka_unit_test(segments_alone_are_what_is_alive),
        cmocka_unit_test(blocks_of_torch_2_0_follow_each_other),
        cmocka_unit_test(frames_may_be_shared),
        cmocka_unit_test(without_times_the_number_of_the_event_stands_for_it),
        REFUSED(0),
        REFUSED(1),
        REFUSED(2),
        REFUSED(3),
        cmocka_unit_test(a_pickle_that_is_cut_says_where),
        cmocka_unit_test(a_list_that_holds_itself_does_no_harm),
        REFERENCE(0),
        REFERENCE(1),
        REFERENCE(2),
        REFERENCE(3),
        REFERENCE(4),
        REFERENCE(5),
        REFERENCE(6),
        REFERENCE(7),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
