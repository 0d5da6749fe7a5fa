/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where names of functions come from: one source per kind of debug data.
 */
#ifndef LEAKTIDE_SYMBOL_SOURCE_H
#define LEAKTIDE_SYMBOL_SOURCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "elf_file.h"
#include "evidence_value.h"

/* Functions at one address; more are cut off outside. */
enum { INLINED_MOST = 32 };

struct symbol {
    const char *name;      /* as in the file; borrowed until close; NULL: not known */
    const char *file;      /* of the source; NULL: not known; borrowed until close */
    uint32_t line;         /* 0: not known */
    uint64_t offset_bytes; /* of the address asked for, from where the function starts; of DWARF
                              data, which has lines, 0 */
};

enum symbol_open_result {
    SYMBOLS_OPENED,
    SYMBOLS_MISSING, /* no such file, not an ELF file of this kind, or without symbols */
    SYMBOLS_CHANGED  /* the file is not the one that was recorded */
};

/* One per kind of debug data; symbols.c holds the table, best first. */
struct symbol_source {
    const char *name;
    /* expected_count: how many addresses `expect` will tell of at once; 0: not known. */
    enum symbol_open_result (*open)(const char *path, struct build_id recorded,
                                    size_t expected_count, void **state);
    /*
     * address: of the link, not of the process. Fills in at most `most` functions, what is inlined
     * first; returns how many.
     */
    size_t (*find)(void *state, uint64_t address, struct symbol *symbols, size_t most);
    void (*close)(void *state);
    /*
     * These will be asked for soon: all at once may be cheaper, and is if neighbours are beside
     * each other. NULL: no difference.
     */
    void (*expect)(void *state, const uint64_t *addresses, size_t count);
    /*
     * Whether the file has a function of this name, and where it begins. Not knowable where it may
     * have one whose name is lost. NULL: names are not what it knows.
     */
    enum evidence_value (*knows)(void *state, const char *name, uint64_t *address);
};

/* The isolated one is the same in a process of its own, which hostile data may crash. */
extern const struct symbol_source elf_symbol_source, dwarf_symbol_source, isolated_dwarf_source;
/* Names that rules look for, of a CPython that was stripped of them. */
extern const struct symbol_source interpreter_symbol_source;

#endif
