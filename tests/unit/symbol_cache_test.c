/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Names kept on disk: found again, and nothing else believed.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "symbol_cache.h"
#include "temporary_folder.h"

enum { many = 100 };

static const uint8_t id_bytes[] = {0xab, 0xcd, 0xef, 0x01};
static const struct build_id id = {id_bytes, sizeof(id_bytes)};

/* Address 10 * i is of function i, inlined in "outer". */
static void fill(uint64_t origin, uint64_t first, uint64_t count)
{
    struct symbol_cache *cache = symbol_cache_open(id, origin);
    char names[many][16];

    assert_non_null(cache);
    for (uint64_t i = 0; i < count; i++) {
        struct symbol symbols[2] = {{.name = names[i], .file = "a.c", .line = (uint32_t)i},
                                    {.name = "outer", .offset_bytes = i}};

        snprintf(names[i], sizeof(names[i]), "f%u", (unsigned)(first + i));
        symbol_cache_add(cache, 10 * (first + i), symbols, i == 7 ? 0 : 2);
    }
    symbol_cache_close(cache);
}

static bool knows(uint64_t origin, uint64_t index)
{
    struct symbol_cache *cache = symbol_cache_open(id, origin);
    struct symbol found[INLINED_MOST];
    size_t count;
    char name[16];
    bool is_known = symbol_cache_find(cache, 10 * index, found, INLINED_MOST, &count);

    snprintf(name, sizeof(name), "f%u", (unsigned)index);
    if (is_known && count) {
        assert_int_equal(count, 2);
        assert_string_equal(found[0].name, name);
        assert_string_equal(found[0].file, "a.c");
        assert_string_equal(found[1].name, "outer");
        assert_null(found[1].file);
    }
    symbol_cache_close(cache);
    return is_known;
}

static char *file_path(const char *folder)
{
    char *path = malloc(512);

    assert_non_null(path);
    snprintf(path, 512, "%s/leaktide/names-abcdef01", folder);
    return path;
}

static void names_are_found_again(void **state)
{
    (void)state;
    fill(1, 0, many);
    for (uint64_t i = 0; i < many; i++)
        assert_true(knows(1, i));
    assert_false(knows(1, many));
}

static void what_is_new_is_added(void **state)
{
    (void)state;
    fill(1, 0, many);
    fill(1, many, many);
    fill(1, many / 2, many);
    for (uint64_t i = 0; i < 2 * many; i++)
        assert_true(knows(1, i));
}

static void names_of_other_debug_data_are_forgotten(void **state)
{
    (void)state;
    fill(1, 0, many);
    assert_false(knows(2, 0));
    fill(2, many, many);
    assert_false(knows(1, 0));
    assert_false(knows(2, 0));
    assert_true(knows(2, many));
}

static void a_single_name_is_kept(void **state)
{
    (void)state;
    fill(1, 3, 1);
    assert_true(knows(1, 3));
    assert_false(knows(1, 4));
}

static void nothing_is_kept_where_that_is_not_wanted(void **state)
{
    (void)state;
    fill(1, 0, many);
    setenv("LEAKTIDE_NAMES_CACHE", "0", 1);
    assert_null(symbol_cache_open(id, 1));
    setenv("LEAKTIDE_NAMES_CACHE", "much", 1);
    assert_true(knows(1, 3));
    unsetenv("LEAKTIDE_NAMES_CACHE");
}

/* Makes a file of half a MiB in the folder of caches that was used so many days ago. */
static char *old_file(const char *folder, const char *name, int days)
{
    static const char bytes[1 << 19];
    char inner[512];
    char *path;
    struct timespec times[2];

    snprintf(inner, sizeof(inner), "%s/leaktide", folder);
    path = temporary_file_write(inner, name, bytes, sizeof(bytes));
    clock_gettime(CLOCK_REALTIME, &times[0]);
    times[0].tv_sec -= (time_t)days * 24 * 60 * 60;
    times[1] = times[0];
    assert_int_equal(utimensat(AT_FDCWD, path, times, 0), 0);
    return path;
}

static void what_was_used_longest_ago_makes_room(void **state)
{
    char *oldest, *older, *foreign;

    setenv("LEAKTIDE_NAMES_CACHE", "1", 1);
    fill(1, 0, 1);
    oldest = old_file(*state, "names-00000001", 3);
    older = old_file(*state, "names-00000002", 2);
    foreign = old_file(*state, "of-somebody-else", 9);
    fill(1, 1, 1);
    assert_int_not_equal(access(oldest, F_OK), 0);
    assert_int_equal(access(older, F_OK), 0);
    assert_int_equal(access(foreign, F_OK), 0);
    assert_true(knows(1, 0));
    unlink(older);
    unlink(foreign);
    free(oldest);
    free(older);
    free(foreign);
    unsetenv("LEAKTIDE_NAMES_CACHE");
}

static void what_is_read_counts_as_used(void **state)
{
    char *path = file_path(*state);
    struct timespec old[2] = {{.tv_sec = 1000}, {.tv_sec = 1000}};
    struct stat status;

    fill(1, 0, 1);
    assert_int_equal(utimensat(AT_FDCWD, path, old, 0), 0);
    assert_true(knows(1, 0));
    assert_int_equal(stat(path, &status), 0);
    assert_true(status.st_mtim.tv_sec > 1000);
    free(path);
}

static void without_a_build_id_nothing_is_kept(void **state)
{
    (void)state;
    assert_null(symbol_cache_open((struct build_id){NULL, 0}, 1));
    symbol_cache_add(NULL, 0, NULL, 0);
    symbol_cache_close(NULL);
}

static void a_damaged_file_is_as_good_as_none(void **state)
{
    char *path = file_path(*state);
    unsigned char bytes[1 << 16];
    size_t size_bytes;
    FILE *file;

    fill(1, 0, many);
    file = fopen(path, "rb");
    assert_non_null(file);
    size_bytes = fread(bytes, 1, sizeof(bytes), file);
    fclose(file);
    for (size_t i = 0; i < size_bytes; i += 1 + size_bytes / 300) {
        bytes[i] ^= 0x10;
        file = fopen(path, "wb");
        assert_int_equal(fwrite(bytes, 1, size_bytes - i % 2, file), size_bytes - i % 2);
        fclose(file);
        assert_false(knows(1, 3));
        bytes[i] ^= 0x10;
    }
    fill(1, 0, many);
    assert_true(knows(1, 3));
    free(path);
}

static int folder_make(void **state)
{
    char *folder = temporary_folder_create();

    *state = folder;
    return setenv("XDG_CACHE_HOME", folder, 1);
}

static int folder_remove(void **state)
{
    char *folder = *state, *path = file_path(folder);

    unlink(path);
    *strrchr(path, '/') = 0;
    rmdir(path);
    free(path);
    temporary_folder_remove(folder);
    return 0;
}

#define TEST(test) cmocka_unit_test_setup_teardown(test, folder_make, folder_remove)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(names_are_found_again),
        TEST(what_is_new_is_added),
        TEST(names_of_other_debug_data_are_forgotten),
        TEST(a_single_name_is_kept),
        TEST(nothing_is_kept_where_that_is_not_wanted),
        TEST(what_was_used_longest_ago_makes_room),
        TEST(what_is_read_counts_as_used),
        TEST(without_a_build_id_nothing_is_kept),
        TEST(a_damaged_file_is_as_good_as_none),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
