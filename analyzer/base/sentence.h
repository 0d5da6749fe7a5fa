/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Text for people.
 *
 * The message's id is its English format: call sites say what they mean, and another language is a
 * catalogue (language.h) that translated() looks into. Whoever formats text for people asks it:
 * sentence(), and the functions of reports, errors and complaints that take a format. Names, keys
 * and numbers are not translated: arena_format().
 */
#ifndef LEAKTIDE_BASE_SENTENCE_H
#define LEAKTIDE_BASE_SENTENCE_H

#include "arena.h"

/* The format in the language of the reader; the English where the catalogue has no other. */
const char *translated(const char *english) __attribute__((format_arg(1)));

/* In the arena; never NULL, "" when the system has no memory. */
const char *sentence(struct arena *arena, const char *english, ...)
    __attribute__((format(printf, 2, 3)));
const char *sentence_list(struct arena *arena, const char *english, va_list arguments)
    __attribute__((format(printf, 2, 0)));

#endif
