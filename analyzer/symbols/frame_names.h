/* SPDX-License-Identifier: Apache-2.0 */
/*
 * From the frames of the model to names: texts as they are, addresses through the symbols of their
 * module.
 *
 * Each frame is looked up once and remembered. One thread at a time.
 */
#ifndef LEAKTIDE_FRAME_NAMES_H
#define LEAKTIDE_FRAME_NAMES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "arena.h"
#include "hash_index.h"
#include "keyed_table.h"
#include "model.h"
#include "module_symbols.h"
#include "site_rules.h"
#include "table.h"

/* One function at one place. Texts are never NULL; "" is not known. */
struct named_frame {
    const char *function; /* readable */
    const char *file;     /* as the source of names has it */
    const char *module;   /* base name */
    const char *module_path;
    uint32_t line;         /* 0: not known */
    uint64_t address;      /* 0: not known */
    bool is_linked;        /* address is an offset in the module, not what the process had */
    uint64_t offset_bytes; /* of the address asked for, from where the function starts */
    bool has_offset;
    bool is_python;
    bool is_inlined;    /* in the next one */
    bool is_loop;       /* of the interpreter: which copy of it runs says nothing */
    uint8_t class;      /* enum frame_class */
    uint64_t shape_key; /* stack_traits.h */
    /* Hashes of the function and where it is: of the base name of its file, and of the whole of it;
     * where that is not known, of the module. */
    uint64_t identity_key, function_key;
};

/* Of one frame of the model. */
struct named_frames {
    const struct named_frame *rows; /* innermost first: what is inlined, then what holds it */
    uint16_t count;                 /* at least 1, unless there is no memory */
    uint16_t traits;                /* bits of enum stack_trait */
    uint8_t telling;                /* the innermost of the rows that tell most: site_rules.h */
    uint8_t class;                  /* of that row */
    bool is_python;
};

struct frame_names {
    struct model *model;
    const struct site_rules *rules;
    struct module_symbols *modules;
    struct arena arena;
    struct named_frames *known; /* by frame of the model; rows NULL: not yet */
    size_t known_count;
    struct table classes; /* struct frame_words_class: of texts of the model */
    struct hash_index class_index;
    struct keyed_table readables; /* struct readable_row: of names of the symbols */
};

void frame_names_init(struct frame_names *names, struct model *model,
                      const struct site_rules *rules, struct module_symbols *modules);
void frame_names_release(struct frame_names *names);

/* Borrowed until release. frame: of the model, not 0. */
struct named_frames frame_names_of(struct frame_names *names, uint32_t frame);

/* Of a place that is not a frame of the model: not remembered, so ask once. module: that is there;
 * NULL: not known. */
struct named_frames frame_names_at(struct frame_names *names, const struct model_frame *frame,
                                   const struct model_module *module);

/* Names of all addresses of the model's frames, for module_symbols_keep(). */
void frame_names_keep(struct frame_names *names, const char *folder);

#endif
