/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which frame of a stack tells where the program asked for memory, and how it is called.
 */
#ifndef MEMTIDE_INPUT_SNAPSHOT_FRAMES_H
#define MEMTIDE_INPUT_SNAPSHOT_FRAMES_H

#include "snapshot_tables.h"

/* The row of such a frame, which is added when it is new; UINT32_MAX: no memory. */
uint32_t snapshot_frame(struct snapshot_tables *tables, uint32_t name, uint32_t file,
                        uint64_t line);

/* The site of a frame: "forward (models/resnet.py:155)". */
uint32_t snapshot_frame_site(struct snapshot_tables *tables, uint32_t frame);

#endif
