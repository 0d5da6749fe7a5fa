/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The mappings of a process, as its smaps has them.
 */
#ifndef LEAKTIDE_TRACER_MAPPINGS_H
#define LEAKTIDE_TRACER_MAPPINGS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct mapping {
    uint64_t start, end;
    uint64_t device, inode; /* of its file; 0 */
    uint64_t resident_bytes, proportional_bytes, swapped_bytes, huge_bytes;
    uint64_t left_bytes; /* of resident_bytes: not yet in a row of the account */
    char permissions[5]; /* "rw-p" */
    const char *name;    /* path, "[heap]", or "" */
    bool is_own;         /* of the recorder: in no row */
    bool begins_name;    /* the name is this row's own, and not of the one before */
};

/* By address. */
struct mappings {
    struct mapping *rows;
    size_t count, capacity;
};

/* folder: a descriptor of the process's own in /proc. 0, or an errno; ESRCH also for a process
 * that has no memory any more. */
int mappings_read(struct mappings *mappings, int folder);
void mappings_release(struct mappings *mappings);

/* The one that the address is in, or NULL. */
const struct mapping *mappings_find(const struct mappings *mappings, uint64_t address);

static inline bool mapping_is_writable(const struct mapping *mapping)
{
    return mapping->permissions[1] == 'w';
}

static inline bool mapping_is_shared(const struct mapping *mapping)
{
    return mapping->permissions[3] == 's';
}

/* Of no file, with a name that the program gave it: "[anon:mimalloc]". */
static inline bool mapping_has_given_name(const struct mapping *mapping)
{
    return strncmp(mapping->name, "[anon:", strlen("[anon:")) == 0;
}

/* Private, of no file, of no name but one that hides nothing. */
static inline bool mapping_is_plain(const struct mapping *mapping)
{
    return !mapping->inode && !mapping_is_shared(mapping) &&
           (!mapping->name[0] || mapping_has_given_name(mapping));
}

#endif
