/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a picture of a recording needs, gathered in a second reading.
 */
#include "picture.h"

#include <stdlib.h>

#include "hash.h"
#include "ledger_order.h"
#include "picture_analyses.h"

/*
 * Limits that keep a picture of any recording below 15 MB: a kept block takes about 10 bytes of
 * the page, a point of a curve 6, a row of the rest 8.
 */
enum {
    blocks_most = 200000,
    rest_rows_most = 150000,
    changes_most = 300000, /* of all curves together */
    stretches_most = 120000,
    changes_least = 2048, /* of one curve */
    detail_changes = 8192,
};

static size_t share_of(size_t all, size_t curves, size_t least)
{
    size_t share = all / (curves ? curves : 1);

    return share > least ? share : least;
}

static void time_span(const struct question *question, struct curve_limits *limits)
{
    struct model *model = tally_model(question->tally);

    limits->start_ns = UINT64_MAX;
    for (size_t i = 0; i < model_process_count(model); i++) {
        const struct model_process *process = model_process_at(model, (uint16_t)i);

        if (process->start_ns < limits->start_ns)
            limits->start_ns = process->start_ns;
        if (process->end_ns > limits->end_ns)
            limits->end_ns = process->end_ns;
    }
    if (limits->end_ns < limits->start_ns)
        limits->start_ns = limits->end_ns = 0;
}

static uint64_t sample_hash(uint16_t process, uint16_t place, uint32_t counter)
{
    return hash_pair((uint64_t)counter << 32 | place, process);
}

static bool index_samples(struct picture *picture)
{
    for (size_t i = 0; i < picture->sample_count; i++) {
        const struct sample_row *row = tally_sample_at(picture->question->tally, i);

        if (!hash_index_add(&picture->sample_index,
                            sample_hash(row->process, row->place, row->counter), (uint32_t)i))
            return false;
    }
    return true;
}

/* The peaks of the ledgers that come first. */
static bool init_details(struct picture *picture)
{
    size_t count;
    uint16_t *order = ledger_order(picture->question->tally, &count);

    for (size_t i = 0; order && i < count && picture->detail_count < PICTURE_DETAILS; i++) {
        const struct ledger *ledger = tally_ledger_at(picture->question->tally, order[i]);

        picture->detail_ledgers[picture->detail_count] = order[i];
        if (!curve_detail_init(&picture->details[picture->detail_count++], ledger->peak_time_ns,
                               detail_changes)) {
            free(order);
            return false;
        }
    }
    free(order);
    return order != NULL;
}

static bool picture_init(struct picture *picture)
{
    const struct question *question = picture->question;
    struct kept_limits kept = {.block_most = blocks_most, .rest_most = rest_rows_most};
    size_t curves;

    picture->ledger_count = tally_ledger_count(question->tally);
    picture->sample_count = tally_sample_count(question->tally);
    curves = picture->ledger_count * 2 + picture->sample_count;
    time_span(question, &picture->limits);
    picture->limits.change_most = share_of(changes_most, curves, changes_least);
    picture->limits.stretch_most = share_of(stretches_most, curves, changes_least / 2);
    kept.start_ns = picture->limits.start_ns;
    kept.end_ns = picture->limits.end_ns;
    hash_index_init(&picture->sample_index);
    picture->live = calloc(picture->ledger_count + 1, sizeof(*picture->live));
    picture->reserved = calloc(picture->ledger_count + 1, sizeof(*picture->reserved));
    picture->live_bytes = calloc(picture->ledger_count + 1, sizeof(*picture->live_bytes));
    picture->samples = calloc(picture->sample_count + 1, sizeof(*picture->samples));
    return picture->live && picture->reserved && picture->live_bytes && picture->samples &&
           kept_init(&picture->kept, &kept) && page_groups_init(&picture->groups, question) &&
           index_samples(picture) && init_details(picture);
}

static void picture_release(void *state)
{
    struct picture *picture = state;

    for (size_t i = 0; i < picture->ledger_count; i++) {
        if (picture->live)
            curve_release(&picture->live[i]);
        if (picture->reserved)
            curve_release(&picture->reserved[i]);
    }
    for (size_t i = 0; picture->samples && i < picture->sample_count; i++)
        curve_release(&picture->samples[i]);
    for (size_t i = 0; i < picture->detail_count; i++)
        curve_detail_release(&picture->details[i]);
    free(picture->live);
    free(picture->reserved);
    free(picture->live_bytes);
    free(picture->samples);
    hash_index_release(&picture->sample_index);
    page_groups_release(&picture->groups);
    kept_release(&picture->kept);
    phases_release(&picture->phases);
    phases_release(&picture->operators);
    free(picture);
}

static void ledger_changed(struct picture *picture, uint16_t ledger, uint64_t time_ns)
{
    uint64_t value = picture->live_bytes[ledger];

    if (!curve_put(&picture->live[ledger], &picture->limits, time_ns, value))
        picture->has_failed = true;
    for (size_t i = 0; i < picture->detail_count; i++)
        if (picture->detail_ledgers[i] == ledger)
            curve_detail_put(&picture->details[i], time_ns, value);
}

static bool on_born(void *context, const struct life *life)
{
    struct picture *picture = context;

    if (life->ledger < picture->ledger_count) {
        picture->live_bytes[life->ledger] += life->size_bytes;
        ledger_changed(picture, life->ledger, life->born_ns);
    }
    return !picture->has_failed;
}

static bool on_over(void *context, const struct life *life)
{
    struct picture *picture = context;
    struct life on_page = *life;

    if (life->freed_ns != UINT64_MAX && life->ledger < picture->ledger_count) {
        picture->live_bytes[life->ledger] -= life->size_bytes;
        ledger_changed(picture, life->ledger, life->freed_ns);
    }
    on_page.group = page_group_of(&picture->groups, life->group);
    if (!kept_put(&picture->kept, &on_page))
        picture->has_failed = true;
    return !picture->has_failed;
}

static void on_sample(struct picture *picture, const struct event *event)
{
    uint64_t hash = sample_hash(event->process, event->place, event->text);
    size_t probe = 0;
    uint32_t found;

    while (hash_index_next(&picture->sample_index, hash, &probe, &found)) {
        const struct sample_row *row = tally_sample_at(picture->question->tally, found);

        if (row->process != event->process || row->place != event->place ||
            row->counter != event->text)
            continue;
        if (!curve_put(&picture->samples[found], &picture->limits, event->time_ns, event->value))
            picture->has_failed = true;
        return;
    }
}

static void on_reserved(struct picture *picture, const struct event *event)
{
    int32_t device = model_place_at(picture->question->model, event->place).device;

    for (size_t i = 0; i < picture->ledger_count; i++) {
        const struct ledger *ledger = tally_ledger_at(picture->question->tally, i);

        if (!ledger->has_reserved || ledger->process != event->process ||
            ledger->pool != event->pool || ledger->device != device)
            continue;
        if (!curve_put(&picture->reserved[i], &picture->limits, event->time_ns, event->value))
            picture->has_failed = true;
        return;
    }
}

/* That on_event() does something with. */
static const uint32_t event_kinds =
    1u << EVENT_SAMPLE | 1u << EVENT_RESERVED | 1u << EVENT_RANGE_BEGIN | 1u << EVENT_RANGE_END |
    1u << EVENT_MARK | 1u << EVENT_OPERATOR_BEGIN | 1u << EVENT_OPERATOR_END;

static bool on_event(void *context, const struct event *event)
{
    struct picture *picture = context;

    switch (event->kind) {
    case EVENT_SAMPLE:
        on_sample(picture, event);
        break;
    case EVENT_RESERVED:
        on_reserved(picture, event);
        break;
    case EVENT_RANGE_BEGIN:
    case EVENT_RANGE_END:
    case EVENT_MARK:
        picture->has_failed |= !phases_put(&picture->phases, event);
        break;
    case EVENT_OPERATOR_BEGIN:
    case EVENT_OPERATOR_END:
        picture->has_failed |= !phases_put_operator(&picture->operators, event);
        break;
    default:
        break;
    }
    return !picture->has_failed;
}

static void *picture_begin(const struct question *question, struct life_visitor *visitor)
{
    struct picture *picture = calloc(1, sizeof(*picture));

    if (!picture)
        return NULL;
    picture->question = question;
    if (!question->is_for_pictures)
        return picture;
    if (!picture_init(picture)) {
        picture_release(picture);
        return NULL;
    }
    *visitor = (struct life_visitor){.context = picture,
                                     .born = on_born,
                                     .over = on_over,
                                     .event = on_event,
                                     .event_kinds = event_kinds};
    return picture;
}

static void picture_write(void *state, struct report *report)
{
    struct picture *picture = state;

    if (!picture->question->is_for_pictures)
        return;
    picture->has_failed |= !phases_finish(&picture->phases, picture->limits.end_ns);
    picture->has_failed |= !phases_finish(&picture->operators, picture->limits.end_ns);
    picture->has_failed |= !kept_finish(&picture->kept);
    if (picture->has_failed)
        report_note(report, 0, "pictures: not enough memory to draw them");
    else
        picture_to_report(picture, report);
}

const struct block_analysis picture_analysis = {
    .name = "pictures",
    .begin = picture_begin,
    .write = picture_write,
    .release = picture_release,
};
