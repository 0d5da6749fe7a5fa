/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What leaks, and weighs so little in all that it is not called a leak. docs/verdicts.md: Weight.
 */
#ifndef LEAKTIDE_ANALYSES_GROWTH_WEIGHT_H
#define LEAKTIDE_ANALYSES_GROWTH_WEIGHT_H

#include "growth.h"

/* The process's own heap, where interpreters keep a little by design. */
bool growth_is_heap(const struct tally *tally, uint16_t ledger);
/* Leaks in the heap of a process become VERDICT_LIGHT if all of them together are light, and each
 * that is little beside the others; those that another pool explains do not count. What stays of
 * each marked step weighs the same in a large process as in a small one. */
void growth_weigh(const struct question *question, uint16_t process, struct judged_list *list);

#endif
