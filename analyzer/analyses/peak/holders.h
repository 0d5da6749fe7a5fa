/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Who of a ledger held something, largest first.
 */
#ifndef LEAKTIDE_ANALYSES_HOLDERS_H
#define LEAKTIDE_ANALYSES_HOLDERS_H

#include "origins.h"

struct holder {
    const struct origin *origin; /* borrowed of the origins */
    struct step_sample held;
};

/*
 * What of an origin counts: at the peak, say. Nothing where no block does.
 */
typedef struct step_sample (*holder_sum)(const void *context, const struct origin *origin);

/* rows: room for all origins. Returns how many of this ledger held something. */
size_t holders_of(const struct origins *origins, uint16_t ledger, holder_sum sum,
                  const void *context, struct holder *rows);

#endif
