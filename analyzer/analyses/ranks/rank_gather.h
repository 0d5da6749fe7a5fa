/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A recording as rows of a summary: one process after the other.
 */
#ifndef LEAKTIDE_ANALYSES_RANK_GATHER_H
#define LEAKTIDE_ANALYSES_RANK_GATHER_H

#include "analysis.h"
#include "summary.h"
#include "survivors.h"

/* Where to, and what the recording does not say. */
struct rank_wish {
    struct summary *summary;
    const char *host; /* NULL: not known */
    bool has_rank;    /* of the one process */
    uint64_t rank;
};

/* survivors: NULL: nobody read for them. Without memory the summary says so. */
void rank_gather(const struct question *question, const struct survivors *survivors,
                 const struct rank_wish *wish);

#endif
