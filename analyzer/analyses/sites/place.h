/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where in the program a site is: the line that its name has, for whoever shows or opens it.
 */
#ifndef LEAKTIDE_ANALYSES_PLACE_H
#define LEAKTIDE_ANALYSES_PLACE_H

#include "labels.h"

/* Texts are "" where nothing is known. */
struct place_in_code {
    const char *label;    /* as in reports */
    const char *function; /* of the frame that the label names; of what has no stack, the label */
    const char *file;     /* without detours: path_shorten() */
    uint32_t line;        /* 0: not known */
    const struct question *question;
    uint32_t site; /* 0: has no stack */
};

/* Texts are in the arena; the question must live as long as the place. */
struct place_in_code place_of(const struct question *question, struct arena *arena, struct who who);

/* "", at no line. */
struct place_in_code place_none(void);

static inline bool place_has_line(const struct place_in_code *place)
{
    return place->file[0] && place->line;
}

/* As symbols_frames(): innermost first, borrowed until the next call. */
const struct symbol_frame *place_frames(const struct place_in_code *place, size_t *count);

/* A copy of a frame's file, without detours. */
const char *place_file(struct arena *arena, const char *file);

/* For findings; missing where not known. */
struct value value_place_text(const char *text);
struct value value_place_line(const struct place_in_code *place);

#endif
