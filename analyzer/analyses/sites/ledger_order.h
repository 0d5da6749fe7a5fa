/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which ledgers come first: memory of devices, then what devices reach, then the host's own; among
 * equals, the one with more memory that no recorded ledger above took from it: a pool comes before
 * the driver's ledger that it cuts up. Ledgers of helpers are the last.
 */
#ifndef LEAKTIDE_ANALYSES_LEDGER_ORDER_H
#define LEAKTIDE_ANALYSES_LEDGER_ORDER_H

#include "tally.h"

/* Indexes of all ledgers with events, *count of them, for free(); NULL without memory. */
uint16_t *ledger_order(const struct tally *tally, size_t *count);

/* Whether a ledger is high enough to be shown in detail beside the first of the order. */
bool ledger_matters(const struct tally *tally, uint16_t first, uint16_t ledger);
/* Whether its holders are listed: of reserved memory, only what matters is outside of its pools. */
bool ledger_is_detailed(const struct tally *tally, uint16_t first, uint16_t ledger);

#endif
