/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Chrome traces of torch.profiler: blocks, operators, steps, and what is older than the trace.
 *
 * The fixtures are written by fixtures/chrome/make.py.
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

    snprintf(path, sizeof(path), "%s/chrome/%s", MT_FIXTURES, name);
    return trace_reading_of(path, 2);
}

static const struct ledger *ledger_of(const struct tally *tally, int32_t device)
{
    for (size_t i = 0; i < tally_ledger_count(tally); i++)
        if (tally_ledger_at(tally, i)->device == device)
            return tally_ledger_at(tally, i);
    fail_msg("no ledger of device %d", device);
    return NULL;
}

static void one_trace_reads_the_same_in_every_form(void **state)
{
    struct trace_reading reading = read_fixture(*state);
    const struct ledger *device;
    struct tally *tally;

    assert_int_equal(reading.result, MT_OK);
    tally = trace_reading_tally(&reading);
    device = ledger_of(tally, 0);
    assert_int_equal(device->peak_bytes, 6000);
    assert_int_equal(device->live_bytes, 3000);
    assert_int_equal(device->reserved_peak_bytes, 4194304);
    assert_int_equal(device->failed_count, 1);
    assert_int_equal(ledger_of(tally, -1)->live_bytes, 64);
    assert_int_equal(tally_step_count(tally), 1);
    assert_int_equal(tally_step_at(tally, 0)->number, 4);
    assert_int_equal(tally_step_at(tally, 0)->begin_ns, 0);
    assert_int_equal(tally_step_at(tally, 0)->end_ns, 100000);
    assert_int_equal(tally_counts_of(tally)->unknown_frees, 0);
    assert_int_equal(tally_counts_of(tally)->unmatched_ends, 0);
    assert_int_equal(trace_reading_note(&reading, "are freed in it"), 1);
    tally_destroy(tally);
    trace_reading_release(&reading);
}

static void a_block_belongs_to_the_innermost_operator(void **state)
{
    struct trace_reading reading = read_fixture("object.json");
    struct tally *tally = trace_reading_tally(&reading);
    uint64_t bytes = 0;

    (void)state;
    for (size_t i = 1; i < tally_group_count(tally); i++) {
        const struct group_detail *detail = tally_detail_at(tally, i);

        if (strcmp(model_text_at(reading.model, detail->operator_text), "aten::mm") == 0)
            bytes += tally_group_at(tally, i)->alloc_bytes;
    }
    assert_int_equal(bytes, 1000);
    assert_int_equal(model_process_at(reading.model, 0)->rank, 3);
    tally_destroy(tally);
    trace_reading_release(&reading);
}

static void without_addresses_totals_are_samples(void **state)
{
    struct trace_reading reading = read_fixture("no_addr.json");
    struct tally *tally = trace_reading_tally(&reading);

    (void)state;
    assert_int_equal(reading.result, MT_OK);
    assert_int_equal(tally_sample_count(tally), 1);
    assert_int_equal(tally_sample_at(tally, 0)->high_bytes, 512);
    assert_int_equal(tally_sample_at(tally, 0)->last_bytes, 0);
    tally_destroy(tally);
    trace_reading_release(&reading);
}

static uint64_t kernels_of(const struct model *model, int32_t device)
{
    for (size_t i = 0; i < model_worked_device_count(model); i++)
        if (model_worked_device_at(model, i)->device == device)
            return model_worked_device_at(model, i)->kernel_count;
    return 0;
}

/* A second time on the line of the device, or under a category that comes one day. */
static void copies_on_a_device_are_no_steps(void **state)
{
    struct trace_reading reading = read_fixture("device.json");
    struct tally *tally = trace_reading_tally(&reading);

    (void)state;
    assert_int_equal(reading.result, MT_OK);
    assert_int_equal(tally_step_count(tally), 1);
    assert_int_equal(tally_step_at(tally, 0)->begin_ns, 0);
    assert_int_equal(tally_step_at(tally, 0)->end_ns, 100000);
    assert_int_equal(tally_counts_of(tally)->unmatched_ends, 0);
    assert_false(model_is_incomplete(reading.model));
    tally_destroy(tally);
    trace_reading_release(&reading);
}

static void devices_that_worked_are_known_once(void **state)
{
    struct trace_reading reading = read_fixture("device.json");
    char path[512];

    (void)state;
    snprintf(path, sizeof(path), "%s/chrome/device.json", MT_FIXTURES);
    assert_true(trace_reading_repeats(&reading, path));
    assert_int_equal(model_worked_device_count(reading.model), 2);
    assert_int_equal(kernels_of(reading.model, 0), 1);
    assert_int_equal(kernels_of(reading.model, 2), 2);
    trace_reading_release(&reading);
}

static const char *frame_text(const struct model *model, uint32_t stack, uint32_t depth)
{
    static char text[256];
    const struct model_frame *frame;

    while (depth-- && stack)
        stack = model_stack_at(model, stack)->outer;
    if (!stack)
        return "";
    frame = model_frame_at(model, model_stack_at(model, stack)->frame);
    snprintf(text, sizeof(text), "%s:%u %s", model_text_at(model, frame->file), frame->line,
             model_text_at(model, frame->function));
    return text;
}

static uint32_t stack_of_alloc(const struct trace_reading *reading, size_t number)
{
    for (size_t i = 0; i < reading->count; i++)
        if (reading->events[i].kind == EVENT_ALLOC &&
            !(reading->events[i].flags & EVENT_IS_OLDER) && !number--)
            return model_site_at(reading->model, reading->events[i].site)->stack;
    fail_msg("so few allocations");
    return 0;
}

static void functions_around_an_allocation_are_its_stack(void **state)
{
    static const char *const frames[] = {":0 <built-in method mm of type object",
                                         ":0 nn.Module: Linear", "models/net.py:7 forward",
                                         ":0 nn.Module: Net"};
    struct trace_reading reading = read_fixture("stacks.json");
    const char *again = MT_FIXTURES "/chrome/stacks.json";

    (void)state;
    assert_int_equal(reading.result, MT_OK);
    for (uint32_t i = 0; i < 4; i++)
        assert_string_equal(frame_text(reading.model, stack_of_alloc(&reading, 0), i), frames[i]);
    assert_string_equal(frame_text(reading.model, stack_of_alloc(&reading, 1), 0), frames[2]);
    assert_string_equal(frame_text(reading.model, stack_of_alloc(&reading, 1), 1), frames[3]);
    assert_string_equal(frame_text(reading.model, stack_of_alloc(&reading, 1), 2), "");
    assert_true(trace_reading_repeats(&reading, again));
    trace_reading_release(&reading);
}

/* The innermost that runs then, below those around it: the text of the module that the alloc is in.
 */
static const char *module_of_alloc(const struct trace_reading *reading, size_t number)
{
    uint32_t open = 0;

    for (size_t i = 0; i < reading->count; i++) {
        const struct event *event = &reading->events[i];

        if (event->kind == EVENT_NN_MODULE_BEGIN)
            open = event->text;
        else if (event->kind == EVENT_NN_MODULE_END)
            open = 0;
        else if (event->kind == EVENT_ALLOC && !(event->flags & EVENT_IS_OLDER) && !number--)
            return model_text_at(reading->model, open);
    }
    fail_msg("so few allocations");
    return NULL;
}

static void a_module_of_the_model_has_those_around_it_before_it(void **state)
{
    struct trace_reading reading = read_fixture("stacks.json");

    (void)state;
    assert_string_equal(module_of_alloc(&reading, 0), "Net_0.Linear_12");
    assert_string_equal(module_of_alloc(&reading, 1), "Net_0");
    trace_reading_release(&reading);
}

/* Which call of a function asked is not known: who judges by stacks must not take it for a turn. */
static void stacks_of_functions_are_said_to_be_such(void **state)
{
    struct trace_reading reading = read_fixture(*state);

    assert_true(model_process_at(reading.model, 0)->has_function_stacks ==
                !strcmp(*state, "stacks.json"));
    trace_reading_release(&reading);
}

/* It has no address, as no refused request has one. */
static void a_refused_request_has_its_own_size(void **state)
{
    struct trace_reading reading = read_fixture("object.json");
    size_t found = 0;

    (void)state;
    for (size_t i = 0; i < reading.count; i++)
        if (reading.events[i].kind == EVENT_ALLOC_FAILED) {
            assert_int_equal(reading.events[i].value, UINT64_C(1) << 40);
            found++;
        }
    assert_int_equal(found, 1);
    trace_reading_release(&reading);
}

#define MEMORY(name, arguments)                                                                    \
    "{\"ph\": \"i\", \"name\": \"" name "\", \"tid\": 1, \"ts\": 5, \"args\": {" arguments "}}"

#define SOUND_MEMORY                                                                               \
    MEMORY("[memory]", "\"Device Type\": 1, \"Device Id\": 0, \"Addr\": 4096, \"Bytes\": 512")
#define MEMORY_RESERVES(value)                                                                     \
    MEMORY("[memory]", "\"Device Type\": 1, \"Device Id\": 0, \"Addr\": 8192, \"Bytes\": 512, "    \
                       "\"Total Reserved\": " value)

/* Each lacks what the others prove that this version tells, or has no number where one belongs. */
static const char *const partial_traces[] = {
    "{\"traceEvents\": [" MEMORY(
        "[memory]", "\"Device Type\": 1, \"Device Id\": 0, \"Addr\": 4096, \"Bytes\": 512") ", " //
    MEMORY("[memory]", "\"Device Type\": 0, \"Device Id\": -1, \"Bytes\": 64") "]}",
    "{\"traceEvents\": [" MEMORY("[memory]",
                                 "\"Device Type\": 1, \"Device Id\": 0, \"Addr\": 4096, "
                                 "\"Bytes\": 512, \"Total Allocated\": 512") ", " //
    MEMORY("[OutOfMemory]", "\"Device Type\": 1, \"Device Id\": 0, \"Bytes\": 64") "]}",
    "{\"traceEvents\": [" MEMORY("[memory]",
                                 "\"Device Type\": 1, \"Device Id\": 0, \"Addr\": 4096, "
                                 "\"Bytes\": 512, \"Total Allocated\": 512, "
                                 "\"Total Reserved\": 4096") ", " //
    MEMORY("[memory]", "\"Device Type\": 0, \"Device Id\": -1, \"Addr\": 9216, \"Bytes\": 64, "
                       "\"Total Allocated\": 64") "]}",
    "{\"traceEvents\": [" SOUND_MEMORY ", " MEMORY_RESERVES("null") "]}",
    "{\"traceEvents\": [" SOUND_MEMORY ", " MEMORY_RESERVES("true") "]}",
    "{\"traceEvents\": [" SOUND_MEMORY ", " MEMORY_RESERVES("[4096]") "]}",
    "{\"traceEvents\": [" SOUND_MEMORY ", " MEMORY_RESERVES("{\"Bytes\": 4096}") "]}",
};

static void what_lacks_a_number_that_others_have_is_missed(void **state)
{
    const char *text = *state;
    char *folder = temporary_folder_create();
    char *path = temporary_file_write(folder, "partial.json", text, strlen(text));
    struct trace_reading reading = trace_reading_of(path, 0);

    assert_int_equal(reading.result, MT_OK);
    assert_int_equal(trace_reading_note(&reading, "lack a number which others have"), 1);
    assert_true(model_is_incomplete(reading.model));
    trace_reading_release(&reading);
    free(path);
    temporary_folder_remove(folder);
}

static void a_trace_without_memory_is_no_data(void **state)
{
    struct trace_reading reading = read_fixture("no_memory.json");

    (void)state;
    assert_int_equal(reading.result, MT_NO_DATA);
    trace_reading_release(&reading);
}

static void a_trace_that_is_cut_says_where(void **state)
{
    char path[512];
    char bytes[8192];
    size_t size_bytes;
    FILE *file;
    char *folder = temporary_folder_create();

    (void)state;
    snprintf(path, sizeof(path), "%s/chrome/object.json", MT_FIXTURES);
    file = fopen(path, "rb");
    assert_non_null(file);
    size_bytes = fread(bytes, 1, sizeof(bytes), file);
    fclose(file);
    for (size_t length = size_bytes / 2; length < size_bytes; length += 3) {
        char *cut = temporary_file_write(folder, "cut.json", bytes, length);
        struct trace_reading reading = trace_reading_of(cut, 0);

        assert_int_equal(reading.result, MT_CORRUPT);
        assert_non_null(strstr(reading.error.message, "cut.json: JSON near byte "));
        trace_reading_release(&reading);
        free(cut);
    }
    temporary_folder_remove(folder);
}

static void a_packed_trace_that_is_cut_is_refused(void **state)
{
    char path[512];
    char bytes[8192];
    size_t size_bytes;
    FILE *file;
    char *folder = temporary_folder_create(), *cut;
    struct trace_reading reading;

    (void)state;
    snprintf(path, sizeof(path), "%s/chrome/object.json.gz", MT_FIXTURES);
    file = fopen(path, "rb");
    assert_non_null(file);
    size_bytes = fread(bytes, 1, sizeof(bytes), file);
    fclose(file);
    cut = temporary_file_write(folder, "cut.json.gz", bytes, size_bytes - 20);
    reading = trace_reading_of(cut, 0);
    assert_int_equal(reading.result, MT_CORRUPT);
    assert_non_null(strstr(reading.error.message, "gzip file is cut short"));
    trace_reading_release(&reading);
    free(cut);
    temporary_folder_remove(folder);
}

#define FORM(file)                                                                                 \
    {                                                                                              \
        .name = "reads " file, .test_func = one_trace_reads_the_same_in_every_form,                \
        .initial_state = (void *)(uintptr_t)(file)                                                 \
    }

int main(void)
{
    const struct CMUnitTest tests[] = {
        FORM("object.json"),
        FORM("object.json.gz"),
        FORM("list.json"),
        FORM("open_list.json"),
        cmocka_unit_test(a_block_belongs_to_the_innermost_operator),
        cmocka_unit_test(without_addresses_totals_are_samples),
        cmocka_unit_test(copies_on_a_device_are_no_steps),
        cmocka_unit_test(devices_that_worked_are_known_once),
        cmocka_unit_test(functions_around_an_allocation_are_its_stack),
        cmocka_unit_test(a_module_of_the_model_has_those_around_it_before_it),
        cmocka_unit_test_prestate(stacks_of_functions_are_said_to_be_such, (char *)"stacks.json"),
        cmocka_unit_test_prestate(stacks_of_functions_are_said_to_be_such, (char *)"object.json"),
        cmocka_unit_test(a_refused_request_has_its_own_size),
        {.name = "the processor's block has no address",
         .test_func = what_lacks_a_number_that_others_have_is_missed,
         .initial_state = (void *)(uintptr_t)partial_traces[0]},
        {.name = "the refused request has no total",
         .test_func = what_lacks_a_number_that_others_have_is_missed,
         .initial_state = (void *)(uintptr_t)partial_traces[1]},
        {.name = "the processor's block has one total of two",
         .test_func = what_lacks_a_number_that_others_have_is_missed,
         .initial_state = (void *)(uintptr_t)partial_traces[2]},
        {.name = "null is no number",
         .test_func = what_lacks_a_number_that_others_have_is_missed,
         .initial_state = (void *)(uintptr_t)partial_traces[3]},
        {.name = "true is no number",
         .test_func = what_lacks_a_number_that_others_have_is_missed,
         .initial_state = (void *)(uintptr_t)partial_traces[4]},
        {.name = "a list is no number",
         .test_func = what_lacks_a_number_that_others_have_is_missed,
         .initial_state = (void *)(uintptr_t)partial_traces[5]},
        {.name = "an object is no number",
         .test_func = what_lacks_a_number_that_others_have_is_missed,
         .initial_state = (void *)(uintptr_t)partial_traces[6]},
        cmocka_unit_test(a_trace_without_memory_is_no_data),
        cmocka_unit_test(a_trace_that_is_cut_says_where),
        cmocka_unit_test(a_packed_trace_that_is_cut_is_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
