/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sites of one function that allocates for many read the same. They are distinguished by the first
 * caller that only one of them has, as rows of a table are (alike_rows.h).
 */
#ifndef LEAKTIDE_ANALYSES_SITE_CALLER_H
#define LEAKTIDE_ANALYSES_SITE_CALLER_H

#include "labels.h"

enum { SITES_COMPARED_MOST = 64 };

/* " < train:12", to stand after the label of the site; "" where that is enough, or where all
 * callers that people are shown are those of another site, too. In the arena. others: with the site
 * itself or without; 0 is none. */
const char *site_caller(const struct question *question, struct arena *arena, uint32_t site,
                        const uint32_t *others, size_t count);

#endif
