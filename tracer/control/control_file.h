/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A control file, read at once: by the launcher to see that it can be, by a process before its
 * first event, and by the consumer whenever it was written anew.
 */
#ifndef LEAKTIDE_TRACER_CONTROL_FILE_H
#define LEAKTIDE_TRACER_CONTROL_FILE_H

#include <stdint.h>

#include "control_words.h"

/*
 * rank: -1 when it is not known. change: set for 0. Otherwise an errno: ENOENT: it is not there
 * yet; ENODATA: nothing is in it yet; EINVAL: no whole JSON object. One thread.
 */
int control_file_read(const char *path, int64_t rank, struct control_change *change);

#endif
