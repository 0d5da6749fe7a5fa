/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The evidence of the rules about a request that failed.
 */
#ifndef LEAKTIDE_ANALYSES_FAILED_REQUEST_H
#define LEAKTIDE_ANALYSES_FAILED_REQUEST_H

#include "advice_rules.h"
#include "labels.h"
#include "refusals.h"

/* A request that failed, and what was there then. */
struct failed_request {
    const struct failure *failure;
    uint64_t size_bytes;     /* all of it; where only its parts were seen, at least */
    size_t part_count;       /* that were seen; 0: it was asked for at once */
    uint64_t room_bytes;     /* the device had left, at least: what went to parts that came back */
    uint64_t live_bytes;     /* its ledger had handed out, without those parts */
    uint64_t reserved_bytes; /* and held; 0: it does not tell */
    bool knows_pools, knows_pieces;
    uint64_t held_bytes;                                       /* of all pools of the device */
    uint64_t unused_bytes, largest_piece_bytes, waiting_bytes; /* of it, not used */
    uint64_t most_held_bytes;                                  /* by any pool of the device, ever */
    struct who grown, holder; /* who grew most since a step, and who held most */
    uint64_t grown_bytes, holder_bytes;
    const char
        *since; /* "the end of step 2"; NULL: nobody grew, or there is nothing to compare with */
    uint64_t limit_bytes; /* the most that the process could have of the host; 0: not known */
    enum memory_limit limit;
};

/* "902 MiB", "at least 580 MiB" */
const char *failed_request_size(const struct failed_request *failed, struct arena *texts);

extern const struct rule failure_rules[];

#endif
