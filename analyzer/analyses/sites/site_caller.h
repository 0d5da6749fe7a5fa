/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Who called the place of a leak, where others have the same one: site_callers.h.
 */
#ifndef LEAKTIDE_ANALYSES_SITE_CALLER_H
#define LEAKTIDE_ANALYSES_SITE_CALLER_H

#include "labels.h"
#include "site_callers.h"

/* " < train:12", to stand after the label of the site; "" where that is enough, or where all
 * callers that people are shown are those of another site, too. In the arena. others: with the site
 * itself or without; 0 is none; more than SITES_ALIKE_MOST that read the same are not compared. */
const char *site_caller(const struct question *question, struct arena *arena, uint32_t site,
                        const uint32_t *others, size_t count);

#endif
