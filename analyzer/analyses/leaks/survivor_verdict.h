/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What overdue survivors mean: sentences and findings, for a recording without steps of its own.
 */
#ifndef LEAKTIDE_ANALYSES_SURVIVOR_VERDICT_H
#define LEAKTIDE_ANALYSES_SURVIVOR_VERDICT_H

#include "survivors.h"

/* Verdict, remarks and findings, and the outcome. Only where they can judge. */
void survivors_say(const struct question *question, struct report *report,
                   const struct survivors *survivors);
/* "sum_row (ctypes): 61 %; PyDict_Copy < dict_merge: 39 %" Of at most three stacks. */
const char *survivor_shares(const struct question *question, struct report *report,
                            const struct survivor_origin *origin);

#endif
