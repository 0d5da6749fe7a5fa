/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The raw payload of a chunk -> events.
 *
 * The two records of the host heap are nearly all there is in a large trace. They are decoded in
 * one straight line with their cursors in registers. Blocks of other pools, as those of Python, and
 * operators are decoded in the same run once their pool or name is known, and so are definitions of
 * stacks. All others go through struct trace_record.
 */
#include "chunk_decoder.h"

#include <string.h>

#include "leaktide/codec.h"

enum { NO_DICTIONARY = 255 };

#define LIKELY(condition)   __builtin_expect(!!(condition), 1)
#define UNLIKELY(condition) __builtin_expect(!!(condition), 0)
/* Left to itself the compiler calls getters from the hot loop, which costs 4 %. */
#define ALWAYS_INLINE       inline __attribute__((always_inline))

void chunk_decoder_init(struct chunk_decoder *d)
{
    unsigned dictionaries = 0;

    memset(d->is_known_column, 0, sizeof(d->is_known_column));
    memset(d->dictionary_of_column, NO_DICTIONARY, sizeof(d->dictionary_of_column));
    d->is_known_column[MT_COLUMN_CODE] = d->is_known_column[MT_COLUMN_TIME] =
        d->is_known_column[MT_COLUMN_LONG_CODE] = true;
    for (unsigned code = 0; code < MT_RECORD_CODE_END; code++) {
        for (unsigned i = 0; i < MT_FIELDS_MAX && mt_field_encoding(code, i); i++) {
            d->is_known_column[mt_column_of(code, i)] = true;
            if (mt_field_encoding(code, i) == MT_ENCODING_DICTIONARY &&
                dictionaries < DECODER_DICTIONARIES)
                d->dictionary_of_column[mt_column_of(code, i)] = (uint8_t)dictionaries++;
        }
    }
}

static void forget_sites(struct chunk_decoder *d, const struct trace_context *context)
{
    memset(d->site_index, 0xff, (d->predictor.site_count + 1) * sizeof(d->site_index[0]));
    d->site_epoch = context->site_epoch;
}

/* Points the cursors at the columns after the table. False: the table is wrong. */
static bool find_columns(struct chunk_decoder *d, struct trace_context *context, size_t raw_bytes)
{
    const uint8_t *end = d->raw + raw_bytes;
    const uint8_t *table, *column;
    uint64_t count = 0, number = 0, size_bytes = 0;

    table = mt_varint_get(d->raw, end, &count);
    if (!table || count > raw_bytes)
        return false;
    column = table;
    for (uint64_t i = 0; column && i < 2 * count; i++)
        column = mt_varint_get(column, end, &number);
    for (uint64_t i = 0; column && i < count; i++) {
        table = mt_varint_get(table, end, &number);
        table = mt_varint_get(table, end, &size_bytes);
        if (size_bytes > (size_t)(end - column))
            return false;
        if (number < MT_COLUMN_END && d->is_known_column[number])
            d->columns[number] = (struct column_cursor){column, column + size_bytes};
        else
            context->unknown_columns++;
        column += size_bytes;
    }
    return column != NULL;
}

enum mt_result chunk_decoder_begin(struct chunk_decoder *d, struct trace_context *context,
                                   const struct mt_chunk_header *header, struct mt_error *error)
{
    for (unsigned i = 0; i < MT_COLUMN_END; i++)
        d->columns[i] = (struct column_cursor){d->raw, d->raw};
    memset(d->last_value, 0, sizeof(d->last_value));
    memset(d->raw + header->raw_bytes, 0, DECODER_PADDING_BYTES);
    for (unsigned i = 0; i < DECODER_DICTIONARIES; i++)
        d->dictionaries[i].count = 0;
    mt_predictor_reset(&d->predictor);
    forget_sites(d, context);
    d->unresolved_count = 0;
    d->time = header->first_time;
    d->last_time = header->last_time;
    d->blank = (struct event){.kind = EVENT_ALLOC,
                              .process = context->process,
                              .pool = context->host_pool,
                              .place = context->host_place};
    d->events_left = header->event_count;
    if (!find_columns(d, context, header->raw_bytes))
        return mt_error_set(error, MT_CORRUPT, "the table of columns is wrong");
    if ((size_t)(d->columns[MT_COLUMN_CODE].end - d->columns[MT_COLUMN_CODE].at) !=
        header->event_count)
        return mt_error_set(error, MT_CORRUPT, "the count of events is wrong");
    return MT_OK;
}

/* --- values: each getter returns false when the bytes are not what they claim to be ---------- */

static ALWAYS_INLINE bool get_varint(struct column_cursor *column, uint64_t *value)
{
    const uint8_t *at = column->at;

    if (LIKELY(at < column->end) && LIKELY(*at < 0x80)) {
        *value = *at;
        column->at = at + 1;
        return true;
    }
    at = mt_varint_get(at, column->end, value);
    if (UNLIKELY(!at))
        return false;
    column->at = at;
    return true;
}

static ALWAYS_INLINE bool get_site(struct mt_predictor *p, struct column_cursor *column,
                                   unsigned is_hit, uint32_t *site_index, uint32_t *number)
{
    uint16_t *follow = mt_predictor_follow(p);
    uint64_t value;

    *number = *follow;
    if (!is_hit) {
        if (UNLIKELY(!get_varint(column, &value) || value > p->site_count))
            return false;
        *number = (uint32_t)value;
        if (!value) {
            if (UNLIKELY(!get_varint(column, &value)))
                return false;
            *number = mt_predictor_site_add(p, p->newest_site + mt_unzigzag(value));
            site_index[*number] = TRACE_UNRESOLVED;
        }
    }
    mt_predictor_site_seen(p, follow, *number);
    return true;
}

static ALWAYS_INLINE bool get_size_at_site(struct mt_predictor *p, struct column_cursor *column,
                                           unsigned is_hit, uint32_t site_number, uint64_t *value)
{
    uint64_t *last = &p->size_at_site[site_number];

    *value = *last;
    if (is_hit)
        return true;
    if (UNLIKELY(!get_varint(column, value)))
        return false;
    *last = *value;
    return true;
}

static ALWAYS_INLINE bool get_new_address(struct mt_predictor *p, struct column_cursor *column,
                                          unsigned is_hit, uint64_t size, uint64_t *value)
{
    uint32_t size_class = mt_size_class(size);

    if (UNLIKELY(p->made_count >= MT_CHUNK_EVENTS_MAX))
        return false;
    *value = mt_predictor_new_address(p, size_class);
    if (!is_hit) {
        if (UNLIKELY(!get_varint(column, value)))
            return false;
        *value = mt_predictor_fresh_address(p) + mt_unzigzag_address(*value);
    }
    mt_predictor_made(p, size_class, *value, size, (int)is_hit);
    return true;
}

static ALWAYS_INLINE bool get_old_address(struct mt_predictor *p, struct column_cursor *column,
                                          unsigned is_hit, uint64_t *value)
{
    if (UNLIKELY(!get_varint(column, value)))
        return false;
    if (is_hit) {
        uint64_t age = p->old_age + mt_unzigzag(*value);
        uint32_t number;

        if (UNLIKELY(age >= p->made_count))
            return false;
        p->old_age = (uint32_t)age;
        number = p->made_count - (uint32_t)age;
        *value = p->block[number].address;
        mt_predictor_freed(p, number);
    } else {
        *value = p->old_address + mt_unzigzag_address(*value);
        p->old_address = *value;
    }
    return true;
}

/* --- any record ---------------------------------------------------------------------------- */

static ALWAYS_INLINE bool get_dictionary(struct chunk_decoder *d, unsigned number,
                                         struct trace_field *field)
{
    struct decoder_dictionary *dictionary = &d->dictionaries[d->dictionary_of_column[number]];
    struct column_cursor *column = &d->columns[number];
    uint64_t entry;

    if (!get_varint(column, &entry) || entry > dictionary->count)
        return false;
    if (!entry) {
        if (!get_varint(column, &field->value))
            return false;
        if (dictionary->count + 1 == MT_DICTIONARY_END) {
            *field->index = TRACE_UNRESOLVED;
            return true;
        }
        entry = ++dictionary->count;
        dictionary->value[entry] = field->value;
        dictionary->index[entry] = TRACE_UNRESOLVED;
    }
    field->value = dictionary->value[entry];
    field->index = &dictionary->index[entry];
    return true;
}

static ALWAYS_INLINE bool get_bytes(struct column_cursor *column, struct trace_record *record)
{
    uint64_t size_bytes;

    if (!get_varint(column, &size_bytes) || size_bytes > (size_t)(column->end - column->at))
        return false;
    record->bytes = column->at;
    record->size_bytes = (size_t)size_bytes;
    column->at += size_bytes;
    return true;
}

struct site_and_size {
    uint32_t site_number;
    uint64_t size;
};

static ALWAYS_INLINE bool get_field(struct chunk_decoder *d, unsigned position, unsigned is_hit,
                                    struct site_and_size *before, struct trace_record *record)
{
    unsigned number = mt_column_of(record->code, position);
    struct column_cursor *column = &d->columns[number];
    struct trace_field *field = &record->fields[position];
    struct mt_predictor *p = &d->predictor;

    switch (mt_field_encoding(record->code, position)) {
    case MT_ENCODING_PLAIN:
        return get_varint(column, &field->value);
    case MT_ENCODING_DELTA:
        if (!get_varint(column, &field->value))
            return false;
        field->value = d->last_value[number] += mt_unzigzag(field->value);
        return true;
    case MT_ENCODING_DICTIONARY:
        return get_dictionary(d, number, field);
    case MT_ENCODING_BYTES:
        return get_bytes(column, record);
    case MT_ENCODING_SITE:
        if (!get_site(p, column, is_hit, d->site_index, &before->site_number))
            return false;
        field->value = before->site_number ? p->site[before->site_number] : p->newest_site;
        field->index = &d->site_index[before->site_number];
        return true;
    case MT_ENCODING_SIZE_AT_SITE:
        if (!get_size_at_site(p, column, is_hit, before->site_number, &before->size))
            return false;
        field->value = before->size;
        return true;
    case MT_ENCODING_NEW_ADDRESS:
        return get_new_address(p, column, is_hit, before->size, &field->value);
    case MT_ENCODING_OLD_ADDRESS:
        return get_old_address(p, column, is_hit, &field->value);
    case MT_ENCODING_NONE:
        break;
    }
    return false;
}

/* Of the next definition in the chunk. */
static void stack_soon(const struct chunk_decoder *d, struct trace_context *context)
{
    struct column_cursor shared = d->columns[mt_column_of(MT_RECORD_stack, 1)];
    struct column_cursor frames = d->columns[mt_column_of(MT_RECORD_stack, 3)];
    const struct stack_source source = trace_context_stack_source(context, 0);
    struct stack_definition next = {.id = 0};
    uint64_t size_bytes;

    if (!get_varint(&shared, &next.shared_count) || !get_varint(&frames, &size_bytes) ||
        size_bytes > (size_t)(frames.end - frames.at))
        return;
    next.frames = frames.at;
    next.size_bytes = (size_t)size_bytes;
    trace_stacks_soon(context->stacks, &source, &next);
}

/* Its four fields are known here, so nothing asks what they are. */
static __attribute__((noinline)) bool decode_stack(struct chunk_decoder *d,
                                                   struct trace_context *context, uint64_t time_ns)
{
    struct trace_record record;
    struct site_and_size none = {0, 0};
    uint32_t scratch = TRACE_UNRESOLVED;

    record.code = MT_RECORD_stack;
    record.time_ns = time_ns;
    record.fields[2].index = &scratch;
    if (UNLIKELY(!get_field(d, 0, 0, &none, &record) || !get_field(d, 1, 0, &none, &record) ||
                 !get_field(d, 2, 0, &none, &record) || !get_field(d, 3, 0, &none, &record)))
        return false;
    trace_record_stack(context, &record);
    if (!context->any_site)
        stack_soon(d, context);
    return true;
}

enum step { STEP_EVENT, STEP_NO_EVENT, STEP_CORRUPT, STEP_UNKNOWN };

static __attribute__((noinline)) enum step decode_any(struct chunk_decoder *d,
                                                      struct trace_context *context,
                                                      uint32_t *thread, uint8_t byte,
                                                      uint64_t time_ns, struct event *event)
{
    struct trace_record record;
    struct site_and_size before = {0, 0};
    uint32_t scratch[MT_FIELDS_MAX];
    uint64_t code = byte & MT_CODE_MASK;
    enum step step;

    if (code == MT_CODE_LONG && !get_varint(&d->columns[MT_COLUMN_LONG_CODE], &code))
        return STEP_CORRUPT;
    if (code >= MT_RECORD_CODE_END || !mt_field_encoding((unsigned)code, 0)) {
        context->unknown_records++;
        return STEP_NO_EVENT;
    }
    record.code = (unsigned)code;
    record.time_ns = time_ns;
    record.bytes = NULL;
    record.size_bytes = 0;
    for (unsigned i = 0; i < MT_FIELDS_MAX && mt_field_encoding(record.code, i); i++) {
        scratch[i] = TRACE_UNRESOLVED;
        record.fields[i].index = &scratch[i];
        if (!get_field(d, i, (unsigned)byte >> (MT_CODE_BITS + i) & 1, &before, &record))
            return STEP_CORRUPT;
    }
    step = trace_record_apply(context, thread, &record, event) ? STEP_EVENT : STEP_NO_EVENT;
    if (d->site_epoch != context->site_epoch)
        forget_sites(d, context);
    return step;
}

/* --- the host heap ------------------------------------------------------------------------- */

/* In the order in which they came, which is the order of the model's sites. */
static __attribute__((noinline)) void resolve_sites(struct chunk_decoder *d,
                                                    struct trace_context *context)
{
    for (size_t i = 0; i < d->unresolved_count; i++) {
        const struct decoder_unresolved *row = &d->unresolved[i];
        uint32_t index = row->number ? d->site_index[row->number] : TRACE_UNRESOLVED;

        if (index == TRACE_UNRESOLVED)
            index = trace_context_site(context, row->site, row->event->time_ns);
        if (row->number)
            d->site_index[row->number] = index;
        row->event->site = index;
    }
    d->unresolved_count = 0;
}

/* A stack is found by its number: of few stacks there is nothing to wait for. */
static bool is_found_at_once(const struct trace_context *context, uint64_t site)
{
    return context->any_site ||
           (site & MT_SITE_IS_STACK && !trace_stacks_are_many(context->stacks));
}

static __attribute__((noinline)) void resolve_soon(struct chunk_decoder *d,
                                                   struct trace_context *context, uint32_t number,
                                                   struct event *event)
{
    const struct mt_predictor *p = &d->predictor;
    uint64_t site = number ? p->site[number] : p->newest_site;

    if (d->unresolved_count == DECODER_UNRESOLVED)
        resolve_sites(d, context);
    if (!d->unresolved_count && is_found_at_once(context, site)) {
        event->site = trace_context_site(context, site, event->time_ns);
        if (number)
            d->site_index[number] = event->site;
        return;
    }
    trace_context_site_soon(context, site);
    d->unresolved[d->unresolved_count++] = (struct decoder_unresolved){event, site, number};
}

/* Columns of the records of the host heap, held in registers while they follow each other. */
struct host_columns {
    struct column_cursor code, time, site, size, new_address, old_address;
};

static struct host_columns host_columns_take(const struct chunk_decoder *d)
{
    return (struct host_columns){
        d->columns[MT_COLUMN_CODE],
        d->columns[MT_COLUMN_TIME],
        d->columns[MT_COLUMN_HOST_SITE],
        d->columns[MT_COLUMN_HOST_SIZE],
        d->columns[MT_COLUMN_HOST_NEW_ADDRESS],
        d->columns[MT_COLUMN_HOST_OLD_ADDRESS],
    };
}

static void host_columns_give(struct chunk_decoder *d, const struct host_columns *columns)
{
    d->columns[MT_COLUMN_CODE] = columns->code;
    d->columns[MT_COLUMN_TIME] = columns->time;
    d->columns[MT_COLUMN_HOST_SITE] = columns->site;
    d->columns[MT_COLUMN_HOST_SIZE] = columns->size;
    d->columns[MT_COLUMN_HOST_NEW_ADDRESS] = columns->new_address;
    d->columns[MT_COLUMN_HOST_OLD_ADDRESS] = columns->old_address;
}

static ALWAYS_INLINE bool decode_block(struct chunk_decoder *d, struct trace_context *context,
                                       struct column_cursor *site, struct column_cursor *size,
                                       struct column_cursor *new_address, unsigned byte,
                                       struct event *event)
{
    struct mt_predictor *p = &d->predictor;
    uint32_t number, index;

    if (UNLIKELY(!get_site(p, site, byte & MT_HIT_SITE, d->site_index, &number) ||
                 !get_size_at_site(p, size, byte & MT_HIT_SIZE, number, &event->value) ||
                 !get_new_address(p, new_address, !!(byte & MT_HIT_NEW_ADDRESS), event->value,
                                  &event->address)))
        return false;
    index = d->site_index[number];
    event->site = index;
    if (UNLIKELY(index == TRACE_UNRESOLVED))
        resolve_soon(d, context, number, event);
    return true;
}

static ALWAYS_INLINE bool decode_end_of_block(struct chunk_decoder *d,
                                              struct column_cursor *old_address, unsigned byte,
                                              struct event *event)
{
    if (UNLIKELY(!get_old_address(&d->predictor, old_address, byte & MT_HIT_OLD_ADDRESS,
                                  &event->address)))
        return false;
    event->kind = EVENT_FREE;
    return true;
}

/* What the next number of a column stands for; TRACE_UNRESOLVED: it has more than a byte, or is not
 * known yet. Takes nothing. */
static ALWAYS_INLINE uint32_t known_next(const struct chunk_decoder *d, unsigned column)
{
    const struct column_cursor *cursor = &d->columns[column];
    const struct decoder_dictionary *dictionary = &d->dictionaries[d->dictionary_of_column[column]];
    unsigned entry = cursor->at < cursor->end ? *cursor->at : 0;

    if (entry - 1 >= 0x7f || entry > dictionary->count)
        return TRACE_UNRESOLVED;
    return dictionary->index[entry];
}

/* Pool and place of the block that comes next; false: they are not known. Takes nothing. */
static ALWAYS_INLINE bool known_pool(const struct chunk_decoder *d, unsigned code,
                                     struct event *event)
{
    uint32_t place = 0, pool;

    if (code == MT_RECORD_free) {
        pool = known_next(d, MT_COLUMN_POOL_OF_FREE);
    } else {
        pool = known_next(d, MT_COLUMN_POOL_OF_ALLOC);
        place = known_next(d, MT_COLUMN_PLACE_OF_ALLOC);
        event->place = (uint16_t)place;
    }
    event->pool = (uint16_t)pool;
    return pool != TRACE_UNRESOLVED && place != TRACE_UNRESOLVED;
}

/*
 * A record that is not of the host heap, if what it names by numbers is known. STEP_UNKNOWN: it is
 * another one, and nothing was taken.
 */
static __attribute__((noinline)) enum step decode_known(struct chunk_decoder *d,
                                                        struct trace_context *context,
                                                        unsigned byte, struct event *event)
{
    struct column_cursor *columns = d->columns;
    unsigned code = byte & MT_CODE_MASK;
    bool is_good;

    switch (code) {
    case MT_RECORD_alloc:
        if (!known_pool(d, code, event))
            return STEP_UNKNOWN;
        columns[MT_COLUMN_POOL_OF_ALLOC].at++;
        columns[MT_COLUMN_PLACE_OF_ALLOC].at++;
        is_good =
            decode_block(d, context, &columns[MT_COLUMN_POOL_SITE], &columns[MT_COLUMN_POOL_SIZE],
                         &columns[MT_COLUMN_POOL_NEW_ADDRESS], byte, event);
        return is_good ? STEP_EVENT : STEP_CORRUPT;
    case MT_RECORD_free:
        if (!known_pool(d, code, event))
            return STEP_UNKNOWN;
        columns[MT_COLUMN_POOL_OF_FREE].at++;
        is_good = decode_end_of_block(d, &columns[MT_COLUMN_POOL_OLD_ADDRESS], byte, event);
        return is_good ? STEP_EVENT : STEP_CORRUPT;
    case MT_RECORD_operator_begin:
    case MT_RECORD_operator_end:
        event->text = known_next(d, mt_column_of(code, 0));
        if (event->text == TRACE_UNRESOLVED)
            return STEP_UNKNOWN;
        columns[mt_column_of(code, 0)].at++;
        event->kind = code == MT_RECORD_operator_begin ? EVENT_OPERATOR_BEGIN : EVENT_OPERATOR_END;
        return STEP_EVENT;
    case MT_RECORD_stack:
        is_good =
            trace_stacks_are_kept(context->stacks) || decode_stack(d, context, event->time_ns);
        return is_good ? STEP_NO_EVENT : STEP_CORRUPT;
    default:
        return STEP_UNKNOWN;
    }
}

/* Up to which code a run may go on: one record for each event that there is room for, none where
 * the clock does not reach all times of the chunk. */
static const uint8_t *run_end(const struct chunk_decoder *d, const struct trace_context *context,
                              size_t room)
{
    const struct column_cursor *code = &d->columns[MT_COLUMN_CODE];
    size_t left = (size_t)(code->end - code->at);

    if (UNLIKELY(d->last_time > context->clock.units_max))
        return code->at;
    return code->at + (left < room ? left : room);
}

/* Decodes until a record comes that it does not know; that one's byte is still to be read. */
static bool decode_run(struct chunk_decoder *d, struct trace_context *context, uint32_t thread,
                       struct event **events, const struct event *end)
{
    struct host_columns columns = host_columns_take(d);
    const uint8_t *first = columns.code.at, *last = run_end(d, context, (size_t)(end - *events));
    const struct trace_clock clock = context->clock;
    struct event *event = *events;
    uint64_t time = d->time, difference = 0;
    enum step step = STEP_EVENT;

    d->blank.thread = thread;
    for (; columns.code.at < last; columns.code.at++) {
        const uint8_t *time_at = columns.time.at;
        unsigned byte = *columns.code.at;
        unsigned code = byte & MT_CODE_MASK;
        bool is_good = get_varint(&columns.time, &difference) && difference <= d->last_time - time;

        step = STEP_CORRUPT;
        if (UNLIKELY(!is_good))
            break;
        time += difference;
        *event = d->blank;
        event->time_ns = trace_clock_ns_within(&clock, time);
        if (code == MT_RECORD_host_alloc) {
            if (UNLIKELY(!decode_block(d, context, &columns.site, &columns.size,
                                       &columns.new_address, byte, event)))
                break;
            event++;
        } else if (code == MT_RECORD_host_free) {
            if (UNLIKELY(!decode_end_of_block(d, &columns.old_address, byte, event)))
                break;
            event++;
        } else {
            step = decode_known(d, context, byte, event);
            if (step == STEP_UNKNOWN) {
                columns.time.at = time_at;
                time -= difference;
            }
            if (step >= STEP_CORRUPT)
                break;
            event += step == STEP_EVENT;
        }
        step = STEP_EVENT;
    }
    if (d->unresolved_count)
        resolve_sites(d, context);
    d->events_left -= (uint32_t)(columns.code.at - first);
    d->time = time;
    host_columns_give(d, &columns);
    *events = event;
    return step != STEP_CORRUPT;
}

static enum step decode_next(struct chunk_decoder *d, struct trace_context *context,
                             uint32_t *thread, struct event *event)
{
    uint8_t byte = *d->columns[MT_COLUMN_CODE].at++;
    uint64_t difference;

    d->events_left--;
    if (!get_varint(&d->columns[MT_COLUMN_TIME], &difference) ||
        difference > d->last_time - d->time)
        return STEP_CORRUPT;
    d->time += difference;
    return decode_any(d, context, thread, byte, trace_clock_ns(&context->clock, d->time), event);
}

static bool is_operator(const struct event *event)
{
    return event->kind == EVENT_OPERATOR_BEGIN || event->kind == EVENT_OPERATOR_END;
}

/* What a `free_site` record said is for the free right after it. */
static void name_free(struct trace_stacks *stacks, struct event *events, const struct event *end)
{
    while (events != end && is_operator(events))
        events++;
    if (events == end)
        return;
    if (events->kind == EVENT_FREE)
        events->site = stacks->free_site;
    stacks->free_site = 0;
}

enum mt_result chunk_decoder_next(struct chunk_decoder *d, struct trace_context *context,
                                  uint32_t *thread, struct event *events, size_t capacity,
                                  size_t *count, struct mt_error *error)
{
    struct event *event = events;
    const struct event *end = events + capacity;
    enum step step = STEP_EVENT;

    if (d->site_epoch != context->site_epoch)
        forget_sites(d, context);
    while (event < end && d->events_left) {
        struct event *run = event;

        if (!decode_run(d, context, *thread, &event, end)) {
            step = STEP_CORRUPT;
            break;
        }
        if (UNLIKELY(context->stacks->free_site))
            name_free(context->stacks, run, event);
        if (event == end || !d->events_left)
            break;
        step = decode_next(d, context, thread, event);
        if (step == STEP_CORRUPT)
            break;
        event += step == STEP_EVENT;
    }
    *count = (size_t)(event - events);
    if (step == STEP_CORRUPT)
        return mt_error_set(error, MT_CORRUPT,
                            "a value is cut short or impossible, %u events before the end",
                            d->events_left);
    return MT_OK;
}
