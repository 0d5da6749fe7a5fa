/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Functions of a CPython that was stripped: of a fake one, of one that leaves two for each, and
 * damaged.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "symbol_source.h"

static const struct build_id any = {NULL, 0};
static char copy_path[] = "/tmp/interpreter_symbols_test.XXXXXX";

/* Where the fake has the function whose address this variable of it is. */
static uint64_t place_of(const char *path, const char *variable)
{
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    const void *const *function;
    Dl_info info;

    assert_non_null(library);
    function = dlsym(library, variable);
    assert_non_null(function);
    assert_true(dladdr(*function, &info));
    return (uint64_t)((const char *)*function - (const char *)info.dli_fbase);
}

static void functions_are_found_by_what_is_left(void **state)
{
    static const struct {
        const char *variable, *name;
    } cases[] = {{"fake_flush_std_files", "flush_std_files"},
                 {"fake_modules", "finalize_modules"},
                 {"fake_collect", "gc_collect"},
                 {"fake_bounded", "bounded_lru_cache_wrapper"}};
    void *symbols;

    (void)state;
    assert_int_equal(interpreter_symbol_source.open(FAKE_STRIPPED, any, 0, &symbols),
                     SYMBOLS_OPENED);
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        uint64_t place = place_of(FAKE_STRIPPED, cases[i].variable), address = 0;
        struct symbol symbol;

        assert_int_equal(interpreter_symbol_source.find(symbols, place + 1, &symbol, 1), 1);
        assert_string_equal(symbol.name, cases[i].name);
        assert_int_equal(symbol.offset_bytes, 1);
        assert_int_equal(interpreter_symbol_source.knows(symbols, cases[i].name, &address),
                         EVIDENCE_YES);
        assert_int_equal(address, place);
    }
    interpreter_symbol_source.close(symbols);
}

static void of_two_that_may_be_it_none_is(void **state)
{
    static const char *const names[] = {"flush_std_files", "finalize_modules",
                                        "bounded_lru_cache_wrapper"};
    uint64_t address;
    void *symbols;

    (void)state;
    assert_int_equal(interpreter_symbol_source.open(FAKE_UNCLEAR, any, 0, &symbols),
                     SYMBOLS_OPENED);
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        assert_int_equal(interpreter_symbol_source.knows(symbols, names[i], &address),
                         EVIDENCE_NOT_KNOWABLE);
    assert_int_equal(interpreter_symbol_source.knows(symbols, "gc_collect", &address),
                     EVIDENCE_YES);
    interpreter_symbol_source.close(symbols);
}

static void a_file_with_symbols_needs_nothing_of_this(void **state)
{
    uint64_t address = 0;
    void *symbols;

    (void)state;
    assert_int_equal(interpreter_symbol_source.open("/proc/self/exe", any, 0, &symbols),
                     SYMBOLS_MISSING);
    assert_int_equal(elf_symbol_source.open("/proc/self/exe", any, 0, &symbols), SYMBOLS_OPENED);
    assert_int_equal(elf_symbol_source.knows(symbols, "main", &address), EVIDENCE_YES);
    assert_int_equal(elf_symbol_source.knows(symbols, "finalize_modules", &address), EVIDENCE_NO);
    elf_symbol_source.close(symbols);
    assert_int_equal(elf_symbol_source.open(FAKE_STRIPPED, any, 0, &symbols), SYMBOLS_OPENED);
    assert_int_equal(elf_symbol_source.knows(symbols, "finalize_modules", &address),
                     EVIDENCE_NOT_KNOWABLE);
    elf_symbol_source.close(symbols);
}

static size_t read_fake(unsigned char **bytes)
{
    FILE *file = fopen(FAKE_STRIPPED, "rb");
    size_t size_bytes;

    assert_non_null(file);
    assert_int_equal(fseek(file, 0, SEEK_END), 0);
    size_bytes = (size_t)ftell(file);
    rewind(file);
    *bytes = malloc(size_bytes);
    assert_non_null(*bytes);
    assert_int_equal(fread(*bytes, 1, size_bytes, file), size_bytes);
    fclose(file);
    return size_bytes;
}

static void write_copy(const unsigned char *bytes, size_t size_bytes)
{
    FILE *file = fopen(copy_path, "wb");

    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, size_bytes, file), size_bytes);
    fclose(file);
}

static void damage_is_survived(void **state)
{
    unsigned char *whole, *damaged;
    size_t size_bytes = read_fake(&whole);
    uint32_t seed = 7;
    void *symbols;

    (void)state;
    damaged = malloc(size_bytes);
    assert_non_null(damaged);
    for (int round = 0; round < 1000; round++) {
        memcpy(damaged, whole, size_bytes);
        for (int hit = 0; hit < 16; hit++) {
            seed = seed * 1664525u + 1013904223u;
            damaged[(seed >> 8) % size_bytes] = (unsigned char)(seed >> 24);
        }
        seed = seed * 1664525u + 1013904223u;
        damaged[size_bytes - 1 - (seed >> 8) % (size_bytes < 2560 ? size_bytes : 2560)] ^= 0x41;
        write_copy(damaged, round % 4 ? size_bytes : (seed >> 4) % size_bytes);
        if (interpreter_symbol_source.open(copy_path, any, 0, &symbols) == SYMBOLS_OPENED)
            interpreter_symbol_source.close(symbols);
    }
    free(damaged);
    free(whole);
}

static int copy_make(void **state)
{
    int file = mkstemp(copy_path);

    (void)state;
    return file < 0 ? -1 : close(file);
}

static int copy_remove(void **state)
{
    (void)state;
    return unlink(copy_path);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(functions_are_found_by_what_is_left),
        cmocka_unit_test(of_two_that_may_be_it_none_is),
        cmocka_unit_test(a_file_with_symbols_needs_nothing_of_this),
        cmocka_unit_test(damage_is_survived),
    };

    return cmocka_run_group_tests(tests, copy_make, copy_remove);
}
