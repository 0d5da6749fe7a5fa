/* SPDX-License-Identifier: Apache-2.0 */
/* Texts in an arena: of any length, and remembered when there was no memory for one. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "arena.h"
#include "sentence.h"
#include "text_builder.h"

static int create(void **state)
{
    static struct arena arena;

    arena_init(&arena);
    *state = &arena;
    return 0;
}

static int destroy(void **state)
{
    arena_release(*state);
    return 0;
}

static void a_text_of_any_length_is_formatted(void **state)
{
    enum { LONG = 3 << 20 };
    char *name = test_malloc(LONG + 1);
    const char *text;

    memset(name, 'n', LONG);
    name[LONG] = 0;
    text = sentence(*state, "%s: %d", name, 7);
    assert_int_equal(strlen(text), LONG + 3);
    assert_string_equal(text + LONG, ": 7");
    assert_string_equal(arena_format(*state, "%s/%u", "a", 1u), "a/1");
    assert_false(((struct arena *)*state)->has_failed);
    test_free(name);
}

static void a_text_without_memory_is_empty_and_remembered(void **state)
{
    struct arena *arena = *state;
    struct text_builder text;

    text_init(&text);
    text_add(&text, "a part");
    text.has_failed = true; /* and the rest did not fit */
    assert_string_equal(text_keep(&text, arena), "");
    assert_null(text.bytes);
    assert_true(arena->has_failed);
    assert_string_equal(arena_copy(arena, "later"), "later");
    assert_true(arena->has_failed);
}

static void a_block_that_cannot_be_had_is_remembered(void **state)
{
    struct arena *arena = *state;

    assert_null(arena_alloc(arena, SIZE_MAX));
    assert_true(arena->has_failed);
    arena_release(arena);
    arena_init(arena);
    assert_false(arena->has_failed);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_text_of_any_length_is_formatted, create, destroy),
        cmocka_unit_test_setup_teardown(a_text_without_memory_is_empty_and_remembered, create,
                                        destroy),
        cmocka_unit_test_setup_teardown(a_block_that_cannot_be_had_is_remembered, create, destroy),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
