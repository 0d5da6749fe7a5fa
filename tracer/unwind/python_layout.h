/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where CPython keeps what a stack is read from: threads, frames, code objects, texts.
 *
 * 3.8 to 3.12 have it in a table here, made from the headers that each version installs. From 3.13
 * on an interpreter says it itself: _PyRuntime begins with the offsets that it gives to debuggers,
 * of builds with and without the interpreter's lock. Where among them each stands is one row for a
 * version. A version that has none is not read.
 *
 * Calls nothing, keeps nothing. Offsets and sizes are in bytes.
 */
#ifndef LEAKTIDE_TRACER_PYTHON_LAYOUT_H
#define LEAKTIDE_TRACER_PYTHON_LAYOUT_H

#include <stdbool.h>
#include <stdint.h>

/* Of 3.8 to 3.10 a frame is a PyFrameObject, later a struct _PyInterpreterFrame. */
struct python_layout {
    uint16_t frame_of_thread; /* in PyThreadState */
    int16_t frame_of_cframe;  /* there is a struct between; -1: none */

    uint16_t previous, code; /* in a frame; the low bits of `code` are a tag */
    uint16_t instruction;    /* in a frame: f_lasti, or a pointer into the code */
    int16_t entry;           /* in a frame, 1: is_entry; -1: none */
    int16_t owner;           /* in a frame, from 3 on: it is the loop's own; -1: none */
    int16_t copy;            /* in a frame: which of the copies of its code it runs; -1: none */
    uint8_t lasti_bytes;     /* what f_lasti counts; 0: instruction is a pointer */

    uint16_t name, file, line;     /* in a code object */
    uint16_t lines;                /* in a code object: the table from instruction to line */
    uint16_t instructions_of_code; /* in a code object */
    uint16_t copies;               /* in a code object: an array, its count first */

    uint16_t type;                      /* in any object */
    uint16_t dealloc;                   /* in a type; 0: the deaths of codes are not watched */
    uint16_t bytes_length, bytes_first; /* in a bytes object */
    uint16_t text_length, text_state;   /* in a str */
    uint8_t text_width_bit;             /* in its state: 3 bits, then is_compact, is_ascii */
    uint16_t ascii, compact;            /* sizes of the heads of texts */
};

/* Its PY_VERSION_HEX, but for what follows the second number. */
uint32_t python_version(const char *version);

/* version   what Py_GetVersion says; runtime   _PyRuntime, NULL if there is none */
bool python_layout_find(const char *version, const void *runtime, struct python_layout *layout);

#endif
