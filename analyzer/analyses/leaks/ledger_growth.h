/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Does a ledger as a whole grow from step to step?
 */
#ifndef LEAKTIDE_ANALYSES_LEDGER_GROWTH_H
#define LEAKTIDE_ANALYSES_LEDGER_GROWTH_H

#include "verdict.h"

/* A table; and a leak where a ledger has one that none of the judged sites explains. */
void ledger_growth_add(const struct question *question, struct report *report,
                       const struct verdict *verdict);

#endif
