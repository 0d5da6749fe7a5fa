/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where the resident memory of a process is: one account of a moment, read from outside.
 *
 *   figures[ACCOUNT_FIGURE_RESIDENT] = the sum of resident_bytes of all rows, to the byte
 *
 * What is read: smaps, statm, pagemap, mem, task, cgroup below the process's folder in /proc. The
 * process is not stopped, and no page is read that is not resident, so nothing becomes resident by
 * being looked at. It runs on meanwhile: the parts are those of a time of some milliseconds.
 *
 * What of it is the recorder's own is left out, as the program would not have it: its library, the
 * rings, and what it says it mapped. ACCOUNT_FIGURE_RECORDER has the sum.
 *
 * One thread for each account.
 */
#ifndef LEAKTIDE_TRACER_ACCOUNT_H
#define LEAKTIDE_TRACER_ACCOUNT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "leaktide/account_parts.h"

/* All that has one name in one part. */
struct account_row {
    enum account_part part;
    char *name;                  /* a path, an arena; "": the part has no names */
    uint64_t size_bytes;         /* of address space */
    uint64_t resident_bytes;     /* shared pages count whole */
    uint64_t proportional_bytes; /* shared pages count by how many processes map them */
    uint64_t swapped_bytes;
    uint64_t count;         /* mappings, threads; of blocks: how many there are */
    uint64_t device, inode; /* of shared memory; else 0 */
};

struct account {
    uint64_t figures[ACCOUNT_FIGURE_COUNT];
    struct account_row *rows; /* by part, then largest first */
    size_t row_count;
    uint64_t rough_cost_ns; /* of COST_NS: what a rough one would have cost */
    uint64_t begin_ns;      /* CLOCK_MONOTONIC: the mappings were read from then on */
    struct account_cgroup {
        int version; /* 1 or 2; 0: there is none, or it cannot be read */
        char path[256];
        uint64_t figures[ACCOUNT_CGROUP_COUNT]; /* UINT64_MAX: not known, or no limit */
    } cgroup;
};

/* Memory of the recorder in the process; borrowed. */
struct account_range {
    uint64_t start, end;
};
struct account_own {
    const struct account_range *ranges;
    size_t count;
};

/*
 * A rough account reads no memory of the process: heaps, blocks of malloc and objects of Python
 * are not told from each other nor from other plain mappings, which costs a twentieth where there
 * are many blocks.
 */
enum account_depth { ACCOUNT_ROUGH, ACCOUNT_WHOLE };

/* folder: "/proc/4711". Returns 0, or an errno: ENOENT, ESRCH: it is gone; EACCES, EPERM; ENOMEM.
 * own: NULL: not known. account is to be released only after 0. */
int account_take(const char *folder, enum account_depth depth, const struct account_own *own,
                 struct account *account);
void account_release(struct account *account);

/* ACCOUNT_FIGURE_RECORDER alone; 0: it cannot be read. */
uint64_t account_recorder_bytes(const char *folder, const struct account_own *own);

/* Keeps that many rows apart, the largest; of each part, the others become one without a name. */
void account_fold(struct account *account, size_t row_most);

/* "kept free by malloc" */
const char *account_part_key(enum account_part part);

/*
 * The account as notes of a trace, in their order: docs/trace-format.md.
 */
struct account_note {
    const char *subject, *text;
    uint64_t first, second;
};
size_t account_note_count(const struct account *account);
struct account_note account_note_at(const struct account *account, size_t index);

#endif
