/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sites as people know them: "train_layer (train.c:88)".
 *
 * A site with a stack is named after the frame that tells where the program asked; site_rules.h
 * says which. Files are opened when the first site of theirs is asked for, and kept. A file that is
 * not the one that was recorded gives module and offset only, and a note in the model.
 * One thread at a time.
 */
#ifndef LEAKTIDE_SYMBOLS_H
#define LEAKTIDE_SYMBOLS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "error_sentence.h"
#include "model.h"
#include "stack_trait.h"

struct symbols;

/* The model must outlive it. */
enum mt_result symbols_create(struct model *model, struct symbols **out, struct mt_error *error);
void symbols_destroy(struct symbols *symbols);

/*
 * Where names come from; to be told before the first name is asked for. Any may be NULL; lists are
 * separated by colons; nothing is kept.
 *
 * rule_files     rules that come before the built-in ones: plumbing.rules
 * sysroot        root of the recorded machine's files
 * debug_folders  where debug data is, besides where it always is: debug_files.h
 * name_folders   with names that stayed with recordings (symbols_keep()); not a list with colons,
 *                and borrowed until symbols_destroy()
 * asks_servers   for debug data that is not here: debug_server.h
 *
 * MT_USAGE: there is no such file or folder, or a line of a file is wrong.
 */
struct symbols_options {
    const char *rule_files, *sysroot, *debug_folders;
    const char *const *name_folders;
    size_t name_folder_count;
    bool asks_servers;
};

enum mt_result symbols_configure(struct symbols *symbols, const struct symbols_options *options,
                                 struct mt_error *error);

/* Names all code of the recording, for a folder that is there: so that they stay when the files are
 * built again. Written when the symbols are destroyed. */
void symbols_keep(struct symbols *symbols, const char *folder);

/*
 * Never NULL; borrowed until symbols_destroy(). Site 0 is "(unknown)". Without a line:
 * "train_layer+0x40 (leak_sample)"; without a name: "leak_sample+0x12f0", and without a module:
 * "0x7f00deadbeef".
 */
const char *symbols_label(struct symbols *symbols, uint32_t site);

/* One line of a stack as people read it. Texts are never NULL; "" is not known. */
struct symbol_frame {
    const char *function; /* readable */
    const char *file;     /* as the debug data has it */
    const char *module;   /* base name of the object, or "" */
    const char *module_path;
    uint64_t link_address; /* in that file, of the return; 0: not known */
    uint32_t line;         /* 0: not known */
    bool is_inlined;       /* in the next outer frame */
    bool is_python;
    bool is_plumbing; /* of an allocator, a framework, an interpreter: seldom who asked */
    bool is_allocator;
    bool is_telling;   /* the site is named after this one */
    const char *whose; /* "the interpreter", "the program" */
};

/*
 * The stack of a site, innermost first; one frame where only the call site is known, none for
 * site 0. Of a very deep one, the innermost SYMBOLS_DEPTH_MOST. Borrowed until the next call; texts
 * until symbols_destroy().
 */
enum { SYMBOLS_DEPTH_MOST = 1024 };

const struct symbol_frame *symbols_frames(struct symbols *symbols, uint32_t site, size_t *count);

/*
 * The innermost frame of a stack of the model, not 0, as symbols_frames() shows it but for
 * is_telling: what is inlined first. Borrowed as there.
 */
const struct symbol_frame *symbols_stack_frames(struct symbols *symbols, uint32_t stack,
                                                size_t *count);

/*
 * A number that stays when the program is built again or lines move: of the normalised stack,
 * without addresses and line numbers. 0 for site 0.
 */
uint64_t symbols_site_id(struct symbols *symbols, uint32_t site);

/*
 * Equal for sites that are one to people, within one recording: the same id and the same label. A
 * site that is no stack is its own. 0 for site 0.
 */
uint64_t symbols_site_key(struct symbols *symbols, uint32_t site);

/*
 * The shape of the site's stack (stack_traits.h) and bits of enum stack_trait. A site that is no
 * stack is its own shape, without traits; 0 for site 0. Nothing is remembered: ask once.
 */
struct symbols_shape {
    uint64_t shape;
    unsigned traits;
    bool is_of_interpreter; /* no frame tells more than one of an interpreter */
};

struct symbols_shape symbols_shape_of(struct symbols *symbols, uint32_t site);

#endif
