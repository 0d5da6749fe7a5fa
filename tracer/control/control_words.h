/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The words that a recording obeys.
 *
 *   start, stop       record, or pause
 *   step              begin the next step, for programs that mark none
 *   step open, step done    the same for who says when a step has ended: from open on, and at each
 * end snapshot [NAME]   read the system's counters now, and write all that is recorded to disk
 *   status            what is going on
 *   set NAME=VALUE    from here on, as the option of that name: events, level, call-stack, device,
 *                     collect-mode, analysis, watch; steps=A-B: only these, steps=all ends it
 *   watch ADDRESS BYTES TIMES NAME, unwatch ADDRESS    a tensor of the program (hooks/watch.h)
 *
 * A word is understood here, by whoever hears it: the consumer of the run, or the process itself.
 * What it changes becomes a struct, which is done in the process (control.c): at its next event,
 * before that is recorded.
 */
#ifndef LEAKTIDE_TRACER_CONTROL_WORDS_H
#define LEAKTIDE_TRACER_CONTROL_WORDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "leaktide/rings.h"

enum { CONTROL_LINE_BYTES = 1024, CONTROL_ANSWER_BYTES = 4096, CONTROL_TEXT_BYTES = 552 };

/* What the hearer does. */
enum control_word {
    CONTROL_WRONG, /* the answer says why */
    CONTROL_CHANGE,
    CONTROL_NOTHING, /* right, and nothing to do */
    CONTROL_STEP,
    CONTROL_SNAPSHOT, /* its name is in the change's text */
    CONTROL_STATUS
};

/* What is done in the process. */
enum control_kind {
    CHANGE_NOTHING,
    CHANGE_START,
    CHANGE_STOP,
    CHANGE_STEP,        /* the next one begins */
    CHANGE_STEP_OPEN,   /* from here on somebody may say that a step has ended */
    CHANGE_STEP_DONE,   /* it has, and the next one begins */
    CHANGE_STEPS,       /* only first to last; 0: all */
    CHANGE_WISH,        /* of a file: first to last, 0: all; or, if is_wanted is false, none */
    CHANGE_EVENTS,      /* text */
    CHANGE_LEVEL,       /* text */
    CHANGE_FRAMES,      /* first: native, last: of Python */
    CHANGE_DEVICES,     /* first: a bit for each */
    CHANGE_WATCH,       /* text */
    CHANGE_WATCH_RANGE, /* first: address, last: bytes, dumps, text */
    CHANGE_UNWATCH      /* first: address */
};

struct control_change {
    uint32_t kind; /* enum control_kind; checked by who takes it */
    uint32_t is_wanted;
    uint64_t first, last;
    int64_t dumps;
    char text[CONTROL_TEXT_BYTES];
};

_Static_assert(sizeof(struct control_change) <= MT_RINGS_CHANGE_BYTES, "goes through the file");

/*
 * Understands the line, which is cut to pieces; facts: how the process records. answer: "ok ..." or
 * "error: ...", with its end; for a step, a snapshot and the status it is the caller's. change: set
 * for CONTROL_CHANGE, and for CONTROL_SNAPSHOT its text.
 */
enum control_word control_understand(char *line, const struct mt_recording_facts *facts,
                                     struct control_change *change, char *answer,
                                     size_t answer_bytes);

/* What a control file asks for, at once. rank: -1 when it is not known. */
struct control_change control_of_file(const char *json, int64_t rank);

/* Whether the change pauses the recording that is at that step; `before` where it says nothing. */
bool control_pauses(const struct control_change *change, uint64_t step, bool before);

/* Where a recording stands, for the answer to `status`. */
struct control_status {
    bool is_paused;
    uint32_t process_id;
    const struct mt_file_header *header;
    uint64_t event_count, lost_count;
    const char *folder;
};
void control_say_status(const struct control_status *status, char *answer, size_t answer_bytes);

#endif
