/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Does what a recording is told to do (control/control_words.h), in the process that records.
 *
 * From outside, words come through the consumer of the run; a thread of the program does them on
 * its way through a hook. From inside they come by mt_control().
 */
#ifndef LEAKTIDE_TRACER_CONTROL_H
#define LEAKTIDE_TRACER_CONTROL_H

#include <stdbool.h>
#include <stddef.h>

#include "leaktide/rings.h"

/* Before the first event: a deferred recording begins paused. */
void control_begin(void);

/* What somebody outside wants. Any thread, in a hook. */
void control_obey(const struct mt_rings_change *change);

/*
 * The same from a thread of the program, for bindings: found by dlsym. answer: "ok ..." or
 * "error: ...", one or more lines, each with its end. False when the line is wrong, or the caller
 * is inside the recorder.
 */
__attribute__((visibility("default"))) bool mt_control(const char *line, char *answer,
                                                       size_t answer_bytes);

#endif
