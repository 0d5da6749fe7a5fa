/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Records of a memscope recording in a tenth of their size: what differs from the record before of
 * the same kind. Only this program reads them, and only before it ends.
 */
#ifndef LEAKTIDE_INPUT_MEMSCOPE_PACK_H
#define LEAKTIDE_INPUT_MEMSCOPE_PACK_H

#include "memscope_sort.h"

enum { PACKED_RECORD_MOST_BYTES = 96, PACK_KINDS = 32 };

/* What came before; all 0 at the beginning of a run. */
struct memscope_pack {
    struct memscope_record newest[PACK_KINDS];
    uint64_t time_ns;
};

/* The byte after the record; out has PACKED_RECORD_MOST_BYTES. */
uint8_t *memscope_pack_put(struct memscope_pack *pack, const struct memscope_record *record,
                           uint8_t *out);
/* The byte after the record, which was put as it is now taken; NULL if it was not. */
const uint8_t *memscope_pack_get(struct memscope_pack *pack, const uint8_t *in, const uint8_t *end,
                                 struct memscope_record *record);

#endif
