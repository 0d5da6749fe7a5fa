/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What made the highest point, who held the memory there, and what would lower it.
 */
#ifndef LEAKTIDE_ANALYSES_PEAK_ANALYSES_H
#define LEAKTIDE_ANALYSES_PEAK_ANALYSES_H

#include "analysis.h"

void analyse_peak(const struct question *question, struct report *report);

extern const struct block_analysis near_peak_analysis;
extern const struct block_analysis peak_effect_analysis;
extern const struct block_analysis step_peaks_analysis;

#endif
