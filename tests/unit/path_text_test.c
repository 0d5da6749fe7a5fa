/* SPDX-License-Identifier: Apache-2.0 */
/* Paths are shortened as a person would. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "path_text.h"

static const struct path_case {
    const char *path, *shorter;
} cases[] = {
    {"", ""},
    {"/", "/"},
    {"a", "a"},
    {"/a/b.c", "/a/b.c"},
    {"a/../b", "b"},
    {"/a/../b", "/b"},
    {"/a/b/../../c", "/c"},
    {"/build/dev/../../samples/leak.c", "/samples/leak.c"},
    {"./a/./b", "a/b"},
    {"a//b///c", "a/b/c"},
    {"//a", "/a"},
    {"../a", "../a"},
    {"../../a", "../../a"},
    {"a/../../b", "../b"},
    {"/../a", "/a"},
    {"/..", "/"},
    {"a/..", ""},
    {"a..b/c", "a..b/c"},
    {"a/...", "a/..."},
};

static void paths_lose_their_detours(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        char path[64];

        snprintf(path, sizeof(path), "%s", cases[i].path);
        path_shorten(path);
        assert_string_equal(path, cases[i].shorter);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(paths_lose_their_detours)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
