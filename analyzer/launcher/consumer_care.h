/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The consumer of a run, as its launcher sees it: begun before the program, begun anew when it
 * dies, asked for all that was recorded at the end.
 */
#ifndef LEAKTIDE_CLI_CONSUMER_CARE_H
#define LEAKTIDE_CLI_CONSUMER_CARE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "leaktide/rings.h"

struct consumer_care;

/*
 * folder      of the run, its full name; borrowed
 * ring_bytes  of each thread, a power of two
 *
 * NULL: the disk is full, or no process can be had; each process is alone then.
 */
struct consumer_care *consumer_care_begin(const char *folder, uint64_t ring_bytes, uint64_t run_id);

/* A child has ended: begins another consumer if it was that. False: it was not. */
bool consumer_care_child_ended(struct consumer_care *care, pid_t child);

/* There is none just now, as no process could be had. NULL: none is wanted. */
bool consumer_care_is_missing(const struct consumer_care *care);

/*
 * Several times a second, by the thread that began it: tells the threads that wait for the consumer
 * how it is, raises its priority where it gets no processor, begins another one where there is
 * none.
 */
void consumer_care_look(struct consumer_care *care);

/* What is known at the end of the program. */
struct consumer_care_end {
    uint32_t live_count;                       /* processes of the run that go on */
    uint32_t left_out_count[MT_PROGRAM_KINDS]; /* programs that ran without the tracer, by
                                                  enum mt_program_kind */
};

/*
 * The program has ended. Waits until all that was recorded is in the traces; if processes of the
 * run go on, their recording does, too.
 */
struct consumer_care_end consumer_care_end(struct consumer_care *care);

#endif
