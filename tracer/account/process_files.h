/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Small files of the kernel, read whole.
 */
#ifndef LEAKTIDE_TRACER_PROCESS_FILES_H
#define LEAKTIDE_TRACER_PROCESS_FILES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* folder: a descriptor. As far as there is room, terminated; false, and "": it cannot be read. */
bool file_read(int folder, const char *name, char *text, size_t text_bytes);

/* The number after "key" at the start of a line; UINT64_MAX: there is none. */
uint64_t line_number_of(const char *text, const char *key);

#endif
