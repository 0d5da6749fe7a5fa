/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a stack says about the time in which it allocates, and which stacks are one although their
 * addresses differ: an interpreter runs the same line through several copies of its own code.
 */
#ifndef LEAKTIDE_STACK_TRAITS_H
#define LEAKTIDE_STACK_TRAITS_H

#include <stddef.h>
#include <stdint.h>

#include "frame_names.h"
#include "stack_trait.h"

/*
 * Equal for stacks with the same native functions, by name, below the innermost Python frame, and
 * the same lines of Python. Without recursion. Never 0. Frames innermost first, as in all here.
 */
uint64_t stack_shape(const struct named_frame *const *frames, size_t count);
/* Bits of enum stack_trait. */
unsigned stack_traits(const struct named_frame *const *frames, size_t count);

#endif
