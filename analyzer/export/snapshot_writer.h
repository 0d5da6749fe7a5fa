/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Lists and maps as PyTorch's viewer and its Python readers want them, a pickle, or as JSON.
 *
 *   put_map_begin, put_key "action", put_text "alloc", put_key "frames", put_list_begin ... put_end
 *
 * The viewer knows the opcodes of protocol 2 to 4 only, and no JSON. In a pickle a value that comes
 * again is a number of a few bytes: viewers hold it once.
 */
#ifndef LEAKTIDE_SNAPSHOT_WRITER_H
#define LEAKTIDE_SNAPSHOT_WRITER_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "outlet.h"

enum { SNAPSHOT_DEPTH_MOST = 8, SNAPSHOT_KEYS_MOST = 64 };

struct snapshot_writer {
    FILE *out;           /* a pickle */
    struct outlet *json; /* FOR_JSON; NULL: a pickle */
    bool has_failed;
    struct text_builder text; /* for texts that are put together */
    struct snapshot_level {
        bool is_map;
        uint32_t count; /* of items in it */
    } levels[SNAPSHOT_DEPTH_MOST];
    unsigned depth;
    const char *keys[SNAPSHOT_KEYS_MOST]; /* that were written; in a pickle, by memo */
    uint32_t key_count;
    uint32_t memo_count;
};

/* json: NULL for a pickle, which goes to out. */
void snapshot_writer_init(struct snapshot_writer *writer, FILE *out, struct outlet *json);
/* The end of the file. False when there was no memory; errors of the file are its owner's. */
bool snapshot_writer_finish(struct snapshot_writer *writer);

void put_map_begin(struct snapshot_writer *writer);
void put_list_begin(struct snapshot_writer *writer);
/* Of the innermost list or map. */
void put_end(struct snapshot_writer *writer);
/* key: of static storage, distinguished by its pointer. */
void put_key(struct snapshot_writer *writer, const char *key);
void put_number(struct snapshot_writer *writer, uint64_t number);
void put_flag(struct snapshot_writer *writer, bool flag);
/* What is no UTF-8 becomes U+FFFD. */
void put_text(struct snapshot_writer *writer, const char *text);

/* *memo is 0 at first. A value that was remembered is put again; false: put it anew, and remember
 * it right after, so that there is a next time. */
bool put_again(struct snapshot_writer *writer, uint32_t memo);
void put_remembered(struct snapshot_writer *writer, uint32_t *memo);

#endif
