/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Do survivors keep being born? From one series: how many were born in each step.
 */
#ifndef LEAKTIDE_ANALYSES_BIRTHS_H
#define LEAKTIDE_ANALYSES_BIRTHS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * counts, bytes  of survivors, by the step of their birth; count <= TREND_MAX
 * site_count     how many sites are asked about: of a hundred thousand, chance makes some look like
 *                a slow leak
 */
bool births_go_on(const uint64_t *counts, const uint64_t *bytes, size_t count, size_t site_count);

#endif
