/* SPDX-License-Identifier: Apache-2.0 */
/*
 * run.rings of a run whose consumer was killed together with everything else, or still works: what
 * no trace has yet (leaktide/rings.h). Of a run that has ended, how much no trace will ever have.
 *
 * Nothing in the file is believed before it was compared with the file's size.
 */
#ifndef LEAKTIDE_RUN_RINGS_H
#define LEAKTIDE_RUN_RINGS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "leaktide/rings.h"

struct run_rings {
    int descriptor; /* -1: not open */
    uint64_t file_bytes;
    struct mt_rings_header header; /* checked; processes_end is at most process_max */
};

/* The one beside `path`, a trace of the run, or in the folder of that name. False: there is none.
 */
bool run_rings_open(struct run_rings *rings, const char *path, bool is_folder);
void run_rings_close(struct run_rings *rings);

/* The processes that have a place. False: `number` is none of them. */
bool run_rings_process(const struct run_rings *rings, uint32_t number,
                       struct mt_rings_process *process);

/* The number of the process of which `header` is the trace's; -1: none. */
int64_t run_rings_find(const struct run_rings *rings, const struct mt_file_header *header);

/* Where the ring of that slot stands, if the process has it. False: it has not. */
bool run_rings_slot(const struct run_rings *rings, uint32_t slot, uint32_t process,
                    uint64_t *offset_bytes);

#endif
