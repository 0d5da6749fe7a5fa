/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a frame of Python is in a stack: a word with the number of its code and its line.
 *
 *     words    (code object, its generation, instruction) -> word; two a set, the newer stay
 *     codes    identity (names, first line) -> number, by slots that hold its place
 *     places   (code object, its generation) -> how far its table of lines was read
 *     lines    (number, key of the instruction's line) -> line; where contents are read
 *
 * A code becomes a number and a `code` record the first time its identity is met, so a number never
 * means another one. Where deaths of code objects are seen, their contents are read when they are
 * new; where they are not, at each event. Codes are not forgotten before their memory is full; then
 * all are, and get second numbers and records.
 */
#ifndef LEAKTIDE_TRACER_PYTHON_WORDS_H
#define LEAKTIDE_TRACER_PYTHON_WORDS_H

#include <stddef.h>
#include <stdint.h>

#include "python_code.h"
#include "python_frames.h"

enum {
    PYTHON_WORD_SETS = 4096,
    PYTHON_WORD_WAYS = 2,
    PYTHON_LINE_PLACES = 64,
    PYTHON_LINE_SLOTS = 4096,
    PYTHON_CODE_FIRST_SLOTS = 1024,
    PYTHON_CODES_MIN_BYTES = 1 << 18
};

struct word_slot {
    const char *code;
    uint64_t instruction, word;
    uint32_t generation;
};

struct known_code {
    struct python_identity identity;
    uint64_t id;
};

struct line_place {
    const char *code;
    uint32_t generation;
    struct python_line_place place;
};

struct line_slot {
    uint64_t code_id, key;
    uint32_t line;
};

/* Of one stream; zeros at first, touched as it is used. */
struct python_words {
    struct word_slot words[PYTHON_WORD_SETS][PYTHON_WORD_WAYS];
    struct line_place places[PYTHON_LINE_PLACES];
    struct line_slot lines[PYTHON_LINE_SLOTS];
    struct known_code *codes;
    uint32_t *slots;               /* place in codes + 1; 0: empty; at most half are taken */
    uint32_t slot_count, slot_max; /* in use now; powers of two */
    uint32_t code_count;
    uint64_t dying_id; /* of the code that stands for those that die; 0: none did */
    char text[PYTHON_TEXT_MAX];
};

/* memory: for codes; zeros, aligned to 8, at least PYTHON_CODES_MIN_BYTES. */
void python_words_init(struct python_words *words, void *memory, size_t size_bytes);

/*
 * The word of a frame that was just read. May write a `code` record. The second one asks nothing
 * that was remembered of the code object.
 */
uint64_t python_word(struct python_words *words, const struct python_frame *frame);
uint64_t python_word_by_contents(struct python_words *words, const struct python_frame *frame);

#endif
