/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Names of shared memory that this process has made, as blocks of the pool "shared_name" from their
 * making until they are unlinked: memory with a name stays when its last process has ended.
 *
 * An address of that pool is an inode of /dev/shm, or a System V segment's number with the highest
 * bit but one. Blocks have the flag of address space, as a mapping of such memory is a block, too.
 * What another process unlinks ends no block of its maker's: a note of the one that unlinks says so
 * (docs/trace-format.md, "shared memory").
 *
 * Between regions_enter() and regions_leave(), all but the end.
 */
#ifndef LEAKTIDE_TRACER_SHARED_NAMES_H
#define LEAKTIDE_TRACER_SHARED_NAMES_H

#include <stdbool.h>
#include <stdint.h>

#include "call_site.h"

struct stat;

enum { SHARED_NAME_MOST = 256 };

/* name: "/dev/shm/batch"; "" for a segment. */
void shared_name_made(uint64_t address, const char *name, uint64_t size_bytes,
                      struct call_site site);
void shared_name_unlinked(uint64_t address);
/* It may be one of ours, and has this size now. */
void shared_name_sized(const struct stat *status);

uint64_t shared_name_of_file(const struct stat *status);
uint64_t shared_name_of_segment(int segment);

/* Without the lock: no name is known. */
bool shared_names_is_empty(void);

/* The process ends: what has been unlinked by others is known now, and how much there is. */
void shared_names_end(void);

#endif
