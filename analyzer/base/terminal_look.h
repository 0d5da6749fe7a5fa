/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a terminal can show, and the escape sequences for it. Nothing else in the analyzer writes
 * one: outlets do, by these functions.
 */
#ifndef LEAKTIDE_BASE_TERMINAL_LOOK_H
#define LEAKTIDE_BASE_TERMINAL_LOOK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "text_builder.h"

/* All 0: a file or a pipe, which gets lines of any length and no escape sequence. */
struct terminal_look {
    size_t columns; /* 0: lines of any length */
    bool has_colours, has_links;
};

enum style {
    STYLE_PLAIN,
    STYLE_STRONG,
    STYLE_BAD,
    STYLE_UNSURE,
    STYLE_GOOD,
    STYLE_FAINT,
    STYLE_COUNT
};

/* Until the next style; nothing without colours. */
void text_add_style(struct text_builder *text, const struct terminal_look *look, enum style style);

/*
 * Begins a link to a line of a source file (OSC 8); false where the terminal has no links or the
 * file is not there, and then there is nothing to end.
 */
bool text_begin_link(struct text_builder *text, const struct terminal_look *look, const char *file,
                     uint32_t line);
void text_end_link(struct text_builder *text);

/* Columns that are shown of a text with escape sequences of ours. */
size_t text_shown_width(const char *terminated);

/*
 * Breaks what was added since start at blanks, so that no line is wider than the terminal unless
 * one word is; each new line begins with indent blanks. A number stays with its unit. Nothing
 * where lines may have any length.
 */
void text_fill(struct text_builder *text, const struct terminal_look *look, size_t start,
               size_t indent);

/* How many bytes of a sentence say what it is, "LEAK:", "No leak:", and their style; 0: none. */
size_t headline_style(const char *sentence, enum style *style);

#endif
