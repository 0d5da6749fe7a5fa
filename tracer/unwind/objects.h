/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which loaded object a pc lies in, and where its rows are.
 *
 * The C library answers that without a lock since glibc 2.35. Before, a list taken outside of hooks
 * answers: two lists, of which one is read and the other written, and a number that tells a reader
 * that his list was written meanwhile.
 */
#ifndef LEAKTIDE_TRACER_OBJECTS_H
#define LEAKTIDE_TRACER_OBJECTS_H

#include <stdbool.h>
#include <stdint.h>

#include "cfi.h"

enum { OBJECT_MAX = 2048 };

struct object {
    uint64_t start, end;
    const uint8_t *header; /* .eh_frame_hdr or NULL */
};

struct object_list {
    struct object objects[OBJECT_MAX]; /* sorted by start */
    uint64_t count;
};

/* Starts as zeros. */
struct objects {
    int (*find)(void *pc, void *result); /* _dl_find_object, or NULL */
    struct object_list lists[2];
    uint64_t number;         /* lists[number % 2] is read */
    uint64_t left_out_count; /* objects beyond OBJECT_MAX */
};

/* Outside of hooks only. has_finder: may the C library be asked? */
void objects_prepare(struct objects *objects, bool has_finder);

/* Takes the list anew, if one is used. Takes the loader's lock: outside of hooks only. */
void objects_refresh(struct objects *objects);

/* Safe anywhere. False: no object is there. */
bool objects_find(const struct objects *objects, uint64_t pc, struct cfi_section *section);

#endif
