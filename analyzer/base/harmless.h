/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Texts of strangers, made harmless for who reads them. The only place that knows how.
 *
 * Names come from programs, recordings and paths, and hold whatever a stranger put there. Each
 * reader has a row in a table: what means something to it, and how that is written instead. What
 * moves a cursor, turns the direction of writing, breaks a line or is no UTF-8 is shown as the
 * escape a programmer would write: \n, \x1b, \u202e. docs/names.md.
 */
#ifndef LEAKTIDE_BASE_HARMLESS_H
#define LEAKTIDE_BASE_HARMLESS_H

#include <stdbool.h>

#include "text_builder.h"

enum audience {
    FOR_TERMINAL,
    FOR_TERMINAL_LINES, /* line feeds stay */
    FOR_CSV,            /* a cell, in quotes where it needs them */
    FOR_CSV_LINES,      /* a cell, always in quotes; line feeds stay */
    FOR_CSV_INSIDE,     /* a part of a cell whose quotes and beginning are there */
    FOR_JSON,           /* a string, with its quotes; exact, but for what is no UTF-8 */
    FOR_PAGE_JSON,      /* the same for a page that shows it: escapes are shown, too */
    FOR_HTML,
    FOR_XML,
    FOR_MARKDOWN,
    FOR_METRICS,         /* the value of a label of OpenMetrics */
    FOR_GITHUB,          /* the message of a workflow command */
    FOR_GITHUB_PROPERTY, /* and a property */
    FOR_FOLDED,          /* a line of a folded stack */
    FOR_PATTERN,         /* of a suppression: matches the name, whatever is in it */
    AUDIENCE_COUNT
};

/* A person; else a program, which gets English whatever the reader speaks. */
bool audience_is_people(enum audience audience);

void text_add_harmless(struct text_builder *text, enum audience audience, const char *words);

/* Nothing has to be written in another way; quotes around it aside. */
bool is_harmless(enum audience audience, const char *words);

#endif
