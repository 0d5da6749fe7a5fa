/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A text that grows at its end.
 *
 * Running out of memory is remembered: the text then stays as it was, and has_failed tells.
 */
#ifndef LEAKTIDE_BASE_TEXT_BUILDER_H
#define LEAKTIDE_BASE_TEXT_BUILDER_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct text_builder {
    char *bytes; /* terminated; NULL while empty */
    size_t size_bytes, capacity_bytes;
    bool has_failed;
};

void text_init(struct text_builder *text);
void text_release(struct text_builder *text);
void text_clear(struct text_builder *text);
/* Never NULL; borrowed until the next change. */
const char *text_get(const struct text_builder *text);

struct arena;

/* A copy in the arena, and the builder is released. Never NULL: "" when memory ran out, here or
 * before, which the arena then remembers. */
const char *text_keep(struct text_builder *text, struct arena *arena);

/* Where at least more_bytes and a terminator may be put; NULL when there is no memory. */
char *text_make_room(struct text_builder *text, size_t more_bytes);

static inline void text_add_bytes(struct text_builder *text, const char *bytes, size_t size_bytes)
{
    char *to = text->capacity_bytes - text->size_bytes > size_bytes
                   ? text->bytes + text->size_bytes
                   : text_make_room(text, size_bytes);

    if (!to)
        return;
    if (size_bytes)
        memcpy(to, bytes, size_bytes);
    to[size_bytes] = 0;
    text->size_bytes += size_bytes;
}

static inline void text_add(struct text_builder *text, const char *terminated)
{
    text_add_bytes(text, terminated, strlen(terminated));
}

void text_add_char(struct text_builder *text, char character, size_t count);
/* 1610612736 */
void text_add_number(struct text_builder *text, uint64_t number);
void text_add_format(struct text_builder *text, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/* For people: sentence.h. */
void text_add_sentence(struct text_builder *text, const char *english, ...)
    __attribute__((format(printf, 2, 3)));

/* 1,610,612,736 */
void text_add_count(struct text_builder *text, uint64_t count);
/* 1.50 GiB: three digits, rounded to nearest; 512 B below a KiB */
void text_add_size(struct text_builder *text, uint64_t bytes);
/* 1.50 GiB (1,610,612,736 B) */
void text_add_size_exact(struct text_builder *text, uint64_t bytes);
/* 1.50 s, 23.4 ms, 512 ns */
void text_add_duration(struct text_builder *text, uint64_t ns);
/* 12.345678 s: as many digits as a microsecond has */
void text_add_time(struct text_builder *text, uint64_t ns);

/* Columns of the character that begins here, 0 to 2; 0 inside of one. At the end of a text: 0. */
size_t text_character_width(const char *at);
/* Columns that a terminal shows for this UTF-8 text. */
size_t text_width(const char *terminated);

#endif
