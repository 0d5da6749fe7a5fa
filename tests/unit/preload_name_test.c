/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Names for LD_PRELOAD of files whose own paths it cannot hold.
 */
#define _GNU_SOURCE
#include <ftw.h>
#include <limits.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "preload_name.h"
#include "temporary_folder.h"

static char *home;            /* of the links: $XDG_RUNTIME_DIR */
static char folder[PATH_MAX]; /* of the file: its name has a blank and a colon */
static char file[PATH_MAX];

static int make(void **state)
{
    FILE *made;

    (void)state;
    home = temporary_folder_create();
    setenv("XDG_RUNTIME_DIR", home, 1);
    if (snprintf(folder, sizeof(folder), "%s/a b:c", home) < 0 || mkdir(folder, 0755) != 0)
        return -1;
    if (snprintf(file, sizeof(file), "%.4000s/hook.so", folder) < 0)
        return -1;
    made = fopen(file, "w");
    return made && fputs("hook", made) >= 0 && fclose(made) == 0 ? 0 : -1;
}

static int remove_one(const char *path, const struct stat *found, int kind, struct FTW *place)
{
    (void)found, (void)kind;
    return place->level ? remove(path) : 0;
}

static int remove_all(void **state)
{
    (void)state;
    nftw(home, remove_one, 8, FTW_DEPTH | FTW_PHYS);
    temporary_folder_remove(home);
    return 0;
}

static void the_links_folder(char *path)
{
    snprintf(path, PATH_MAX, "%.4000s/leaktide-%u", home, (unsigned)geteuid());
}

static void a_path_without_blanks_stays(void **state)
{
    char path[PATH_MAX] = "/usr/lib/leaktide/hook.so", links[PATH_MAX];

    (void)state;
    assert_true(preload_name(path, sizeof(path)));
    assert_string_equal(path, "/usr/lib/leaktide/hook.so");
    the_links_folder(links);
    assert_int_not_equal(access(links, F_OK), 0);
}

static void another_name_leads_to_the_same_file(void **state)
{
    char path[PATH_MAX], again[PATH_MAX];
    struct stat own, named;

    (void)state;
    strcpy(path, file);
    assert_true(preload_name(path, sizeof(path)));
    assert_null(strpbrk(path, " :"));
    assert_int_equal(stat(file, &own), 0);
    assert_int_equal(stat(path, &named), 0);
    assert_true(own.st_ino == named.st_ino && own.st_dev == named.st_dev);
    strcpy(again, file);
    assert_true(preload_name(again, sizeof(again)));
    assert_string_equal(again, path);
}

static void a_folder_open_to_others_is_not_used(void **state)
{
    char links[PATH_MAX], path[PATH_MAX];

    (void)state;
    the_links_folder(links);
    assert_int_equal(mkdir(links, 0700), 0);
    assert_int_equal(chmod(links, 0777), 0);
    strcpy(path, file);
    assert_false(preload_name(path, sizeof(path)));
    assert_string_equal(path, file);
}

static void a_link_to_elsewhere_is_not_used(void **state)
{
    char path[PATH_MAX], link[PATH_MAX];

    (void)state;
    strcpy(path, file);
    assert_true(preload_name(path, sizeof(path)));
    strcpy(link, path);
    *strrchr(link, '/') = 0;
    assert_int_equal(unlink(link), 0);
    assert_int_equal(symlink("/", link), 0);
    strcpy(path, file);
    assert_false(preload_name(path, sizeof(path)));
    assert_string_equal(path, file);
}

static void a_name_that_does_not_fit_changes_nothing(void **state)
{
    char path[PATH_MAX];

    (void)state;
    strcpy(path, file);
    assert_false(preload_name(path, strlen(file) / 2));
    assert_string_equal(path, file);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_path_without_blanks_stays, make, remove_all),
        cmocka_unit_test_setup_teardown(another_name_leads_to_the_same_file, make, remove_all),
        cmocka_unit_test_setup_teardown(a_folder_open_to_others_is_not_used, make, remove_all),
        cmocka_unit_test_setup_teardown(a_link_to_elsewhere_is_not_used, make, remove_all),
        cmocka_unit_test_setup_teardown(a_name_that_does_not_fit_changes_nothing, make, remove_all),
    };

    return cmocka_run_group_tests_name("preload_name", tests, NULL, NULL);
}
