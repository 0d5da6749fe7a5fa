/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Chunks of V8's heap (node, chromium), read from outside. Which of their bytes are objects that
 * somebody holds is not known: only that they are V8's.
 */
#ifndef LEAKTIDE_TRACER_V8_HEAP_H
#define LEAKTIDE_TRACER_V8_HEAP_H

#include <stdint.h>

#include "process_memory.h"

/* The bytes of the chunk that begins at this address; 0: none does. */
uint64_t v8_chunk_bytes(struct process_memory *memory, uint64_t address, uint64_t end);

#endif
