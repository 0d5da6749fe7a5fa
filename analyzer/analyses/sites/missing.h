/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How much of a recording is not there: what every answer about it begins with.
 */
#ifndef LEAKTIDE_ANALYSES_MISSING_H
#define LEAKTIDE_ANALYSES_MISSING_H

#include "analysis.h"
#include "arena.h"

/* "5 of 8 rows (62 %) could not be read"; "" where nothing is missing. Never NULL. */
const char *missing_words(struct model *model, struct arena *texts);
/* So much that what was not found may be there: a hundredth, or nobody knows how much. */
bool missing_is_much(struct model *model);
/* Then. */
#define SEEN_NO_LEAK_SENTENCE                                                                      \
    "CANNOT SAY whether something leaks: nothing was found to leak in what could be read."

/*
 * Why there is no block to speak of: nothing was allocated, or the source has counters alone; then
 * the highest. Ends in a full stop.
 */
const char *no_blocks_sentence(const struct question *question, struct arena *texts);
/* Before all other sentences. name: of one recording among several; "" of the only one. */
void missing_say(const struct question *question, const char *name, struct report *report);

#endif
