/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One recorded process image, as the consumer sees it: its place in run.rings, its trace, and what
 * the kernel says of it.
 */
#ifndef LEAKTIDE_TRACER_RECORDED_H
#define LEAKTIDE_TRACER_RECORDED_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "cgroup_memory.h"
#include "own_stream.h"
#include "rings_file.h"
#include "trace_file.h"

struct recorded {
    uint32_t number; /* of its place */
    struct mt_rings_process *place;
    struct trace_file trace;
    struct own_stream stream;
    pid_t process_id;       /* in our name space; 0: it is in one that we cannot see into */
    int process_descriptor; /* of the kernel's, to see the end; -1 */
    int statm;              /* open, or -1 */
    uint64_t next_sample_ns;
    uint64_t next_file_look_ns; /* control file */
    uint64_t own_bytes; /* resident, of the recorder, when it was looked at last; 0: not yet */
    uint64_t own_filled_bytes; /* own_bytes of its place then */
    int listening;             /* for what is said from outside; -1 */
    bool is_over;
    struct recorded_account {   /* accounts.c */
        uint64_t since_ns;      /* it is known; 0: not yet */
        uint64_t last_ns;       /* the newest was done; 0: there was none */
        uint64_t last_whole_ns; /* the newest that was not rough */
        uint64_t whole_cost_ns; /* of that one */
        uint64_t resident_bytes, part_bytes[ACCOUNT_PART_COUNT]; /* of the newest */
        uint64_t highest_bytes;                                  /* resident, of all accounts */
        uint64_t step_asked_ns;     /* since when it waits for the end of a step; 0: it does not */
        uint64_t step, step_end_ns; /* at whose end the one that is being taken is; 0: none */
        bool is_wanted;             /* by somebody, without regard to its cost */
        bool is_of_exit;            /* the one that is being taken, or was taken last */
        bool is_watched;            /* its cgroup was looked for */
        struct cgroup_watch cgroup;
        uint64_t kills; /* of that cgroup, when the process was young */
    } account;
};

/* heartbeat: moved while this, or something that is done with it, takes long. NULL: no memory. */
struct recorded *recorded_open(struct mt_rings_process *place, uint32_t number,
                               uint32_t *heartbeat);

/*
 * Makes its trace, or goes on where a consumer before us was killed. False: the disk is full, or
 * what the process says of itself makes no sense; then it is told to lose what finds no room, until
 * this succeeds.
 */
bool recorded_make_trace(struct recorded *recorded, const char *folder);
static inline bool recorded_has_trace(const struct recorded *recorded)
{
    return recorded->trace.header != NULL;
}

/* Has it ended? */
bool recorded_look_for_end(struct recorded *recorded);

/* Its size and the clocks, if that is due; now_ns of CLOCK_MONOTONIC. */
void recorded_sample(struct recorded *recorded, uint64_t now_ns);
void recorded_sample_now(struct recorded *recorded);

/* Copies into the trace's header what the process counts in its place, and back what we count. */
void recorded_publish(struct recorded *recorded);

/*
 * Everything was drained: closes the trace. The place is the caller's. Returns how many events were
 * lost that no trace tells of.
 */
uint64_t recorded_close(struct recorded *recorded);

#endif
