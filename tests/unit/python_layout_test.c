/* SPDX-License-Identifier: Apache-2.0 */
/* Where CPython keeps things: what the interpreter says itself is believed only if it can be so. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "python_layout.h"

enum { WORDS = 128, VERSION_WORD = 1, FREE_THREADED_WORD = 2 };

/* Offsets for debuggers in which word n says 8 * n. */
struct runtime {
    uint64_t words[WORDS];
};

static struct runtime runtime_of(uint64_t version, uint64_t is_free_threaded)
{
    struct runtime runtime;

    for (uint64_t i = 0; i < WORDS; i++)
        runtime.words[i] = 8 * i;
    memcpy(runtime.words, "xdebugpy", sizeof(runtime.words[0]));
    runtime.words[VERSION_WORD] = version;
    runtime.words[FREE_THREADED_WORD] = is_free_threaded;
    return runtime;
}

static void old_versions_are_known_without_help(void **state)
{
    static const char *const versions[] = {"3.8.18 (default, ", "3.9.0", "3.10.13", "3.11.7",
                                           "3.12.1"};
    struct python_layout layout;

    (void)state;
    for (size_t i = 0; i < sizeof(versions) / sizeof(versions[0]); i++) {
        assert_true(python_layout_find(versions[i], NULL, &layout));
        assert_int_equal(layout.type, 8);
        assert_int_equal(layout.dealloc, 48);
        assert_int_equal(layout.copy, -1);
    }
}

static void others_are_refused(void **state)
{
    static const char *const versions[] = {"",   "2.7.18", "3.7.16", "3.16.0", "4.14.0",
                                           "3.", "3",      "pypy",   "3.-1",   "3.270.1"};
    struct runtime runtime = runtime_of(0x030e04f0, 0);
    struct python_layout layout;

    (void)state;
    for (size_t i = 0; i < sizeof(versions) / sizeof(versions[0]); i++)
        assert_false(python_layout_find(versions[i], &runtime, &layout));
}

static void new_versions_say_it_themselves(void **state)
{
    struct runtime runtime = runtime_of(0x030e04f0, 0);
    struct python_layout layout;

    (void)state;
    assert_true(python_layout_find("3.14.4 (main, ", &runtime, &layout));
    assert_int_equal(layout.frame_of_thread, 8 * 26);
    assert_int_equal(layout.previous, 8 * 32);
    assert_int_equal(layout.code, 8 * 33);
    assert_int_equal(layout.copy, -1);
    assert_int_equal(layout.text_width_bit, 2);
    assert_int_equal(layout.compact, 8 * 77 - 8);
}

static void free_threaded_ones_run_copies_of_code(void **state)
{
    struct runtime runtime = runtime_of(0x030e04f0, 1), before = runtime_of(0x030d05f0, 1);
    struct python_layout layout;

    (void)state;
    assert_true(python_layout_find("3.14.4 free-threading build (", &runtime, &layout));
    assert_int_equal(layout.copy, 8 * 38);
    assert_int_equal(layout.copies, 8 * 49);
    assert_int_equal(layout.text_width_bit, 8);
    assert_true(python_layout_find("3.13.5 experimental free-threading build (", &before, &layout));
    assert_int_equal(layout.copy, -1);
    assert_int_equal(layout.text_width_bit, 2);
}

/* Where nobody has tried it, the deaths of code objects are not watched. */
static void deaths_are_watched_where_that_was_tried(void **state)
{
    static const struct {
        const char *version;
        uint32_t hex, is_free_threaded, dealloc;
    } rows[] = {
        {"3.13.5 (main, ", 0x030d05f0, 0, 48}, {"3.13.5 experimental", 0x030d05f0, 1, 64},
        {"3.14.4 (main, ", 0x030e04f0, 0, 48}, {"3.14.4 free-threading", 0x030e04f0, 1, 0},
        {"3.15.2 (main, ", 0x030f02f0, 0, 48}, {"3.15.2 free-threading", 0x030f02f0, 1, 0},
    };
    struct python_layout layout;

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct runtime runtime = runtime_of(rows[i].hex, rows[i].is_free_threaded);

        assert_true(python_layout_find(rows[i].version, &runtime, &layout));
        assert_int_equal(layout.dealloc, rows[i].dealloc);
    }
}

static void what_cannot_be_is_refused(void **state)
{
    struct runtime other_version = runtime_of(0x030d05f0, 0), alpha = runtime_of(0x030e00a1, 0),
                   other_cookie = runtime_of(0x030e04f0, 0), too_far = other_cookie,
                   no_truth = runtime_of(0x030e04f0, 2);
    struct python_layout layout;

    (void)state;
    other_cookie.words[0]++;
    too_far.words[33] = 4096;
    assert_false(python_layout_find("3.14.4", &other_version, &layout));
    assert_false(python_layout_find("3.14.0a1", &alpha, &layout));
    assert_false(python_layout_find("3.14.4", &other_cookie, &layout));
    assert_false(python_layout_find("3.14.4", &too_far, &layout));
    assert_false(python_layout_find("3.14.4", &no_truth, &layout));
    assert_false(python_layout_find("3.14.4", NULL, &layout));
}

static void versions_are_numbers(void **state)
{
    (void)state;
    assert_int_equal(python_version("3.14.4 (main, "), 0x030e0000);
    assert_int_equal(python_version("2.7.18"), 0x02070000);
    assert_int_equal(python_version(""), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(old_versions_are_known_without_help),
        cmocka_unit_test(others_are_refused),
        cmocka_unit_test(new_versions_say_it_themselves),
        cmocka_unit_test(free_threaded_ones_run_copies_of_code),
        cmocka_unit_test(deaths_are_watched_where_that_was_tried),
        cmocka_unit_test(what_cannot_be_is_refused),
        cmocka_unit_test(versions_are_numbers),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
