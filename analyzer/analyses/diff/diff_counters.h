/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Counters of the driver and of the system, of several recordings side by side.
 */
#ifndef LEAKTIDE_ANALYSES_DIFF_COUNTERS_H
#define LEAKTIDE_ANALYSES_DIFF_COUNTERS_H

#include "diff_join.h"

/* A table of the counters that changed, largest change first; at most top rows, 0: all. */
void diff_counters(const struct diff_join *join, struct report *report, size_t top);

#endif
