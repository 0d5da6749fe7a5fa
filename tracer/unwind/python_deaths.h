/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which code objects have died: what was learned from one is good until then.
 *
 * The interpreter frees a code object by the function that its type names (tp_dealloc). We put ours
 * before it, so that no death is missed, in whichever thread, sub-interpreter or end of the
 * interpreter. Code objects share PYTHON_GENERATIONS numbers by their address; a death counts that
 * of its address on. So what was noted with the same address and the same number is the same code
 * object:
 *
 *     note      (code, python_generation(code)) -> what was learned
 *     death     python_generation(code) is another; then its memory is free for a new one
 *
 * A thread sees a new code object at an address only after it has seen the death of the one before:
 * the memory came to it through an allocator, and the code through the interpreter's lock or, where
 * there is none, through a store that another thread released. A frame may still be there while its
 * code dies, in the thread that frees it (what dies tells weak references, and they run anything).
 * Such a code is not to be read: its texts may be gone.
 *
 * Where the slot of the type is not known, or is no longer ours as somebody else has put a function
 * there, deaths are not seen, and nothing may be remembered. That is never taken back.
 */
#ifndef LEAKTIDE_TRACER_PYTHON_DEATHS_H
#define LEAKTIDE_TRACER_PYTHON_DEATHS_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

enum { PYTHON_GENERATION_BITS = 14, PYTHON_GENERATIONS = 1 << PYTHON_GENERATION_BITS };

extern _Atomic uint32_t python_generations[PYTHON_GENERATIONS];
extern _Atomic uint64_t python_death_count;

/* dealloc: offset of the slot in the type, in bytes; 0: not known. Once, outside of hooks. */
void python_deaths_watch(const char *code_type, uint32_t dealloc);

/* Is every death seen, up to now? One load; asked at each event. */
bool python_deaths_are_seen(void);

/* Does the code die in this thread just now? Then also the number that it had in its life. */
bool python_is_dying(const char *code, uint32_t *generation);

static inline _Atomic uint32_t *python_generation_slot(const char *code)
{
    uint32_t hash = (uint32_t)((uintptr_t)code >> 4) * UINT32_C(0x9e3779b1);

    return &python_generations[hash >> (32 - PYTHON_GENERATION_BITS)];
}

static inline uint32_t python_generation(const char *code)
{
    return atomic_load_explicit(python_generation_slot(code), memory_order_relaxed);
}

#endif
