/* SPDX-License-Identifier: Apache-2.0 */
/*
 * From the words of a ring to the raw payload of a chunk.
 *
 * Columns grow in blocks of 1 KiB out of one pool, so a chunk of any mix of records fills the
 * pool and no more. Invariant: blocks_used <= COLUMN_BLOCKS, because an event starts only while
 * BLOCKS_RESERVED are left, and no event takes more.
 */
#include "chunk_encoder.h"

#include <stdbool.h>
#include <string.h>

#include "memtide/codec.h"

enum {
    /* Code, time, six fields; a BYTES field may fill several. */
    BLOCKS_RESERVED = 8 + 1 + (MT_TEXT_MAX + MT_VARINT_MAX_BYTES) / COLUMN_BLOCK_BYTES,
    NO_DICTIONARY = 255,
    PLAUSIBLE_TIME_BITS = 36 /* how far ahead, in time units, a record after damage may be */
};

/* Words of a ring; positions go on for ever. */
struct ring_view {
    const uint64_t *words;
    uint64_t mask;
    uint64_t end_position;
};

struct ring_record {
    unsigned code;
    uint32_t words;
    uint64_t ticks;                 /* low 56 bits */
    uint64_t fields[MT_FIELDS_MAX]; /* of a BYTES field: the position of its length */
};

/* What the fields of one record tell each other. */
struct encoding_record {
    uint32_t site_number;
    uint64_t size;
    const struct ring_view *ring;
};

static inline uint64_t word_at(const struct ring_view *ring, uint64_t position)
{
    return ring->words[position & ring->mask];
}

static inline uint32_t hash_slot(uint64_t value, uint32_t slots)
{
    return (uint32_t)(((value * UINT64_C(0x9e3779b97f4a7c15)) >> 32) * slots >> 32);
}

void chunk_encoder_init(struct chunk_encoder *e, unsigned time_shift, uint64_t start_ticks)
{
    unsigned dictionaries = 0;

    e->time_shift = time_shift;
    e->start_ticks = start_ticks;
    e->column_count = 0;
    memset(e->columns, 0, sizeof(e->columns));
    for (unsigned code = 0; code < MT_RECORD_CODE_END; code++) {
        for (unsigned position = 0; position < MT_FIELDS_MAX; position++) {
            uint8_t *dictionary = &e->dictionary_of_column[code * MT_FIELDS_MAX + position];

            *dictionary = NO_DICTIONARY;
            if (mt_field_encoding(code, position) == MT_ENCODING_DICTIONARY &&
                dictionaries < ENCODER_DICTIONARIES)
                *dictionary = (uint8_t)dictionaries++;
        }
    }
}

/* --- columns ------------------------------------------------------------------------------- */

/* Opens a column, or gives it its next block. */
static __attribute__((noinline)) void column_grow(struct chunk_encoder *e, unsigned number)
{
    struct column *column = &e->columns[number];
    uint16_t block = (uint16_t)e->blocks_used++;

    if (!column->at) {
        e->columns_used[e->column_count++] = (uint8_t)number;
        e->last_value[number] = 0;
        column->first_block = block;
        column->full_bytes = 0;
        if (e->dictionary_of_column[number] != NO_DICTIONARY) {
            struct dictionary *dictionary = &e->dictionaries[e->dictionary_of_column[number]];

            dictionary->count = 0;
            memset(dictionary->slot, 0, sizeof(dictionary->slot));
        }
    } else {
        uint8_t *start = e->blocks[column->last_block];

        e->block_bytes[column->last_block] = (uint16_t)(column->at - start);
        e->block_next[column->last_block] = block;
        column->full_bytes += (uint32_t)(column->at - start);
    }
    column->last_block = block;
    column->at = e->blocks[block];
    column->end = column->at + COLUMN_BLOCK_BYTES;
}

static inline void column_put(struct chunk_encoder *e, unsigned number, uint64_t value)
{
    struct column *column = &e->columns[number];

    if (column->end - column->at < MT_VARINT_MAX_BYTES)
        column_grow(e, number);
    column->at = mt_varint_put(column->at, value);
}

static inline void column_put_byte(struct chunk_encoder *e, unsigned number, uint8_t value)
{
    struct column *column = &e->columns[number];

    if (column->end == column->at)
        column_grow(e, number);
    *column->at++ = value;
}

static void column_put_bytes(struct chunk_encoder *e, unsigned number, const uint8_t *bytes,
                             size_t size_bytes)
{
    struct column *column = &e->columns[number];

    while (size_bytes) {
        size_t room = (size_t)(column->end - column->at);
        size_t part = size_bytes < room ? size_bytes : room;

        if (!part) {
            column_grow(e, number);
            continue;
        }
        memcpy(column->at, bytes, part);
        column->at += part;
        bytes += part;
        size_bytes -= part;
    }
}

/* --- one function an encoding: each returns whether the value was foreseen ------------------ */

static inline unsigned put_PLAIN(struct chunk_encoder *e, struct encoding_record *record,
                                 unsigned column, uint64_t value)
{
    (void)record;
    column_put(e, column, value);
    return 0;
}

static inline unsigned put_DELTA(struct chunk_encoder *e, struct encoding_record *record,
                                 unsigned column, uint64_t value)
{
    uint64_t last = e->columns[column].at ? e->last_value[column] : 0;

    (void)record;
    column_put(e, column, mt_zigzag(value - last));
    e->last_value[column] = value;
    return 0;
}

static __attribute__((noinline)) unsigned put_DICTIONARY(struct chunk_encoder *e,
                                                         struct encoding_record *record,
                                                         unsigned column, uint64_t value)
{
    struct dictionary *dictionary = &e->dictionaries[e->dictionary_of_column[column]];
    uint32_t slot = hash_slot(value, ENCODER_DICTIONARY_SLOTS);
    unsigned number;

    (void)record;
    if (!e->columns[column].at)
        column_grow(e, column);
    while ((number = dictionary->slot[slot]) && dictionary->value[number] != value)
        slot = (slot + 1) % ENCODER_DICTIONARY_SLOTS;
    column_put(e, column, number);
    if (number)
        return 0;
    column_put(e, column, value);
    if (dictionary->count + 1 < MT_DICTIONARY_END) {
        number = ++dictionary->count;
        dictionary->value[number] = value;
        dictionary->slot[slot] = (uint16_t)number;
    }
    return 0;
}

/* The value is where the length stands in the ring; the reader of the record checked it. */
static unsigned put_BYTES(struct chunk_encoder *e, struct encoding_record *record, unsigned column,
                          uint64_t value)
{
    uint64_t left = word_at(record->ring, value);

    column_put(e, column, left);
    while (left) {
        uint64_t word = word_at(record->ring, ++value);
        size_t part = left < sizeof(word) ? (size_t)left : sizeof(word);

        column_put_bytes(e, column, (const uint8_t *)&word, part);
        left -= part;
    }
    return 0;
}

static __attribute__((noinline)) uint32_t site_number(struct chunk_encoder *e, unsigned column,
                                                      uint64_t site)
{
    struct mt_predictor *p = &e->predictor;
    uint32_t slot = hash_slot(site, ENCODER_SITE_SLOTS);
    uint32_t number;

    while ((number = e->site_slot[slot]) && p->site[number] != site)
        slot = (slot + 1) % ENCODER_SITE_SLOTS;
    column_put(e, column, number);
    if (!number) {
        column_put(e, column, mt_zigzag(site - p->newest_site));
        number = mt_predictor_site_add(p, site);
        e->site_slot[slot] = (uint16_t)number;
    }
    return number;
}

static inline unsigned put_SITE(struct chunk_encoder *e, struct encoding_record *record,
                                unsigned column, uint64_t value)
{
    struct mt_predictor *p = &e->predictor;
    uint16_t *follow = mt_predictor_follow(p);
    uint32_t number = *follow;
    unsigned was_hit = number && p->site[number] == value;

    if (!was_hit)
        number = site_number(e, column, value);
    mt_predictor_site_seen(p, follow, number);
    record->site_number = number;
    return was_hit;
}

static inline unsigned put_SIZE_AT_SITE(struct chunk_encoder *e, struct encoding_record *record,
                                        unsigned column, uint64_t value)
{
    uint64_t *last = &e->predictor.size_at_site[record->site_number];

    record->size = value;
    if (*last == value)
        return 1;
    column_put(e, column, value);
    *last = value;
    return 0;
}

static inline uint16_t *block_slot(struct chunk_encoder *e, uint64_t address)
{
    uint32_t slot = hash_slot(address, ENCODER_BLOCK_SLOTS);

    while (e->block_slot[slot] && e->predictor.address[e->block_slot[slot]] != address)
        slot = (slot + 1) % ENCODER_BLOCK_SLOTS;
    return &e->block_slot[slot];
}

static inline unsigned put_NEW_ADDRESS(struct chunk_encoder *e, struct encoding_record *record,
                                       unsigned column, uint64_t value)
{
    struct mt_predictor *p = &e->predictor;
    uint32_t size_class = mt_size_class(record->size);
    unsigned was_hit = mt_predictor_new_address(p, size_class) == value;
    uint16_t *slot = block_slot(e, value);

    if (!was_hit)
        column_put(e, column, mt_zigzag_address(value - mt_predictor_fresh_address(p)));
    *slot = (uint16_t)mt_predictor_made(p, size_class, value, record->size, (int)was_hit);
    return was_hit;
}

static inline unsigned put_OLD_ADDRESS(struct chunk_encoder *e, struct encoding_record *record,
                                       unsigned column, uint64_t value)
{
    struct mt_predictor *p = &e->predictor;
    uint32_t number = *block_slot(e, value);

    (void)record;
    if (number) {
        uint32_t age = p->made_count - number;

        column_put(e, column, mt_zigzag((uint64_t)age - p->old_age));
        p->old_age = age;
        mt_predictor_freed(p, number);
        return 1;
    }
    column_put(e, column, mt_zigzag_address(value - p->old_address));
    p->old_address = value;
    return 0;
}

/* --- records ------------------------------------------------------------------------------- */

/* Inlined with a constant code, this is the straight line of that record's fields. */
static inline __attribute__((always_inline)) unsigned put_fields(struct chunk_encoder *e,
                                                                 const struct ring_view *ring,
                                                                 unsigned code,
                                                                 const uint64_t *fields)
{
    struct encoding_record record = {0, 0, ring};
    unsigned column = code * MT_FIELDS_MAX;
    unsigned position = 0;
    unsigned hits = 0;

#define FIELD(name, encoding)                                                                      \
    hits |= put_##encoding(e, &record, column + position, fields[position]) << position;           \
    position++;
#define RECORD(number, name, put_each, meaning)                                                    \
    case number:                                                                                   \
        put_each break;
    switch (code) {
#include "memtide/records.def"
    }
#undef RECORD
#undef FIELD
    return hits;
}

/* Words of a record whose fields start at `position` and end in BYTES; 0 when they do not fit. */
static uint32_t read_bytes_field(const struct ring_view *ring, uint64_t position, uint32_t words)
{
    uint64_t left = ring->end_position - position;
    uint64_t size_bytes;

    if (left < words)
        return 0;
    size_bytes = word_at(ring, position + words - 1);
    if (size_bytes > MT_TEXT_MAX || (size_bytes + 7) / 8 > left - words)
        return 0;
    return words + (uint32_t)((size_bytes + 7) / 8);
}

/* Every record but the two packed ones. */
static __attribute__((noinline)) bool
read_wide_record(const struct ring_view *ring, uint64_t position, struct ring_record *record)
{
    unsigned count = 0;
    bool ends_in_bytes = false;

    if (record->code >= MT_RECORD_CODE_END)
        return false;
    while (count < MT_FIELDS_MAX && mt_field_encoding(record->code, count)) {
        ends_in_bytes = mt_field_encoding(record->code, count) == MT_ENCODING_BYTES;
        count++;
    }
    if (!count || ring->end_position - position < 1 + count)
        return false;
    for (unsigned i = 0; i < count; i++)
        record->fields[i] = word_at(ring, position + 1 + i);
    record->words = 1 + count;
    if (ends_in_bytes) {
        record->fields[count - 1] = position + count;
        record->words = read_bytes_field(ring, position, 1 + count);
    }
    return record->words != 0;
}

/* False when the words at position are no record. */
static inline bool read_record(const struct ring_view *ring, uint64_t position,
                               struct ring_record *record)
{
    uint64_t left = ring->end_position - position;
    uint64_t first = word_at(ring, position);
    uint64_t packed = (UINT64_C(1) << MT_RING_PACKED_BITS) - 1;

    record->code = (unsigned)(first & 0xff);
    record->ticks = first >> MT_RING_TIME_SHIFT;
    if (record->code == MT_RECORD_host_free && left >= 2) {
        record->fields[0] = word_at(ring, position + 1);
        record->words = 2;
        return true;
    }
    if ((record->code & ~(unsigned)MT_RING_SITE_IS_STACK) == MT_RECORD_host_alloc && left >= 3) {
        uint64_t is_stack = record->code & MT_RING_SITE_IS_STACK;
        uint64_t address = word_at(ring, position + 1);
        uint64_t site = word_at(ring, position + 2);

        record->code = MT_RECORD_host_alloc;
        record->fields[0] = (site & packed) | is_stack << 56;
        record->fields[1] = address >> MT_RING_PACKED_BITS | site >> MT_RING_PACKED_BITS << 16;
        record->fields[2] = address & packed;
        record->words = 3;
        return true;
    }
    return record->code > MT_RECORD_host_free && read_wide_record(ring, position, record);
}

/* Ticks since the start from the low 56 bits of the counter; huge for what is before it. */
static inline uint64_t ticks_since_start(const struct chunk_encoder *e, uint64_t ticks)
{
    return (ticks - e->start_ticks) & (~UINT64_C(0) >> MT_RING_TIME_SHIFT);
}

static inline bool is_before_start(uint64_t since_start)
{
    return since_start >> (63 - MT_RING_TIME_SHIFT);
}

/* In time units; what is before the start is the start. */
static inline uint64_t time_units(const struct chunk_encoder *e, uint64_t ticks)
{
    uint64_t since_start = ticks_since_start(e, ticks);

    return is_before_start(since_start) ? 0 : since_start >> e->time_shift;
}

/* --- chunks -------------------------------------------------------------------------------- */

static void begin_chunk(struct chunk_encoder *e)
{
    for (unsigned i = 0; i < e->column_count; i++)
        memset(&e->columns[e->columns_used[i]], 0, sizeof(e->columns[0]));
    e->column_count = 0;
    e->blocks_used = 0;
    mt_predictor_reset(&e->predictor);
    memset(e->site_slot, 0, sizeof(e->site_slot));
    memset(e->block_slot, 0, sizeof(e->block_slot));
}

/* Joins the columns behind their table. */
static size_t finish_chunk(struct chunk_encoder *e)
{
    uint8_t *out = mt_varint_put(e->raw, e->column_count);

    for (unsigned i = 0; i < e->column_count; i++) {
        unsigned number = e->columns_used[i];
        const struct column *column = &e->columns[number];
        size_t last_bytes = (size_t)(column->at - e->blocks[column->last_block]);

        e->block_bytes[column->last_block] = (uint16_t)last_bytes;
        out = mt_varint_put(out, number);
        out = mt_varint_put(out, column->full_bytes + last_bytes);
    }
    for (unsigned i = 0; i < e->column_count; i++) {
        const struct column *column = &e->columns[e->columns_used[i]];
        uint16_t block = column->first_block;

        for (;;) {
            memcpy(out, e->blocks[block], e->block_bytes[block]);
            out += e->block_bytes[block];
            if (block == column->last_block)
                break;
            block = e->block_next[block];
        }
    }
    return (size_t)(out - e->raw);
}

/* Words that only look like a record after damage have an unlikely time. */
static bool is_plausible_after_damage(const struct chunk_encoder *e,
                                      const struct ring_record *record, uint64_t last_time)
{
    uint64_t since_start = ticks_since_start(e, record->ticks);
    uint64_t time = since_start >> e->time_shift;

    return !is_before_start(since_start) && time >= last_time &&
           (time - last_time) >> PLAUSIBLE_TIME_BITS == 0;
}

size_t chunk_encode(struct chunk_encoder *e, const uint64_t *ring_words, uint64_t capacity_words,
                    uint64_t begin_position, uint64_t end_position, struct chunk_raw *out)
{
    const struct ring_view ring = {ring_words, capacity_words - 1, end_position};
    struct chunk_raw raw = {0};
    uint64_t position = begin_position;
    bool is_damaged = false;

    begin_chunk(e);
    while (position != end_position && raw.event_count < MT_CHUNK_EVENTS_MAX &&
           e->blocks_used + BLOCKS_RESERVED <= COLUMN_BLOCKS) {
        struct ring_record record;
        uint64_t time;
        unsigned hits;

        if (!read_record(&ring, position, &record) ||
            (is_damaged && !is_plausible_after_damage(e, &record, raw.last_time))) {
            raw.malformed_count += !is_damaged;
            is_damaged = true;
            position++;
            continue;
        }
        is_damaged = false;
        position += record.words;
        time = time_units(e, record.ticks);
        if (!raw.event_count)
            raw.first_time = raw.last_time = time;
        if (time < raw.last_time)
            time = raw.last_time;
        if (record.code == MT_RECORD_host_alloc)
            hits = put_fields(e, &ring, MT_RECORD_host_alloc, record.fields);
        else if (record.code == MT_RECORD_host_free)
            hits = put_fields(e, &ring, MT_RECORD_host_free, record.fields);
        else
            hits = put_fields(e, &ring, record.code, record.fields);
        column_put_byte(e, MT_COLUMN_CODE, (uint8_t)(record.code | hits << MT_CODE_BITS));
        column_put(e, MT_COLUMN_TIME, time - raw.last_time);
        raw.last_time = time;
        raw.event_count++;
    }
    raw.end_position = position;
    raw.bytes = e->raw;
    raw.size_bytes = finish_chunk(e);
    *out = raw;
    return raw.event_count;
}
