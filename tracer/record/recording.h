/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The recording of this process image: started by the first event, stopped at exit.
 *
 * Where a launcher watches over the run, its consumer empties the rings (served.h). A process that
 * was only preloaded is alone: whoever finds a ring full empties it (alone.h).
 *
 * entry.c tells how: it knows the configuration, the sampler and the hooks; this folder does not.
 */
#ifndef LEAKTIDE_TRACER_RECORDING_H
#define LEAKTIDE_TRACER_RECORDING_H

#include <stdbool.h>
#include <stdint.h>

#include "leaktide/rings.h"

enum recording_counters { COUNTERS_NPU, COUNTERS_GPU };

struct recording_setup {
    bool is_forbidden;
    bool follows_forks;
    const char *output_path;
    const char *options;
    uint64_t run_id;
    uint64_t ring_bytes;    /* a power of two; of a process that is alone */
    uint32_t stack_frames;  /* at most so many frames of a call stack; 0: no stacks */
    uint32_t python_frames; /* the same of Python */
    uint64_t stack_bytes;   /* what a thread may use to know its stacks again */
    struct mt_recording_facts facts;
    /* Does what somebody outside wants. On a thread of the program, in a hook. */
    void (*obey)(const struct mt_rings_change *change);
    /* Records the counters of the vendor's devices: on a thread of the program, inside no hook. */
    void (*counters)(enum recording_counters of);
    /* Of a process that is alone, when it empties a ring: its own size. */
    void (*look)(void);
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

/* The process is about to end, and holds what it held: the consumer may look at it once more. */
void recording_exiting(void);

/* A program is started without the tracer: enum mt_program_kind. In any child, confined or not. */
void recording_count_left_out(uint32_t kind);

/* The process ends: what it has recorded is safe, or is written now. Later events are kept too. */
void recording_finish(int exit_status);
/* The same of a process that calls _exit: nothing of its own runs any more. */
void recording_ends_at_once(int exit_status);

/* Everything that was recorded so far is in the trace file when it returns; false: not in time. */
bool recording_flush(void);

/* Asks the consumer, if there is one, for an account of the process as it is now. */
void recording_want_account(void);

/* No consumer: nobody takes samples, or hears what is said from outside. */
bool recording_is_alone(void);

/* In a forked child, before it records: no other thread is there any more. */
void recording_forked(void);

/*
 * The calling thread is about to tell the kernel which system calls it may make: from here on none
 * is made that is not needed. is_strict: it may not even read the counter, so its recording ends.
 */
void recording_is_confined(bool is_strict);

/* Nothing may be asked of the kernel that is not needed. */
bool recording_makes_no_calls(void);

/* The live part of the file header, or NULL. */
struct mt_file_header *recording_header(void);

void recording_count_lost(enum mt_lost reason, uint64_t count);

/* So far: events in the trace file, and lost ones. Only while there is a header. */
void recording_count(uint64_t *event_count, uint64_t *lost_count);

#endif
