/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An object as it is mapped: its program headers say what no mapping does.
 */
#ifndef LEAKTIDE_TRACER_OBJECT_IMAGE_H
#define LEAKTIDE_TRACER_OBJECT_IMAGE_H

#include <stdint.h>

#include "process_memory.h"

/* Where the variables end of the object that is mapped from start on: they go on past its file, to
 * the end of a page. 0: there is no object. */
uint64_t object_end(struct process_memory *memory, uint64_t start);

#endif
