/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Ledgers as layers: which of them hold memory that another one handed out. The one rule is the
 * column `lies in` of pools.def, between ledgers of a process and device that both have blocks.
 */
#ifndef LEAKTIDE_ANALYSES_LEDGER_LAYERS_H
#define LEAKTIDE_ANALYSES_LEDGER_LAYERS_H

#include "tally.h"

/* Ledgers above that hold one part in so many of a ledger explain it: the rest is unused in their
 * segments. */
enum { LEDGER_EXPLAINED_SHARE = 4 };

/* Whether blocks of `outer` are cut up for `inner`. */
bool ledger_lies_in(const struct model *model, const struct ledger *inner,
                    const struct ledger *outer);

/* The same, and no third ledger that was recorded lies between the two. */
bool ledger_lies_directly_in(const struct tally *tally, const struct ledger *inner,
                             const struct ledger *outer);

/* Whether another ledger cuts its blocks up: then they are no blocks of the program. */
bool ledger_is_cut_up(const struct tally *tally, const struct ledger *ledger);

/* Whether its memory is counted in no other ledger. What nothing lies below may be added up. */
bool ledger_is_lowest(const struct tally *tally, const struct ledger *ledger);

/* The first ledger of the process's own heap, if this is one of these: malloc's, mappings, objects
 * of an interpreter. What a line keeps there is one thing to mend. Any other ledger is returned. */
uint16_t ledger_of_heap(const struct tally *tally, uint16_t ledger);

/* Whether it is the lowest, and holds memory of a device as the device has it. */
bool ledger_is_of_device(const struct tally *tally, const struct ledger *ledger);

#endif
