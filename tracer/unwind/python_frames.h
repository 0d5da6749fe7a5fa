/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The frames of CPython 3.8 to 3.15 that the calling thread is in.
 *
 * A thread reads its own frames and no others. They need no lock: nobody but the thread itself
 * enters and leaves them, they keep their code objects alive, and what is read of those never
 * changes. So they are read too while the thread has given the interpreter's lock up, as torch
 * does around every operator; the thread state is then still the thread's own (PyGILState_-
 * GetThisThreadState, which asks for no lock). Once the interpreter ends, which takes the states of
 * threads away, nothing is read. Where things are is known from python_layout.h; an interpreter of
 * another version has no frames here. Line numbers of 3.8 to 3.10 come from
 * PyCode_Addr2Line, which needs no lock there; newer ones from python_lines.h.
 *
 * Takes no lock, uses no heap, never waits. A thread that runs no Python has no frames.
 */
#ifndef LEAKTIDE_TRACER_PYTHON_FRAMES_H
#define LEAKTIDE_TRACER_PYTHON_FRAMES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { PYTHON_FRAMES_MAX = 512, PYTHON_TEXT_MAX = 1024 };

struct python_frame {
    const char *code;     /* the interpreter's code object */
    int32_t offset_bytes; /* of the instruction in it; less than 0: none ran yet */
    bool is_entry;        /* what is further out runs in another call of the interpreter's loop */
};

/*
 * What makes a code object this one: objects come and go, and another may lie where it lay. The
 * texts of two that are equal here are equal but for a chance of 2^-64.
 */
struct python_identity {
    uint64_t names; /* a hash of its function's name and its file's */
    uint64_t line;  /* its first */
};

/* Looks for an interpreter; outside of hooks, again whenever objects were loaded. */
void python_find(void);

/* PY_VERSION_HEX of an interpreter that was found and whose frames cannot be read; 0: none. */
uint32_t python_unread(void);

/* There is an interpreter whose frames can be read. */
bool python_is_here(void);

/* Innermost first; 0: no frame of Python on this thread, or the lock is another's. */
size_t python_frames_read(struct python_frame *frames, size_t most);

/* Is the address in the interpreter's loop? Each call of it runs frames up to an entry. */
bool python_runs_at(uint64_t pc);

/* Only for codes of frames that were just read. */
struct python_identity python_identify(const char *code);
uint32_t python_line(const struct python_frame *frame);

/*
 * Two frames of codes with equal identities have the same line if this is the same. It takes a
 * part of what python_line does. (Of long tables of lines it looks at a part; there a code that is
 * compiled again may be taken for the one before if it lies at the very same place.)
 */
uint64_t python_line_key(const struct python_frame *frame);

/* UTF-8, cut at size_bytes; returns the length. */
size_t python_function(const char *code, char *text, size_t size_bytes);
size_t python_file(const char *code, char *text, size_t size_bytes);

#endif
