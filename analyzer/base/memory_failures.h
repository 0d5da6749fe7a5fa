/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Whether memory ran out: counted where it is asked for, so that nobody has to pass it on.
 *
 * All of the analyzer's calls of malloc, calloc, realloc, strdup and their kind come here, by the
 * linker's --wrap (analyzer/base/CMakeLists.txt), and each that fails is counted. Many a function
 * goes on without what it got no memory for: a text is short, a name is "(unknown)". Whoever
 * answers compares the count with that of the beginning, and does not give an answer where it has
 * grown.
 *
 * The count is the process's, not a recording's: of two that are read at once, both are given up.
 * Safe from several threads.
 */
#ifndef LEAKTIDE_BASE_MEMORY_FAILURES_H
#define LEAKTIDE_BASE_MEMORY_FAILURES_H

#include <stddef.h>

#include "error_sentence.h"

/* Since the process began. */
size_t memory_failure_count(void);

/* Another one, that was not seen here: in a library of others, or a child process. */
void memory_failure_note(void);

/* MT_NO_MEMORY if the count is no longer `before`; else MT_OK. */
enum mt_result memory_status(size_t before, struct mt_error *error);

#endif
