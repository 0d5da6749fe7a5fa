/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where the memory of a pool was.
 */
#include "fragments.h"

#include <stdlib.h>
#include <string.h>

#include "labels.h"
#include "ledger_order.h"
#include "list.h"
#include "lives.h"
#include "range_set.h"
#include "segments_below.h"

enum { block_unit = 512 };

struct ledger_state {
    uint64_t reserved_bytes, live_bytes, most_unused_bytes;
    uint64_t older_bytes;     /* in blocks that are older and not known one by one */
    uint64_t announced_bytes; /* told as given back, before it was */
    struct range_set segments;
    size_t next_slice;
    size_t capacities[MOMENT_KINDS];
    struct layer *layers;                  /* by ledger: how it is below */
    struct range_set touched;              /* where blocks of the pool lay */
    struct candidates below[MOMENT_KINDS]; /* of pools from below, at the moment */
    bool is_mapped;                        /* segments go on in their neighbours */
    bool gives_back;                       /* so did the newest event of the pool */
};

/* A block that was given back, and waits for a stream. */
struct waiting {
    uint64_t address, since_event;
};

struct reading {
    const struct question *question;
    struct fragments *fragments;
    struct ledger_state states[FRAGMENT_LEDGERS_MOST];
    uint64_t event; /* the newest */
    bool is_older;  /* the newest tells what was there before the recording */
    struct waiting *waiting;
    size_t waiting_count, waiting_capacity;
    bool has_failed;
};

/* --- which ledgers -------------------------------------------------------------------------- */

static bool find_layers(struct reading *reading, size_t index)
{
    const struct tally *tally = reading->question->tally;
    const struct ledger *upper = tally_ledger_at(tally, reading->fragments->ledgers[index].ledger);
    struct layer *layers = calloc(tally_ledger_count(tally), sizeof(*layers));

    reading->states[index].layers = layers;
    for (size_t i = 0; layers && i < tally_ledger_count(tally); i++)
        layers[i] = layer_below(tally, tally_ledger_at(tally, i), upper);
    return layers != NULL;
}

/* False without memory. */
static bool choose(struct reading *reading, const uint16_t *order, size_t count)
{
    const struct tally *tally = reading->question->tally;
    struct fragments *fragments = reading->fragments;

    for (size_t i = 0; i < count && fragments->count < FRAGMENT_LEDGERS_MOST; i++) {
        const struct ledger *row = tally_ledger_at(tally, order[i]);

        if (row->has_reserved && row->alloc_count && row->reserved_peak_bytes)
            fragments->ledgers[fragments->count++].ledger = order[i];
    }
    for (size_t i = 0; i < fragments->count; i++)
        if (!find_layers(reading, i))
            return false;
    return true;
}

static struct fragment_ledger *ledger_find(struct reading *reading, uint16_t index,
                                           struct ledger_state **state)
{
    for (size_t i = 0; i < reading->fragments->count; i++) {
        if (reading->fragments->ledgers[i].ledger != index)
            continue;
        *state = &reading->states[i];
        return &reading->fragments->ledgers[i];
    }
    return NULL;
}

/* The ledger of an event that is no block. */
static struct fragment_ledger *ledger_of(struct reading *reading, const struct event *event,
                                         struct ledger_state **state)
{
    const struct tally *tally = reading->question->tally;
    int32_t device = model_place_at(reading->question->model, event->place).device;

    for (size_t i = 0; i < reading->fragments->count; i++) {
        const struct ledger *row = tally_ledger_at(tally, reading->fragments->ledgers[i].ledger);

        if (row->process != event->process || row->pool != event->pool || row->device != device)
            continue;
        *state = &reading->states[i];
        return &reading->fragments->ledgers[i];
    }
    return NULL;
}

/* --- the first reading: when ---------------------------------------------------------------- */

static uint64_t active(const struct ledger_state *state)
{
    return state->live_bytes + state->older_bytes;
}

static uint64_t unused(const struct ledger_state *state)
{
    return state->reserved_bytes > active(state) ? state->reserved_bytes - active(state) : 0;
}

static void take_moment(struct reading *reading, struct fragment_ledger *ledger,
                        const struct ledger_state *state, enum moment_kind kind, uint64_t time_ns)
{
    ledger->moments[kind] = (struct fragment_moment){.is_known = true,
                                                     .event = reading->event,
                                                     .time_ns = time_ns,
                                                     .reserved_bytes = state->reserved_bytes,
                                                     .active_bytes = active(state),
                                                     .unused_bytes = unused(state)};
}

static void slice_end(struct fragment_ledger *ledger, struct ledger_state *state, uint64_t time_ns)
{
    if (ledger->slice_count == FRAGMENT_SLICES)
        return;
    ledger->slices[ledger->slice_count++] = (struct fragment_slice){
        time_ns, state->reserved_bytes, active(state), state->most_unused_bytes};
    state->most_unused_bytes = unused(state);
}

/* The process cut into equal times; the last slice ends with it. */
static void pass_slices(const struct reading *reading, struct fragment_ledger *ledger,
                        struct ledger_state *state, uint64_t time_ns)
{
    const struct ledger *row = tally_ledger_at(reading->question->tally, ledger->ledger);
    uint64_t end_ns = model_process_at(tally_model(reading->question->tally), row->process)->end_ns;
    uint64_t length_ns = end_ns / FRAGMENT_SLICES + 1;

    while (state->next_slice + 1 < FRAGMENT_SLICES &&
           (state->next_slice + 1) * length_ns <= time_ns) {
        state->next_slice++;
        slice_end(ledger, state, state->next_slice * length_ns);
    }
}

static void changed(struct reading *reading, struct fragment_ledger *ledger,
                    struct ledger_state *state, uint64_t time_ns)
{
    const struct fragment_moment *peak = &ledger->moments[MOMENT_RESERVED_PEAK];
    const struct fragment_moment *worst = &ledger->moments[MOMENT_WORST];

    if (unused(state) > state->most_unused_bytes)
        state->most_unused_bytes = unused(state);
    if (state->reserved_bytes > peak->reserved_bytes ||
        (state->reserved_bytes == peak->reserved_bytes && active(state) > peak->active_bytes))
        take_moment(reading, ledger, state, MOMENT_RESERVED_PEAK, time_ns);
    if (unused(state) > worst->unused_bytes)
        take_moment(reading, ledger, state, MOMENT_WORST, time_ns);
}

/* Until all that is older has been told, there was no moment at all. */
static void begin_again(struct fragment_ledger *ledger, struct ledger_state *state)
{
    memset(ledger->moments, 0, sizeof(ledger->moments));
    state->most_unused_bytes = 0;
}

/* Every pool of the device matters, whichever was asked: the newest failure counts. */
static void take_failure(struct reading *reading, const struct event *event)
{
    int32_t device = model_place_at(reading->question->model, event->place).device;

    for (size_t i = 0; i < reading->fragments->count; i++) {
        struct fragment_ledger *ledger = &reading->fragments->ledgers[i];
        const struct ledger *row = tally_ledger_at(reading->question->tally, ledger->ledger);

        if (row->process == event->process && row->device == device)
            take_moment(reading, ledger, &reading->states[i], MOMENT_FAILURE, event->time_ns);
    }
}

/* What is given back and taken again was not worth giving back. Segments that go one after the
 * other are one time. */
static void count_give_back(struct fragment_ledger *ledger, struct ledger_state *state,
                            uint64_t reserved_bytes)
{
    uint64_t owed_bytes = ledger->given_back_bytes - ledger->taken_again_bytes;
    bool gives_back = reserved_bytes < state->reserved_bytes;
    uint64_t taken_bytes;

    ledger->give_back_count += gives_back && !state->gives_back;
    state->gives_back = gives_back;
    if (gives_back) {
        ledger->given_back_bytes += state->reserved_bytes - reserved_bytes;
        return;
    }
    taken_bytes = reserved_bytes - state->reserved_bytes;
    ledger->taken_again_bytes += taken_bytes < owed_bytes ? taken_bytes : owed_bytes;
}

/* A pool may say it with its next request only: what went back to who is below is not reserved any
 * more. */
static void segment_went(struct reading *reading, size_t index, const struct life *life)
{
    struct fragment_ledger *ledger = &reading->fragments->ledgers[index];
    struct ledger_state *state = &reading->states[index];
    uint64_t bytes = life->size_bytes, announced_bytes = state->announced_bytes;
    bool was_touched;

    if (!state->layers[life->ledger].is_below || !life->freed_event)
        return;
    reading->has_failed |= !touched_take(&state->touched, life, &was_touched);
    if (!was_touched)
        return;
    state->announced_bytes -= bytes < announced_bytes ? bytes : announced_bytes;
    bytes -= bytes < announced_bytes ? bytes : announced_bytes;
    bytes = bytes < state->reserved_bytes ? bytes : state->reserved_bytes;
    if (!bytes)
        return;
    pass_slices(reading, ledger, state, life->freed_ns);
    count_give_back(ledger, state, state->reserved_bytes - bytes);
    state->reserved_bytes -= bytes;
    changed(reading, ledger, state, life->freed_ns);
}

static bool changes_pool(const struct event *event)
{
    return event->kind == EVENT_RESERVED ||
           (event->kind == EVENT_SAMPLE && event->flags & EVENT_IS_OLDER);
}

static bool first_event(void *context, const struct event *event)
{
    struct reading *reading = context;
    struct fragment_ledger *ledger;
    struct ledger_state *state;

    reading->event++;
    reading->is_older = event->kind == EVENT_ALLOC && event->flags & EVENT_IS_OLDER;
    if (event->kind == EVENT_SEGMENT && event->flags & EVENT_IS_OLDER) {
        ledger = ledger_of(reading, event, &state);
        if (ledger)
            begin_again(ledger, state);
    }
    if (event->kind == EVENT_ALLOC_FAILED)
        take_failure(reading, event);
    if (!changes_pool(event))
        return true;
    ledger = ledger_of(reading, event, &state);
    if (!ledger)
        return true;
    pass_slices(reading, ledger, state, event->time_ns);
    if (event->kind == EVENT_SAMPLE)
        state->older_bytes = event->value;
    else
        count_give_back(ledger, state, event->value);
    if (event->kind == EVENT_RESERVED) {
        if (event->value < state->reserved_bytes)
            state->announced_bytes += state->reserved_bytes - event->value;
        state->reserved_bytes = event->value;
    }
    changed(reading, ledger, state, event->time_ns);
    return true;
}

static bool first_born(void *context, const struct life *life)
{
    struct reading *reading = context;
    struct ledger_state *state;
    struct fragment_ledger *ledger = ledger_find(reading, life->ledger, &state);

    if (!ledger)
        return true;
    reading->has_failed |= !touched_add(&state->touched, life);
    pass_slices(reading, ledger, state, life->born_ns);
    state->gives_back = false;
    state->live_bytes += life->size_bytes;
    if (reading->is_older)
        begin_again(ledger, state);
    else
        changed(reading, ledger, state, life->born_ns);
    return true;
}

static bool first_over(void *context, const struct life *life)
{
    struct reading *reading = context;
    struct ledger_state *state;
    struct fragment_ledger *ledger = ledger_find(reading, life->ledger, &state);

    for (size_t i = 0; i < reading->fragments->count; i++)
        segment_went(reading, i, life);
    if (!ledger || life->freed_ns == UINT64_MAX)
        return true;
    pass_slices(reading, ledger, state, life->freed_ns);
    state->gives_back = false;
    state->live_bytes -= life->size_bytes;
    changed(reading, ledger, state, life->freed_ns);
    return true;
}

static bool first_process_over(void *context, uint16_t process)
{
    struct reading *reading = context;
    uint64_t end_ns = model_process_at(tally_model(reading->question->tally), process)->end_ns;

    for (size_t i = 0; i < reading->fragments->count; i++) {
        struct fragment_ledger *ledger = &reading->fragments->ledgers[i];

        if (tally_ledger_at(reading->question->tally, ledger->ledger)->process != process)
            continue;
        pass_slices(reading, ledger, &reading->states[i], end_ns);
        slice_end(ledger, &reading->states[i], end_ns);
        take_moment(reading, ledger, &reading->states[i], MOMENT_END, end_ns);
    }
    return true;
}

/* --- the second reading: where -------------------------------------------------------------- */

/* Segments as they are right after the moment's event. */
static bool keep_segments(struct reading *reading, size_t index, enum moment_kind kind)
{
    struct fragment_moment *moment = &reading->fragments->ledgers[index].moments[kind];
    const struct range_set *set = &reading->states[index].segments;

    if (!moment->is_known || moment->event != reading->event || !set->count)
        return true;
    moment->segments = calloc(set->count, sizeof(*moment->segments));
    if (!moment->segments)
        return false;
    for (size_t i = 0; i < set->count; i++) {
        struct segment *last =
            moment->segment_count ? &moment->segments[moment->segment_count - 1] : NULL;

        if (last && reading->states[index].is_mapped && last->to == set->rows[i].from)
            last->to = set->rows[i].to;
        else
            moment->segments[moment->segment_count++] =
                (struct segment){.from = set->rows[i].from, .to = set->rows[i].to};
    }
    return true;
}

static void keep_all_segments(struct reading *reading)
{
    for (size_t i = 0; i < reading->fragments->count; i++)
        for (int kind = 0; kind < MOMENT_KINDS; kind++)
            reading->has_failed |= !keep_segments(reading, i, (enum moment_kind)kind);
}

static void note_waiting(struct reading *reading, const struct event *event)
{
    if (!list_has_room(&reading->waiting, &reading->waiting_capacity, reading->waiting_count,
                       sizeof(*reading->waiting))) {
        reading->has_failed = true;
        return;
    }
    reading->waiting[reading->waiting_count++] = (struct waiting){event->address, reading->event};
}

/* Since which event the block waits; UINT64_MAX: it does not. It is taken out. */
static uint64_t waits_since(struct reading *reading, const struct life *life)
{
    for (size_t i = reading->waiting_count; i > 0; i--) {
        struct waiting found = reading->waiting[i - 1];

        if (found.address != life->address || found.since_event < life->born_event)
            continue;
        reading->waiting[i - 1] = reading->waiting[--reading->waiting_count];
        return found.since_event;
    }
    return UINT64_MAX;
}

static bool second_event(void *context, const struct event *event)
{
    struct reading *reading = context;
    struct ledger_state *state;
    struct range range = {event->address, event->address + event->value};

    keep_all_segments(reading); /* the event before is over */
    reading->event++;
    if (event->kind == EVENT_FREE_WAITS)
        note_waiting(reading, event);
    if ((event->kind != EVENT_SEGMENT && event->kind != EVENT_SEGMENT_GONE) ||
        !ledger_of(reading, event, &state))
        return !reading->has_failed;
    if (event->kind == EVENT_SEGMENT) {
        state->is_mapped |= (event->flags & EVENT_IS_MAPPED) != 0;
        reading->has_failed |= !range_set_add(&state->segments, range);
    } else {
        reading->has_failed |= !range_set_remove(&state->segments, range);
    }
    return !reading->has_failed;
}

static bool was_alive(const struct life *life, const struct fragment_moment *moment)
{
    return moment->is_known && life->born_event <= moment->event &&
           (!life->freed_event || life->freed_event > moment->event);
}

static bool keep_block(struct fragment_moment *moment, size_t *capacity, const struct life *life,
                       uint64_t waits_since_event)
{
    if (!list_has_room(&moment->blocks, capacity, moment->block_count, sizeof(*moment->blocks)))
        return false;
    moment->blocks[moment->block_count++] = (struct fragment_block){
        life->address, life->size_bytes, life->group, waits_since_event <= moment->event};
    return true;
}

static bool second_born(void *context, const struct life *life)
{
    struct reading *reading = context;
    struct ledger_state *state;

    if (ledger_find(reading, life->ledger, &state))
        reading->has_failed |= !touched_add(&state->touched, life);
    return !reading->has_failed;
}

static void keep_below(struct reading *reading, size_t index, const struct life *life)
{
    const struct fragment_ledger *ledger = &reading->fragments->ledgers[index];
    struct ledger_state *state = &reading->states[index];
    struct layer layer = state->layers[life->ledger];
    bool was_touched = false;

    if (!layer.is_below)
        return;
    reading->has_failed |= !touched_take(&state->touched, life, &was_touched);
    for (int kind = 0; was_touched && kind < MOMENT_KINDS; kind++)
        if (was_alive(life, &ledger->moments[kind]))
            reading->has_failed |= !candidates_add(&state->below[kind], layer, life);
}

static bool second_over(void *context, const struct life *life)
{
    struct reading *reading = context;
    struct ledger_state *state;
    struct fragment_ledger *ledger = ledger_find(reading, life->ledger, &state);
    uint64_t since = ledger && reading->waiting_count ? waits_since(reading, life) : UINT64_MAX;

    for (int kind = 0; ledger && kind < MOMENT_KINDS; kind++)
        if (was_alive(life, &ledger->moments[kind]))
            reading->has_failed |=
                !keep_block(&ledger->moments[kind], &state->capacities[kind], life, since);
    for (size_t i = 0; i < reading->fragments->count; i++)
        keep_below(reading, i, life);
    return !reading->has_failed;
}

static bool second_process_over(void *context, uint16_t process)
{
    (void)process;
    keep_all_segments(context);
    return true;
}

/* --- what was where ------------------------------------------------------------------------- */

static int by_address(const void *left, const void *right)
{
    const struct fragment_block *a = left, *b = right;

    return (a->address > b->address) - (a->address < b->address);
}

/* What pools from below handed out stands for what no source tells. */
static bool use_below(struct ledger_state *state, struct fragment_moment *moment, int kind)
{
    struct candidates *below = &state->below[kind];

    if (!candidates_choose(below))
        return false;
    moment->segments = calloc(below->count + 1, sizeof(*moment->segments));
    if (!moment->segments)
        return false;
    moment->segment_count = below->count;
    for (size_t i = 0; i < below->count; i++) {
        moment->segments[i].from = below->rows[i].range.from;
        moment->segments[i].to = below->rows[i].range.to;
        state->is_mapped |= below->rows[i].layer.is_mapping;
    }
    return true;
}

/* Up to block_unit more than a full block needs is rounding, too: nothing else fits there. */
static void count_gap(struct segment *segment, uint64_t from, uint64_t to)
{
    uint64_t rounded = (from + block_unit - 1) / block_unit * block_unit;

    if (to <= from)
        return;
    if (from == segment->from)
        rounded = from; /* nothing before it */
    if (rounded >= to || to - rounded <= block_unit) {
        segment->rounding_bytes += to - from;
        return;
    }
    segment->rounding_bytes += rounded - from;
    segment->hole_bytes += to - rounded;
    segment->hole_count++;
    if (to - rounded > segment->largest_hole_bytes)
        segment->largest_hole_bytes = to - rounded;
}

static void look_into(struct fragment_moment *moment, struct segment *segment, size_t *next)
{
    uint64_t at = segment->from;

    segment->first_block = *next;
    while (*next < moment->block_count && moment->blocks[*next].address < segment->to) {
        const struct fragment_block *block = &moment->blocks[(*next)++];

        count_gap(segment, at, block->address);
        segment->live_bytes += block->size_bytes;
        segment->block_count++;
        at = block->address + block->size_bytes;
    }
    if (segment->block_count)
        count_gap(segment, at, segment->to);
}

static void add_up(struct fragment_moment *moment)
{
    size_t next = 0;

    for (size_t i = 0; i < moment->segment_count; i++) {
        struct segment *segment = &moment->segments[i];

        for (; next < moment->block_count && moment->blocks[next].address < segment->from; next++)
            moment->outside_bytes += moment->blocks[next].size_bytes;
        look_into(moment, segment, &next);
        moment->rounding_bytes += segment->rounding_bytes;
        moment->hole_bytes += segment->hole_bytes;
        moment->hole_count += segment->hole_count;
        if (segment->largest_hole_bytes > moment->largest_hole_bytes)
            moment->largest_hole_bytes = segment->largest_hole_bytes;
        if (segment->block_count)
            continue;
        moment->free_segment_bytes += segment->to - segment->from;
        moment->free_segment_count++;
        if (segment->to - segment->from > moment->largest_free_segment_bytes)
            moment->largest_free_segment_bytes = segment->to - segment->from;
    }
    for (; next < moment->block_count; next++)
        moment->outside_bytes += moment->blocks[next].size_bytes;
    for (size_t i = 0; i < moment->block_count; i++)
        if (moment->blocks[i].is_waiting) {
            moment->waiting_bytes += moment->blocks[i].size_bytes;
            moment->waiting_count++;
        }
}

static bool finish(struct reading *reading)
{
    for (size_t i = 0; i < reading->fragments->count; i++) {
        struct fragment_ledger *ledger = &reading->fragments->ledgers[i];
        bool is_told = tally_event_count(reading->question->tally, EVENT_SEGMENT) > 0;

        for (int kind = 0; kind < MOMENT_KINDS; kind++) {
            struct fragment_moment *moment = &ledger->moments[kind];

            if (moment->block_count)
                qsort(moment->blocks, moment->block_count, sizeof(*moment->blocks), by_address);
            if (moment->is_known && !is_told && !use_below(&reading->states[i], moment, kind))
                return false;
            ledger->has_segments |= moment->segment_count > 0;
            add_up(moment);
        }
        ledger->are_segments_from_below = ledger->has_segments && !is_told;
        ledger->is_mapped = reading->states[i].is_mapped;
    }
    return true;
}

static enum mt_result read_twice(struct reading *reading, const struct life_visitor *beside,
                                 struct mt_error *error)
{
    const struct question *question = reading->question;
    const struct life_visitor first[] = {{.context = reading,
                                          .born = first_born,
                                          .over = first_over,
                                          .event = first_event,
                                          .process_over = first_process_over},
                                         beside ? *beside : (struct life_visitor){0}};
    const struct life_visitor second = {.context = reading,
                                        .born = second_born,
                                        .over = second_over,
                                        .event = second_event,
                                        .process_over = second_process_over};
    enum mt_result result = lives_read_together(question->events, tally_model(question->tally),
                                                question->tally, first, beside ? 2 : 1, error);

    reading->event = 0;
    for (size_t i = 0; i < reading->fragments->count; i++)
        range_set_release(&reading->states[i].touched);
    if (result == MT_OK)
        result = lives_read(question->events, tally_model(question->tally), &second, error);
    if (result == MT_OK && (reading->has_failed || !finish(reading)))
        result = mt_error_set(error, MT_NO_MEMORY, "no memory for blocks and segments");
    return result;
}

enum mt_result fragments_read(const struct question *question, const struct life_visitor *beside,
                              struct fragments *fragments, struct mt_error *error)
{
    struct reading reading = {.question = question, .fragments = fragments};
    size_t count;
    uint16_t *order = ledger_order(question->tally, &count);
    enum mt_result result = MT_OK;

    memset(fragments, 0, sizeof(*fragments));
    if (!order || !choose(&reading, order, count))
        result = mt_error_set(error, MT_NO_MEMORY, "no memory to list ledgers");
    if (result == MT_OK && fragments->count)
        result = read_twice(&reading, beside, error);
    else if (result == MT_OK && beside)
        result = lives_read(question->events, tally_model(question->tally), beside, error);
    for (size_t i = 0; i < FRAGMENT_LEDGERS_MOST; i++) {
        range_set_release(&reading.states[i].segments);
        range_set_release(&reading.states[i].touched);
        for (int kind = 0; kind < MOMENT_KINDS; kind++)
            candidates_release(&reading.states[i].below[kind]);
        free(reading.states[i].layers);
    }
    free(reading.waiting);
    free(order);
    return result;
}

void fragments_release(struct fragments *fragments)
{
    for (size_t i = 0; i < fragments->count; i++)
        for (int kind = 0; kind < MOMENT_KINDS; kind++) {
            free(fragments->ledgers[i].moments[kind].blocks);
            free(fragments->ledgers[i].moments[kind].segments);
        }
}
