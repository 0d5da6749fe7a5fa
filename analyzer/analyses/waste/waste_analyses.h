/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Memory that is there and not used.
 */
#ifndef LEAKTIDE_ANALYSES_WASTE_ANALYSES_H
#define LEAKTIDE_ANALYSES_WASTE_ANALYSES_H

#include "analysis.h"

void analyse_inefficient(const struct question *question, struct report *report);

#endif
