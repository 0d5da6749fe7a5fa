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

static const struct relative_case {
    const char *folder, *path, *relative;
} relatives[] = {
    {"/", "/a", "./a"},
    {"/a", "/a/b", "./b"},
    {"/a/b", "/a/c/d", "../c/d"},
    {"/a/b/c", "/d", "../../../d"},
    {"/ab", "/a/b", "../a/b"},
    {"/a", "/ab/c", "../ab/c"},
    {"/a", "/a/http:b", "./http:b"},
};

static void a_file_is_found_from_a_folder(void **state)
{
    struct text_builder text;

    (void)state;
    text_init(&text);
    for (size_t i = 0; i < sizeof(relatives) / sizeof(relatives[0]); i++) {
        text_clear(&text);
        text_add_relative_path(&text, relatives[i].folder, relatives[i].path);
        assert_string_equal(text_get(&text), relatives[i].relative);
    }
    text_release(&text);
}

static const struct rank_case {
    const char *path;
    int32_t rank;
} ranks[] = {
    {"rank0.pickle", 0},
    {"a/rank_3/b", 3},
    {"memory_rank-12_step5.pickle", 12},
    {"rank1/rank2_memory.csv", 2},
    {"frank5", -1},
    {"ranks", -1},
    {"rank", -1},
    {"rank99999999999", -1},
    {"", -1},
};

static void a_rank_is_the_number_after_its_word(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(ranks) / sizeof(ranks[0]); i++)
        assert_int_equal(path_rank(ranks[i].path), ranks[i].rank);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(a_rank_is_the_number_after_its_word),
                                       cmocka_unit_test(paths_lose_their_detours),
                                       cmocka_unit_test(a_file_is_found_from_a_folder)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
