/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Functions of an ELF file, from .symtab or else .dynsym.
 */
#include <stdlib.h>
#include <string.h>

#include "elf_file.h"
#include "leaktide/invariant.h"
#include "sorted_rows.h"
#include "symbol_source.h"

enum { sizeless_most_bytes = 4096 };

struct function {
    uint64_t address, size_bytes;
    uint32_t name;
};

struct elf_symbols {
    struct function *functions; /* by address */
    size_t count;
    char *names; /* terminated as a whole */
    size_t names_bytes;
    bool is_whole; /* static functions, too */
};

static const Elf64_Shdr *symbol_section(const struct elf_file *file)
{
    static const uint32_t wanted[] = {SHT_SYMTAB, SHT_DYNSYM};

    for (size_t w = 0; w < 2; w++)
        for (size_t i = 0; i < file->section_count; i++)
            if (file->sections[i].sh_type == wanted[w] &&
                file->sections[i].sh_entsize == sizeof(Elf64_Sym) &&
                file->sections[i].sh_link < file->section_count)
                return &file->sections[i];
    return NULL;
}

static bool is_function(const Elf64_Sym *symbol, size_t names_bytes)
{
    unsigned type = ELF64_ST_TYPE(symbol->st_info);

    return (type == STT_FUNC || type == STT_GNU_IFUNC) && symbol->st_shndx != SHN_UNDEF &&
           symbol->st_name < names_bytes;
}

static int function_compare(const void *left, const void *right)
{
    const struct function *a = left, *b = right;

    if (a->address != b->address)
        return a->address < b->address ? -1 : 1;
    /* Of two names for one address, the same one each time: the first in the file. */
    return a->name < b->name ? -1 : a->name > b->name;
}

/* Sorted, so that an address is looked for in halves; names are in the table. */
static void functions_check(const struct elf_symbols *symbols)
{
    MT_ASSERT(!symbols->names[symbols->names_bytes]);
    for (size_t i = 0; i < symbols->count; i++) {
        MT_ASSERT(symbols->functions[i].name < symbols->names_bytes);
        MT_ASSERT(!i || symbols->functions[i - 1].address <= symbols->functions[i].address);
    }
}

static bool functions_read(struct elf_symbols *symbols, const struct elf_file *file,
                           const Elf64_Shdr *section)
{
    const Elf64_Shdr *names = &file->sections[section->sh_link];
    size_t count = section->sh_size / sizeof(Elf64_Sym);
    Elf64_Sym *rows = elf_file_read(file, section->sh_offset, count * sizeof(*rows));

    symbols->names = elf_file_read(file, names->sh_offset, names->sh_size);
    symbols->names_bytes = names->sh_size;
    symbols->is_whole = section->sh_type == SHT_SYMTAB;
    symbols->functions = rows ? malloc((count + 1) * sizeof(*symbols->functions)) : NULL;
    if (!symbols->names || !symbols->functions) {
        free(rows);
        return false;
    }
    for (size_t i = 0; i < count; i++)
        if (is_function(&rows[i], symbols->names_bytes))
            symbols->functions[symbols->count++] =
                (struct function){rows[i].st_value, rows[i].st_size, rows[i].st_name};
    free(rows);
    qsort(symbols->functions, symbols->count, sizeof(*symbols->functions), function_compare);
    if (MT_ASSERTS)
        functions_check(symbols);
    return symbols->count > 0;
}

static void elf_close(void *state)
{
    struct elf_symbols *symbols = state;

    if (!symbols)
        return;
    free(symbols->functions);
    free(symbols->names);
    free(symbols);
}

static enum symbol_open_result elf_open(const char *path, struct build_id recorded,
                                        size_t expected_count, void **state)
{
    struct elf_symbols *symbols;
    struct elf_file file;
    const Elf64_Shdr *section;
    enum symbol_open_result result = SYMBOLS_MISSING;

    (void)expected_count;
    if (!elf_file_open(&file, path))
        return SYMBOLS_MISSING;
    symbols = calloc(1, sizeof(*symbols));
    section = symbol_section(&file);
    if (!elf_file_is(&file, recorded))
        result = SYMBOLS_CHANGED;
    else if (symbols && section && functions_read(symbols, &file, section))
        result = SYMBOLS_OPENED;
    elf_file_close(&file);
    if (result == SYMBOLS_OPENED)
        *state = symbols;
    else
        elf_close(symbols);
    return result;
}

/* The function that starts last at or before the address, if the address is inside of it. */
static size_t elf_find(void *state, uint64_t address, struct symbol *symbols_found, size_t most)
{
    const struct elf_symbols *symbols = state;
    size_t count =
        rows_up_to(symbols->functions, symbols->count, sizeof(*symbols->functions), address);
    const struct function *function;

    if (!count || !most)
        return 0;
    function = &symbols->functions[count - 1];
    while (function > symbols->functions && function[-1].address == function->address)
        function--;
    /* Hand-written assembly often has no size: it ends where the next one starts, or soon. */
    if (address - function->address >=
        (function->size_bytes ? function->size_bytes : sizeless_most_bytes))
        return 0;
    symbols_found[0] = (struct symbol){.name = symbols->names + function->name,
                                       .offset_bytes = address - function->address};
    return 1;
}

/* "train.constprop.0" is one of train. */
static bool is_named(const char *function, const char *name)
{
    size_t length = strlen(name);

    return strncmp(function, name, length) == 0 && (!function[length] || function[length] == '.');
}

static enum evidence_value elf_knows(void *state, const char *name, uint64_t *address)
{
    const struct elf_symbols *symbols = state;

    for (size_t i = 0; i < symbols->count; i++)
        if (is_named(symbols->names + symbols->functions[i].name, name)) {
            *address = symbols->functions[i].address;
            return EVIDENCE_YES;
        }
    return symbols->is_whole ? EVIDENCE_NO : EVIDENCE_NOT_KNOWABLE;
}

const struct symbol_source elf_symbol_source = {"elf",     elf_open, elf_find,
                                                elf_close, NULL,     elf_knows};
