/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The batches of a source one after the other.
 */
#include "event_reader.h"

#include <stdlib.h>

enum { batch_events = 4096 };

enum mt_result event_reader_begin(struct event_reader *reader, const struct event_source *source,
                                  struct mt_error *error)
{
    *reader = (struct event_reader){.source = source};
    if (source->lend)
        return MT_OK;
    reader->own = malloc(batch_events * sizeof(*reader->own));
    if (!reader->own)
        return mt_error_set(error, MT_NO_MEMORY, "no memory for a batch of events");
    return MT_OK;
}

enum mt_result event_reader_next(struct event_reader *reader, const struct event **events,
                                 size_t *count, struct mt_error *error)
{
    const struct event_source *source = reader->source;

    if (!reader->own)
        return source->lend(source->context, events, count, error);
    *events = reader->own;
    return source->next(source->context, reader->own, batch_events, count, error);
}

void event_reader_end(struct event_reader *reader)
{
    free(reader->own);
    reader->own = NULL;
}

void event_batch_drop(struct event_batch *batch)
{
    *batch = (struct event_batch){NULL, 0, 0};
}

enum mt_result event_batch_reach(struct event_batch *batch, struct event_reader *reader,
                                 struct mt_error *error)
{
    enum mt_result result;

    if (batch->at < batch->count)
        return MT_OK;
    event_batch_drop(batch);
    result = event_reader_next(reader, &batch->events, &batch->count, error);
    if (result != MT_OK)
        event_batch_drop(batch);
    return result;
}
