/* SPDX-License-Identifier: Apache-2.0 */
/*
 * CPython's own allocator: pool "python".
 *
 * Objects and buffers of the interpreter (its domains "mem" and "object") of up to 512 bytes are
 * handed out from arenas, so malloc does not see them. Between the interpreter and its allocator
 * stand functions of ours, put there by PyMem_SetAllocator. They record what did not come from
 * malloc: that is in the pool "host" already. The arenas are not recorded, so each byte counts
 * once.
 */
#ifndef LEAKTIDE_TRACER_PYTHON_HEAP_H
#define LEAKTIDE_TRACER_PYTHON_HEAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What malloc and free of the host do on this thread meanwhile, whether it is recorded or not. */
struct python_call {
    uint64_t block; /* that is given back; 0: none */
    bool is_of_host;
    const void *made; /* by malloc, last */
};
extern __thread struct python_call python_call __attribute__((tls_model("initial-exec")));

enum { PYTHON_DEBUG_BYTES = 64 }; /* its debug mode keeps words of its own before a block */

static inline void python_call_frees(const void *block)
{
    if (__builtin_expect(python_call.block - (uintptr_t)block <= PYTHON_DEBUG_BYTES, 0))
        python_call.is_of_host = true;
}

/* At load, and when objects were loaded: takes the loader's lock. */
void python_heap_look(void);

/* Before the program loads an object. */
void python_heap_may_come(void);

/*
 * Memory of size_bytes was mapped for the caller at pc, and for no allocator that is recorded. If
 * that caller is the interpreter's allocator, its blocks are not recorded. Where they should be,
 * somebody has taken our functions away: they are put there again. errno may change.
 */
void python_heap_mapped(uint64_t pc, size_t size_bytes);

#endif
