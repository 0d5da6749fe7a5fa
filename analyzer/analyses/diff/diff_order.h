/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Lines up the allocations of operators, ledger by ledger, in the order in which they were made.
 */
#ifndef LEAKTIDE_ANALYSES_DIFF_ORDER_H
#define LEAKTIDE_ANALYSES_DIFF_ORDER_H

#include "diff_join.h"

/*
 * Fills `order` of the operators' rows: the first base against the current side. False without
 * memory; rows are then left without.
 */
bool diff_order_operators(struct diff_join *join);

#endif
