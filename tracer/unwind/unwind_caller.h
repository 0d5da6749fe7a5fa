/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where a walk of a call stack begins. The function that asks must not return before the walk.
 */
#ifndef LEAKTIDE_TRACER_UNWIND_CALLER_H
#define LEAKTIDE_TRACER_UNWIND_CALLER_H

#include <stdint.h>

/* Where a walk begins: in a function that has just called the hook. */
struct unwind_registers {
    uint64_t pc, sp, fp; /* pc is a return address */
};

/*
 * The stack pointer before the call. On aarch64, clang's __builtin_dwarf_cfa() gives the frame
 * pointer, and the frame record does not lie at the end of the frame there.
 */
#if defined(__clang__) && defined(__aarch64__)
#define UNWIND_OWN_CFA ((uint64_t)(uintptr_t)__builtin_sponentry())
#else
#define UNWIND_OWN_CFA ((uint64_t)(uintptr_t)__builtin_dwarf_cfa())
#endif

/* The caller of the function that this is written in. */
static inline __attribute__((always_inline)) struct unwind_registers unwind_caller(void)
{
    return (struct unwind_registers){
        .pc = (uint64_t)(uintptr_t)__builtin_return_address(0),
        .sp = UNWIND_OWN_CFA,
        .fp = *(const uint64_t *)__builtin_frame_address(0),
    };
}

/* The same, by address: for as long as the block that this is written in. */
#define UNWIND_CALLER (&(const struct unwind_registers[]){unwind_caller()}[0])

#endif
