/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The evidence of the rules about a request that failed.
 */
#ifndef LEAKTIDE_ANALYSES_FAILED_REQUEST_H
#define LEAKTIDE_ANALYSES_FAILED_REQUEST_H

#include "advice_rules.h"
#include "labels.h"

/* A request that failed, and what was there then. */
struct failed_request {
    const struct failure *failure;
    bool knows_pools, knows_pieces;
    uint64_t unused_bytes, largest_piece_bytes, waiting_bytes; /* of all pools of the device */
    struct who grown, holder; /* who grew most since a step, and who held most */
    uint64_t grown_bytes, holder_bytes;
    uint32_t since_step; /* 0: there are no steps to compare with */
};

extern const struct rule failure_rules[];

#endif
