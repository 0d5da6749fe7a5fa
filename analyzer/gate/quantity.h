/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Numbers with units as people write them into a policy: "28 GiB", "64 KiB/step", "+2%", "0".
 */
#ifndef LEAKTIDE_GATE_QUANTITY_H
#define LEAKTIDE_GATE_QUANTITY_H

#include <stdbool.h>
#include <stdint.h>

/* 1 % = 100: enough for every tolerance that anybody measures. */
enum { PERCENT = 100, PERCENT_MAX = 1000000 * PERCENT };

/*
 * Each reads the whole text. False when it is not such a quantity; *why is then a sentence's end,
 * "a size needs a unit, like 28 GiB".
 *
 * Sizes: B, KiB, MiB, GiB, TiB by 1024; kB, KB, MB, GB, TB by 1000. "0" needs no unit. Fractions
 * are rounded down to a byte.
 */
bool quantity_size(const char *text, uint64_t *bytes, const char **why);
/* A size, with "/step" after it or not. */
bool quantity_size_per_step(const char *text, uint64_t *bytes, const char **why);
/* "8%", "+2%", "-1.5%" */
bool quantity_percent(const char *text, int64_t *hundredths, const char **why);

#endif
