/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the analyses decompose and inefficient find of blocks.
 *
 * It is known only after the last row of a block, so it is found in a reading before the one that
 * writes. Both give a block the same number. Memory is a byte for each allocation.
 */
#ifndef LEAKTIDE_DUMP_FINDINGS_H
#define LEAKTIDE_DUMP_FINDINGS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "inefficiency.h"
#include "memscope_writer.h"

enum { DUMP_OWNER_BYTES = 256 };

struct dump_findings {
    bool is_looking; /* the reading that finds */
    uint8_t *bits;   /* by the number of the allocation */
    size_t count;
    struct inefficiency *judge; /* while looking; NULL: nobody asks */
    char owner[DUMP_OWNER_BYTES], types[INEFFICIENCY_NAMES_BYTES]; /* of the newest row */
};

/* False when there is no memory. */
bool dump_findings_begin(struct dump_findings *findings, bool has_judge);
bool dump_findings_end(struct dump_findings *findings);
void dump_findings_release(struct dump_findings *findings);

/* Nothing happens but while looking. False when there is no memory. */
bool dump_findings_take(struct dump_findings *findings, const struct inefficiency_event *event);
bool dump_findings_use(struct dump_findings *findings, uint64_t allocation);

/* Adds attributes of the block to `made`; row: as it was recorded. Borrowed until the next call. */
void dump_findings_add_owner(struct dump_findings *findings, struct memscope_row *made,
                             const struct memscope_row *row, uint64_t allocation);
void dump_findings_add_types(struct dump_findings *findings, struct memscope_row *made,
                             uint64_t allocation);

#endif
