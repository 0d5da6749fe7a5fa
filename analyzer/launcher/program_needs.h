/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Does a program bring a sanitizer's runtime along, and can the tracer live in it, and here? See
 * leaktide/preload.h.
 */
#ifndef LEAKTIDE_CLI_PROGRAM_NEEDS_H
#define LEAKTIDE_CLI_PROGRAM_NEEDS_H

#include "leaktide/preload.h"

/* program: as given to exec; looked for in PATH when it has no slash. */
void program_needs_find(const char *program, struct mt_program_needs *needs);

#endif
