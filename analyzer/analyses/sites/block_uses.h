/* SPDX-License-Identifier: Apache-2.0 */
/*
 * When each block was used: a second reading, for recordings that have accesses.
 *
 * An access belongs to the block that holds its address, so views count for what they look at. A
 * position counts what the device was given to do: operators that began, else kernels that were
 * launched, in the block's process.
 */
#ifndef LEAKTIDE_ANALYSES_BLOCK_USES_H
#define LEAKTIDE_ANALYSES_BLOCK_USES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analysis.h"
#include "block_use.h"
#include "lives.h"

struct use_visitor {
    void *context;
    /* Return false to stop. */
    bool (*over)(void *context, const struct life *life, const struct block_use *use);
};

static inline bool uses_are_known(const struct tally *tally)
{
    return tally_event_count(tally, EVENT_ACCESS) > 0;
}

/* missed_count: accesses that lie in no block that is alive. */
enum mt_result uses_read(const struct question *question, const struct use_visitor *visitor,
                         uint64_t *missed_count, struct mt_error *error);

#endif
