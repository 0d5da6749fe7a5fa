/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The consumer of a run: a process beside the traced ones, which
 *
 *   makes room in run.rings before somebody needs it            supply.c
 *   writes the words of the rings into the traces               drain_workers.c
 *   looks at each process's memory, and sees when it ends       recorded.c, accounts.c
 *   hears what is said to them from outside                     hearing.c
 *
 * All that it knows stands in run.rings and in the traces, so another one goes on where it was
 * killed.
 */
#ifndef LEAKTIDE_TRACER_CONSUMER_H
#define LEAKTIDE_TRACER_CONSUMER_H

#include <sys/types.h>

#include "rings_file.h"

struct consumer_setup {
    const char *folder; /* of the run, its full name */
    struct rings_file file;
    int descriptor;      /* of run.rings */
    pid_t launcher;      /* when it is gone, it wants nothing more */
    uint32_t worker_max; /* so many threads may empty rings beside the first one */
};

/*
 * In a child of the launcher: a session of its own, no descriptor but that of the rings. Does its
 * work until no process of the run is left and the launcher wants nothing more, or is gone. At the
 * end run.rings is removed, but for what tells of losses. Returns the exit status.
 */
int consumer_run(const struct consumer_setup *setup);

#endif
