/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The frames of a snapshot, and the lists that make stacks of them.
 */
#ifndef LEAKTIDE_INPUT_SNAPSHOT_STACKS_H
#define LEAKTIDE_INPUT_SNAPSHOT_STACKS_H

#include "snapshot_tables.h"

/* The frame of the model with these texts. */
uint32_t snapshot_frame(struct snapshot_tables *tables, uint32_t name, uint32_t file,
                        uint64_t line);

/* One more frame, further out, after a list of frames. */
enum mt_result snapshot_stack_append(struct snapshot_tables *tables, struct object *list,
                                     uint32_t frame, struct mt_error *error);

/*
 * The site of a list of frames. The list is complete then, and is an OBJECT_STACK from now on: its
 * frames are forgotten, and every other use of it finds the site at once.
 */
uint32_t snapshot_stack_site(struct snapshot_tables *tables, struct object *list);

#endif
