/* SPDX-License-Identifier: Apache-2.0 */
/*
 * When one block was used, seen event by event: what every question about memory that is there and
 * not used begins with, ours and msmemscope's.
 *
 * Positions count what the device was given to do, by a rule of whoever asks; both parts of a
 * moment never go back.
 */
#ifndef LEAKTIDE_MODEL_BLOCK_USE_H
#define LEAKTIDE_MODEL_BLOCK_USE_H

#include <stdint.h>

struct moment {
    uint64_t time_ns, position;
};

struct block_use {
    struct moment born, freed;        /* freed: the end of the recording where it is alive then */
    struct moment first, last;        /* uses; as born while count is 0 */
    struct moment idle_from, idle_to; /* longest time between two uses; equal: none */
    uint64_t count;
};

static inline void block_use_begin(struct block_use *use, struct moment now)
{
    *use = (struct block_use){
        .born = now, .first = now, .last = now, .idle_from = now, .idle_to = now};
}

static inline void block_use_add(struct block_use *use, struct moment now)
{
    if (!use->count++) {
        use->first = now;
    } else if (now.time_ns - use->last.time_ns > use->idle_to.time_ns - use->idle_from.time_ns) {
        use->idle_from = use->last;
        use->idle_to = now;
    }
    use->last = now;
}

#endif
