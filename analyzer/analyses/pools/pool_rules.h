/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What to do about what pools hold and nobody uses.
 */
#ifndef LEAKTIDE_ANALYSES_POOL_RULES_H
#define LEAKTIDE_ANALYSES_POOL_RULES_H

#include "advice_rules.h"

extern const struct rule pool_rules[];

#endif
