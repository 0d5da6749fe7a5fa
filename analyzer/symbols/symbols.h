/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sites as people know them: "train_layer+0x40 (leak_sample)".
 *
 * Files are opened when the first site of theirs is asked for, and kept. A file that is not the
 * one that was recorded gives module and offset only, and a note in the model.
 * One thread at a time.
 */
#ifndef MEMTIDE_SYMBOLS_H
#define MEMTIDE_SYMBOLS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "memtide/error.h"
#include "model.h"

struct symbols;

/* The model must outlive it. */
enum mt_result symbols_create(struct model *model, struct symbols **out, struct mt_error *error);
void symbols_destroy(struct symbols *symbols);

/*
 * Never NULL; borrowed until symbols_destroy(). Site 0 is "(unknown)". Without a name:
 * "leak_sample+0x12f0", and without a module: "0x7f00deadbeef".
 */
const char *symbols_label(struct symbols *symbols, uint32_t site);

/* One line of a stack as people read it. Texts are never NULL; "" is not known. */
struct symbol_frame {
    const char *function; /* readable */
    const char *file;     /* as the debug data has it */
    const char *module;   /* base name of the object, or "" */
    uint32_t line;        /* 0: not known */
    bool is_inlined;      /* in the next outer frame */
    bool is_plumbing;     /* of an allocator, a framework, an interpreter: seldom who asked */
};

/*
 * The stack of a site, innermost first; one frame where only the call site is known, none for
 * site 0. Borrowed until the next call; texts until symbols_destroy().
 */
const struct symbol_frame *symbols_frames(struct symbols *symbols, uint32_t site, size_t *count);

/*
 * A number that stays when the program is built again or lines move: of the normalised stack,
 * without addresses and line numbers. 0 for site 0.
 */
uint64_t symbols_site_id(struct symbols *symbols, uint32_t site);

#endif
