/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Does a program bring a sanitizer's runtime along? Such a runtime refuses to work unless it is
 * the first library of all, before anything that is preloaded.
 */
#ifndef MEMTIDE_CLI_SANITIZER_RUNTIME_H
#define MEMTIDE_CLI_SANITIZER_RUNTIME_H

#include <stdbool.h>
#include <stddef.h>

/*
 * program   as given to exec: looked for in PATH when it has no slash
 * soname    gets the runtime that the program needs, "libasan.so.8"
 *
 * False when it needs none, or is no ELF program of this machine that can be read.
 */
bool sanitizer_runtime_of(const char *program, char *soname, size_t size_bytes);

#endif
