/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What to do about sites that make the peak.
 */
#ifndef LEAKTIDE_ANALYSES_PEAK_RULES_H
#define LEAKTIDE_ANALYSES_PEAK_RULES_H

#include "advice_rules.h"

extern const struct rule peak_rules[];

#endif
