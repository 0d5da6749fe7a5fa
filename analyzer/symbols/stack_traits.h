/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a frame says about the time in which its stack allocates, and which frames are one although
 * their addresses differ: an interpreter runs the same line through several copies of its own code.
 */
#ifndef LEAKTIDE_STACK_TRAITS_H
#define LEAKTIDE_STACK_TRAITS_H

#include "frame_names.h"
#include "stack_trait.h"

/* Bits of enum stack_trait. Needs the names of the frame. */
unsigned frame_traits(const struct named_frame *frame);
/* Python's own code that finds and loads modules. */
bool is_file_of_loader(const char *file);
/* What runs of a module when it is loaded, as Python calls it. */
bool is_code_of_module(const char *function);
/* Sets shape_key and is_loop: what the frame is in the shape of a stack, stack_facts.h. */
void frame_shape(struct named_frame *frame);

#endif
