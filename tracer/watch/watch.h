/* SPDX-License-Identifier: Apache-2.0 */
/*
 * --watch: reads tensors before and after the operators of the program.
 *
 *   --watch=[START[:N]],END[,full-content]
 *
 * The outputs of operator START, or only its output number N, are watched from its end up to the
 * end of operator END, each time START runs. The program may watch tensors of its own as well;
 * those are read at every operator, until they are freed or taken away again.
 *
 * Which operators run, and what their outputs are, comes from marks of frameworks and from the
 * hooks of ATB. A tensor is read on the thread that runs the operator, through the program's own
 * runtime (tensor_dump.h), with no lock held. A tensor whose block is freed is forgotten: what lies
 * there then is somebody else's. What cannot be read three times in a row is forgotten, too.
 *
 * All calls are safe from any thread and leave errno alone.
 */
#ifndef LEAKTIDE_TRACER_WATCH_H
#define LEAKTIDE_TRACER_WATCH_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "recorder.h"

enum { WATCH_NAME_MOST = 64 };

struct watched_range {
    uint64_t address, size_bytes;
    int64_t dumps; /* so many at most; negative: no limit */
    struct text name;
};

struct watched_operator {
    struct text name;
    struct text path; /* in the model, where it is known: START and END may be that, too */
    void *stream;
};

extern atomic_bool watch_is_used;

/* Anything to do at all? One load. */
static inline bool watch_is_on(void)
{
    return __builtin_expect(atomic_load_explicit(&watch_is_used, memory_order_relaxed), 0);
}

/* The value of --watch. False: it is no such value, and nothing has changed. */
bool watch_choose(const char *value);

/* By the program. False: there is no room for one more, or it is no tensor. */
bool watch_add(const struct watched_range *range);
bool watch_remove(uint64_t address);

/* Only while watch_is_on(). */
void watch_operator_begin(const struct watched_operator *started);
void watch_operator_end(const struct watched_operator *ended);
/* An output of the operator that is open on this thread. */
void watch_output(uint64_t address, uint64_t size_bytes);
/* A block is about to be freed; 0 bytes: its size is not known. */
void watch_forget(uint64_t address, uint64_t size_bytes);

#endif
