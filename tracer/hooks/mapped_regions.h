/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the program has mapped, as blocks: pools "mmap", "shared_memory" and "mapped_file".
 *
 * A mapping may be cut anywhere by munmap or replaced by MAP_FIXED, so the recorded ones are kept
 * in a table; what is left of a cut one is recorded as a block of its own. All of it between
 * regions_enter() and regions_leave(), which lock the table, and that of shared_names.h.
 */
#ifndef LEAKTIDE_TRACER_MAPPED_REGIONS_H
#define LEAKTIDE_TRACER_MAPPED_REGIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "call_site.h"
#include "unwind_caller.h"

enum region_kind {
    REGION_ANONYMOUS, /* the process's alone */
    REGION_SHARED,    /* without a file on a disk: tmpfs, memfd, System V, anonymous and shared */
    REGION_FILE,      /* address space: its pages come from the file and go back to it */
    REGION_KIND_COUNT
};

struct region {
    uint64_t begin, end;
    enum region_kind kind;
    bool is_untouchable; /* nobody may touch it: address space, not memory */
    struct call_site site;
};

/* False: nothing is recorded here, and regions_leave() is not to be called. */
bool regions_enter(void);
void regions_leave(void);

/* Without the lock: none is known, so none can be cut. */
bool regions_is_empty(void);

void regions_remember(struct region region);
/* It could not be had: [begin, end) is as long as it would have been. errno may change. */
void regions_refused(const struct region *region);
/* [begin, end) is no longer what it was: ends the blocks there, and begins what is left of them. */
void regions_forget(uint64_t begin, uint64_t end);
/* The one with this address, copied; false: there is none. */
bool regions_find(uint64_t address, struct region *found);

/* Who maps, with its call stack where those are recorded. */
struct call_site regions_site(struct unwind_registers from);

#endif
