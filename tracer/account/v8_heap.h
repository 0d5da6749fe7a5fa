/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Chunks of V8's heap (node, chromium), read from outside. What its last collection left, and what
 * was made since, is in use to it: which of that is garbage, only the next collection tells.
 */
#ifndef LEAKTIDE_TRACER_V8_HEAP_H
#define LEAKTIDE_TRACER_V8_HEAP_H

#include <stdbool.h>
#include <stdint.h>

#include "process_memory.h"

struct v8_chunk {
    uint64_t size_bytes;   /* whole pages; 0: there is none */
    uint64_t object_bytes; /* with garbage since the last collection */
    bool is_young;         /* how much of it are objects is not known */
};

/* The chunk that begins at this address of a mapping that ends at end. */
struct v8_chunk v8_chunk_at(struct process_memory *memory, uint64_t address, uint64_t end);

#endif
