/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where the blocks of a pool lay in its segments, for a picture: at the moment when most was
 * unused.
 */
#ifndef LEAKTIDE_ANALYSES_SEGMENT_MAP_H
#define LEAKTIDE_ANALYSES_SEGMENT_MAP_H

#include "fragments.h"

/* The datasets "segments" and "segment_blocks"; docs/html-report.md tells their columns. */
void segment_map_to_report(const struct fragments *fragments, struct report *report);

#endif
