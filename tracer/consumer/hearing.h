/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What is said to recorded processes from outside: through a socket for each, and through control
 * files; and the socket of the run, for processes that may not open run.rings by its path.
 *
 * A caller says one line and gets the answer. Only root and the user of the process are heard. All
 * of it is one thread's.
 */
#ifndef LEAKTIDE_TRACER_HEARING_H
#define LEAKTIDE_TRACER_HEARING_H

#include <stdbool.h>
#include <stdint.h>

#include "recorded.h"

/* descriptor: of run.rings, handed out to who knows run_id. */
void hearing_begin(const char *folder, uint64_t run_id, int descriptor);

/* From now on the process may be spoken to. */
void hearing_add(struct recorded *recorded);

/* Before it is closed. */
void hearing_remove(struct recorded *recorded);

/* Answers who has called, without waiting; looks at the control file of each if that is due. */
void hearing_look(void);
void hearing_look_at_file(struct recorded *recorded, uint64_t now_ns);

#endif
