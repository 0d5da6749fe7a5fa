/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One leak, as a sentence and as a finding with all its figures.
 */
#ifndef LEAKTIDE_ANALYSES_LEAK_FINDING_H
#define LEAKTIDE_ANALYSES_LEAK_FINDING_H

#include "growth.h"

/* "192 KiB per step at train: 2.06 MiB since step 3, survivors of 12 of 12 steps (pta device 0)" */
const char *leak_sentence(const struct question *question, struct report *report,
                          const struct judged *row);
/* "58 of 58 steps": how many left survivors. */
const char *leak_births(struct report *report, const struct judged *row);
/* "; the device is full in 4,321 steps", or "" where its free memory was not recorded. */
const char *leak_horizon(const struct question *question, struct report *report,
                         const struct judged *row);
void leak_finding(const struct question *question, struct report *report, const struct judged *row);

#endif
