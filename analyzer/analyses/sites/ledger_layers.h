/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Ledgers as layers: which of them hold memory that another one handed out. The rule is the column
 * `lies in` of pools.def, between ledgers of a process and device that both have blocks; of a
 * block, whether another one was ever inside (tally_layers.c).
 */
#ifndef LEAKTIDE_ANALYSES_LEDGER_LAYERS_H
#define LEAKTIDE_ANALYSES_LEDGER_LAYERS_H

#include "analysis.h"

/*
 * Whether a recorded pool takes its memory from it. Then it is that pool's reserved memory: its
 * blocks are segments, and no blocks of the program. They are not judged, compared, advised on or
 * called holders; what is outside of the pools is.
 */
bool ledger_is_reserved(const struct ledger *ledger);

/* The ledger that its memory is directly taken from; NULL: it is the lowest that was recorded. What
 * of those may be added up. */
const struct ledger *ledger_below(const struct tally *tally, const struct ledger *ledger);

/*
 * Whether the group's blocks are reserved memory: a pool cut most of them up. Where nobody saw in
 * what the pool's blocks lie, as in recordings without mappings, all are; and so is memory that was
 * taken and never mapped.
 */
bool group_is_reserved(const struct question *question, size_t group);

/* Whether blocks there can leak: memory, and parts of a pool of the driver. Addresses, mappings and
 * what others hold cannot. */
bool ledger_is_judged(const struct ledger *ledger);
/* The same, no reserved memory, and made in the recorded time: as a filter of origins. */
bool group_is_judged(const struct tally *tally, uint32_t group);

/* The opposite of group_is_reserved(), of sums that are whole: as a filter of origins. */
bool group_is_own(const struct tally *tally, uint32_t group);

/* Of a ledger, what is outside of the pools above it, when it was highest: all, if there is none.
 */
uint64_t ledger_outside_peak(const struct tally *tally, uint16_t ledger);

/* The first ledger of the process's own heap, if this is one of these: malloc's, mappings, objects
 * of an interpreter. What a line keeps there is one thing to mend. Any other ledger is returned. */
uint16_t ledger_of_heap(const struct tally *tally, uint16_t ledger);

/* Whether it is the lowest, and holds memory of a device as the device has it. */
bool ledger_is_of_device(const struct tally *tally, const struct ledger *ledger);

#endif
