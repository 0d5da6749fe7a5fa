/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One ledger over the recorded time.
 *
 *   unreleased in the window - older blocks released in it = net growth
 */
#ifndef LEAKTIDE_ANALYSES_WINDOW_ACCOUNT_H
#define LEAKTIDE_ANALYSES_WINDOW_ACCOUNT_H

#include <stdbool.h>
#include <stdint.h>

#include "tally.h"

/* What is older and still there at the end is no part of unreleased, nor is it growth. */
struct window_account {
    uint64_t unreleased_bytes, unreleased_count;
    uint64_t older_bytes;                    /* when the window opened */
    uint64_t released_bytes, released_count; /* of the older ones */
    bool is_released_known;                  /* how many bytes */
    bool is_older_known;                     /* the source tells what there was */
};

struct window_account window_account_of(const struct tally *tally, uint16_t ledger);
/* Nothing is known of it when is_released_known is false. */
int64_t window_growth_bytes(const struct window_account *account);

#endif
