/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Of how many ranks it is known whether they leak.
 */
#ifndef LEAKTIDE_ANALYSES_RANK_JUDGED_H
#define LEAKTIDE_ANALYSES_RANK_JUDGED_H

#include "doubt.h"
#include "rank_set.h"

struct rank_judged {
    size_t judged_count;      /* sites, and stacks that allocate to the end, of all ranks */
    size_t unjudged_count;    /* ranks */
    const struct rank *first; /* of these; NULL: there is none */
    enum doubt_kind doubt;    /* its */
};

/* Of a finished set. A rank whose summary does not tell is not judged. */
struct rank_judged rank_find_judged(const struct rank_set *set);
/* Those that are not: "1 of 65 ranks; the first, rank 64: too few steps ..."; NULL: all are. */
const char *rank_judged_words(const struct rank_set *set, const struct rank_judged *judged,
                              struct arena *arena);

#endif
