/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Places and rings that are ready before somebody needs them.
 *
 * The disk gives room for them first: a store to a page that the file system cannot hold would kill
 * the program with SIGBUS.
 */
#ifndef LEAKTIDE_TRACER_SUPPLY_H
#define LEAKTIDE_TRACER_SUPPLY_H

#include "rings_file.h"

/* Makes some if there are few, and wakes who waits for them. */
void supply_look(const struct rings_file *file, int descriptor);

/* For the next one: who had it is gone, and all it wrote was taken. */
void supply_take_back_process(const struct rings_file *file, uint32_t number);
void supply_take_back_slot(const struct rings_file *file, uint32_t slot,
                           struct mt_ring_header *header);

#endif
