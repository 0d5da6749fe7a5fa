/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The numbers of a ledger that people compare: its peak, what is alive at the end, and how much of
 * what it reserved was not used. Sentences, tables, tiles, gates, baselines, summaries and exports
 * take them from here.
 *
 * Where blocks are older than the recording, only the pool's own counter knows the whole; the
 * blocks are the part that was seen being made.
 */
#ifndef LEAKTIDE_ANALYSES_LEDGER_FIGURES_H
#define LEAKTIDE_ANALYSES_LEDGER_FIGURES_H

#include "analysis.h"

struct ledger_figures {
    uint64_t peak_bytes, peak_ns; /* as the pool counts it, where that is more than the blocks */
    uint64_t seen_peak_bytes;     /* of it, at most, in blocks that were seen being made */
    uint64_t
        unseen_peak_bytes; /* the rest: older than the recording, or of no block that was told */
    uint64_t held_bytes; /* from below, at most: reserved where the pool tells it, else its peak */
    uint64_t end_bytes;  /* as the pool counts it, else blocks and what the source tells of older */
    uint64_t unseen_end_bytes; /* of it, what no block stands for */
    bool has_counter;          /* the pool itself counts */
    bool is_counted;           /* and its peak is what it counted */
    bool has_reserved;         /* and it can be true: the two below are known */
    uint64_t reserved_peak_bytes;
    uint64_t unused_bytes; /* of it, at that moment: when several were as high, the least */
};

struct ledger_figures ledger_figures_of(const struct question *question, uint16_t ledger);

#endif
