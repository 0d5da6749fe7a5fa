/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A whole recording in memory, for tests that compare it with what they put in.
 */
#ifndef LEAKTIDE_TESTS_TRACE_READING_H
#define LEAKTIDE_TESTS_TRACE_READING_H

#include <stdbool.h>
#include <stddef.h>

#include "event.h"
#include "leaktide/error.h"
#include "model.h"

struct symbols;
struct tally;

struct trace_reading {
    enum mt_result result; /* of opening or of reading, whichever failed */
    struct mt_error error;
    struct model *model;
    struct event *events;
    size_t count;
    struct symbols *symbols; /* once a label was asked for */
};

/* Reads in batches of batch_events (0: a default). Running out of memory ends the program. */
struct trace_reading trace_reading_of(const char *path, size_t batch_events);
/* The same, where nobody asks for sites. */
struct trace_reading trace_reading_without_sites(const char *path);
/* The same, with these frames of loads, by the built-in rules. */
struct trace_reading trace_reading_with_loads(const char *path, enum loads_wanted loads);
/* Whether the next reading of the same recording, with the same model, has the same events. */
bool trace_reading_repeats(const struct trace_reading *first, const char *path);
void trace_reading_release(struct trace_reading *reading);

/* The count of the note that contains `words`, 0 if there is none. */
uint64_t trace_reading_note(const struct trace_reading *reading, const char *words);

/* How the site is called; borrowed until release. */
const char *trace_reading_label(struct trace_reading *reading, uint32_t site);

/* What its events add up to; tally_destroy() it before the reading is released. */
struct tally *trace_reading_tally(const struct trace_reading *reading);

#endif
