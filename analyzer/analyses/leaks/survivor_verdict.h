/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What overdue survivors mean: sentences and findings, for a recording without steps of its own.
 */
#ifndef LEAKTIDE_ANALYSES_SURVIVOR_VERDICT_H
#define LEAKTIDE_ANALYSES_SURVIVOR_VERDICT_H

#include "verdict.h"

/* Verdict, remarks and findings, and the outcome. Only where stacks decided. */
void survivors_say(const struct question *question, struct report *report,
                   const struct verdict *verdict);
/* Where nothing leaks: why that cannot be said of all, if so, as verdict and outcome. False: it
 * can. */
bool survivors_say_doubt(const struct question *question, struct report *report,
                         const struct verdict *verdict);
/* Where nothing leaks: what is let go only at the interpreter's end. but: of which that was said;
 * NULL: of none. */
void survivors_say_waiting(const struct question *question, struct report *report,
                           const struct survivors *survivors, const struct survivor_process *but);
/* What programs keep that the job calls and outlives. */
void survivors_say_errands(const struct question *question, struct report *report,
                           const struct survivors *survivors);

#endif
