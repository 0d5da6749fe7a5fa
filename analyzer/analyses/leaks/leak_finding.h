/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One leak, as a sentence and as a finding with all its figures.
 */
#ifndef LEAKTIDE_ANALYSES_LEAK_FINDING_H
#define LEAKTIDE_ANALYSES_LEAK_FINDING_H

#include "verdict.h"

/* "; the device is full in 4,321 steps", or "" where its free memory was not recorded. */
const char *leak_horizon(const struct question *question, struct report *report,
                         const struct judged *row);
/* Of one by steps. */
void leak_finding(const struct question *question, struct report *report, const struct leak *leak);

#endif
