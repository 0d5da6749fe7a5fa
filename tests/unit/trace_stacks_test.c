/* SPDX-License-Identifier: Apache-2.0 */
/* Call stacks of a trace become frames and stacks of the model, or nothing: never wrong ones. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "leaktide/frames.h"
#include "temporary_folder.h"
#include "trace_builder.h"
#include "trace_reading.h"

enum { MAIN = 0x401000, TRAIN = 0x402010, LAYER = 0x403020, OTHER = 0x404030 };

struct trace {
    struct trace_builder *builder;
    struct trace_reading reading;
};

static struct trace trace_begin(void)
{
    return (struct trace){.builder = trace_builder_create(&(struct trace_builder_setup){0})};
}

static void trace_end(struct trace *trace)
{
    trace_reading_release(&trace->reading);
    trace_builder_destroy(trace->builder);
}

/* Who wants no sites gets the same events, and hears of the same damage. */
static void assert_same_without_sites(const struct trace *trace, const char *folder)
{
    static const char words[] = "call stacks that do not read back";
    const struct trace_reading *with = &trace->reading;
    struct trace_reading without = trace_reading_without_sites(folder);

    assert_int_equal(without.count, with->count);
    for (size_t i = 0; i < with->count; i++) {
        struct event event = without.events[i];

        assert_int_equal(!event.site, !with->events[i].site);
        event.site = with->events[i].site;
        assert_int_equal(event.time_ns, with->events[i].time_ns);
        assert_int_equal(event.address, with->events[i].address);
        assert_int_equal(event.kind, with->events[i].kind);
    }
    assert_int_equal(trace_reading_note(&without, words), trace_reading_note(with, words));
    trace_reading_release(&without);
}

static void read_back(struct trace *trace)
{
    char *folder = temporary_folder_create();

    trace_builder_write(trace->builder, folder);
    trace->reading = trace_reading_of(folder, 0);
    assert_int_equal(trace->reading.result, MT_OK);
    assert_same_without_sites(trace, folder);
    assert_true(trace_reading_repeats(&trace->reading, folder));
    temporary_folder_remove(folder);
}

static void define(struct trace *trace, uint64_t time, uint64_t id, uint64_t shared_count,
                   const uint64_t *frames, size_t count)
{
    trace_builder_stack(trace->builder, 0, time,
                        &(struct built_stack){.id = id,
                                              .shared_count = shared_count,
                                              .flags = MT_STACK_COMPLETE,
                                              .before = shared_count ? frames[shared_count - 1] : 0,
                                              .frames = frames + shared_count,
                                              .count = count - shared_count});
}

static void use(struct trace *trace, uint64_t time, uint64_t id)
{
    trace_builder_host_alloc(
        trace->builder, 0, time,
        (struct built_block){.address = 64 * time, .size = 8, .site = MT_SITE_IS_STACK | id});
}

/* The addresses of an event's stack, outermost first, are these. */
static void assert_stack(const struct trace *trace, size_t event, const uint64_t *frames,
                         size_t count)
{
    const struct model *model = trace->reading.model;
    uint32_t stack = model_site_at(model, trace->reading.events[event].site)->stack;

    while (count--) {
        const struct model_stack *row = model_stack_at(model, stack);

        assert_int_not_equal(stack, 0);
        assert_int_equal(model_frame_at(model, row->frame)->address, frames[count]);
        stack = row->outer;
    }
    assert_int_equal(stack, 0);
}

static const uint64_t first[] = {MAIN, TRAIN, LAYER};
static const uint64_t second[] = {MAIN, TRAIN, OTHER, LAYER};

static void a_stack_is_frames_and_its_site_the_innermost_caller(void **state)
{
    for (int is_drained = 0; is_drained < 2; is_drained++) {
        struct trace trace = trace_begin();

        (void)state;
        define(&trace, 1, 1, 0, first, 3);
        use(&trace, 2, 1);
        if (is_drained)
            trace_builder_close(trace.builder);
        read_back(&trace);
        assert_int_equal(trace.reading.count, 1);
        assert_stack(&trace, 0, first, 3);
        assert_int_equal(model_site_at(trace.reading.model, trace.reading.events[0].site)->address,
                         LAYER);
        assert_int_equal(trace_reading_note(&trace.reading, "call stacks"), 0);
        trace_end(&trace);
    }
}

static void frames_are_shared_with_the_stack_before_over_chunks(void **state)
{
    struct trace trace = trace_begin();

    (void)state;
    define(&trace, 1, 1, 0, first, 3);
    trace_builder_drain(trace.builder, 0);
    define(&trace, 2, 2, 2, second, 4);
    trace_builder_drain(trace.builder, 0);
    use(&trace, 3, 2);
    use(&trace, 4, 1);
    use(&trace, 5, 2);
    trace_builder_close(trace.builder);
    read_back(&trace);
    assert_stack(&trace, 0, second, 4);
    assert_stack(&trace, 1, first, 3);
    assert_int_equal(trace.reading.events[2].site, trace.reading.events[0].site);
    trace_end(&trace);
}

static void a_stack_whose_outer_frames_are_missing_is_none(void **state)
{
    static const struct missing_case {
        uint64_t id, shared_count;
    } cases[] = {{3, 2}, {2, 4}, {1, 1}};

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct trace trace = trace_begin();

        define(&trace, 1, 1, 0, first, 3);
        define(&trace, 2, cases[i].id, cases[i].shared_count, second, 4);
        use(&trace, 3, cases[i].id);
        use(&trace, 4, 99);
        trace_builder_close(trace.builder);
        read_back(&trace);
        if (cases[i].id != 1)
            assert_int_equal(trace.reading.events[0].site, 0);
        else
            assert_stack(&trace, 0, first, 3); /* as it was defined before */
        assert_int_equal(trace.reading.events[1].site, 0);
        assert_true(trace_reading_note(&trace.reading, "call stacks") >= 2);
        trace_end(&trace);
    }
}

static void a_stack_is_found_among_ids_with_gaps(void **state)
{
    static const uint64_t ids[] = {3, 4, 9, 10, 11, 40, 100, 101};
    struct trace trace = trace_begin();
    size_t count = 0, missing = 0;

    (void)state;
    for (size_t i = 0; i < sizeof(ids) / sizeof(ids[0]); i++)
        define(&trace, 1 + i, ids[i], 0, i % 2 ? first : second, i % 2 ? 3 : 4);
    for (uint64_t id = 0; id < 110; id++)
        use(&trace, 20 + id, id);
    trace_builder_close(trace.builder);
    read_back(&trace);
    for (uint64_t id = 0; id < 110; id++) {
        bool is_defined = count < sizeof(ids) / sizeof(ids[0]) && ids[count] == id;

        missing += !is_defined;
        if (is_defined && count++ % 2)
            assert_stack(&trace, id, first, 3);
        else if (is_defined)
            assert_stack(&trace, id, second, 4);
        else
            assert_int_equal(trace.reading.events[id].site, 0);
    }
    assert_int_equal(trace_reading_note(&trace.reading, "call stacks"), missing);
    trace_end(&trace);
}

/* More than the near caches hold: sites are looked up some events later, in the same order. */
static void each_of_many_stacks_has_its_own_site(void **state)
{
    enum { STACKS = 40000, STRIDE = 7919, PLACE = 0x500000 };
    struct trace trace = trace_begin();
    uint64_t frames[] = {MAIN, TRAIN, PLACE};

    (void)state;
    for (uint64_t i = 0; i < STACKS; i++) {
        frames[2] = PLACE + i;
        define(&trace, i + 1, i + 1, i ? 2 : 0, frames, 3);
        use(&trace, i + 1, 1 + i * STRIDE % (i + 1));
    }
    for (uint64_t i = 0; i < STACKS; i++)
        use(&trace, STACKS + 1 + i, 1 + i * STRIDE % STACKS);
    use(&trace, 2 * STACKS + 1, STACKS + 1);
    trace_builder_close(trace.builder);
    read_back(&trace);
    assert_int_equal(trace.reading.count, 2 * STACKS + 1);
    for (uint64_t i = 0; i < STACKS; i++) {
        frames[2] = PLACE + i * STRIDE % (i + 1);
        assert_stack(&trace, i, frames, 3);
        frames[2] = PLACE + i * STRIDE % STACKS;
        assert_stack(&trace, STACKS + i, frames, 3);
    }
    assert_int_equal(trace.reading.events[2 * STACKS].site, 0);
    trace_end(&trace);
}

static void a_stack_may_have_512_frames_and_no_more(void **state)
{
    static uint64_t frames[MT_STACK_FRAMES_MAX];
    struct trace trace = trace_begin();
    uint64_t one_more[] = {MAIN};

    (void)state;
    for (size_t i = 0; i < MT_STACK_FRAMES_MAX; i++)
        frames[i] = i % 2 ? UINT64_C(0xffffffffffff) - i : i + 1; /* the longest differences */
    define(&trace, 1, 1, 0, frames, MT_STACK_FRAMES_MAX);
    use(&trace, 2, 1);
    trace_builder_stack(
        trace.builder, 0, 3,
        &(struct built_stack){
            .id = 2, .shared_count = MT_STACK_FRAMES_MAX, .frames = one_more, .count = 1});
    use(&trace, 4, 2);
    trace_builder_close(trace.builder);
    read_back(&trace);
    assert_stack(&trace, 0, frames, MT_STACK_FRAMES_MAX);
    assert_int_equal(trace.reading.events[1].site, 0);
    trace_end(&trace);
}

static void a_stack_that_was_cut_says_so_outside_of_its_frames(void **state)
{
    struct trace trace = trace_begin();
    const struct model *model;
    const struct model_stack *row;

    (void)state;
    trace_builder_stack(
        trace.builder, 0, 1,
        &(struct built_stack){.id = 1, .flags = MT_STACK_TRUNCATED, .frames = first, .count = 1});
    use(&trace, 2, 1);
    trace_builder_close(trace.builder);
    read_back(&trace);
    model = trace.reading.model;
    row = model_stack_at(model, model_site_at(model, trace.reading.events[0].site)->stack);
    assert_int_equal(model_frame_at(model, row->frame)->address, MAIN);
    row = model_stack_at(model, row->outer);
    assert_int_equal(model_frame_at(model, row->frame)->address, 0);
    assert_string_equal(model_text_at(model, model_frame_at(model, row->frame)->function),
                        "(more frames were not asked for)");
    assert_int_equal(row->outer, 0);
    trace_end(&trace);
}

static void frames_of_an_interpreter_have_function_file_and_line(void **state)
{
    const uint64_t frames[] = {MAIN, mt_frame_of_code(5, 42), mt_frame_of_code(6, 7)};
    struct trace trace = trace_begin();
    const struct model *model;
    const struct model_frame *frame;
    uint32_t stack;
    uint64_t fields[] = {5, 0, 0};

    (void)state;
    fields[1] = trace_builder_text(trace.builder, 0, 1, "train");
    fields[2] = trace_builder_text(trace.builder, 0, 1, "model.py");
    trace_builder_push(trace.builder, 0, MT_RECORD_code, 1, fields);
    define(&trace, 2, 1, 0, frames, 3);
    use(&trace, 3, 1);
    trace_builder_close(trace.builder);
    read_back(&trace);
    model = trace.reading.model;
    stack = model_site_at(model, trace.reading.events[0].site)->stack;
    assert_int_equal(model_site_at(model, trace.reading.events[0].site)->address, MAIN);
    frame = model_frame_at(model, model_stack_at(model, stack)->frame);
    assert_string_equal(model_text_at(model, frame->function), "(code that was not recorded)");
    stack = model_stack_at(model, stack)->outer;
    frame = model_frame_at(model, model_stack_at(model, stack)->frame);
    assert_int_equal(frame->kind, FRAME_PYTHON);
    assert_int_equal(frame->line, 42);
    assert_string_equal(model_text_at(model, frame->function), "train");
    assert_string_equal(model_text_at(model, frame->file), "model.py");
    trace_end(&trace);
}

/* Where a module was, another one is loaded: the same addresses are other functions. */
static void the_same_addresses_after_an_unload_are_another_stack(void **state)
{
    struct trace trace = trace_begin();
    const struct model *model;
    uint64_t module[] = {0x403000, 0x1000, 0x403000, 0};

    (void)state;
    module[3] = trace_builder_text(trace.builder, 0, 1, "liblayer.so");
    trace_builder_push_bytes(trace.builder, 0, MT_RECORD_module, 1, module, "a", 1);
    define(&trace, 2, 1, 0, first, 3);
    use(&trace, 3, 1);
    trace_builder_push(trace.builder, 0, MT_RECORD_module_gone, 4, module);
    trace_builder_push_bytes(trace.builder, 0, MT_RECORD_module, 5, module, "b", 1);
    define(&trace, 6, 2, 2, second, 4);
    use(&trace, 7, 1);
    use(&trace, 8, 2);
    trace_builder_close(trace.builder);
    read_back(&trace);
    model = trace.reading.model;
    assert_stack(&trace, 0, first, 3);
    assert_stack(&trace, 1, first, 3);
    assert_stack(&trace, 2, second, 4);
    assert_int_not_equal(trace.reading.events[0].site, trace.reading.events[1].site);
    assert_int_not_equal(model_site_at(model, trace.reading.events[0].site)->stack,
                         model_site_at(model, trace.reading.events[1].site)->stack);
    trace_end(&trace);
}

static uint64_t code_frame(struct trace *trace, uint64_t id, const char *function, const char *file,
                           uint64_t line)
{
    const uint64_t fields[] = {id, trace_builder_text(trace->builder, 0, 1, function),
                               trace_builder_text(trace->builder, 0, 1, file)};

    trace_builder_push(trace->builder, 0, MT_RECORD_code, 1, fields);
    return mt_frame_of_code(id, line);
}

/* Frames that were left out of a load stay out when all of it is looked up again. */
static void loads_after_an_unload(enum loads_wanted loads)
{
    static const char *const functions[] = {"<module>", "_find_and_load", "main"}; /* outward */
    struct trace trace = trace_begin();
    uint64_t module[] = {0x403000, 0x2000, 0x403000, 0}, frames[6] = {MAIN};
    char *folder = temporary_folder_create();
    const struct model *model;
    uint32_t stack;

    frames[1] = code_frame(&trace, 5, "main", "job.py", 3);
    frames[2] = code_frame(&trace, 6, "_find_and_load", "<frozen importlib._bootstrap>", 1027);
    frames[3] = code_frame(&trace, 7, "<module>", "/usr/lib/python3/dist-packages/box/core.py", 9);
    frames[4] = LAYER;
    frames[5] = OTHER;
    module[3] = trace_builder_text(trace.builder, 0, 1, "libpython3.11.so.1.0");
    trace_builder_push_bytes(trace.builder, 0, MT_RECORD_module, 1, module, "a", 1);
    define(&trace, 2, 1, 0, frames, 5);
    trace_builder_push(trace.builder, 0, MT_RECORD_module_gone, 4, module);
    trace_builder_push_bytes(trace.builder, 0, MT_RECORD_module, 5, module, "b", 1);
    define(&trace, 6, 2, 5, frames, 6);
    use(&trace, 7, 1);
    use(&trace, 8, 2);
    trace_builder_close(trace.builder);
    trace_builder_write(trace.builder, folder);
    trace.reading = trace_reading_with_loads(folder, loads);
    temporary_folder_remove(folder);
    model = trace.reading.model;
    assert_int_equal(trace.reading.count, 2);
    assert_int_equal(trace.reading.events[0].site, trace.reading.events[1].site);
    stack = model_site_at(model, trace.reading.events[1].site)->stack;
    for (size_t i = 0; i < 3; i++, stack = model_stack_at(model, stack)->outer)
        assert_string_equal(
            model_text_at(model,
                          model_frame_at(model, model_stack_at(model, stack)->frame)->function),
            functions[i]);
    assert_int_equal(model_frame_at(model, model_stack_at(model, stack)->frame)->address, MAIN);
    trace_end(&trace);
}

static void frames_of_a_load_stay_out_after_an_unload(void **state)
{
    (void)state;
    loads_after_an_unload(LOADS_IN_SHORT);
    loads_after_an_unload(LOADS_OF_PYTHON);
}

static void a_free_is_told_who_asked_for_it(void **state)
{
    for (int is_drained = 0; is_drained < 2; is_drained++) {
        struct trace trace = trace_begin();
        uint64_t name[1];

        (void)state;
        define(&trace, 1, 1, 0, first, 3);
        use(&trace, 2, 1);
        trace_builder_push(trace.builder, 0, MT_RECORD_free_site, 3,
                           (uint64_t[]){MT_SITE_IS_STACK | 1});
        trace_builder_host_free(trace.builder, 0, 4, 128);
        trace_builder_host_free(trace.builder, 0, 5, 192);
        trace_builder_push(trace.builder, 0, MT_RECORD_free_site, 6,
                           (uint64_t[]){MT_SITE_IS_STACK | 1});
        trace_builder_free(trace.builder, 0, 7, "acl", 256);
        name[0] = trace_builder_text(trace.builder, 0, 8, "aten::add");
        for (uint64_t time = 9; time < 12; time++) { /* its name is known from the second one on */
            trace_builder_push(trace.builder, 0, MT_RECORD_free_site, time,
                               (uint64_t[]){MT_SITE_IS_STACK | 1});
            trace_builder_push(trace.builder, 0, MT_RECORD_operator_begin, time, name);
            trace_builder_host_free(trace.builder, 0, time, 64 * time);
        }
        if (is_drained)
            trace_builder_close(trace.builder);
        read_back(&trace);
        assert_int_equal(trace.reading.count, 10);
        assert_stack(&trace, 1, first, 3);
        assert_int_equal(trace.reading.events[2].site, 0);
        assert_stack(&trace, 3, first, 3);
        for (size_t i = 4; i < 10; i += 2) {
            assert_int_equal(trace.reading.events[i].kind, EVENT_OPERATOR_BEGIN);
            assert_stack(&trace, i + 1, first, 3);
        }
        trace_end(&trace);
    }
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_stack_is_frames_and_its_site_the_innermost_caller),
        cmocka_unit_test(frames_are_shared_with_the_stack_before_over_chunks),
        cmocka_unit_test(a_stack_whose_outer_frames_are_missing_is_none),
        cmocka_unit_test(a_stack_is_found_among_ids_with_gaps),
        cmocka_unit_test(each_of_many_stacks_has_its_own_site),
        cmocka_unit_test(a_stack_may_have_512_frames_and_no_more),
        cmocka_unit_test(a_stack_that_was_cut_says_so_outside_of_its_frames),
        cmocka_unit_test(frames_of_an_interpreter_have_function_file_and_line),
        cmocka_unit_test(the_same_addresses_after_an_unload_are_another_stack),
        cmocka_unit_test(frames_of_a_load_stay_out_after_an_unload),
        cmocka_unit_test(a_free_is_told_who_asked_for_it),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
