/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where the segments of each ledger are.
 *
 * Viewers want each block inside a segment at any time, and stop when one is not. So segments are
 * those of the recording only where it tells them and all its blocks are in them; else they are
 * made up, as the stretches of addresses in which there was a block. One reading finds out.
 */
#ifndef LEAKTIDE_VIZ_SEGMENTS_H
#define LEAKTIDE_VIZ_SEGMENTS_H

#include "export.h"
#include "lives.h"
#include "range_set.h"

struct viz_ledger {
    struct range_set segments; /* at the end of the recording */
    bool is_told;              /* by the recording; else made up */
    bool is_mapped;            /* parts of mappings, that come and go piece by piece */
    unsigned row_shift;        /* see viz_address() */
};

/* One for each ledger, in *out. As lives_read(). */
enum mt_result viz_segments_create(const struct export_request *request, struct viz_ledger **out,
                                   struct mt_error *error);
void viz_segments_destroy(struct viz_ledger *ledgers, size_t count);

/* Where the block is. One that is a row of a file is put beside the one before. */
uint64_t viz_address(const struct viz_ledger *ledger, const struct life *life);

/* The ledger that such an event belongs to; false when there is none. */
bool viz_ledger_of(const struct export_request *request, const struct event *event,
                   uint16_t *ledger);

#endif
