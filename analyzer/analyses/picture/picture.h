/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a picture of a recording needs, gathered in a second reading: totals over time, blocks,
 * named stretches of time. picture.c gathers, picture_datasets.c hands it to the report.
 *
 * Memory is bounded whatever the recording: see the limits in picture.c.
 */
#ifndef LEAKTIDE_ANALYSES_PICTURE_H
#define LEAKTIDE_ANALYSES_PICTURE_H

#include "analysis.h"
#include "curve.h"
#include "hash_index.h"
#include "kept_blocks.h"
#include "page_groups.h"
#include "phases.h"

enum { PICTURE_DETAILS = 4 };

struct picture {
    const struct question *question;
    struct curve_limits limits;
    size_t ledger_count, sample_count;
    struct curve *live, *reserved; /* by ledger */
    uint64_t *live_bytes;          /* by ledger: now */
    struct curve *samples;         /* by row of the tally's samples */
    struct hash_index sample_index;
    struct curve_detail details[PICTURE_DETAILS];
    uint16_t detail_ledgers[PICTURE_DETAILS];
    size_t detail_count;
    struct page_groups groups;
    struct kept_blocks kept; /* their groups are those of the page */
    struct phases phases, operators;
    bool has_failed; /* no memory */
};

/* Everything as datasets; docs/html-report.md tells their columns. */
void picture_to_report(const struct picture *picture, struct report *report);

#endif
