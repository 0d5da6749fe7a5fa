/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Functions of an ELF file, from .symtab or else .dynsym.
 *
 * Every offset and length in the file is a stranger's and is checked against its size. What is
 * needed is read, not mapped: a file that shrinks while it is mapped would kill us with SIGBUS.
 */
#define _GNU_SOURCE
#include "symbol_source.h"

#include <elf.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { sizeless_most_bytes = 4096 };

static const uint64_t symbols_most_bytes = (uint64_t)1 << 30;

struct function {
    uint64_t address, size_bytes;
    uint32_t name;
};

struct elf_symbols {
    struct function *functions; /* by address */
    size_t count;
    char *names; /* terminated as a whole */
    size_t names_bytes;
};

struct elf_file {
    int descriptor;
    uint64_t size_bytes;
    Elf64_Ehdr header;
    Elf64_Shdr *sections;
    size_t section_count;
};

/* False unless every byte could be read. */
static bool read_at(const struct elf_file *file, uint64_t offset, void *out, uint64_t size_bytes)
{
    uint64_t done = 0;

    if (offset > file->size_bytes || size_bytes > file->size_bytes - offset)
        return false;
    while (done < size_bytes) {
        ssize_t got =
            pread(file->descriptor, (char *)out + done, size_bytes - done, (off_t)(offset + done));

        if (got <= 0)
            return false;
        done += (uint64_t)got;
    }
    return true;
}

/* A copy of part of the file; NULL when it is not there or out of reason. */
static void *read_new(const struct elf_file *file, uint64_t offset, uint64_t size_bytes)
{
    char *copy;

    if (size_bytes > symbols_most_bytes || offset > file->size_bytes ||
        size_bytes > file->size_bytes - offset)
        return NULL;
    copy = malloc(size_bytes + 1);
    if (copy && !read_at(file, offset, copy, size_bytes)) {
        free(copy);
        return NULL;
    }
    if (copy)
        copy[size_bytes] = 0;
    return copy;
}

static void file_close(struct elf_file *file)
{
    free(file->sections);
    if (file->descriptor >= 0)
        close(file->descriptor);
}

static bool header_is_good(const Elf64_Ehdr *header)
{
    return memcmp(header->e_ident, ELFMAG, SELFMAG) == 0 &&
           header->e_ident[EI_CLASS] == ELFCLASS64 && header->e_ident[EI_DATA] == ELFDATA2LSB &&
           header->e_shentsize == sizeof(Elf64_Shdr) && header->e_shnum > 0;
}

static bool file_open(struct elf_file *file, const char *path)
{
    struct stat status;

    memset(file, 0, sizeof(*file));
    /* Not blocking: the path of a module may by now be a pipe. */
    file->descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (file->descriptor < 0 || fstat(file->descriptor, &status) != 0 || !S_ISREG(status.st_mode) ||
        status.st_size < (off_t)sizeof(Elf64_Ehdr)) {
        file_close(file);
        return false;
    }
    file->size_bytes = (uint64_t)status.st_size;
    if (read_at(file, 0, &file->header, sizeof(file->header)) && header_is_good(&file->header)) {
        file->section_count = file->header.e_shnum;
        file->sections =
            read_new(file, file->header.e_shoff, file->section_count * sizeof(Elf64_Shdr));
    }
    if (!file->sections) {
        file_close(file);
        return false;
    }
    return true;
}

/* Compares the GNU build-id among these notes; true when it is there, and then *is_same. */
static bool note_compare(const unsigned char *notes, uint64_t size_bytes, struct build_id recorded,
                         bool *is_same)
{
    while (size_bytes >= sizeof(Elf64_Nhdr)) {
        Elf64_Nhdr note;
        uint64_t name_bytes, content_bytes;

        memcpy(&note, notes, sizeof(note));
        name_bytes = ((uint64_t)note.n_namesz + 3) & ~UINT64_C(3);
        content_bytes = ((uint64_t)note.n_descsz + 3) & ~UINT64_C(3);
        notes += sizeof(note);
        size_bytes -= sizeof(note);
        if (name_bytes + content_bytes > size_bytes)
            return false;
        if (note.n_type == NT_GNU_BUILD_ID && note.n_namesz == 4 && memcmp(notes, "GNU", 4) == 0) {
            *is_same = note.n_descsz == recorded.size_bytes &&
                       memcmp(notes + name_bytes, recorded.bytes, recorded.size_bytes) == 0;
            return true;
        }
        notes += name_bytes + content_bytes;
        size_bytes -= name_bytes + content_bytes;
    }
    return false;
}

/* A file without a build-id cannot be told from another: it is taken as the one recorded. */
static bool is_recorded_one(const struct elf_file *file, struct build_id recorded)
{
    bool is_same = true;

    for (size_t i = 0; recorded.size_bytes && i < file->section_count; i++) {
        unsigned char *notes;
        bool is_found;

        if (file->sections[i].sh_type != SHT_NOTE)
            continue;
        notes = read_new(file, file->sections[i].sh_offset, file->sections[i].sh_size);
        if (!notes)
            continue;
        is_found = note_compare(notes, file->sections[i].sh_size, recorded, &is_same);
        free(notes);
        if (is_found)
            return is_same;
    }
    return true;
}

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

static bool functions_read(struct elf_symbols *symbols, const struct elf_file *file,
                           const Elf64_Shdr *section)
{
    const Elf64_Shdr *names = &file->sections[section->sh_link];
    size_t count = section->sh_size / sizeof(Elf64_Sym);
    Elf64_Sym *rows = read_new(file, section->sh_offset, count * sizeof(*rows));

    symbols->names = read_new(file, names->sh_offset, names->sh_size);
    symbols->names_bytes = names->sh_size;
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

static enum symbol_open_result elf_open(const char *path, struct build_id recorded, void **state)
{
    struct elf_symbols *symbols;
    struct elf_file file;
    const Elf64_Shdr *section;
    enum symbol_open_result result = SYMBOLS_MISSING;

    if (!file_open(&file, path))
        return SYMBOLS_MISSING;
    symbols = calloc(1, sizeof(*symbols));
    section = symbol_section(&file);
    if (!is_recorded_one(&file, recorded))
        result = SYMBOLS_CHANGED;
    else if (symbols && section && functions_read(symbols, &file, section))
        result = SYMBOLS_OPENED;
    file_close(&file);
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
    size_t low = 0, high = symbols->count;
    const struct function *function;

    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (symbols->functions[middle].address <= address)
            low = middle + 1;
        else
            high = middle;
    }
    if (!low || !most)
        return 0;
    function = &symbols->functions[low - 1];
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

const struct symbol_source elf_symbol_source = {"elf", elf_open, elf_find, elf_close};
