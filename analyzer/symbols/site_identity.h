/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a stack stands for: which frame tells where the program asked, and a number that stays.
 */
#ifndef LEAKTIDE_SITE_IDENTITY_H
#define LEAKTIDE_SITE_IDENTITY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "frame_names.h"

/* Fills in identity_key and function_key: once for a frame, not for each stack that it is in. */
void frame_identity(struct named_frame *frame);

/*
 * Operators call operators: the one that was asked for is the outermost of a stretch of them, with
 * nothing but plumbing between. index: of an operator.
 */
size_t operator_entry(const struct named_frame *const *frames, size_t count, size_t index);

/*
 * The innermost of those that tell most; of operators, the one that was asked for. count >= 1;
 * frames innermost first, as in all here.
 */
size_t telling_frame(const struct named_frame *const *frames, size_t count);

/* Whether a frame that the telling one calls is part of the id. */
bool is_entry(const struct named_frame *called);

/*
 * A hash of the telling frame and its callers: functions and base names of files, without lines,
 * addresses and folders; without recursion and without what the rules leave out. How the telling
 * frame came to the memory does not matter, but for the Python function that it called. A telling
 * frame without a name counts with its offset in the module, which holds for one build only.
 * Never 0.
 */
uint64_t stack_identity(const struct named_frame *const *frames, size_t count);

#endif
