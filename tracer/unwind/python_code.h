/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a code object of the interpreter says: its function, its file, its lines.
 *
 * Only for codes of frames that were just read, which keep them alive; what is read of them never
 * changes. Line numbers of 3.8 to 3.10 come from PyCode_Addr2Line, which needs no lock there; newer
 * ones from python_lines.h. Takes no lock, uses no heap, never waits.
 */
#ifndef LEAKTIDE_TRACER_PYTHON_CODE_H
#define LEAKTIDE_TRACER_PYTHON_CODE_H

#include <stddef.h>
#include <stdint.h>

#include "python_lines.h"

enum { PYTHON_TEXT_MAX = 1024 };

/*
 * What makes a code object this one: objects come and go, and another may lie where it lay. The
 * texts of two that are equal here are equal but for a chance of 2^-64.
 */
struct python_identity {
    uint64_t names; /* a hash of its function's name and its file's */
    uint64_t line;  /* its first */
};

struct python_identity python_identify(const char *code);

/*
 * offset_bytes: of an instruction in it; less than 0: none ran yet. place: zeros, or what an
 * earlier call for the same code left. 0: it has no line.
 */
uint32_t python_line(const char *code, int32_t offset_bytes, struct python_line_place *place);

/*
 * Two codes with equal identities have the same line if this is the same. It takes a part of what
 * python_line does. (Of long tables of lines it looks at a part; there a code that is compiled
 * again may be taken for the one before if it lies at the very same place.)
 */
uint64_t python_line_key(const char *code, int32_t offset_bytes);

/* UTF-8, cut at size_bytes; returns the length. */
size_t python_function(const char *code, char *text, size_t size_bytes);
size_t python_file(const char *code, char *text, size_t size_bytes);

#endif
