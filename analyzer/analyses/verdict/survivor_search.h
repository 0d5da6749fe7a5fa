/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Survivors as part of a block analysis: looked for in the reading of all parts of an answer, and
 * only where they say more than steps.
 */
#ifndef LEAKTIDE_ANALYSES_SURVIVOR_SEARCH_H
#define LEAKTIDE_ANALYSES_SURVIVOR_SEARCH_H

#include "analysis.h"
#include "survivors.h"

struct survivor_search {
    const struct question *question;
    struct survivor_reading *reading; /* NULL: steps alone decide */
};

/* A struct survivor_search, for block_analysis.begin; NULL without memory. */
void *survivor_search_begin(const struct question *question, struct life_visitor *visitor);
/* NULL: nobody looked, or, where search->reading is there, there was no memory. Borrowed. */
const struct survivors *survivor_search_result(const struct survivor_search *search);
void survivor_search_release(void *state);

#endif
