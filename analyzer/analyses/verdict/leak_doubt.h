/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Why "no leak" cannot be said of a recording, or of a process of it.
 *
 * The word of a doubt is what a summary keeps (`unjudged` of its ranks): it keeps its meaning.
 */
#ifndef LEAKTIDE_ANALYSES_LEAK_DOUBT_H
#define LEAKTIDE_ANALYSES_LEAK_DOUBT_H

#include "survivors.h"

enum leak_doubt {
    LEAK_DOUBT_NONE,
    LEAK_DOUBT_BLOCKS,  /* no allocation of a block is there */
    LEAK_DOUBT_STEPS,   /* too few steps, and too little repeats to the end */
    LEAK_DOUBT_HIDDEN,  /* CPython's own allocator made the objects */
    LEAK_DOUBT_UNSEEN,  /* the process grows by what no block explains */
    LEAK_DOUBT_LOOP,    /* most of the time was a loop that ended, and much of it stays */
    LEAK_DOUBT_TURNS,   /* what stays may be a leak, a cache that fills, or garbage */
    LEAK_DOUBT_WAITING, /* what stays is let go at the interpreter's end: garbage, or a leak */
    LEAK_DOUBT_RISE,    /* what it holds rises to the end, and no stack tells why */
    LEAK_DOUBT_POOL,    /* what was made in the loop on a device, or much of what stays, was not
                           made to its end */
    LEAK_DOUBT_MISSING, /* much of the recording could not be read */
    LEAK_DOUBT_OLDER,   /* a summary that does not tell */
    LEAK_DOUBT_COUNT
};

/* survivors: what was read of them; NULL: nothing. Errands and leaks that were found are no doubt.
 */
enum leak_doubt leak_doubt_of(const struct question *question, const struct survivors *survivors);
/*
 * The same of one process alone. *judged_count: of its sites by steps, those of growth_judge()
 * (0: it was not asked); where steps do not decide, its stacks that allocate to the end.
 */
enum leak_doubt leak_doubt_of_process(const struct question *question,
                                      const struct survivors *survivors, uint16_t process,
                                      size_t *judged_count);
/* Stacks that allocate to the end decide, not steps. */
bool leak_stacks_decide(const struct question *question, const struct survivors *survivors);

/* "steps"; "" of LEAK_DOUBT_NONE. */
const char *leak_doubt_word(enum leak_doubt doubt);
/* LEAK_DOUBT_OLDER where the word is not known. */
enum leak_doubt leak_doubt_by_word(const char *word);
/* For people, in their language; without a full stop. */
const char *leak_doubt_reason(enum leak_doubt doubt);

#endif
