/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a line of the program loads: without its plumbing where nobody asks for that, and one to
 * names, ids and shapes in any case.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "model.h"
#include "symbols.h"

enum { FRAMES_MOST = 8, WAYS = LOADS_OF_PYTHON + 1 };

/* With the same stacks, each by what it wants of loads. */
static struct model *models[WAYS];
static struct symbols *symbols[WAYS];
static const char *const way_names[WAYS] = {"whole", "in short", "of Python"};

static uint32_t text_of(struct model *model, const char *text)
{
    return model_text(model, text, strlen(text));
}

/* Objects, a page of addresses each from the first on. */
#define LIBRARY     "libbox.so"
#define LIBC        "libc.so.6"
#define INTERPRETER "libpython3.11.so.1.0"

static const char *const objects[] = {LIBRARY, LIBC, INTERPRETER};

enum { OBJECT_COUNT = sizeof(objects) / sizeof(objects[0]), OBJECT_BYTES = 1 << 12 };

static uint64_t object_base(size_t object)
{
    return (uint64_t)(object + 1) * OBJECT_BYTES;
}

static void load_objects(struct model *model)
{
    for (size_t i = 0; i < OBJECT_COUNT; i++)
        model_module(model, &(struct model_module){.base = object_base(i),
                                                   .size_bytes = OBJECT_BYTES,
                                                   .unloaded_ns = UINT64_MAX,
                                                   .path = text_of(model, objects[i])});
}

static int setup(void **state)
{
    (void)state;
    for (size_t way = 0; way < WAYS; way++) {
        const struct symbols_options options = {.rule_files = NULL};

        assert_int_equal(model_create(&models[way], NULL), MT_OK);
        assert_int_equal(symbols_create(models[way], &symbols[way], NULL), MT_OK);
        assert_int_equal(symbols_configure(symbols[way], &options, NULL), MT_OK);
        model_want_loads(models[way], (enum loads_wanted)way);
        load_objects(models[way]);
    }
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    for (size_t way = 0; way < WAYS; way++) {
        assert_int_equal(model_status(models[way], NULL), MT_OK);
        symbols_destroy(symbols[way]);
        model_destroy(models[way]);
    }
    return 0;
}

/* "job.py:main", "<frozen importlib._bootstrap>:_find_and_load"; an object; else a function of C.
 */
static uint32_t frame_of(struct model *model, const char *words)
{
    const char *function = strrchr(words, ':');

    for (size_t i = 0; i < OBJECT_COUNT; i++)
        if (strcmp(words, objects[i]) == 0)
            return model_frame(
                model, (struct model_frame){.kind = FRAME_NATIVE, .address = object_base(i) + 16});

    return model_frame(
        model, (struct model_frame){
                   .kind = function ? FRAME_PYTHON : FRAME_NATIVE,
                   .function = text_of(model, function ? function + 1 : words),
                   .file = function ? model_text(model, words, (size_t)(function - words)) : 0,
                   .line = function ? (uint32_t)strlen(words) : 0,
               });
}

static uint32_t stack_of(struct model *model, const char *const *frames)
{
    uint32_t stack = 0;

    for (size_t i = 0; i < FRAMES_MOST && frames[i]; i++)
        stack = model_stack(model, stack, frame_of(model, frames[i]));
    return stack;
}

static uint32_t site_of(struct model *model, const char *const *frames)
{
    return model_site(model, (struct model_site){.stack = stack_of(model, frames)});
}

#define LOADER   "<frozen importlib._bootstrap>:_find_and_load"
#define PACKAGE  "/usr/lib/python3/dist-packages/box/__init__.py:<module>"
#define MODULE   "/usr/lib/python3/dist-packages/box/core.py:<module>"
#define OWN      "/usr/lib/python3.11/json/decoder.py:decode"
#define FUNCTION "/usr/lib/python3/dist-packages/box/__init__.py:make"

/* Outermost first. */
static const struct stack_case {
    const char *name;
    const char *frames[FRAMES_MOST];
    size_t left; /* frames, where loads are in short */
    bool is_of_load;
    size_t native; /* of these, in the load */
} stack_cases[] = {
    {"a load goes on inside", {"job.py:main", LOADER, PACKAGE, INTERPRETER, LIBC}, 3, true, 0},
    {"its first frame", {"job.py:main", LOADER}, 2, true, 0},
    {"it looks for the file", {"job.py:main", LOADER, LOADER, LIBC, LIBC}, 2, true, 0},
    {"of a load, another", {"job.py:main", LOADER, PACKAGE, LOADER, MODULE, LIBC}, 4, true, 0},
    {"a function runs in it", {"job.py:main", LOADER, PACKAGE, FUNCTION, LIBC}, 4, true, 0},
    {"of Python's own", {"job.py:main", LOADER, PACKAGE, OWN, LIBC}, 3, true, 0},
    {"and calls one that is not", {"job.py:main", LOADER, PACKAGE, OWN, FUNCTION}, 4, true, 0},
    {"and loads there", {"job.py:main", LOADER, PACKAGE, FUNCTION, LOADER, MODULE}, 5, true, 0},
    {"a library begins", {"job.py:main", LOADER, INTERPRETER, LIBRARY, LIBC}, 3, true, 1},
    {"of an object that is not known yet",
     {"job.py:main", LOADER, LIBC, "constructor", "fill", "grow", LIBC},
     3,
     true,
     1},
    {"and runs code", {"job.py:main", LOADER, LIBRARY, INTERPRETER, FUNCTION}, 4, true, 1},
    {"a module of the program runs",
     {"job.py:main", LOADER, "train.py:<module>", LIBC},
     4,
     false,
     0},
    {"and loads", {"job.py:main", LOADER, "train.py:<module>", LOADER, PACKAGE}, 5, true, 0},
    {"a package loads", {PACKAGE, LOADER, PACKAGE, LIBC}, 4, false, 0},
    {"no load", {"job.py:main", PACKAGE, LIBC}, 3, false, 0},
    {"nothing of Python", {"main", "load", LIBC}, 3, false, 0},
};

static size_t depth_of(const struct model *model, uint32_t stack)
{
    size_t depth = 0;

    for (; stack; stack = model_stack_at(model, stack)->outer)
        depth++;
    return depth;
}

static size_t frame_count(const struct stack_case *row)
{
    size_t count = 0;

    while (count < FRAMES_MOST && row->frames[count])
        count++;
    return count;
}

static size_t depth_wanted(const struct stack_case *row, size_t way)
{
    if (way == LOADS_WHOLE)
        return frame_count(row);
    return way == LOADS_IN_SHORT ? row->left : row->left - row->native;
}

static void a_load_has_no_plumbing(void **state)
{
    (void)state;
    for (size_t c = 0; c < sizeof(stack_cases) / sizeof(stack_cases[0]); c++) {
        const struct stack_case *row = &stack_cases[c];

        for (size_t way = 0; way < WAYS; way++) {
            uint32_t stack = stack_of(models[way], row->frames);
            size_t depth = depth_of(models[way], stack);

            if (depth != depth_wanted(row, way) ||
                model_site_is_of_load(models[way], site_of(models[way], row->frames)) !=
                    row->is_of_load)
                fail_msg("%s, %s: %zu frames", row->name, way_names[way], depth);
        }
    }
}

/* Without rules nothing is known of frames, and nothing is left out. */
static void without_a_rule_there_is_no_load(void **state)
{
    struct model *model;

    (void)state;
    assert_int_equal(model_create(&model, NULL), MT_OK);
    model_want_loads(model, LOADS_IN_SHORT);
    assert_int_equal(depth_of(model, stack_of(model, stack_cases[0].frames)), 5);
    model_destroy(model);
}

/* Whichever way it was read, a site has one name, one id and one shape. */
static void names_do_not_depend_on_what_is_left_out(void **state)
{
    (void)state;
    for (size_t c = 0; c < sizeof(stack_cases) / sizeof(stack_cases[0]); c++) {
        const struct stack_case *row = &stack_cases[c];
        uint32_t sites[WAYS];

        for (size_t way = 0; way < WAYS; way++)
            sites[way] = site_of(models[way], row->frames);
        for (size_t way = 1; way < WAYS; way++) {
            assert_string_equal(symbols_label(symbols[way], sites[way]),
                                symbols_label(symbols[0], sites[0]));
            if (symbols_site_id(symbols[way], sites[way]) !=
                    symbols_site_id(symbols[0], sites[0]) ||
                symbols_shape_of(symbols[way], sites[way]).traits !=
                    symbols_shape_of(symbols[0], sites[0]).traits)
                fail_msg("%s, %s: another id, or other traits", row->name, way_names[way]);
        }
    }
}

/* All ways through one load have one name; and all of their frames are shown where they are there.
 */
static void a_load_in_detail_is_shown_whole(void **state)
{
    uint32_t first = site_of(models[LOADS_WHOLE], stack_cases[0].frames);
    uint32_t other = site_of(models[LOADS_WHOLE], stack_cases[3].frames);
    size_t count;

    (void)state;
    assert_int_not_equal(first, other);
    assert_int_equal(symbols_site_key(symbols[LOADS_WHOLE], first),
                     symbols_site_key(symbols[LOADS_WHOLE], other));
    assert_int_equal(symbols_shape_of(symbols[LOADS_WHOLE], first).shape,
                     symbols_shape_of(symbols[LOADS_WHOLE], other).shape);
    symbols_frames(symbols[LOADS_WHOLE], other, &count);
    assert_int_equal(count, frame_count(&stack_cases[3]));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_load_has_no_plumbing, setup, teardown),
        cmocka_unit_test(without_a_rule_there_is_no_load),
        cmocka_unit_test_setup_teardown(names_do_not_depend_on_what_is_left_out, setup, teardown),
        cmocka_unit_test_setup_teardown(a_load_in_detail_is_shown_whole, setup, teardown),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
