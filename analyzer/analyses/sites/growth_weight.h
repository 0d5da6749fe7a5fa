/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What leaks, and weighs so little in all that it is not called a leak. docs/verdicts.md: Weight.
 */
#ifndef LEAKTIDE_ANALYSES_GROWTH_WEIGHT_H
#define LEAKTIDE_ANALYSES_GROWTH_WEIGHT_H

#include "growth.h"

/* The process's own heap, where interpreters keep a little by design. */
bool growth_is_heap(const struct tally *tally, uint16_t ledger);
/* Leaks of the ledger become VERDICT_LIGHT if all of them together are light. */
void growth_weigh(const struct tally *tally, uint16_t ledger, struct judged_list *list);

#endif
