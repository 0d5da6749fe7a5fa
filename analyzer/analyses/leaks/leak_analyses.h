/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What grows from step to step, or stays without steps.
 */
#ifndef LEAKTIDE_ANALYSES_LEAK_ANALYSES_H
#define LEAKTIDE_ANALYSES_LEAK_ANALYSES_H

#include "analysis.h"

void analyse_leftovers(const struct question *question, struct report *report);
void analyse_window(const struct question *question, struct report *report);

extern const struct block_analysis leaks_analysis;

#endif
