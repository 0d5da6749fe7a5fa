/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Leaks of one function that allocates for many read the same. They are distinguished by the first
 * caller that only one of them has, as rows of a table are (alike_rows.h).
 */
#ifndef LEAKTIDE_ANALYSES_ORIGIN_CALLER_H
#define LEAKTIDE_ANALYSES_ORIGIN_CALLER_H

#include "labels.h"
#include "survivors.h"

/* " < train:12", to stand after the label of the origin; "" where that is enough, or where all
 * callers that people are shown are those of another leak, too. In the arena. */
const char *origin_caller(const struct question *question, struct arena *arena,
                          const struct survivor_process *process,
                          const struct survivor_origin *origin);

#endif
