/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The events of a recording from the first to the last, as often as somebody wants them.
 *
 * Not all answers come out of one reading: who was alive in an interval that nobody knew before,
 * every row of an export. Indexes in the events are the same each time.
 */
#ifndef LEAKTIDE_MODEL_EVENT_SOURCE_H
#define LEAKTIDE_MODEL_EVENT_SOURCE_H

#include <stddef.h>

#include "error_sentence.h"
#include "event.h"

/* What recordings of leaktide's own are called among the kinds of inputs. */
#define SOURCE_KIND_OWN "leaktide run"

struct event_source {
    void *context;
    /* Back to the first event. */
    enum mt_result (*rewind)(void *context, struct mt_error *error);
    /* As input_next(): *count 0 is the end; a batch never mixes two processes. NULL: it only lends.
     * Who wants batches from whatever source takes them with event_reader.h. */
    enum mt_result (*next)(void *context, struct event *batch, size_t capacity, size_t *count,
                           struct mt_error *error);
    /* The same without a copy: *events are good until the next call of any of the three. NULL: the
     * source has no memory of its own. */
    enum mt_result (*lend)(void *context, const struct event **events, size_t *count,
                           struct mt_error *error);
};

#endif
