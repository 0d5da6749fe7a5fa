/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Is enough known to say that nothing leaks?
 *
 * Only stacks that allocate to the end are judged. "No leak" needs them to have made at least half
 * of the blocks that were made since the loop began: otherwise most of its work was never seen to
 * repeat. What was left by stacks that are not judged is weighed for each pool.
 */
#ifndef LEAKTIDE_ANALYSES_SURVIVOR_EVIDENCE_H
#define LEAKTIDE_ANALYSES_SURVIVOR_EVIDENCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "arena.h"
#include "overdue.h"

struct survivor_evidence {
    uint64_t births, judged_births; /* since the loop began */
    uint64_t unjudged_bytes;        /* left of what stacks made that are not judged */
};

/* A pool of which too little could be judged, though much stays in it. */
struct survivor_pool {
    uint16_t ledger;
    uint64_t unjudged_bytes, unjudged_births; /* these of what was freed again, too */
};

/* Of one stack. */
struct survivor_evidence survivor_evidence_of(struct overdue_part part, bool is_active);
void survivor_evidence_add(struct survivor_evidence *sum, const struct survivor_evidence *evidence);
bool survivor_evidence_is_enough(const struct survivor_evidence *evidence);

/* Which of these ledgers lack it. The list lives as long as the arena; NULL without memory. */
const struct survivor_pool *survivor_evidence_lacking(const struct survivor_evidence *ledgers,
                                                      size_t ledger_count, struct arena *arena,
                                                      size_t *count);

#endif
