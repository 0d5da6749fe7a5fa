/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Text for people, in an arena.
 */
#include "sentence.h"

#include "language.h"

const char *translated(const char *english)
{
    return language_find(english);
}

const char *sentence_list(struct arena *arena, const char *english, va_list arguments)
{
    return arena_format_list(arena, translated(english), arguments);
}

const char *sentence(struct arena *arena, const char *english, ...)
{
    va_list arguments;
    const char *text;

    va_start(arguments, english);
    text = sentence_list(arena, english, arguments);
    va_end(arguments);
    return text;
}
