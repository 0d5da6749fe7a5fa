/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Owned blocks are in the order of their allocs, so a reading finds the next one without a search.
 */
#include "owner_source.h"

#include <stdlib.h>

#include "event_reader.h"
#include "leaktide/invariant.h"

enum { NAMED_MOST = 5 };

struct owner_source {
    struct event_source inner;
    struct event_reader reader; /* of inner */
    const struct owned_blocks *owned;
    /* While reading. */
    struct event_batch batch;
    size_t next;
    uint64_t event_count; /* that were handed out */
    struct event named[NAMED_MOST];
};

static struct event tag_like(const struct event *event, enum event_kind kind, uint32_t text)
{
    return (struct event){.time_ns = event->time_ns,
                          .text = text,
                          .thread = event->thread,
                          .process = event->process,
                          .kind = (uint8_t)kind,
                          .flags = EVENT_IS_PUT_IN};
}

/* How many events of the batch come before the next alloc of a block that somebody named. */
static size_t plain_count(const struct owner_source *source)
{
    size_t left = source->batch.count - source->batch.at;
    uint64_t before;

    MT_ASSERT(source->next <= source->owned->count);
    if (source->next == source->owned->count)
        return left;
    MT_ASSERT(source->owned->rows[source->next].alloc > source->event_count);
    before = source->owned->rows[source->next].alloc - source->event_count - 1;
    return before < left ? (size_t)before : left;
}

/* The alloc between the tags of its owner and within its module: how many events. */
static size_t name_alloc(struct owner_source *source, const struct event *event)
{
    const struct owned_block *row = &source->owned->rows[source->next++];
    struct event *named = source->named;
    size_t count = 0;

    if (row->owner)
        named[count++] = tag_like(event, EVENT_TAG_BEGIN, row->owner);
    if (row->nn_module)
        named[count++] = tag_like(event, EVENT_NN_MODULE_BEGIN, row->nn_module);
    named[count++] = *event;
    if (row->nn_module)
        named[count++] = tag_like(event, EVENT_NN_MODULE_END, row->nn_module);
    if (row->owner)
        named[count++] = tag_like(event, EVENT_TAG_END, row->owner);
    return count;
}

static enum mt_result source_rewind(void *context, struct mt_error *error)
{
    struct owner_source *source = context;

    event_batch_drop(&source->batch);
    source->next = 0;
    source->event_count = 0;
    return source->inner.rewind(source->inner.context, error);
}

static enum mt_result source_lend(void *context, const struct event **events, size_t *count,
                                  struct mt_error *error)
{
    struct owner_source *source = context;
    enum mt_result result = event_batch_reach(&source->batch, &source->reader, error);
    size_t plain;

    *count = 0;
    if (result != MT_OK || !source->batch.count)
        return result;
    plain = plain_count(source);
    *events = source->batch.events + source->batch.at;
    *count = plain;
    if (!plain) {
        *count = name_alloc(source, *events);
        *events = source->named;
        plain = 1;
    }
    source->batch.at += plain;
    source->event_count += plain;
    return MT_OK;
}

enum mt_result owner_source_create(const struct event_source *inner,
                                   const struct owned_blocks *owned, struct owner_source **source,
                                   struct mt_error *error)
{
    struct owner_source *made = calloc(1, sizeof(*made));
    enum mt_result result;

    if (!made)
        return mt_error_set(error, MT_NO_MEMORY, "no memory for the owners of blocks");
    made->inner = *inner;
    made->owned = owned;
    result = event_reader_begin(&made->reader, &made->inner, error);
    if (result != MT_OK) {
        free(made);
        return result;
    }
    *source = made;
    return MT_OK;
}

void owner_source_destroy(struct owner_source *source)
{
    if (!source)
        return;
    event_reader_end(&source->reader);
    free(source);
}

struct event_source owner_source_events(struct owner_source *source)
{
    return (struct event_source){source, source_rewind, NULL, source_lend};
}
