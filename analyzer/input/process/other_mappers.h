/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Who else maps shared memory: the other processes of this machine, as far as they may be looked
 * at.
 */
#ifndef LEAKTIDE_INPUT_OTHER_MAPPERS_H
#define LEAKTIDE_INPUT_OTHER_MAPPERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "text_builder.h"

/* A piece of shared memory, and the names of who maps it: "python3 4711, 4712". */
struct shared_piece {
    uint64_t device, inode;
    struct text_builder mappers; /* the caller's, to be released */
    size_t mapper_count, listed_count;
    uint64_t last_process; /* that was counted */
};

/* folder: of the process itself, "/proc/4711"; the others stand beside it. False: no memory. */
bool other_mappers_find(const char *folder, struct shared_piece *pieces, size_t count);

#endif
