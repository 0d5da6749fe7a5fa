/* SPDX-License-Identifier: Apache-2.0 */
/*
 * From an address of a process to symbols: finds its module, and the module's files.
 *
 * Files are opened when the first address of theirs is asked for, and kept. What is missing, or is
 * not the file that was recorded, gives those that stayed with the recording; else none, and a note
 * in the model with its build-id. One thread at a time.
 */
#ifndef LEAKTIDE_MODULE_SYMBOLS_H
#define LEAKTIDE_MODULE_SYMBOLS_H

#include <stddef.h>
#include <stdint.h>

#include "arena.h"
#include "debug_files.h"
#include "debug_server.h"
#include "model.h"
#include "module_places.h"
#include "symbol_source.h"
#include "table.h"

struct module_symbols {
    struct model *model;
    struct arena arena;
    struct debug_places places;
    const char *const *name_folders; /* with names that stayed with recordings; borrowed */
    size_t name_folder_count;
    struct debug_server *server; /* NULL: nobody is asked */
    struct table files;
    struct module_places modules;
};

/* What is at an address. Names and files are borrowed from module_symbols. */
struct address_names {
    const char *module_path;             /* "": in no known module */
    uint64_t link_address;               /* in the module; as recorded without one */
    struct symbol symbols[INLINED_MOST]; /* innermost first */
    size_t count;                        /* 0: no symbol covers it */
};

void module_symbols_init(struct module_symbols *modules, struct model *model);
void module_symbols_release(struct module_symbols *modules);

/* Where a call returns to. */
struct return_place {
    const struct model_module *module; /* NULL: looked for by the rest */
    uint16_t process;
    uint64_t address, time_ns;
};

/* This place will be asked for: what is said before the first question is found out together. */
void module_symbols_expect(struct module_symbols *modules, const struct return_place *place);

void module_symbols_find(struct module_symbols *modules, const struct return_place *place,
                         struct address_names *found);

/*
 * Whether the module of this place has a function of that name. Not knowable: it may, but its names
 * are lost, or it is not here and nobody kept them.
 */
enum evidence_value module_symbols_knows(struct module_symbols *modules,
                                         const struct return_place *place, const char *name);

/* Puts the names of this place into a folder, where module_symbols_init() with that folder finds
 * them when the file itself is another one, or gone. They are written at the release. */
void module_symbols_keep(struct module_symbols *modules, const struct return_place *place,
                         const char *folder);

#endif
