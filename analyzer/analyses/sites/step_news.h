/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What is new when a step ends, against the step before: the origin that grew most.
 */
#ifndef LEAKTIDE_ANALYSES_STEP_NEWS_H
#define LEAKTIDE_ANALYSES_STEP_NEWS_H

#include "origins.h"

struct news {
    const struct origin *origin; /* NULL: nothing grew */
    uint64_t grown_bytes;
};

/* For one ledger: news[i] is about step i; 0 .. last. False without memory. */
bool step_news_of(const struct question *question, const struct origins *origins, uint16_t ledger,
                  struct news *news, uint32_t last);

#endif
