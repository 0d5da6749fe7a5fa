/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The line of an instruction, from the table of locations that a code object of CPython 3.11 or
 * newer has (its format: "Code objects" in the interpreter's internal documentation).
 *
 * The interpreter's own PyCode_Addr2Line asks for a thread state that is attached, in builds
 * without the lock, and the hooks are called without one.
 */
#ifndef LEAKTIDE_TRACER_PYTHON_LINES_H
#define LEAKTIDE_TRACER_PYTHON_LINES_H

#include <stddef.h>
#include <stdint.h>

/* 0: the instruction has no line. A table that is cut has no lines after the cut. */
uint32_t python_lines_find(const uint8_t *table, size_t size_bytes, int32_t first_line,
                           int32_t offset_bytes);

#endif
