/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What somebody outside may ask of a recording while it runs.
 *
 *   start, stop       record, or pause
 *   step              begin the next step, for programs that mark none
 *   snapshot [NAME]   read the system's counters now, and write all that is recorded to disk
 *   status            what is going on
 *   set NAME=VALUE    from here on, as the option of that name: events, level, call-stack, device,
 *                     collect-mode, analysis, watch; steps=A-B: only these, steps=all ends it
 *   watch ADDRESS BYTES TIMES NAME, unwatch ADDRESS    a tensor of the program (hooks/watch.h)
 *
 * Words come through a socket (control_socket.c) and a file that is watched (control_file.c). All
 * of it happens in the drain thread, so no signal is taken from the program and none of its threads
 * waits.
 */
#ifndef MEMTIDE_TRACER_CONTROL_H
#define MEMTIDE_TRACER_CONTROL_H

#include <stdbool.h>
#include <stddef.h>

/* Before the first event: a deferred recording begins paused. */
void control_begin(void);

/* Looks whether anybody wants something. Only in the drain thread. */
void control_tick(void);

/*
 * Does what a line says. answer: "ok ..." or "error: ...", one or more lines, each with its end.
 */
void control_obey(char *line, char *answer, size_t answer_bytes);

/*
 * The same from a thread of the program, for bindings: found by dlsym. False when the line is
 * wrong, or the caller is inside the recorder.
 */
__attribute__((visibility("default"))) bool mt_control(const char *line, char *answer,
                                                       size_t answer_bytes);

/* control_socket.c */
void control_socket_tick(void);
/* control_file.c */
void control_file_tick(const char *path);
/* Does what the text of such a file asks for. */
void control_file_obey(const char *json);

#endif
