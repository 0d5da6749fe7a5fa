/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Puts steps into a stream of events, and takes out those that are not wanted.
 *
 * An event becomes at most three: the window begins, a step begins, the event itself.
 */
#include "step_source.h"

#include <stdlib.h>
#include <string.h>

#include "event_reader.h"

enum { OLDER = 256, GROWTH = 3 };

struct step_source {
    struct event_source inner;
    struct event_reader reader; /* of inner */
    struct event_batch batch;
    const struct step_rule *rule;
    const struct step_choice *choice;
    /* Of the process that is read. */
    bool has_process;
    uint16_t process;
    bool has_own_steps; /* marks are passed over: what is found or named counts */
    bool has_window, is_over, is_open;
    bool is_outside; /* of the wanted steps, between two of them */
    uint64_t step_count, open_number;
    struct step_token wanted;
    uint64_t earlier_left;        /* beginnings that are passed over: they come before the loop */
    struct event changed[GROWTH]; /* what came of one event */
    struct event older[OLDER];    /* allocs outside */
};

static struct found_steps found_in_process(const struct step_source *source)
{
    if (source->rule->is_named)
        return source->process < source->rule->entry_count ? source->rule->entries[source->process]
                                                           : (struct found_steps){0};
    if (source->process < source->rule->found_count &&
        !source->rule->found[source->process].has_marks)
        return source->rule->found[source->process];
    return (struct found_steps){0};
}

static bool begins_step(struct step_source *source, const struct event *event)
{
    struct step_token token = step_token_of(event);

    if (token.kind == TOKEN_NONE)
        return false;
    if (source->wanted.kind != TOKEN_NONE) {
        if (token.kind != source->wanted.kind || token.id != source->wanted.id)
            return false;
        if (!source->earlier_left)
            return true;
        source->earlier_left--;
        return false;
    }
    return source->rule->is_named && token_is_named(&source->rule->named, token);
}

static void process_begin(struct step_source *source, uint16_t process)
{
    struct found_steps found;

    source->has_process = true;
    source->process = process;
    found = found_in_process(source);
    source->wanted = found.token;
    source->earlier_left = found.earlier_count;
    source->has_window = source->is_over = source->is_open = source->is_outside = false;
    source->step_count = 0;
    source->has_own_steps = source->rule->is_named || found.token.kind != TOKEN_NONE;
}

static struct event mark_like(const struct event *event, enum event_kind kind, uint64_t number)
{
    return (struct event){.time_ns = event->time_ns,
                          .value = number,
                          .thread = event->thread,
                          .process = event->process,
                          .kind = (uint8_t)kind,
                          .flags = event->kind == kind ? 0 : EVENT_IS_PUT_IN};
}

/* A step begins before this event. Returns what it adds to out. */
static size_t step_begin(struct step_source *source, const struct event *event, uint64_t number,
                         struct event *out)
{
    uint64_t index = source->step_count++;
    size_t count = 0;

    if (!step_choice_wants(source->choice, index, number)) {
        if (source->is_open)
            out[count++] = mark_like(event, EVENT_STEP_END, source->open_number);
        source->is_open = false;
        source->is_outside = source->has_window;
        source->is_over = source->has_window && step_choice_is_over(source->choice, index, number);
        return count;
    }
    if (!source->has_window && step_choice_is_made(source->choice))
        out[count++] = mark_like(event, EVENT_WINDOW_BEGIN, 0);
    source->has_window = source->is_open = true;
    source->is_outside = false;
    source->open_number = number;
    out[count++] = mark_like(event, EVENT_STEP_BEGIN, number);
    return count;
}

static size_t step_end(struct step_source *source, const struct event *event, struct event *out)
{
    if (!source->is_open || event->value != source->open_number)
        return 0;
    source->is_open = false;
    source->is_over = step_choice_is_made(source->choice) &&
                      step_choice_is_over(source->choice, source->step_count, event->value + 1);
    out[0] = *event;
    return 1;
}

static size_t pass_event(struct step_source *source, const struct event *event, struct event *out)
{
    size_t count = 0;

    if (source->is_over)
        return 0;
    if (event->kind == EVENT_STEP_BEGIN)
        return source->has_own_steps ? 0 : step_begin(source, event, event->value, out);
    if (event->kind == EVENT_STEP_END)
        return source->has_own_steps ? 0 : step_end(source, event, out);
    if (source->has_own_steps && begins_step(source, event))
        count = step_begin(source, event, source->step_count + 1, out);
    if (!source->is_over)
        out[count++] = *event;
    return count;
}

/* How many events of the batch come before one that changes something. */
static size_t plain_count(struct step_source *source)
{
    const struct event *events = source->batch.events + source->batch.at;
    size_t left = source->batch.count - source->batch.at, count = 0;

    if (source->is_over)
        return 0;
    while (count < left && events[count].kind != EVENT_STEP_BEGIN &&
           events[count].kind != EVENT_STEP_END &&
           !(source->has_own_steps && begins_step(source, &events[count]))) {
        event_fetch_ahead(&events[count]);
        count++;
    }
    return count;
}

static enum mt_result source_rewind(void *context, struct mt_error *error)
{
    struct step_source *source = context;

    event_batch_drop(&source->batch);
    source->has_process = false;
    return source->inner.rewind(source->inner.context, error);
}

static enum mt_result batch_reach(struct step_source *source, struct mt_error *error)
{
    struct event_batch *batch = &source->batch;
    enum mt_result result = event_batch_reach(batch, &source->reader, error);

    if (batch->count && (!source->has_process || source->process != batch->events[0].process))
        process_begin(source, batch->events[0].process);
    return result;
}

/* Of so many events outside, those that are taken at once: their blocks are of no step. */
static size_t make_older(struct step_source *source, const struct event *events, size_t count)
{
    count = count < OLDER ? count : OLDER;
    for (size_t i = 0; i < count; i++) {
        source->older[i] = events[i];
        if (events[i].kind == EVENT_ALLOC)
            source->older[i].flags |= EVENT_IS_OLDER;
    }
    return count;
}

/* What comes of the next events; 0: nothing. */
static size_t advance(struct step_source *source, const struct event **events)
{
    size_t plain = plain_count(source);

    *events = source->batch.events + source->batch.at;
    if (plain && source->is_outside) {
        plain = make_older(source, *events, plain);
        *events = source->older;
    }
    if (plain) {
        source->batch.at += plain;
        return plain;
    }
    source->batch.at++;
    plain = pass_event(source, *events, source->changed);
    *events = source->changed;
    return plain;
}

static enum mt_result source_lend(void *context, const struct event **events, size_t *count,
                                  struct mt_error *error)
{
    struct step_source *source = context;
    enum mt_result result = MT_OK;

    *count = 0;
    while (result == MT_OK && !*count) {
        result = batch_reach(source, error);
        if (result != MT_OK || !source->batch.count)
            break;
        *count = advance(source, events);
    }
    return result;
}

struct step_source *step_source_create(const struct event_source *inner,
                                       const struct step_rule *rule,
                                       const struct step_choice *choice)
{
    struct step_source *source = calloc(1, sizeof(*source));

    if (!source)
        return NULL;
    source->inner = *inner;
    source->rule = rule;
    source->choice = choice;
    if (event_reader_begin(&source->reader, &source->inner, NULL) == MT_OK)
        return source;
    free(source);
    return NULL;
}

void step_source_destroy(struct step_source *source)
{
    if (!source)
        return;
    event_reader_end(&source->reader);
    free(source);
}

struct event_source step_source_events(struct step_source *source)
{
    return (struct event_source){source, source_rewind, NULL, source_lend};
}
