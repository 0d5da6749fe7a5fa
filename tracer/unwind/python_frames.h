/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The frames of CPython that the calling thread is in, remembered from one look to the next.
 *
 * A thread reads its own frames and no others. They need no lock: nobody but the thread itself
 * enters and leaves them, and they keep their code objects alive. So they are read too while the
 * thread has given the interpreter's lock up, as torch does around every operator; the thread state
 * is then still the thread's own (PyGILState_GetThisThreadState, which asks for no lock). Once the
 * interpreter ends, which takes the states of threads away, nothing is read.
 *
 * What was read before is verified, not read anew: from the innermost frame on that is remembered,
 * each frame outward is compared with what it was (who called it, its code, its instruction, who
 * owns it; the generation of its code, if any code died since; what tells another of these need not
 * be compared for itself). That is all that a frame says, so it is the same comparison as with a
 * walk. A remembered address is looked at only when the
 * frame inside of it points there.
 *
 * Takes no lock, uses no heap, never waits. A thread that runs no Python has no frames.
 */
#ifndef LEAKTIDE_TRACER_PYTHON_FRAMES_H
#define LEAKTIDE_TRACER_PYTHON_FRAMES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "python_interpreter.h"

enum {
    PYTHON_FRAMES_MAX = 1024, /* of deeper stacks the inner ones are read, at every look */
    PYTHON_FRAME_PLACES = 1024
};

struct python_frame {
    const char *frame;    /* the interpreter's; NULL: is not known again */
    const char *code;     /* its code object */
    uint64_t instruction; /* f_lasti, or the address of an instruction */
    uint64_t word;        /* the reader's; 0 when the frame is new or has changed */
    uint32_t generation;  /* of the code: python_deaths.h */
    uint8_t owner;
    bool is_python; /* false: the interpreter's loop marks that it was called */
    bool is_entry;  /* what is further out runs in another call of the loop */
};

/* What is compared of a frame while no code dies, close together: four in a cache line. */
struct python_check {
    const char *frame; /* NO_FRAME: is not known again */
    uint64_t state;    /* its instruction; of 3.11 also whether it is an entry */
};

/* Zeros at first; 98 KiB, touched as deep as stacks are. Of one thread at a time. */
struct python_frames {
    uint32_t count;
    uint32_t known_count; /* how many can be verified next time: all, or none */
    uint64_t death_count; /* of codes, when this was read */
    struct python_frame frames[PYTHON_FRAMES_MAX]; /* outermost first */
    struct python_check checks[PYTHON_FRAMES_MAX]; /* of frames */
    struct python_frame fresh[PYTHON_FRAMES_MAX];  /* innermost first, while they are read */
    uint16_t places[PYTHON_FRAME_PLACES];          /* hash of a frame's address -> where it is */
};

/*
 * Reads the frames of this thread. Returns how many, the outermost, are what they were; the others
 * have no word. Frames are good until the thread runs on.
 */
uint32_t python_frames_read(struct python_frames *known);

/* The next look takes nothing over. */
static inline void python_frames_forget(struct python_frames *known)
{
    known->known_count = 0;
}

/* Of its instruction in its code; less than 0: none ran yet. Of a frame that was just read. */
int32_t python_frame_offset(const struct python_frame *frame);

#endif
