/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Functions, files and lines from DWARF data, as compilers write it in different ways: small
 * programs are asked for an address of theirs, and their files for what is there.
 */
#define _GNU_SOURCE
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

#include "debug_files.h"
#include "symbol_source.h"
#include "temporary_folder.h"

/* What prints an address of its own; the call is before it. */
static uint64_t address_of(const char *program)
{
    FILE *output = popen(program, "r");
    unsigned long long address = 0;

    assert_non_null(output);
    assert_int_equal(fscanf(output, "%llx", &address), 1);
    assert_int_equal(pclose(output), 0);
    return address - 1;
}

static bool ends_with(const char *text, const char *end)
{
    size_t length = strlen(text), end_length = strlen(end);

    return length >= end_length && strcmp(text + length - end_length, end) == 0;
}

static void check_frames(void *state, uint64_t address)
{
    static const struct {
        const char *name;
        uint32_t line;
    } expected[] = {{"inner", 15}, {"middle", 24}, {"outer", 31}};
    struct symbol found[8];

    assert_int_equal(dwarf_symbol_source.find(state, address, found, 8), 3);
    for (size_t i = 0; i < 3; i++) {
        assert_string_equal(found[i].name, expected[i].name);
        assert_int_equal(found[i].line, expected[i].line);
        assert_true(ends_with(found[i].file, "/inlined.c"));
    }
}

static const struct build_id any = {NULL, 0};

static void finds_what_is_inlined(void **state)
{
    const char *program = *state;
    void *symbols;

    assert_int_equal(dwarf_symbol_source.open(program, any, 0, &symbols), SYMBOLS_OPENED);
    check_frames(symbols, address_of(program));
    dwarf_symbol_source.close(symbols);
}

/* A process of its own reads the same; what it was told to expect it knows before. */
static void a_process_of_its_own_finds_the_same(void **state)
{
    uint64_t address = address_of(INLINED_DWARF_5);
    const uint64_t expected[] = {address, 0, address + 1};
    struct symbol found[8];
    void *symbols;

    (void)state;
    assert_int_equal(isolated_dwarf_source.open(INLINED_DWARF_5, any, 0, &symbols), SYMBOLS_OPENED);
    isolated_dwarf_source.expect(symbols, expected, 3);
    for (int round = 0; round < 2; round++) {
        assert_int_equal(isolated_dwarf_source.find(symbols, address, found, 8), 3);
        assert_string_equal(found[0].name, "inner");
        assert_string_equal(found[2].name, "outer");
        assert_int_equal(found[2].line, 31);
        assert_int_equal(isolated_dwarf_source.find(symbols, 0, found, 8), 0);
        assert_int_equal(isolated_dwarf_source.find(symbols, address - 1, found, 8), 3);
    }
    isolated_dwarf_source.close(symbols);
    assert_int_equal(isolated_dwarf_source.open("/bin/true", any, 0, &symbols), SYMBOLS_MISSING);
}

/* Several processes share what is asked at once. */
static void many_at_once_are_found_as_one_by_one(void **state)
{
    enum { COUNT = 9000 };
    uint64_t *addresses = calloc(COUNT, sizeof(*addresses)), start = address_of(INLINED_DWARF_5);
    struct symbol found[8], expected[8];
    void *symbols, *plain;

    (void)state;
    assert_non_null(addresses);
    for (uint64_t i = 0; i < COUNT; i++)
        addresses[i] = start - COUNT / 2 + i;
    assert_int_equal(isolated_dwarf_source.open(INLINED_DWARF_5, any, COUNT, &symbols),
                     SYMBOLS_OPENED);
    assert_int_equal(dwarf_symbol_source.open(INLINED_DWARF_5, any, 0, &plain), SYMBOLS_OPENED);
    isolated_dwarf_source.expect(symbols, addresses, COUNT);
    for (size_t i = 0; i < COUNT; i++) {
        size_t count = dwarf_symbol_source.find(plain, addresses[i], expected, 8);

        assert_int_equal(isolated_dwarf_source.find(symbols, addresses[i], found, 8), count);
        for (size_t f = 0; f < count; f++) {
            assert_int_equal(found[f].line, expected[f].line);
            assert_string_equal(found[f].file, expected[f].file);
        }
    }
    dwarf_symbol_source.close(plain);
    isolated_dwarf_source.close(symbols);
    free(addresses);
}

static void addresses_without_code_have_no_function(void **state)
{
    struct symbol found[8];
    void *symbols;

    (void)state;
    assert_int_equal(dwarf_symbol_source.open(INLINED_DWARF_5, any, 0, &symbols), SYMBOLS_OPENED);
    assert_int_equal(dwarf_symbol_source.find(symbols, 0, found, 8), 0);
    assert_int_equal(dwarf_symbol_source.find(symbols, UINT64_MAX, found, 8), 0);
    assert_int_equal(dwarf_symbol_source.find(symbols, address_of(INLINED_DWARF_5), found, 1), 1);
    dwarf_symbol_source.close(symbols);
}

static void another_build_is_refused(void **state)
{
    static const uint8_t id[20] = {1, 2, 3};
    void *symbols;

    (void)state;
    assert_int_equal(
        dwarf_symbol_source.open(INLINED_DWARF_5, (struct build_id){id, sizeof(id)}, 0, &symbols),
        SYMBOLS_CHANGED);
    assert_int_equal(dwarf_symbol_source.open("/dev/null", any, 0, &symbols), SYMBOLS_MISSING);
    assert_int_equal(dwarf_symbol_source.open("/bin/true", any, 0, &symbols), SYMBOLS_MISSING);
}

/* --- where debug data is ------------------------------------------------------------------- */

static void run(const char *format, ...) __attribute__((format(printf, 1, 2)));

static void run(const char *format, ...)
{
    char command[2048];
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(command, sizeof(command), format, arguments);
    va_end(arguments);
    if (system(command) != 0)
        fail_msg("%s", command);
}

/* With the folders in it. */
static void folder_remove(char *folder)
{
    run("rm -rf '%s'/* '%s'/.debug '%s'/.build-id", folder, folder, folder);
    temporary_folder_remove(folder);
}

/* A program without debug data, and its debug data beside it. */
static void strip_to(const char *folder, const char *debug_folder)
{
    run("cd '%s' && mkdir -p '%s' && objcopy --only-keep-debug %s '%s/prog.debug' && "
        "objcopy --strip-debug --add-gnu-debuglink='%s/prog.debug' %s prog",
        folder, debug_folder, INLINED_DWARF_5, debug_folder, debug_folder, INLINED_DWARF_5);
}

static void check_debug_file(const char *folder, const struct debug_places *places,
                             struct build_id id, const char *expected)
{
    char path[512];
    struct debug_files files;
    void *symbols;

    snprintf(path, sizeof(path), "%s/prog", folder);
    debug_files_find(&files, places, path, id);
    assert_non_null(files.debug);
    assert_true(ends_with(files.debug, expected));
    assert_int_equal(dwarf_symbol_source.open(files.debug, id, 0, &symbols), SYMBOLS_OPENED);
    check_frames(symbols, address_of(INLINED_DWARF_5));
    dwarf_symbol_source.close(symbols);
    debug_files_release(&files);
}

static void debug_data_is_found_by_the_name_in_the_program(void **state)
{
    char *folder = temporary_folder_create();
    const char *folders[] = {NULL};
    char elsewhere[512];
    struct debug_places places = {NULL, folders, 0};

    (void)state;
    strip_to(folder, ".");
    check_debug_file(folder, &places, any, "/prog.debug");
    run("cd '%s' && mkdir .debug && mv prog.debug .debug", folder);
    check_debug_file(folder, &places, any, "/.debug/prog.debug");
    run("cd '%s' && mkdir there && mv .debug/prog.debug there", folder);
    snprintf(elsewhere, sizeof(elsewhere), "%s/there", folder);
    folders[0] = elsewhere;
    places.folder_count = 1;
    check_debug_file(folder, &places, any, "/there/prog.debug");
    folder_remove(folder);
}

/* What is split off, packaged by the tools of binutils and of llvm. */
struct packaging {
    const char *tool, *compiler, *options;
};

static const struct packaging packagings[] = {
    {"dwp", C_COMPILER, "-gdwarf-4"},
    {"llvm-dwp", C_COMPILER, "-gdwarf-4"},
    {"llvm-dwp", "clang", "-gdwarf-4"},
    {"llvm-dwp", "clang", "-gdwarf-5"},
};

static bool is_installed(const char *program)
{
    char command[512];

    snprintf(command, sizeof(command), "command -v '%s' >/dev/null", program);
    return system(command) == 0;
}

static void packaged_data_has_all_names(void **state)
{
    const struct packaging *packaging = *state;
    char *folder, program[512];
    void *symbols;

    if (!is_installed(packaging->tool) || !is_installed(packaging->compiler))
        skip();
    folder = temporary_folder_create();
    snprintf(program, sizeof(program), "%s/prog", folder);
    run("cd '%s' && '%s' -O2 -fno-pie -gsplit-dwarf %s -c '%s' -o prog.o && "
        "'%s' -no-pie prog.o -o prog && timeout 20 '%s' -e prog -o prog.dwp && rm -- *.dwo",
        folder, packaging->compiler, packaging->options, INLINED_SOURCE, packaging->compiler,
        packaging->tool);
    assert_int_equal(dwarf_symbol_source.open(program, any, 0, &symbols), SYMBOLS_OPENED);
    check_frames(symbols, address_of(program));
    dwarf_symbol_source.close(symbols);
    folder_remove(folder);
}

static void debug_data_is_found_by_its_build_id(void **state)
{
    static const uint8_t id_bytes[] = {0xab, 0xcd, 0xef, 0x01};
    struct build_id id = {id_bytes, sizeof(id_bytes)};
    char *folder = temporary_folder_create();
    const char *folders[] = {folder};
    struct debug_places places = {NULL, folders, 1};

    (void)state;
    strip_to(folder, ".");
    run("cd '%s' && mkdir -p .build-id/ab && mv prog.debug .build-id/ab/cdef01.debug", folder);
    check_debug_file(folder, &places, id, "/.build-id/ab/cdef01.debug");
    run("rm '%s/prog'", folder); /* the program itself is not needed */
    check_debug_file(folder, &places, id, "/.build-id/ab/cdef01.debug");
    folder_remove(folder);
}

static void files_of_another_machine_are_below_its_root(void **state)
{
    char *folder = temporary_folder_create();
    struct debug_places places = {folder, NULL, 0};
    struct debug_files files;

    (void)state;
    run("mkdir -p '%s/opt/x' && cp %s '%s/opt/x/prog'", folder, INLINED_DWARF_5, folder);
    debug_files_find(&files, &places, "/opt/x/prog", any);
    assert_true(files.module && strncmp(files.module, folder, strlen(folder)) == 0);
    assert_non_null(files.debug);
    debug_files_release(&files);
    /* Without a build-id, a file of this machine is not taken for one of the other. */
    debug_files_find(&files, &places, INLINED_DWARF_5, any);
    assert_null(files.module);
    debug_files_release(&files);
    folder_remove(folder);
}

static void a_file_of_another_build_is_told(void **state)
{
    static const uint8_t id[20] = {1, 2, 3};
    struct debug_places places = {NULL, NULL, 0};
    struct debug_files files;

    (void)state;
    debug_files_find(&files, &places, INLINED_DWARF_5, (struct build_id){id, sizeof(id)});
    assert_null(files.module);
    assert_null(files.debug);
    assert_true(files.is_changed);
    debug_files_release(&files);
}

#define PACKAGING_TEST(index)                                                                      \
    {                                                                                              \
        "packaged_data_has_all_names " #index, packaged_data_has_all_names, NULL, NULL,            \
            (void *)(uintptr_t)&packagings[index]                                                  \
    }

#define PROGRAM_TEST(test, path)                                                                   \
    {                                                                                              \
#test " " #path, test, NULL, NULL, (void *)(uintptr_t)path                                 \
    }

int main(void)
{
    const struct CMUnitTest tests[] = {
        PROGRAM_TEST(finds_what_is_inlined, INLINED_DWARF_5),
        PROGRAM_TEST(finds_what_is_inlined, INLINED_DWARF_4),
        PROGRAM_TEST(finds_what_is_inlined, INLINED_COMPRESSED),
        PROGRAM_TEST(finds_what_is_inlined, INLINED_SPLIT),
        PROGRAM_TEST(finds_what_is_inlined, INLINED_SPLIT_4),
        PACKAGING_TEST(0),
        PACKAGING_TEST(1),
        PACKAGING_TEST(2),
        PACKAGING_TEST(3),
        cmocka_unit_test(a_process_of_its_own_finds_the_same),
        cmocka_unit_test(many_at_once_are_found_as_one_by_one),
        cmocka_unit_test(addresses_without_code_have_no_function),
        cmocka_unit_test(another_build_is_refused),
        cmocka_unit_test(debug_data_is_found_by_the_name_in_the_program),
        cmocka_unit_test(debug_data_is_found_by_its_build_id),
        cmocka_unit_test(files_of_another_machine_are_below_its_root),
        cmocka_unit_test(a_file_of_another_build_is_told),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
