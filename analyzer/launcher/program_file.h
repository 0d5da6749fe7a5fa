/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a program is, seen from its file: why the tracer may not get in.
 */
#ifndef LEAKTIDE_LAUNCHER_PROGRAM_FILE_H
#define LEAKTIDE_LAUNCHER_PROGRAM_FILE_H

#include <stddef.h>

#include "leaktide/preload.h"

/* Words for "nothing was recorded: ...", into out. Always finds some. */
void program_file_explain(const char *program, enum mt_program_kind kind, char *out,
                          size_t out_bytes);

#endif
