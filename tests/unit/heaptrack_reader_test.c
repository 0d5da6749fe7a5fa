/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Data files of heaptrack. The fixtures are written by hand.
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

static struct trace_reading read_fixture(const char *name)
{
    char path[512];

    snprintf(path, sizeof(path), "%s/heaptrack/%s", MT_FIXTURES, name);
    return trace_reading_of(path, 2);
}

static void one_file_reads_the_same_in_every_packing(void **state)
{
    struct trace_reading reading = read_fixture(*state);
    const struct ledger *host;
    struct tally *tally;

    assert_int_equal(reading.result, MT_OK);
    tally = trace_reading_tally(&reading);
    host = tally_ledger_at(tally, 0);
    assert_int_equal(tally_ledger_count(tally), 1);
    assert_int_equal(host->alloc_count, 4);
    assert_int_equal(host->peak_bytes, 100 + 100 + 16);
    assert_int_equal(host->peak_time_ns, 10000000);
    assert_int_equal(host->live_bytes, 200);
    assert_int_equal(host->live_count, 2);
    assert_int_equal(tally_sample_at(tally, 0)->high_bytes, 8192);
    assert_int_equal(tally_counts_of(tally)->overwritten, 0);
    assert_int_equal(tally_counts_of(tally)->unknown_frees, 0);
    tally_destroy(tally);
    trace_reading_release(&reading);
}

static void site_is_the_first_function_that_is_no_plumbing(void **state)
{
    struct trace_reading reading = read_fixture("version3.txt");

    (void)state;
    assert_string_equal(trace_reading_label(&reading, reading.events[0].site), "layer (a.c:42)");
    assert_string_equal(
        model_text_at(reading.model, model_process_at(reading.model, 0)->command_line),
        "/usr/bin/program --run");
    trace_reading_release(&reading);
}

static void version_1_has_texts_without_length(void **state)
{
    struct trace_reading reading = read_fixture("version1.txt");

    (void)state;
    assert_int_equal(reading.result, MT_OK);
    assert_string_equal(trace_reading_label(&reading, reading.events[0].site),
                        "0x1000 (with blank)");
    trace_reading_release(&reading);
}

/* Where only symbols are known, there is a function and no file; inlined functions follow. */
static void frames_are_functions_files_and_what_is_inlined(void **state)
{
    static const char text[] =
        "v 10400 3\ns 8 /bin/one\ns 6 malloc\ns 5 inner\ns 5 outer\ns 3 a.c\n"
        "i 1000 1 2\ni 1010 1 3 5 7 4 5 9\nt 2 0\nt 1 1\na 10 2\n+ 0\n";
    char *folder = temporary_folder_create();
    char *path = temporary_file_write(folder, "frames.txt", text, strlen(text));
    struct trace_reading reading = trace_reading_of(path, 0);
    uint32_t stack = model_site_at(reading.model, reading.events[0].site)->stack;
    static const char *const names[] = {"malloc", "inner", "outer"};

    (void)state;
    assert_int_equal(reading.result, MT_OK);
    for (size_t i = 0; i < 3; i++) {
        const struct model_stack *row = model_stack_at(reading.model, stack);
        const struct model_frame *frame = model_frame_at(reading.model, row->frame);

        assert_string_equal(model_text_at(reading.model, frame->function), names[i]);
        stack = row->outer;
    }
    assert_int_equal(stack, 0);
    assert_string_equal(trace_reading_label(&reading, reading.events[0].site), "inner (a.c:7)");
    trace_reading_release(&reading);
    free(path);
    temporary_folder_remove(folder);
}

struct bad_file {
    const char *text, *words;
    enum mt_result result;
    size_t events;
};

static const struct bad_file bad_files[] = {
    {"v 10400 3\na 10 0\n+ 0\n+ 1\n", "line 4: a block of an unknown kind", MT_CORRUPT, 1},
    {"v 10400 3\ns 20 short\n", "line 2: a text that is longer", MT_CORRUPT, 0},
    {"v 10400 3\nt 0 1\n", "line 2: a stack of unknown", MT_CORRUPT, 0},
    {"v 10400 3\ns 1 x\ni 10 2\n", "line 3: an address of an unknown module", MT_CORRUPT, 0},
    {"v 10400 3\n?\n", "line 2: a line of an unknown kind", MT_CORRUPT, 0},
    {"v 10400 3\nc 1\nc #\n", "line 3: a time that is no number", MT_CORRUPT, 0},
    {"v 10400 3\nI 1000 3d09\nR #\n", "line 3: a size that is no number", MT_CORRUPT, 0},
    {"v 10400 3\nI #\n", "line 2: a size that is no number", MT_CORRUPT, 0},
    {"v 10400 3\nm 1 x\n", "line 2: a raw file", MT_UNSUPPORTED, 0},
    {"v 10400 9\n", "version 9", MT_UNSUPPORTED, 0},
};

static void damage_is_reported_with_its_line_after_what_was_good(void **state)
{
    const struct bad_file *bad = *state;
    char *folder = temporary_folder_create();
    char *path = temporary_file_write(folder, "bad.txt", bad->text, strlen(bad->text));
    struct trace_reading reading = trace_reading_of(path, 0);

    assert_int_equal(reading.result, bad->result);
    if (!strstr(reading.error.message, bad->words))
        fail_msg("%s", reading.error.message);
    assert_int_equal(reading.count, bad->events);
    trace_reading_release(&reading);
    free(path);
    temporary_folder_remove(folder);
}

static void a_packed_file_that_is_cut_keeps_its_beginning(void **state)
{
    char path[512];
    char bytes[4096];
    size_t size_bytes;
    FILE *file;
    char *folder = temporary_folder_create(), *cut;
    struct trace_reading reading;

    (void)state;
    snprintf(path, sizeof(path), "%s/heaptrack/version3.txt.zst", MT_FIXTURES);
    file = fopen(path, "rb");
    assert_non_null(file);
    size_bytes = fread(bytes, 1, sizeof(bytes), file);
    fclose(file);
    cut = temporary_file_write(folder, "cut.zst", bytes, size_bytes - 3);
    reading = trace_reading_of(cut, 0);
    assert_int_equal(reading.result, MT_CORRUPT);
    assert_non_null(strstr(reading.error.message, "zstd file is cut short"));
    trace_reading_release(&reading);
    free(cut);
    temporary_folder_remove(folder);
}

#define WITH(test, text, data)                                                                     \
    {                                                                                              \
        .name = text, .test_func = test, .initial_state = (void *)(uintptr_t)(data)                \
    }
#define FORM(file) WITH(one_file_reads_the_same_in_every_packing, "reads " file, file)
#define BAD(index)                                                                                 \
    WITH(damage_is_reported_with_its_line_after_what_was_good, "damage " #index, &bad_files[index])

int main(void)
{
    const struct CMUnitTest tests[] = {
        FORM("version3.txt"),
        FORM("version3.txt.gz"),
        FORM("version3.txt.zst"),
        cmocka_unit_test(site_is_the_first_function_that_is_no_plumbing),
        cmocka_unit_test(frames_are_functions_files_and_what_is_inlined),
        cmocka_unit_test(version_1_has_texts_without_length),
        BAD(0),
        BAD(1),
        BAD(2),
        BAD(3),
        BAD(4),
        BAD(5),
        BAD(6),
        cmocka_unit_test(a_packed_file_that_is_cut_keeps_its_beginning),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
