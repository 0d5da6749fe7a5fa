/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Why the tracer may not get into a program: told from its file.
 */
#ifndef LEAKTIDE_CLI_PROGRAM_FILE_H
#define LEAKTIDE_CLI_PROGRAM_FILE_H

#include <stddef.h>

/* Words for "nothing was recorded: ...", into out. Always finds some. */
void program_file_explain(const char *program, char *out, size_t out_bytes);

#endif
