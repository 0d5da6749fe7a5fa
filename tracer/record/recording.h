/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The recording of this process image: started by the first event, stopped at exit.
 *
 * entry.c tells how: it knows the configuration, the sampler and the hooks; this folder does not.
 */
#ifndef MEMTIDE_TRACER_RECORDING_H
#define MEMTIDE_TRACER_RECORDING_H

#include <stdbool.h>
#include <stdint.h>

#include "memtide/format.h"

struct recording_setup {
    bool is_forbidden;
    bool follows_forks;
    bool starts_lazily; /* the drain thread starts with the first event, not at load */
    const char *output_path;
    const char *options;
    uint64_t run_id;
    uint64_t ring_bytes;    /* a power of two */
    uint32_t stack_frames;  /* at most so many frames of a call stack; 0: no stacks */
    uint32_t python_frames; /* the same of Python */
    uint64_t stack_bytes;   /* what a thread may use to know its stacks again */
    uint32_t tick_ms;       /* how often the drain thread calls `tick`; 0: never */
    void (*tick)(void);     /* takes samples; called by the drain thread with all signals blocked */
};

/* Called once, at the first event of the process; must not allocate. */
const struct recording_setup *recording_setup(void);

/* Opens the files if that has not happened. False: nothing will be recorded. */
bool recording_start(void);

/* True for good once the files could not be opened, or recording is forbidden. */
bool recording_is_impossible(void);

/* Writes the clocks into the file header again, so that ticks become nanoseconds. */
void recording_calibrate(void);

/* The same as a record of the calling thread. */
void recording_note_clocks(void);

/* The thread that drains and samples; only outside of hooks. */
void recording_start_drain_thread(void);

/* Drains everything and closes the file; later events stay in the rings. */
void recording_finish(void);

/* The live part of the file header, or NULL. */
struct mt_file_header *recording_header(void);

void recording_count_lost(enum mt_lost reason, uint64_t count);

#endif
