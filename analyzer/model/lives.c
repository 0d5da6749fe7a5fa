/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Lives of blocks: what a tally tells about each, with the time of its birth kept until its end.
 *
 * The tally's live set knows address, size and group of a block; what else belongs to its life
 * stands in a row, whose number the block carries. Rows of blocks that are gone are used again, the
 * newest first.
 */
#include "lives.h"

#include <stdlib.h>
#include <string.h>

#include "event_reader.h"
#include "leaktide/invariant.h"
#include "live_set.h"
#include "memory_failures.h"
#include "stretch.h"

enum { first_capacity = 1 << 10 };

/* One that is still told of everything. */
struct listener {
    const struct life_visitor *visitor;
    uint32_t event_kinds;
    bool has_stopped;
};

/* Of a block that is alive. */
struct life_row {
    uint64_t born_ns, index, born_event;
    uint32_t born_step; /* of a free row: number + 1 of the next one */
    uint32_t thread;
    uint32_t stream;
};

struct reading {
    struct tally *tally;
    struct listener listeners[LIFE_VISITORS_MOST];
    size_t listener_count, stopped_count;
    uint32_t event_kinds; /* that somebody wants to be told of */
    bool tells_born;      /* somebody listens */
    bool adds_up;         /* so nobody ends the reading */
    struct life_row *rows;
    size_t row_capacity, row_count; /* rows that were ever used */
    uint32_t free_row;              /* number + 1 of the newest that is free; 0: none */
    struct stretch stretch;         /* the rows */
    uint64_t born_count;
    uint64_t born_before;      /* of these: in the processes before */
    const struct event *batch; /* its first event is number event_count + 1 */
    const struct event *piece; /* the first event of what is fed */
    uint64_t event_count;
    bool has_failed;
};

static const size_t reserved_bytes = (size_t)1 << 37; /* a row for each handle */

static bool rows_extend(struct reading *reading)
{
    size_t capacity = reading->row_capacity ? reading->row_capacity * 2 : first_capacity;

    if (!reading->rows && !stretch_init(&reading->stretch, reserved_bytes))
        return false;
    if (capacity > UINT32_MAX ||
        !stretch_extend(&reading->stretch, capacity * sizeof(*reading->rows)))
        return false;
    reading->rows = reading->stretch.base;
    reading->row_capacity = capacity;
    return true;
}

/* False when there is no memory. */
static bool row_take(struct reading *reading, uint32_t *number)
{
    MT_ASSERT(reading->row_count <= reading->row_capacity);
    MT_ASSERT(reading->free_row <= reading->row_count);
    if (reading->free_row) {
        *number = reading->free_row - 1;
        reading->free_row = reading->rows[*number].born_step;
        return true;
    }
    if (reading->row_count == reading->row_capacity && !rows_extend(reading))
        return false;
    *number = (uint32_t)reading->row_count++;
    return true;
}

static void row_give(struct reading *reading, uint32_t number)
{
    MT_ASSERT(number < reading->row_count);
    reading->rows[number].born_step = reading->free_row;
    reading->free_row = number + 1;
}

static uint64_t number_of(const struct reading *reading, const struct event *event)
{
    return reading->event_count + (uint64_t)(event - reading->batch) + 1;
}

static bool is_over(const struct reading *reading)
{
    return !reading->adds_up && reading->stopped_count == reading->listener_count;
}

static void listener_stop(struct reading *reading, struct listener *listener)
{
    MT_ASSERT(!listener->has_stopped);
    listener->has_stopped = true;
    reading->stopped_count++;
}

static void tell_born(struct reading *reading, const struct life *life)
{
    for (size_t i = 0; i < reading->listener_count; i++) {
        struct listener *listener = &reading->listeners[i];
        const struct life_visitor *visitor = listener->visitor;

        if (visitor->born && !listener->has_stopped && !visitor->born(visitor->context, life))
            listener_stop(reading, listener);
    }
}

static void tell_over(struct reading *reading, const struct life *life)
{
    for (size_t i = 0; i < reading->listener_count; i++) {
        struct listener *listener = &reading->listeners[i];
        const struct life_visitor *visitor = listener->visitor;

        if (visitor->over && !listener->has_stopped && !visitor->over(visitor->context, life))
            listener_stop(reading, listener);
    }
}

static void tell_event(struct reading *reading, const struct event *event)
{
    for (size_t i = 0; i < reading->listener_count; i++) {
        struct listener *listener = &reading->listeners[i];
        const struct life_visitor *visitor = listener->visitor;

        if (listener->event_kinds >> event->kind & 1 && !listener->has_stopped &&
            !visitor->event(visitor->context, event))
            listener_stop(reading, listener);
    }
}

static void tell_phase(struct reading *reading, enum step_phase phase)
{
    for (size_t i = 0; i < reading->listener_count; i++) {
        struct listener *listener = &reading->listeners[i];
        const struct life_visitor *visitor = listener->visitor;

        if (visitor->phase && !listener->has_stopped &&
            !visitor->phase(visitor->context, phase, number_of(reading, reading->piece)))
            listener_stop(reading, listener);
    }
}

static void tell_process_over(struct reading *reading, uint16_t process)
{
    for (size_t i = 0; i < reading->listener_count; i++) {
        struct listener *listener = &reading->listeners[i];
        const struct life_visitor *visitor = listener->visitor;

        if (visitor->process_over && !listener->has_stopped &&
            !visitor->process_over(visitor->context, process))
            listener_stop(reading, listener);
    }
}

/* Of a block that is alive. Filled where it stands: a copy would wait for what was just stored. */
static inline void life_fill(const struct reading *reading, const struct life_row *row,
                             uint64_t address, uint64_t size_bytes, uint32_t group,
                             struct life *life)
{
    *life = (struct life){
        .address = address,
        .size_bytes = size_bytes,
        .born_ns = row->born_ns,
        .freed_ns = UINT64_MAX,
        .index = row->index,
        .born_event = row->born_event,
        .group = group,
        .born_step = row->born_step,
        .thread = row->thread,
        .stream = row->stream,
        .ledger = tally_group_ledger(reading->tally, group),
    };
}

static uint32_t on_born(void *context, const struct event *event, uint32_t group, uint32_t era)
{
    struct reading *reading = context;
    struct life_row *row;
    uint32_t number;

    if (!row_take(reading, &number)) {
        reading->has_failed = true;
        return 0;
    }
    row = &reading->rows[number];
    *row = (struct life_row){.born_ns = event->time_ns,
                             .index = reading->born_count++,
                             .born_event = number_of(reading, event),
                             .born_step = era,
                             .thread = event->thread,
                             .stream = event->detail};
    if (reading->tells_born) {
        struct life life;

        life_fill(reading, row, event->address, event->value, group, &life);
        tell_born(reading, &life);
    }
    return number;
}

static uint32_t on_birth(void *context, uint32_t number)
{
    const struct reading *reading = context;

    return (uint32_t)reading->rows[number].born_event;
}

static void on_soon(void *context, uint32_t number)
{
    const struct reading *reading = context;

    __builtin_prefetch(reading->rows + number, 1);
}

static void on_gone(void *context, const struct event *event, const struct live_block *block,
                    uint32_t era)
{
    struct reading *reading = context;
    struct life life;

    if (reading->has_failed)
        return;
    life_fill(reading, &reading->rows[block->birth], block->address, block->size_bytes,
              block->group, &life);
    MT_ASSERT(life.index < reading->born_count);
    row_give(reading, block->birth);
    life.freed_ns = event->time_ns;
    life.freed_event = number_of(reading, event);
    life.freed_step = era;
    life.freeing_thread = event->thread;
    tell_over(reading, &life);
}

/* Only an event that somebody is told of changes it, and such a one begins its piece. */
static void on_phase(void *context, enum step_phase phase)
{
    tell_phase(context, phase);
}

/* --- the end of a process ------------------------------------------------------------------- */

struct survivor {
    uint64_t index;
    struct live_block block;
};

struct survivors {
    const struct reading *reading;
    struct survivor *rows;
    size_t count;
};

static void keep_survivor(void *context, const struct live_block *block)
{
    struct survivors *survivors = context;

    survivors->rows[survivors->count++] =
        (struct survivor){survivors->reading->rows[block->birth].index, *block};
}

enum { AGE_BITS = 64 };

/* The survivors among AGE_BITS blocks that were born one after the other. */
struct age_word {
    uint64_t bits;
    size_t older_count; /* survivors that are older than these */
};

/* How many blocks of the process are older. */
static uint64_t age_rank(const struct survivors *survivors, size_t i)
{
    return survivors->rows[i].index - survivors->reading->born_before;
}

/* One for AGE_BITS births of the process each; NULL without memory. */
static struct age_word *age_words_make(const struct survivors *survivors)
{
    const struct reading *reading = survivors->reading;
    size_t count = (size_t)(reading->born_count - reading->born_before) / AGE_BITS + 1;
    struct age_word *words = calloc(count, sizeof(*words));
    size_t older_count = 0;

    if (!words)
        return NULL;
    for (size_t i = 0; i < survivors->count; i++) {
        uint64_t rank = age_rank(survivors, i);

        words[rank / AGE_BITS].bits |= UINT64_C(1) << rank % AGE_BITS;
    }
    for (size_t i = 0; i < count; i++) {
        words[i].older_count = older_count;
        older_count += (size_t)__builtin_popcountll(words[i].bits);
    }
    MT_ASSERT(older_count == survivors->count);
    return words;
}

/* order[i]: the one that i others are older than. False when there is no memory. */
static bool sort_by_age(const struct survivors *survivors, const struct survivor **order)
{
    struct age_word *words = age_words_make(survivors);

    if (!words)
        return false;
    for (size_t i = 0; i < survivors->count; i++) {
        uint64_t rank = age_rank(survivors, i);
        const struct age_word *word = &words[rank / AGE_BITS];
        uint64_t older = word->bits & ((UINT64_C(1) << rank % AGE_BITS) - 1);

        order[word->older_count + (size_t)__builtin_popcountll(older)] = &survivors->rows[i];
    }
    free(words);
    return true;
}

static void tell_survivor(struct reading *reading, const struct survivor *survivor)
{
    const struct live_block *block = &survivor->block;
    struct life life;

    life_fill(reading, &reading->rows[block->birth], block->address, block->size_bytes,
              block->group, &life);
    life.freed_step = UINT32_MAX;
    tell_over(reading, &life);
}

/* Every row is of a block that is alive, or free. */
static void rows_check(const struct reading *reading, size_t alive_count)
{
    size_t free_count = 0;

    for (uint32_t row = reading->free_row; row; row = reading->rows[row - 1].born_step) {
        MT_ASSERT(row <= reading->row_count);
        MT_ASSERT(free_count < reading->row_count);
        free_count++;
    }
    MT_ASSERT(alive_count + free_count == reading->row_count);
}

/* What is alive at the end of a process, oldest first. */
static void tell_survivors(struct reading *reading)
{
    struct survivors survivors = {.reading = reading};
    const struct survivor **order = malloc((reading->row_count + 1) * sizeof(*order));

    survivors.rows = malloc((reading->row_count + 1) * sizeof(*survivors.rows));
    reading->has_failed |= !survivors.rows || !order;
    if (!reading->has_failed) { /* then each block has a row of its own */
        tally_each_live(reading->tally, keep_survivor, &survivors);
        rows_check(reading, survivors.count);
        reading->has_failed = !sort_by_age(&survivors, order);
        for (size_t i = 0; i < survivors.count && !reading->has_failed; i++)
            tell_survivor(reading, order[i]);
    }
    free(survivors.rows);
    free(order);
}

static void process_end(struct reading *reading, uint16_t process)
{
    tell_process_over(reading, process);
    tell_survivors(reading);
    reading->row_count = 0;
    reading->free_row = 0;
    reading->born_before = reading->born_count;
}

static enum mt_result status_of(const struct reading *reading, struct mt_error *error)
{
    if (reading->has_failed)
        return mt_error_set(error, MT_NO_MEMORY, "no memory for %zu live blocks",
                            reading->row_count);
    return MT_OK;
}

/* How many events can be fed before somebody has to be told of one. */
static size_t piece_of(const struct reading *reading, const struct event *events, size_t count)
{
    size_t piece = 1;

    if (!reading->event_kinds)
        return count;
    while (piece < count && !(reading->event_kinds >> events[piece].kind & 1))
        piece++;
    return piece;
}

static enum mt_result feed(struct reading *reading, const struct event *batch, size_t count,
                           struct mt_error *error)
{
    enum mt_result result = MT_OK;
    size_t piece;

    reading->batch = batch;
    for (size_t i = 0; i < count && result == MT_OK && !is_over(reading); i += piece) {
        piece = piece_of(reading, batch + i, count - i);
        reading->piece = &batch[i];
        tell_event(reading, &batch[i]);
        if (!is_over(reading))
            result = tally_feed(reading->tally, batch + i, piece, error);
    }
    reading->event_count += count;
    return result == MT_OK ? status_of(reading, error) : result;
}

static enum mt_result read_all(struct reading *reading, struct event_reader *reader,
                               struct mt_error *error)
{
    enum mt_result result = MT_OK;
    const struct event *batch;
    bool has_process = false;
    uint16_t process = 0;
    size_t count = 1;

    while (result == MT_OK && count && !is_over(reading)) {
        result = event_reader_next(reader, &batch, &count, error);
        if (result != MT_OK || !count)
            break;
        if (has_process && batch[0].process != process)
            process_end(reading, process);
        has_process = true;
        process = batch[0].process;
        result = feed(reading, batch, count, error);
    }
    if (result == MT_OK && has_process && !is_over(reading))
        process_end(reading, process);
    return result == MT_OK ? status_of(reading, error) : result;
}

static enum mt_result read_again(struct reading *reading, const struct event_source *events,
                                 struct mt_error *error)
{
    struct event_reader reader;
    enum mt_result result = events->rewind(events->context, error);

    if (result == MT_OK)
        result = event_reader_begin(&reader, events, error);
    if (result != MT_OK)
        return result;
    result = read_all(reading, &reader, error);
    event_reader_end(&reader);
    return result;
}

enum {
    PHASE_KINDS = 1u << EVENT_OPERATOR_BEGIN | 1u << EVENT_OPERATOR_END | 1u << EVENT_RANGE_BEGIN |
                  1u << EVENT_RANGE_END | 1u << EVENT_STEP_BEGIN | 1u << EVENT_STEP_END |
                  1u << EVENT_NN_MODULE_BEGIN
};

static void listen(struct reading *reading, const struct life_visitor *visitor)
{
    struct listener *listener = &reading->listeners[reading->listener_count++];

    listener->visitor = visitor;
    if (visitor->event)
        listener->event_kinds = visitor->event_kinds ? visitor->event_kinds : UINT32_MAX;
    reading->event_kinds |= listener->event_kinds;
    if (visitor->phase)
        reading->event_kinds |= PHASE_KINDS;
    reading->tells_born |= visitor->born != NULL;
}

static void listen_all(struct reading *reading, const struct life_visitor *visitors, size_t count)
{
    MT_ASSERT(count <= LIFE_VISITORS_MOST);
    for (size_t i = 0; i < count; i++)
        listen(reading, &visitors[i]);
}

/* Into the tally of the reading, which is empty. */
static enum mt_result read_observed(struct reading *reading, const struct event_source *events,
                                    const struct tally *first, struct mt_error *error)
{
    const struct tally_observer observer = {.context = reading,
                                            .adds_up = reading->adds_up,
                                            .born = on_born,
                                            .soon = on_soon,
                                            .gone = on_gone,
                                            .birth = on_birth,
                                            .phase = on_phase};
    enum mt_result result;

    tally_observe(reading->tally, &observer, first);
    result = read_again(reading, events, error);
    if (result == MT_OK && reading->adds_up)
        tally_finish(reading->tally);
    if (result == MT_NO_MEMORY)
        memory_failure_note(); /* perhaps a library's: callers make a sentence of it */
    tally_observe(reading->tally, NULL, NULL);
    stretch_release(&reading->stretch);
    return result;
}

enum mt_result lives_read_together(const struct event_source *events, struct model *model,
                                   const struct tally *first, const struct life_visitor *visitors,
                                   size_t visitor_count, struct mt_error *error)
{
    struct reading reading = {0};
    enum mt_result result = tally_create(model, &reading.tally, error);

    listen_all(&reading, visitors, visitor_count);
    if (result == MT_OK)
        result = read_observed(&reading, events, first, error);
    tally_destroy(reading.tally);
    return result;
}

enum mt_result lives_add_up(const struct event_source *events, struct tally *sums,
                            const struct life_visitor *visitors, size_t visitor_count,
                            struct mt_error *error)
{
    struct reading reading = {.tally = sums, .adds_up = true};

    listen_all(&reading, visitors, visitor_count);
    return read_observed(&reading, events, NULL, error);
}

enum mt_result lives_read(const struct event_source *events, struct model *model,
                          const struct life_visitor *visitor, struct mt_error *error)
{
    return lives_read_together(events, model, NULL, visitor, 1, error);
}
