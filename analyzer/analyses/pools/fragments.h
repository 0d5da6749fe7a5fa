/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where the memory of a pool was, at the moments that matter: in blocks, in rounding, in blocks
 * that wait for a stream, in holes, and in segments without any block.
 *
 *   reserved = allocated + waiting + rounding + holes + whole free segments + unknown
 *
 * Two readings: the first finds the moments, the second what was where. Memory grows with the
 * blocks and segments of those moments.
 *
 * Segments are what the source tells (EVENT_SEGMENT); else blocks of a pool from below, such as the
 * driver's, that blocks of the pool lie in.
 */
#ifndef LEAKTIDE_ANALYSES_FRAGMENTS_H
#define LEAKTIDE_ANALYSES_FRAGMENTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analysis.h"

enum { FRAGMENT_LEDGERS_MOST = 3, FRAGMENT_SLICES = 50 };

enum moment_kind {
    MOMENT_RESERVED_PEAK, /* of several such, when most was in use */
    MOMENT_WORST,         /* most reserved that is not allocated */
    MOMENT_END,
    MOMENT_FAILURE, /* the last request that failed, of any pool of the device */
    MOMENT_KINDS
};

struct fragment_block {
    uint64_t address, size_bytes;
    uint32_t group;
    bool is_waiting;
};

struct segment {
    uint64_t from, to;
    size_t first_block, block_count; /* of the moment's blocks */
    uint64_t live_bytes;             /* in blocks, as asked for */
    uint64_t hole_bytes, hole_count, largest_hole_bytes;
    uint64_t rounding_bytes;
};

struct fragment_moment {
    bool is_known;
    uint64_t event; /* it is right after this one; counts from 1 */
    uint64_t time_ns;
    uint64_t reserved_bytes;
    uint64_t active_bytes; /* allocated, or waiting */
    uint64_t unused_bytes; /* the rest */
    /* From the second reading. */
    struct fragment_block *blocks; /* by address */
    size_t block_count;
    struct segment *segments; /* by address */
    size_t segment_count;
    uint64_t waiting_bytes, waiting_count;
    uint64_t rounding_bytes, hole_bytes, hole_count, largest_hole_bytes;
    uint64_t free_segment_bytes, free_segment_count, largest_free_segment_bytes;
    uint64_t outside_bytes; /* of blocks that lie in no segment that is known */
};

struct fragment_slice {
    uint64_t time_ns; /* its end */
    uint64_t reserved_bytes, active_bytes, most_unused_bytes;
};

struct fragment_ledger {
    uint16_t ledger;
    bool has_segments; /* told, or found */
    bool are_segments_from_below;
    bool is_mapped; /* segments are pages of mappings: expandable */
    /* How often memory was given back, and how much of it was taken again later. */
    uint64_t give_back_count, given_back_bytes, taken_again_bytes;
    struct fragment_moment moments[MOMENT_KINDS];
    struct fragment_slice slices[FRAGMENT_SLICES];
    size_t slice_count;
};

struct fragments {
    struct fragment_ledger ledgers[FRAGMENT_LEDGERS_MOST];
    size_t count;
};

/*
 * Of ledgers that tell what they reserve. beside: sees the first reading too, or one of its own
 * where no ledger tells; NULL: nobody. MT_NO_MEMORY, or as lives_read(); release in any case.
 */
enum mt_result fragments_read(const struct question *question, const struct life_visitor *beside,
                              struct fragments *fragments, struct mt_error *error);
void fragments_release(struct fragments *fragments);

#endif
