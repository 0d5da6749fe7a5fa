/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Something is tried in a process of its own, so that what it does to itself does no harm here.
 */
#ifndef LEAKTIDE_LAUNCHER_PROBE_H
#define LEAKTIDE_LAUNCHER_PROBE_H

#include <stdbool.h>
#include <stddef.h>

/*
 * Runs `child(context)` in a forked process whose standard output is read into out (at most
 * out_bytes - 1 of it, always ended with 0; what is more is thrown away); standard error goes
 * nowhere. child returns the exit status, or becomes another program. After `seconds` it is
 * killed. Returns the exit status; -1: it was killed, or could not be started.
 */
int probe(int (*child)(const void *context), const void *context, unsigned seconds, char *out,
          size_t out_bytes);

/* The same for a program: arguments[0] is looked for in PATH. Exit status 127: not found. */
int probe_program(const char *const *arguments, unsigned seconds, char *out, size_t out_bytes);

/* Whether the loader finds the library, and where: loaded in a process of its own. */
bool probe_library(const char *name, char *path, size_t path_bytes);

#endif
