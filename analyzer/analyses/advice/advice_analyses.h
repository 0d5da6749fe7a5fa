/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What to do, and what it would save.
 */
#ifndef LEAKTIDE_ANALYSES_ADVICE_ANALYSES_H
#define LEAKTIDE_ANALYSES_ADVICE_ANALYSES_H

#include "analysis.h"

void analyse_advice(const struct question *question, struct report *report);
void analyse_advice_in_short(const struct question *question, struct report *report);

#endif
