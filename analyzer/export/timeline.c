/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A recording as tracks of a timeline.
 *
 * Slices of one track nest: an end that closes nothing is left out, and what is open at the end of
 * a process ends there.
 */
#include "timeline.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "labels.h"
#include "leaktide/invariant.h"
#include "lives.h"

struct open_track {
    struct timeline_track track; /* number 0: not known yet */
    uint32_t open_count;         /* slices */
};

struct timeline {
    const struct export_request *request;
    const struct question *question;
    const struct timeline_writer *writer;
    uint64_t track_count;
    struct open_track *processes, *steps;  /* by process */
    struct open_track *threads;            /* by thread */
    struct open_track *ledgers, *reserved; /* by ledger */
    struct open_track *samples;            /* by row of the tally */
    uint64_t *live_bytes;                  /* by ledger */
    uint64_t newest_ns;
};

static size_t at_least_one(size_t count)
{
    return count ? count : 1;
}

static bool timeline_init(struct timeline *timeline)
{
    const struct question *question = timeline->question;
    size_t processes = at_least_one(model_process_count(question->model));
    size_t threads = at_least_one(model_thread_count(question->model));
    size_t ledgers = at_least_one(tally_ledger_count(question->tally));
    size_t samples = at_least_one(tally_sample_count(question->tally));

    timeline->processes = calloc(processes, sizeof(*timeline->processes));
    timeline->steps = calloc(processes, sizeof(*timeline->steps));
    timeline->threads = calloc(threads, sizeof(*timeline->threads));
    timeline->ledgers = calloc(ledgers, sizeof(*timeline->ledgers));
    timeline->reserved = calloc(ledgers, sizeof(*timeline->reserved));
    timeline->samples = calloc(samples, sizeof(*timeline->samples));
    timeline->live_bytes = calloc(ledgers, sizeof(*timeline->live_bytes));
    return timeline->processes && timeline->steps && timeline->threads && timeline->ledgers &&
           timeline->reserved && timeline->samples && timeline->live_bytes;
}

static void timeline_release(struct timeline *timeline)
{
    free(timeline->processes);
    free(timeline->steps);
    free(timeline->threads);
    free(timeline->ledgers);
    free(timeline->reserved);
    free(timeline->samples);
    free(timeline->live_bytes);
}

/* --- tracks -------------------------------------------------------------------------------- */

static const struct timeline_track *tell(struct timeline *timeline, struct open_track *track,
                                         struct timeline_track described)
{
    MT_ASSERT(!track->track.number);
    MT_ASSERT(described.parent <= timeline->track_count);
    MT_ASSERT(described.name);
    described.number = ++timeline->track_count;
    track->track = described;
    timeline->writer->track(timeline->writer->context, &track->track);
    return &track->track;
}

static const struct timeline_track *process_track(struct timeline *timeline, uint16_t index)
{
    const struct model_process *process = model_process_at(timeline->request->model, index);
    struct open_track *track = &timeline->processes[index];

    if (track->track.number)
        return &track->track;
    /* Viewers keep processes apart by their id, which not every source knows. */
    return tell(timeline, track,
                (struct timeline_track){
                    .kind = TRACK_PROCESS,
                    .name = label_process(timeline->question, timeline->request->labels, index),
                    .process_id = process->process_id ? process->process_id : index + 1u,
                });
}

static struct timeline_track child_of(const struct timeline_track *parent, enum timeline_kind kind,
                                      const char *name)
{
    return (struct timeline_track){
        .kind = kind, .parent = parent->number, .name = name, .process_id = parent->process_id};
}

static struct open_track *thread_track(struct timeline *timeline, uint32_t index)
{
    const struct model_thread *thread = model_thread_at(timeline->question->model, index);
    struct open_track *track = &timeline->threads[index];
    struct timeline_track described;

    if (track->track.number)
        return track;
    described =
        child_of(process_track(timeline, thread->process), TRACK_THREAD,
                 thread->name ? model_text_at(timeline->question->model, thread->name) : "thread");
    described.thread_id = thread->thread_id ? thread->thread_id : index + 1u;
    tell(timeline, track, described);
    return track;
}

static struct open_track *steps_track(struct timeline *timeline, uint16_t process)
{
    struct open_track *track = &timeline->steps[process];

    if (!track->track.number)
        tell(timeline, track, child_of(process_track(timeline, process), TRACK_STEPS, "steps"));
    return track;
}

static void tell_counter(struct timeline *timeline, struct open_track *track, uint16_t process,
                         const char *name)
{
    tell(timeline, track, child_of(process_track(timeline, process), TRACK_COUNTER, name));
}

/* --- events -------------------------------------------------------------------------------- */

static void put_counter(struct timeline *timeline, const struct open_track *track, uint64_t time_ns,
                        uint64_t bytes)
{
    timeline->writer->counter(timeline->writer->context, &track->track, time_ns, bytes);
}

static void change(struct timeline *timeline, uint16_t ledger, uint64_t time_ns)
{
    struct open_track *track = &timeline->ledgers[ledger];

    if (!track->track.number)
        tell_counter(timeline, track, tally_ledger_at(timeline->question->tally, ledger)->process,
                     label_ledger(timeline->question, timeline->request->labels, ledger));
    put_counter(timeline, track, time_ns, timeline->live_bytes[ledger]);
}

static bool on_born(void *context, const struct life *life)
{
    struct timeline *timeline = context;

    timeline->live_bytes[life->ledger] += life->size_bytes;
    change(timeline, life->ledger, life->born_ns);
    return true;
}

static bool on_over(void *context, const struct life *life)
{
    struct timeline *timeline = context;

    if (!life->freed_event)
        return true;
    timeline->live_bytes[life->ledger] -= life->size_bytes;
    change(timeline, life->ledger, life->freed_ns);
    return true;
}

static void slice_begin(struct timeline *timeline, struct open_track *track, uint64_t time_ns,
                        const char *name)
{
    track->open_count++;
    timeline->writer->begin(timeline->writer->context, &track->track, time_ns, name);
}

static void slice_end(struct timeline *timeline, struct open_track *track, uint64_t time_ns)
{
    if (!track->open_count)
        return;
    track->open_count--;
    timeline->writer->end(timeline->writer->context, &track->track, time_ns);
}

static void step_begin(struct timeline *timeline, const struct event *event)
{
    struct open_track *track = steps_track(timeline, event->process);

    slice_end(timeline, track, event->time_ns); /* the next one ends the one before */
    slice_begin(timeline, track, event->time_ns,
                arena_format(timeline->request->labels, "step %" PRIu64, event->value));
}

static void on_reserved(struct timeline *timeline, const struct event *event)
{
    struct open_track *track;
    uint16_t ledger;

    if (!tally_ledger_find(timeline->question->tally, event->process, event->pool, event->place,
                           &ledger))
        return;
    track = &timeline->reserved[ledger];
    if (!track->track.number)
        tell_counter(
            timeline, track, event->process,
            arena_format(timeline->request->labels, "%s reserved",
                         label_ledger(timeline->question, timeline->request->labels, ledger)));
    put_counter(timeline, track, event->time_ns, event->value);
}

static void on_sample(struct timeline *timeline, const struct event *event)
{
    const struct tally *tally = timeline->question->tally;
    int32_t device = model_place_at(timeline->question->model, event->place).device;
    const char *name = model_text_at(timeline->question->model, event->text);
    struct open_track *track;
    size_t i = 0;

    while (i < tally_sample_count(tally) && (tally_sample_at(tally, i)->counter != event->text ||
                                             tally_sample_at(tally, i)->place != event->place ||
                                             tally_sample_at(tally, i)->process != event->process))
        i++;
    if (i == tally_sample_count(tally))
        return;
    track = &timeline->samples[i];
    if (!track->track.number && device >= 0)
        name = arena_format(timeline->request->labels, "%s, device %" PRId32, name, device);
    if (!track->track.number)
        tell_counter(timeline, track, event->process, name);
    put_counter(timeline, track, event->time_ns, event->value);
}

static bool on_event(void *context, const struct event *event)
{
    struct timeline *timeline = context;
    const char *name = model_text_at(timeline->question->model, event->text);

    timeline->newest_ns = event->time_ns;
    switch (event->kind) {
    case EVENT_OPERATOR_BEGIN:
        slice_begin(timeline, thread_track(timeline, event->thread), event->time_ns, name);
        break;
    case EVENT_OPERATOR_END:
        slice_end(timeline, thread_track(timeline, event->thread), event->time_ns);
        break;
    case EVENT_STEP_BEGIN:
        step_begin(timeline, event);
        break;
    case EVENT_STEP_END:
        slice_end(timeline, steps_track(timeline, event->process), event->time_ns);
        break;
    case EVENT_MARK:
        timeline->writer->mark(timeline->writer->context,
                               &thread_track(timeline, event->thread)->track, event->time_ns, name);
        break;
    case EVENT_RESERVED:
        on_reserved(timeline, event);
        break;
    case EVENT_SAMPLE:
        on_sample(timeline, event);
        break;
    default:
        break;
    }
    return true;
}

/* --- accounts ------------------------------------------------------------------------------ */

/* A counter, where any of the accounts has that part, with the exit's as its last value. Rough
 * ones, which do not split heaps, are left out where the one that did before stands for them. */
static void put_part(struct timeline *timeline, const struct memory_accounts_all *accounts,
                     enum account_part part)
{
    struct open_track track = {0};
    const struct memory_account *whole = NULL;

    for (size_t i = 0; i < accounts->count; i++) {
        const struct memory_account *account = memory_accounts_at(accounts, i);
        uint64_t bytes = memory_account_part(account, part);

        if (!memory_account_is_rough(account))
            whole = account;
        else if (whole && memory_account_stands_for(whole, account))
            continue;
        if (!track.track.number && bytes)
            tell_counter(
                timeline, &track, account->process,
                arena_format(timeline->request->labels, "resident: %s", account_part_name(part)));
        if (track.track.number)
            put_counter(timeline, &track, account->time_ns, bytes);
    }
}

static void put_accounts(struct timeline *timeline, uint16_t process)
{
    const struct memory_accounts_all accounts =
        memory_accounts_all_of(tally_accounts(timeline->question->tally), process);

    for (int part = 0; part < ACCOUNT_PART_COUNT; part++)
        put_part(timeline, &accounts, part);
}

static bool on_process_over(void *context, uint16_t process)
{
    struct timeline *timeline = context;
    const struct model *model = timeline->question->model;

    for (uint32_t i = 0; i < model_thread_count(model); i++)
        if (model_thread_at(model, i)->process == process)
            while (timeline->threads[i].open_count)
                slice_end(timeline, &timeline->threads[i], timeline->newest_ns);
    slice_end(timeline, &timeline->steps[process], timeline->newest_ns);
    put_accounts(timeline, process);
    return true;
}

enum mt_result timeline_read(const struct export_request *request,
                             const struct timeline_writer *writer, struct mt_error *error)
{
    struct timeline timeline = {
        .request = request, .question = request->question, .writer = writer};
    const struct life_visitor visitor = {
        .context = &timeline,
        .born = on_born,
        .over = on_over,
        .event = on_event,
        .process_over = on_process_over,
    };
    enum mt_result result;

    if (timeline_init(&timeline))
        result = lives_read(request->question->events, request->model, &visitor, error);
    else
        result = mt_error_set(error, MT_NO_MEMORY, "no memory for tracks");
    timeline_release(&timeline);
    return result;
}
