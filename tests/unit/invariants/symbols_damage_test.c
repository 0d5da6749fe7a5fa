/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Assertions of symbols: what a stack stands for, the functions of a file, and names that are kept.
 */
#define _GNU_SOURCE
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "death.h"
#include "elf_image.c"
#include "elf_symbols.c"
#include "site_identity.c"
#include "symbol_cache.c"

static struct named_frame frame;
static const struct named_frame *const frames[] = {&frame};
static struct elf_symbols functions;
static struct elf_image image;
static struct symbol_cache cache;
static struct writing writing;

static void image_make(char *names, size_t names_bytes)
{
    static struct image_pointer pointers[] = {{16, 0}, {32, 0}};
    static struct image_export exports[] = {{16, 0}, {32, 2}};
    static struct image_function two[] = {{16, 4}, {32, 4}};

    image = (struct elf_image){.pointers = pointers,
                               .pointer_count = 2,
                               .exports = exports,
                               .export_count = 2,
                               .names = names,
                               .names_bytes = names_bytes,
                               .functions = two,
                               .function_count = 2};
    image_check(&image);
}

static void make(void)
{
    static struct function two[] = {{16, 4, 0}, {32, 4, 2}};
    static char names[] = "f\0g";
    static struct cache_header header = {.address_count = 1, .frame_count = 1};
    static struct cache_address address = {16, 0, 1};
    struct symbol symbol = {.name = "f"};

    frame =
        (struct named_frame){.function = "f", .file = "", .module = "", .class = CLASS_OPERATOR};
    telling_frame(frames, 1);
    functions = (struct elf_symbols){two, 2, names, sizeof(names) - 1, true};
    functions_check(&functions);
    image_make(names, sizeof(names) - 1);
    cache = (struct symbol_cache){.bytes = names, .header = &header, .addresses = &address};
    arena_init(&cache.arena);
    table_init(&cache.new_symbols, &cache.arena, sizeof(struct symbol));
    text_add_char(&writing.texts, 0, 1);
    put_address(&writing, 16, &symbol, 1);
    writing_check(&writing, 17);
}

static void find(uint64_t address)
{
    struct symbol found[1];
    size_t count;

    symbol_cache_find(&cache, address, found, 1, &count);
}

static struct cache_address *written(void)
{
    return (struct cache_address *)writing.addresses.bytes;
}

DAMAGE(make, entry_of_no_operator, frame.class = CLASS_NATIVE; operator_entry(frames, 1, 0))
DAMAGE(make, telling_of_no_frame, telling_frame(frames, 0))
DAMAGE(make, function_name, functions.functions[1].name = 9; functions_check(&functions))
DAMAGE(make, function_order, functions.functions[1].address = 8; functions_check(&functions))
DAMAGE(make, function_names, functions.names_bytes = 2; functions_check(&functions))
DAMAGE(make, image_pointer_order, image.pointers[1].address = 8; image_check(&image))
DAMAGE(make, image_export_name, image.exports[1].name = 9; image_check(&image))
DAMAGE(make, image_functions_apart, image.functions[0].size_bytes = 17; image_check(&image))
DAMAGE(make, cache_frames, ((struct cache_address *)(uintptr_t)cache.addresses)->frame_count = 2;
       find(16))
DAMAGE(make, cache_addresses_written, writing.address_count++; writing_check(&writing, 17))
DAMAGE(make, cache_frames_written, writing.frame_count++; writing_check(&writing, 17))
DAMAGE(make, cache_address_order, writing_check(&writing, 16))
DAMAGE(make, cache_frames_of_last, written()->frame_count = 2; writing_check(&writing, 17))
DAMAGE(make, cache_inlined_most, put_address(&writing, 32, NULL, INLINED_MOST + 1))
DAMAGE(make, cache_new_frames, put_new(&writing, &cache, &(struct cache_address){32, 0, 1}))

int main(void)
{
    return deaths_run();
}
