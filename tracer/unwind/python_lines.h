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

/*
 * How far a table was read. A table has to be read from its start, and the body of a module has one
 * of many kilobytes, each line of which runs once: so the next look goes on from here.
 */
struct python_line_place {
    size_t table_bytes;         /* were read */
    int64_t instructions_bytes; /* are before the next entry */
    int64_t line;               /* to which the next entry adds; less the first line of the code */
};

/*
 * 0: the instruction has no line. A table that is cut has no lines after the cut. place: zeros, or
 * what an earlier look at the same table left; moved on to the entry of the instruction.
 */
uint32_t python_lines_find(const uint8_t *table, size_t size_bytes, int32_t first_line,
                           int32_t offset_bytes, struct python_line_place *place);

#endif
