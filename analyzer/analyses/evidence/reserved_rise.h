/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Does a pool reserve ever more, from step to step, though it never uses more? Then pieces are free
 * that no request fits.
 */
#ifndef LEAKTIDE_ANALYSES_RESERVED_RISE_H
#define LEAKTIDE_ANALYSES_RESERVED_RISE_H

#include <stdbool.h>
#include <stdint.h>

#include "analysis.h"

/* Of a ledger, between the ends of two steps of its process. */
struct reserved_rise {
    uint64_t bytes; /* 0: it does not rise to the end, or what is used rises as well */
    uint32_t steps; /* in which it rose */
};

/* first, last: indexes of steps that have ended; last > first. */
struct reserved_rise reserved_rise_of(const struct question *question, uint16_t ledger,
                                      uint32_t first, uint32_t last);

#endif
