/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the hooks of device runtimes remember of a block until it is freed, and how its life is
 * recorded.
 *
 * A free is recorded before the real call and does not say the size, the pool or whether others
 * still hold the block. So each block that a runtime handed out is noted here. That answers:
 *   which pool owns the address   one free function may serve several pools
 *   is it the last reference      physical memory lives until its handle is released as often as
 *                                 it was created and retained, and until its last mapping is gone
 *   what if the runtime refuses   the block is recorded again, with its own size, place and site
 *
 * No lock, no heap. The table is as large as any runtime needs; a block that finds no room is
 * recorded all the same, only without the three answers.
 */
#ifndef LEAKTIDE_TRACER_DEVICE_BLOCKS_H
#define LEAKTIDE_TRACER_DEVICE_BLOCKS_H

#include <stdbool.h>
#include <stdint.h>

#include "guard.h"
#include "recorder.h"

/* What an address names. The same number may be alive once in each. */
enum block_space {
    SPACE_HAL_MEMORY = 1,
    SPACE_HAL_HANDLE,
    SPACE_HAL_VIRTUAL,
    SPACE_HAL_MAPPING,
    SPACE_HAL_REGISTERED,
    SPACE_HAL_SHARED,
    SPACE_HAL_BUFFER,
    SPACE_ACL_MEMORY,
    SPACE_ACL_ASYNC, /* a part may start where the memory of its pool does */
    SPACE_ACL_HOST,
    SPACE_ACL_HANDLE,
    SPACE_ACL_VIRTUAL,
    SPACE_ACL_MAPPING,
    SPACE_ACL_REGISTERED,
    SPACE_ACL_IMPORT,
    SPACE_ACL_KEY, /* hash of the name of an import */
    SPACE_CUDART_MEMORY,
    SPACE_CUDART_HOST,
    SPACE_CUDART_ARRAY,
    SPACE_CUDART_REGISTERED,
    SPACE_CUDART_IMPORT,
    SPACE_CUDA_MEMORY,
    SPACE_CUDA_HOST,
    SPACE_CUDA_ARRAY,
    SPACE_CUDA_HANDLE,
    SPACE_CUDA_VIRTUAL,
    SPACE_CUDA_MAPPING,
    SPACE_CUDA_REGISTERED,
    SPACE_CUDA_IMPORT,
    SPACE_TORCH_MAPPED,
    SPACE_MSTX_HEAP = 64,   /* and one more for each domain, */
    SPACE_MSTX_REGION = 128 /* up to 64 domains */
};

struct device_block {
    const struct text *pool; /* NULL: remembered, but not recorded */
    uint64_t place;          /* mt_place_pack() */
    uint64_t size_bytes;
    struct call_site site;
    enum block_space held_space; /* with held: what this block keeps alive */
    uint64_t held;               /* 0 = nothing */
};

/* What a free call is about to end: a block, and what only that block still held. */
struct block_ending {
    struct ended_block {
        struct device_block block;
        uint64_t address;
        enum block_space space;
        bool was_last; /* else only one reference went */
    } ended[2];
    unsigned count;
};

/* Asked for, and not inside another call of the layer? Then device_hook_leave() must follow. */
bool device_hook_enter(enum layer layer);
void device_hook_leave(enum layer layer, int saved_errno);

/* After a successful call. An address of 0 is no block. */
void device_block_begin(enum block_space space, uint64_t address, const struct device_block *block);

/* The same, where asking twice gives the same block: the second time is one more reference. */
void device_block_share(enum block_space space, uint64_t address, const struct device_block *block);

/* One more reference to a block that exists. */
void device_block_hold(enum block_space space, uint64_t address);

void device_block_failed(const struct device_block *block, uint64_t status);

/*
 * Before a free: `pool` is recorded for an address that nobody knows. What was allocated for a
 * stream may be freed without one, and the reverse: such a block is found from both spaces.
 */
void device_block_end(enum block_space space, uint64_t address, const struct text *pool,
                      struct block_ending *ending);

/* The runtime refused that free. */
void device_block_resume(const struct block_ending *ending);

/* What is known of a live block; false if nothing. */
bool device_block_find(enum block_space space, uint64_t address, struct device_block *block);

#endif
