/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Pools of CPython's own allocator of small objects (3.6 to 3.14, not the build without the global
 * lock), found by what their heads say of themselves.
 */
#ifndef LEAKTIDE_TRACER_PYTHON_POOLS_H
#define LEAKTIDE_TRACER_PYTHON_POOLS_H

#include <stdint.h>

#include "process_memory.h"

struct python_pool {
    uint64_t size_bytes;            /* whole pages; 0: there is no pool at this address */
    uint64_t used_bytes, own_bytes; /* resident */
    uint64_t object_count;
};

struct python_pool python_pool_at(struct process_memory *memory, uint64_t address, uint64_t end);

#endif
