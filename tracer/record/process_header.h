/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a process image says about itself in the header of its trace.
 */
#ifndef LEAKTIDE_TRACER_PROCESS_HEADER_H
#define LEAKTIDE_TRACER_PROCESS_HEADER_H

#include "leaktide/format.h"
#include "recording.h"

/*
 * of_parent  in a forked child what its parent said, which runs the same file; else NULL: the
 *            kernel is asked, through a descriptor that is closed again
 */
void process_header_fill(struct mt_file_header *header, const struct mt_file_header *of_parent,
                         const struct recording_setup *setup);

#endif
