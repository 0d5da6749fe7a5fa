/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a pool itself says that it handed out. Where blocks are older than the recording, only its
 * counter knows the whole; the blocks are the part that was seen being made.
 */
#ifndef LEAKTIDE_ANALYSES_POOL_COUNTER_H
#define LEAKTIDE_ANALYSES_POOL_COUNTER_H

#include "analysis.h"

/* "PTA allocated" for the ledger of pool pta, of its process and device; NULL: the source has none.
 * Borrowed from the tally. */
const struct sample_row *pool_counter_of(const struct question *question, uint16_t ledger);

/* The highest point of a ledger, as the pool counts it where that is more than the blocks. */
struct whole_peak {
    uint64_t bytes, time_ns;
    bool is_counted; /* by the pool */
};

struct whole_peak whole_peak_of(const struct question *question, uint16_t ledger);

/* What it holds at the end of the recording: as the pool counts it, else its blocks and what the
 * source tells of older ones. */
uint64_t whole_end_of(const struct question *question, uint16_t ledger);

#endif
