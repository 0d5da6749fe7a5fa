/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Somebody who watches a recording being read.
 */
#include "reading_watch.h"

enum { events_between = 1 << 16 };

void reading_watch_init(struct reading_watch *watch, const struct event_source *inner,
                        mt_progress_function told, void *context)
{
    *watch = (struct reading_watch){
        .inner = *inner, .told = told, .context = context, .progress = {.reading = 1}};
}

static enum mt_result tell(struct reading_watch *watch, struct mt_error *error)
{
    if (!watch->is_cancelled)
        watch->is_cancelled = !watch->told(watch->context, &watch->progress);
    watch->next_count = watch->progress.event_count + events_between;
    if (watch->is_cancelled)
        return mt_error_set(error, MT_CANCELLED, "reading was cancelled");
    return MT_OK;
}

static enum mt_result tell_when_due(struct reading_watch *watch, struct mt_error *error)
{
    if (!watch->is_cancelled && watch->progress.event_count < watch->next_count)
        return MT_OK;
    return tell(watch, error);
}

static enum mt_result events_rewind(void *context, struct mt_error *error)
{
    struct reading_watch *watch = context;

    watch->progress.reading++;
    watch->progress.event_count = 0;
    watch->next_count = 0;
    return watch->inner.rewind(watch->inner.context, error);
}

static enum mt_result events_next(void *context, struct event *batch, size_t capacity,
                                  size_t *count, struct mt_error *error)
{
    struct reading_watch *watch = context;
    enum mt_result result = tell_when_due(watch, error);

    if (result == MT_OK)
        result = watch->inner.next(watch->inner.context, batch, capacity, count, error);
    if (result == MT_OK)
        watch->progress.event_count += *count;
    return result;
}

static enum mt_result events_lend(void *context, const struct event **events, size_t *count,
                                  struct mt_error *error)
{
    struct reading_watch *watch = context;
    enum mt_result result = tell_when_due(watch, error);

    if (result == MT_OK)
        result = watch->inner.lend(watch->inner.context, events, count, error);
    if (result == MT_OK)
        watch->progress.event_count += *count;
    return result;
}

struct event_source reading_watch_events(struct reading_watch *watch)
{
    return (struct event_source){watch, events_rewind, events_next, events_lend};
}

void reading_watch_expect(struct reading_watch *watch, uint64_t event_count)
{
    watch->progress.expected_count = event_count;
}

void reading_watch_allow(struct reading_watch *watch)
{
    watch->is_cancelled = false;
}
