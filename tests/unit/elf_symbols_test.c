/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Function names from an ELF file: this very program, whole and damaged.
 */
#define _GNU_SOURCE
#include <link.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "demangle.h"
#include "symbol_source.h"

void function_to_be_found(void);

__attribute__((noinline)) void function_to_be_found(void)
{
    __asm__ volatile("");
}

static char copy_path[] = "/tmp/elf_symbols_test.XXXXXX";

struct bytes {
    unsigned char *bytes;
    size_t size_bytes;
};

static struct bytes own_file(void)
{
    FILE *file = fopen("/proc/self/exe", "rb");
    struct bytes read = {NULL, 0};

    assert_non_null(file);
    assert_int_equal(fseek(file, 0, SEEK_END), 0);
    read.size_bytes = (size_t)ftell(file);
    rewind(file);
    read.bytes = malloc(read.size_bytes);
    assert_non_null(read.bytes);
    assert_int_equal(fread(read.bytes, 1, read.size_bytes, file), read.size_bytes);
    fclose(file);
    return read;
}

static void write_copy(const unsigned char *bytes, size_t size_bytes)
{
    FILE *file = fopen(copy_path, "wb");

    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, size_bytes, file), size_bytes);
    fclose(file);
}

static int bias_of_program(struct dl_phdr_info *info, size_t size_bytes, void *bias)
{
    (void)size_bytes;
    *(uint64_t *)bias = info->dlpi_addr;
    return 1; /* the program is the first */
}

static uint64_t own_address(void)
{
    uint64_t bias = 0;

    dl_iterate_phdr(bias_of_program, &bias);
    return (uint64_t)(uintptr_t)&function_to_be_found - bias;
}

static const struct build_id any = {NULL, 0};

static void finds_the_function_of_an_address(void **state)
{
    void *symbols;
    struct symbol symbol;

    (void)state;
    assert_int_equal(elf_symbol_source.open("/proc/self/exe", any, 0, &symbols), SYMBOLS_OPENED);
    assert_true(elf_symbol_source.find(symbols, own_address(), &symbol, 1));
    assert_string_equal(symbol.name, "function_to_be_found");
    assert_int_equal(symbol.offset_bytes, 0);
    assert_false(elf_symbol_source.find(symbols, 0, &symbol, 1));
    assert_false(elf_symbol_source.find(symbols, UINT64_MAX, &symbol, 1));
    elf_symbol_source.close(symbols);
}

static void another_build_is_refused(void **state)
{
    static const uint8_t id[20] = {1, 2, 3};
    struct build_id recorded = {id, sizeof(id)};
    void *symbols;

    (void)state;
    assert_int_equal(elf_symbol_source.open("/proc/self/exe", recorded, 0, &symbols),
                     SYMBOLS_CHANGED);
}

static void what_is_no_elf_file_has_no_symbols(void **state)
{
    void *symbols;

    (void)state;
    assert_int_equal(elf_symbol_source.open("/dev/null", any, 0, &symbols), SYMBOLS_MISSING);
    assert_int_equal(elf_symbol_source.open("/", any, 0, &symbols), SYMBOLS_MISSING);
    assert_int_equal(elf_symbol_source.open("/no/such/file", any, 0, &symbols), SYMBOLS_MISSING);
    write_copy((const unsigned char *)"\177ELF", 4);
    assert_int_equal(elf_symbol_source.open(copy_path, any, 0, &symbols), SYMBOLS_MISSING);
}

static void open_and_look(void)
{
    void *symbols;
    struct symbol symbol;

    if (elf_symbol_source.open(copy_path, any, 0, &symbols) != SYMBOLS_OPENED)
        return;
    for (uint64_t address = 0; address < 0x10000; address += 0x101)
        if (elf_symbol_source.find(symbols, address, &symbol, 1))
            assert_true(strlen(symbol.name) < 100000); /* terminated */
    elf_symbol_source.close(symbols);
}

/* The section headers at the end and the file's header decide everything: hit those most. */
static void damage_is_survived(void **state)
{
    struct bytes whole = own_file();
    unsigned char *damaged = malloc(whole.size_bytes);
    uint32_t seed = 5;

    (void)state;
    assert_non_null(damaged);
    for (int round = 0; round < 400; round++) {
        size_t cut = whole.size_bytes;

        memcpy(damaged, whole.bytes, whole.size_bytes);
        for (int hit = 0; hit < 8; hit++) {
            size_t place;

            seed = seed * 1664525u + 1013904223u;
            place = round % 3 == 0 ? seed % 64 : whole.size_bytes - 1 - seed % 2560;
            damaged[place % whole.size_bytes] = (unsigned char)(seed >> 24);
        }
        if (round % 4 == 0)
            cut = seed % whole.size_bytes;
        write_copy(damaged, cut);
        open_and_look();
    }
    free(damaged);
    free(whole.bytes);
}

static void cpp_names_become_readable(void **state)
{
    char *name = demangle("_ZN5torch8autograd6EngineD1Ev");

    (void)state;
    assert_null(demangle("main"));
    assert_null(demangle("_Z"));
    if (name) /* without a C++ library there is nobody to ask */
        assert_string_equal(name, "torch::autograd::Engine::~Engine()");
    free(name);
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
        cmocka_unit_test(finds_the_function_of_an_address),
        cmocka_unit_test(another_build_is_refused),
        cmocka_unit_test(what_is_no_elf_file_has_no_symbols),
        cmocka_unit_test(damage_is_survived),
        cmocka_unit_test(cpp_names_become_readable),
    };

    return cmocka_run_group_tests(tests, copy_make, copy_remove);
}
