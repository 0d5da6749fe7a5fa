/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which steps are listed one by one: the last ones of each process. A loop of a few instructions
 * has millions.
 */
#ifndef LEAKTIDE_ANALYSES_LISTED_STEPS_H
#define LEAKTIDE_ANALYSES_LISTED_STEPS_H

#include "analysis.h"

/* The index of the first, as struct step; one more than that of the last when there is none. */
uint32_t listed_steps_first(const struct question *question, uint16_t process);
/* Says below the table of a ledger how many were left out, if any. */
void listed_steps_remark(const struct question *question, struct report *report,
                         struct report_table *table, uint16_t ledger);

#endif
