/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A text on its way out of leaktide: the only way for names to leave.
 *
 *     struct outlet *out = outlet_create(FOR_TERMINAL, stdout);
 *
 *     outlet_format(out, "%s holds ", pool_name);       made harmless for a terminal
 *     outlet_amount(out, text_add_size, held_bytes);
 *     outlet_add(out, "\n");                            a literal: ours
 *     is_written = outlet_destroy(out);
 *
 * What goes in is a literal, a number, or a text that harmless.h has made harmless for the reader:
 * what is no literal does not compile where one is asked for, and every %s and %c is made
 * harmless. Readers with quotes, JSON and csv, get each text in its quotes. With a file, what is
 * done goes there now and then; without one it stays until outlet_text().
 *
 * Running out of memory and errors of writing are remembered; outlet_destroy() tells. Every
 * function takes NULL for an outlet that could not be made.
 */
#ifndef LEAKTIDE_BASE_OUTLET_H
#define LEAKTIDE_BASE_OUTLET_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "harmless.h"
#include "terminal_look.h"

struct outlet;

/* file: stays the caller's; NULL: none. */
struct outlet *outlet_create(enum audience audience, FILE *file);
/* What is left goes to the file. True when everything arrived; else errno may tell. */
bool outlet_destroy(struct outlet *outlet);
/* The same, and goes on. */
bool outlet_flush(struct outlet *outlet);
bool outlet_has_failed(const struct outlet *outlet);
/* Something that belongs into it could not be had. */
void outlet_fail(struct outlet *outlet);

/* The words are literals. */
#define outlet_add(outlet, words) outlet_add_literal((outlet), "" words, sizeof("" words) - 1)
#define outlet_add_either(outlet, is_first, first, second)                                         \
    ((is_first) ? outlet_add((outlet), first) : outlet_add((outlet), second))
#define outlet_format(outlet, ...)   outlet_add_format((outlet), "" __VA_ARGS__)
/* For people: sentence.h. */
#define outlet_sentence(outlet, ...) outlet_add_sentence((outlet), "" __VA_ARGS__)
void outlet_add_literal(struct outlet *outlet, const char *literal, size_t size_bytes);
void outlet_add_format(struct outlet *outlet, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
void outlet_add_sentence(struct outlet *outlet, const char *english, ...)
    __attribute__((format(printf, 2, 3)));
void outlet_add_arguments(struct outlet *outlet, const char *format, va_list arguments)
    __attribute__((format(printf, 2, 0)));

/* Words of anybody, made harmless for the reader of the outlet, or for one inside of it. */
void outlet_words(struct outlet *outlet, const char *words);
void outlet_words_for(struct outlet *outlet, enum audience audience, const char *words);
/* What a function of text_builder.h makes of a number: outlet_amount(out, text_add_size, 4096). */
void outlet_amount(struct outlet *outlet, void (*add)(struct text_builder *text, uint64_t number),
                   uint64_t number);
void outlet_number(struct outlet *outlet, uint64_t number);
void outlet_blanks(struct outlet *outlet, size_t count);
/* Takes back the blanks before. */
void outlet_end_line(struct outlet *outlet);
/* Bytes as letters of base64. */
void outlet_base64(struct outlet *outlet, const unsigned char *bytes, size_t size_bytes);
/* Bytes that are part of leaktide itself: the page. */
void outlet_page(struct outlet *outlet, const unsigned char *bytes, size_t size_bytes);

/* --- what a terminal shows, and files do not get -------------------------------------------------
 */

/* Copied; until then, and for NULL: a file. */
void outlet_show(struct outlet *outlet, const struct terminal_look *look);
/* 0: lines of any length. */
size_t outlet_columns(const struct outlet *outlet);
/* Until the next style. */
void outlet_style(struct outlet *outlet, enum style style);
/* Words of anybody; what they say first, "LEAK:", stands out. */
void outlet_headline(struct outlet *outlet, const char *words);
/*
 * A place in a source file, "net.py:12", that leads there; line 0: without one. Of a path longer
 * than room the end is shown; 0: all of it.
 */
void outlet_place(struct outlet *outlet, const char *file, uint32_t line, size_t room);
/* What is put in between the two is broken at blanks; lines after the first are indented. */
void outlet_fill_begin(struct outlet *outlet);
void outlet_fill_end(struct outlet *outlet, size_t indent);

/* Of an outlet without a file. Columns of a terminal; what was put into it, for the same reader. */
size_t outlet_width(const struct outlet *outlet);
const char *outlet_text(const struct outlet *outlet, size_t *size_bytes);
void outlet_append(struct outlet *outlet, const struct outlet *other);
/* No more than width columns of it: what is in the middle makes way for an ellipsis. */
void outlet_append_short(struct outlet *outlet, const struct outlet *other, size_t width);
/* Its first lines. */
void outlet_append_lines(struct outlet *outlet, const struct outlet *other, size_t count);
void outlet_clear(struct outlet *outlet);

/* A sentence, whole, to a stream of the terminal; for the few words of a command. */
#define outlet_print(file, ...) outlet_print_format((file), "" __VA_ARGS__)
/* Lines of somebody. */
bool outlet_print_lines(FILE *file, const char *lines);
bool outlet_print_format(FILE *file, const char *format, ...) __attribute__((format(printf, 2, 3)));

#endif
