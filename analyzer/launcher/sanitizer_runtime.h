/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Does a program bring a sanitizer's runtime along? See leaktide/preload.h.
 */
#ifndef LEAKTIDE_CLI_SANITIZER_RUNTIME_H
#define LEAKTIDE_CLI_SANITIZER_RUNTIME_H

#include <stdbool.h>

#include "leaktide/preload.h"

/* program: as given to exec; looked for in PATH when it has no slash. */
bool sanitizer_runtime_of(const char *program, char soname[MT_RUNTIME_NAME_MAX]);

#endif
