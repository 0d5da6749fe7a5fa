/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A recording as rows of a summary: one process after the other.
 */
#ifndef LEAKTIDE_ANALYSES_RANK_GATHER_H
#define LEAKTIDE_ANALYSES_RANK_GATHER_H

#include "analysis.h"
#include "summary.h"
#include "verdict.h"

/* Where to, and what the recording does not say. */
struct rank_wish {
    struct summary *summary;
    const char *host; /* NULL: not known */
    bool has_rank;    /* of the one process */
    uint64_t rank;
};

/* verdict: NULL: there was no memory for one. Then, and without memory here, the summary says so.
 */
void rank_gather(const struct question *question, const struct verdict *verdict,
                 const struct rank_wish *wish);

#endif
