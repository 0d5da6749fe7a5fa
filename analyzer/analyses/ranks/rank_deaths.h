/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which rank of a job died first.
 *
 * A rank is dead if its recording was closed and tells no exit, or one with another status than 0.
 * Where all of them ended by signals, they may have been stopped together: then one is the first
 * only if it was alone for a while.
 */
#ifndef LEAKTIDE_ANALYSES_RANK_DEATHS_H
#define LEAKTIDE_ANALYSES_RANK_DEATHS_H

#include "event_source.h"
#include "rank_set.h"

/* Of recordings of leaktide run alone it is known how the process ended. */
#define RANK_TELLS_ENDS SOURCE_KIND_OWN

struct rank_death {
    const struct rank *first; /* NULL: nobody died, or nobody first */
    const struct rank *next;  /* NULL: nobody else died */
    uint64_t next_after_ns;
    size_t dead_count;
    uint64_t peak_bytes, peers_bytes; /* of the ledger that is compared; the median of all peers */
};

/* False without memory. */
bool rank_find_death(const struct rank_set *set, struct rank_death *out);

#endif
