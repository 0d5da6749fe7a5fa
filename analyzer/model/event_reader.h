/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The batches of a source one after the other: lent by the source where it can, else in memory of
 * the reader.
 */
#ifndef LEAKTIDE_MODEL_EVENT_READER_H
#define LEAKTIDE_MODEL_EVENT_READER_H

#include "event_source.h"

struct event_reader {
    const struct event_source *source;
    struct event *own; /* NULL: the source lends */
};

/* From where the source stands, which must outlive it. MT_NO_MEMORY. */
enum mt_result event_reader_begin(struct event_reader *reader, const struct event_source *source,
                                  struct mt_error *error);
/* As next() of the source; *events are good until the next call. */
enum mt_result event_reader_next(struct event_reader *reader, const struct event **events,
                                 size_t *count, struct mt_error *error);
void event_reader_end(struct event_reader *reader);

/* A batch that is handed on in pieces; all zeros at first. */
struct event_batch {
    const struct event *events;
    size_t at, count; /* at: the first that was not handed on */
};

void event_batch_drop(struct event_batch *batch);
/* Where nothing is left of it, the next one; count 0: there is none. */
enum mt_result event_batch_reach(struct event_batch *batch, struct event_reader *reader,
                                 struct mt_error *error);

#endif
