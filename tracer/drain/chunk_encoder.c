/* SPDX-License-Identifier: Apache-2.0 */
/*
 * From the words of a ring to the raw payload of a chunk.
 *
 * Nearly all records are of the host heap. Runs of them go straight from the ring into columns of
 * their own, which have room for any chunk; where to go on in them is in registers meanwhile. What
 * that costs is counted in instructions: a processor does four to five of them in a cycle here.
 * (Tried: bursts into arrays, then one loop a column. It took a fifth more time.) Blocks of other
 * pools, as those of Python, are taken in the same run once their pool has its number.
 *
 * All other records are put into their columns one by one. These grow in blocks of 1 KiB out of one
 * pool. Invariant: what is in all columns fits MT_CHUNK_RAW_MAX, because a run, and each of the
 * other records, starts only while the most that it can take is left.
 */
#include "chunk_encoder.h"

#include <stdbool.h>
#include <string.h>

#include "leaktide/codec.h"
#include "leaktide/invariant.h"

enum {
    NO_DICTIONARY = 255,
    PLAUSIBLE_TIME_BITS = 36, /* how far ahead, in time units, a record after damage may be */

    /* What one record takes at most: of the host heap, and in blocks of any other (its code, its
     * fields, of which a BYTES field fills several). */
    HOST_RECORD_BYTES = 1 + 5 * MT_VARINT_MAX_BYTES,
    POOL_RECORD_BYTES = 4 * MT_VARINT_MAX_BYTES + 2, /* in blocks, with numbers of one byte */
    POOL_COLUMNS = 7,
    WIDE_RECORD_BLOCKS =
        1 + MT_FIELDS_MAX + (MT_TEXT_MAX + MT_VARINT_MAX_BYTES) / COLUMN_BLOCK_BYTES
};

/* Words of a ring; positions go on for ever. */
struct ring_view {
    const uint64_t *words;
    uint64_t mask;
    uint64_t end_position;
};

/* Any record but the two of the host heap. */
struct wide_record {
    unsigned code;
    uint32_t words;
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
    memset(e->dictionary_of_column, NO_DICTIONARY, sizeof(e->dictionary_of_column));
    for (unsigned code = 0; code < MT_RECORD_CODE_END; code++)
        for (unsigned i = 0; i < MT_FIELDS_MAX && mt_field_encoding(code, i); i++)
            if (mt_field_encoding(code, i) == MT_ENCODING_DICTIONARY &&
                dictionaries < ENCODER_DICTIONARIES)
                e->dictionary_of_column[mt_column_of(code, i)] = (uint8_t)dictionaries++;
}

/* --- columns ------------------------------------------------------------------------------- */

/* Opens a column, or gives it its next block. */
static __attribute__((noinline)) void column_grow(struct chunk_encoder *e, unsigned number)
{
    struct column *column = &e->columns[number];
    uint16_t block = (uint16_t)e->blocks_used++;

    MT_ASSERT(number < MT_COLUMN_END);
    MT_ASSERT(block < COLUMN_BLOCKS);
    MT_ASSERT(column->at <= column->end);
    if (!column->at) {
        e->columns_used[e->column_count++] = (uint16_t)number;
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

/* A column in which so many bytes, at most a block, can be put. */
static inline struct column *column_with_room(struct chunk_encoder *e, unsigned number,
                                              ptrdiff_t size_bytes)
{
    struct column *column = &e->columns[number];

    if (column->end - column->at < size_bytes)
        column_grow(e, number);
    return column;
}

static inline void column_put(struct chunk_encoder *e, unsigned number, uint64_t value)
{
    struct column *column = column_with_room(e, number, MT_VARINT_MAX_BYTES);

    column->at = mt_varint_put(column->at, value);
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

/* --- values that records of the host heap and others have ------------------------------------ */

/* Each puts a value at `at`, where there is room, and returns what is after it. */
enum { SITE_BYTES_MAX = 2 * MT_VARINT_MAX_BYTES };

static __attribute__((noinline)) uint8_t *site_number_put(struct chunk_encoder *e, uint8_t *at,
                                                          uint64_t site, uint32_t *number)
{
    struct mt_predictor *p = &e->predictor;
    uint32_t slot = hash_slot(site, ENCODER_SITE_SLOTS);

    while ((*number = e->site_slot[slot]) && p->site[*number] != site)
        slot = (slot + 1) % ENCODER_SITE_SLOTS;
    at = mt_varint_put(at, *number);
    if (!*number) {
        at = mt_varint_put(at, mt_zigzag(site - p->newest_site));
        *number = mt_predictor_site_add(p, site);
        e->site_slot[slot] = (uint16_t)*number;
    }
    return at;
}

static inline uint8_t *site_put(struct chunk_encoder *e, uint8_t *at, uint64_t site,
                                uint32_t *number, bool *is_hit)
{
    struct mt_predictor *p = &e->predictor;
    uint16_t *follow = mt_predictor_follow(p);

    *number = *follow;
    *is_hit = *number && p->site[*number] == site;
    if (!*is_hit)
        at = site_number_put(e, at, site, number);
    mt_predictor_site_seen(p, follow, *number);
    return at;
}

static inline uint8_t *size_put(struct chunk_encoder *e, uint8_t *at, uint64_t size,
                                uint32_t site_number, bool *is_hit)
{
    uint64_t *last = &e->predictor.size_at_site[site_number];

    *is_hit = *last == size;
    *last = size;
    return *is_hit ? at : mt_varint_put_medium(at, size);
}

/*
 * Where the number of the block that was made last at an address is, if no other took its place:
 * to look for it elsewhere takes longer than the bytes are worth. Blocks that lie side by side in a
 * heap do so here.
 */
static inline uint16_t *block_slot(struct chunk_encoder *e, uint64_t address)
{
    return &e->block_slot[(address >> 4 ^ address >> 17) % ENCODER_BLOCK_SLOTS];
}

static inline uint8_t *new_address_put(struct chunk_encoder *e, uint8_t *at, uint64_t address,
                                       uint64_t size, bool *is_hit)
{
    struct mt_predictor *p = &e->predictor;
    uint32_t size_class = mt_size_class(size);

    *is_hit = mt_predictor_new_address(p, size_class) == address;
    if (!*is_hit)
        at = mt_varint_put(at, mt_zigzag_address(address - mt_predictor_fresh_address(p)));
    *block_slot(e, address) = (uint16_t)mt_predictor_made(p, size_class, address, size, *is_hit);
    return at;
}

static inline uint8_t *old_address_put(struct chunk_encoder *e, uint8_t *at, uint64_t address,
                                       bool *is_hit)
{
    struct mt_predictor *p = &e->predictor;
    uint32_t number = *block_slot(e, address);

    *is_hit = number && p->block[number].address == address;
    if (*is_hit) {
        uint32_t age = p->made_count - number;

        at = mt_varint_put_medium(at, mt_zigzag((uint64_t)age - p->old_age));
        p->old_age = age;
        mt_predictor_freed(p, number);
    } else {
        at = mt_varint_put(at, mt_zigzag_address(address - p->old_address));
        p->old_address = address;
    }
    return at;
}

/* --- any record: one function an encoding, each returns whether the value was foreseen ------- */

static inline bool put_PLAIN(struct chunk_encoder *e, struct encoding_record *record,
                             unsigned column, uint64_t value)
{
    (void)record;
    column_put(e, column, value);
    return false;
}

static inline bool put_DELTA(struct chunk_encoder *e, struct encoding_record *record,
                             unsigned column, uint64_t value)
{
    uint64_t last = e->columns[column].at ? e->last_value[column] : 0;

    (void)record;
    column_put(e, column, mt_zigzag(value - last));
    e->last_value[column] = value;
    return false;
}

static __attribute__((noinline)) bool put_DICTIONARY(struct chunk_encoder *e,
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
        return false;
    column_put(e, column, value);
    if (dictionary->count + 1 < MT_DICTIONARY_END) {
        number = ++dictionary->count;
        dictionary->value[number] = value;
        dictionary->slot[slot] = (uint16_t)number;
    }
    return false;
}

/*
 * The value is where the length stands in the ring. The reader of the record checked it, but the
 * words may belong to a process that changes them meanwhile: more than a text can have is never
 * taken.
 */
static bool put_BYTES(struct chunk_encoder *e, struct encoding_record *record, unsigned column,
                      uint64_t value)
{
    uint64_t left =
        __atomic_load_n(&record->ring->words[value & record->ring->mask], __ATOMIC_RELAXED);

    if (left > MT_TEXT_MAX)
        left = MT_TEXT_MAX;
    column_put(e, column, left);
    while (left) {
        uint64_t word = word_at(record->ring, ++value);
        size_t part = left < sizeof(word) ? (size_t)left : sizeof(word);

        column_put_bytes(e, column, (const uint8_t *)&word, part);
        left -= part;
    }
    return false;
}

static bool put_SITE(struct chunk_encoder *e, struct encoding_record *record, unsigned number,
                     uint64_t value)
{
    struct column *column = column_with_room(e, number, SITE_BYTES_MAX);
    bool is_hit;

    column->at = site_put(e, column->at, value, &record->site_number, &is_hit);
    return is_hit;
}

static bool put_SIZE_AT_SITE(struct chunk_encoder *e, struct encoding_record *record,
                             unsigned number, uint64_t value)
{
    struct column *column = column_with_room(e, number, MT_VARINT_MAX_BYTES);
    bool is_hit;

    record->size = value;
    column->at = size_put(e, column->at, value, record->site_number, &is_hit);
    return is_hit;
}

static bool put_NEW_ADDRESS(struct chunk_encoder *e, struct encoding_record *record,
                            unsigned number, uint64_t value)
{
    struct column *column = column_with_room(e, number, MT_VARINT_MAX_BYTES);
    bool is_hit;

    column->at = new_address_put(e, column->at, value, record->size, &is_hit);
    return is_hit;
}

static bool put_OLD_ADDRESS(struct chunk_encoder *e, struct encoding_record *record,
                            unsigned number, uint64_t value)
{
    struct column *column = column_with_room(e, number, MT_VARINT_MAX_BYTES);
    bool is_hit;

    (void)record;
    column->at = old_address_put(e, column->at, value, &is_hit);
    return is_hit;
}

/* Returns which of the fields were foreseen, a bit each. */
static unsigned put_fields(struct chunk_encoder *e, const struct ring_view *ring, unsigned code,
                           const uint64_t *fields)
{
    struct encoding_record record = {0, 0, ring};
    unsigned column = mt_column_of(code, 0);
    unsigned position = 0;
    unsigned hits = 0;

#define FIELD(name, encoding)                                                                      \
    hits |= (unsigned)put_##encoding(e, &record, column + position, fields[position]) << position; \
    position++;
#define RECORD(number, name, put_each, meaning)                                                    \
    case number:                                                                                   \
        put_each break;
    switch (code) {
#include "leaktide/records.def"
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

/* False when the words at position are no such record. */
static bool read_wide_record(const struct ring_view *ring, uint64_t position,
                             struct wide_record *record)
{
    unsigned count = 0;
    bool ends_in_bytes = false;

    record->code = (unsigned)(word_at(ring, position) & 0xff);
    if (record->code <= MT_RECORD_host_free || record->code >= MT_RECORD_CODE_END)
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

/* --- time ------------------------------------------------------------------------------------ */

/* Ticks since the start of a record with this first word; huge for what is before it. */
static inline uint64_t ticks_since_start(uint64_t start_ticks, uint64_t first_word)
{
    return ((first_word >> MT_RING_TIME_SHIFT) - start_ticks) &
           (~UINT64_C(0) >> MT_RING_TIME_SHIFT);
}

static inline bool is_before_start(uint64_t since_start)
{
    return since_start >> (63 - MT_RING_TIME_SHIFT);
}

/* In time units; what is before the start is the start. */
static inline uint64_t time_units(uint64_t start_ticks, unsigned time_shift, uint64_t first_word)
{
    uint64_t since_start = ticks_since_start(start_ticks, first_word);

    return is_before_start(since_start) ? 0 : since_start >> time_shift;
}

/* Words that only look like a record after damage have an unlikely time. */
static bool is_plausible_after_damage(const struct chunk_encoder *e, uint64_t first_word,
                                      uint64_t last_time)
{
    uint64_t since_start = ticks_since_start(e->start_ticks, first_word);
    uint64_t time = since_start >> e->time_shift;

    return !is_before_start(since_start) && time >= last_time &&
           (time - last_time) >> PLAUSIBLE_TIME_BITS == 0;
}

/* --- runs of the host heap's records --------------------------------------------------------- */

_Static_assert(ENCODER_RUN_EVENTS *HOST_RECORD_BYTES <= WIDE_RECORD_BLOCKS * COLUMN_BLOCK_BYTES,
               "a run of the host heap takes no more than a wide record");
/* Of a block that is full, the bytes are left that would not have held one more value. */
enum {
    POOL_RUN_BLOCKS =
        ENCODER_RUN_EVENTS * POOL_RECORD_BYTES / (COLUMN_BLOCK_BYTES - SITE_BYTES_MAX) +
        POOL_COLUMNS
};
_Static_assert(POOL_RUN_BLOCKS *COLUMN_BLOCK_BYTES +
                       ENCODER_RUN_EVENTS * (1 + MT_VARINT_MAX_BYTES) <=
                   WIDE_RECORD_BLOCKS * COLUMN_BLOCK_BYTES,
               "nor does one of other pools, with its codes and times");

static inline size_t host_column_bytes(const struct chunk_encoder *e, unsigned which)
{
    return (size_t)(e->host_at[which] - e->host_bytes[which]);
}

/* Whether another run or wide record fits the chunk for sure. */
static bool has_room(const struct chunk_encoder *e)
{
    size_t used_bytes = (size_t)e->blocks_used * COLUMN_BLOCK_BYTES;

    for (unsigned i = 0; i < HOST_COLUMNS; i++)
        used_bytes += host_column_bytes(e, i);
    return used_bytes + WIDE_RECORD_BLOCKS * COLUMN_BLOCK_BYTES <=
           MT_CHUNK_RAW_MAX - MT_COLUMN_TABLE_MAX;
}

/* Words after which no record of the host heap goes on. */
struct host_run {
    const uint64_t *word, *end;
    uint64_t last_time;
};

enum { HOST_RECORD_WORDS_MAX = 3 };

static inline unsigned put_host_alloc(struct chunk_encoder *e, uint8_t **at, const uint64_t *word)
{
    const uint64_t packed = (UINT64_C(1) << MT_RING_PACKED_BITS) - 1;
    uint64_t is_stack = word[0] & MT_RING_SITE_IS_STACK;
    uint64_t size = word[1] >> MT_RING_PACKED_BITS | word[2] >> MT_RING_PACKED_BITS << 16;
    bool is_site_hit, is_size_hit, is_address_hit;
    uint32_t number;

    at[HOST_SITE] =
        site_put(e, at[HOST_SITE], (word[2] & packed) | is_stack << 56, &number, &is_site_hit);
    at[HOST_SIZE] = size_put(e, at[HOST_SIZE], size, number, &is_size_hit);
    at[HOST_NEW_ADDRESS] =
        new_address_put(e, at[HOST_NEW_ADDRESS], word[1] & packed, size, &is_address_hit);
    return MT_RECORD_host_alloc + is_site_hit * MT_HIT_SITE + is_size_hit * MT_HIT_SIZE +
           is_address_hit * MT_HIT_NEW_ADDRESS;
}

static inline unsigned put_host_free(struct chunk_encoder *e, uint8_t **at, const uint64_t *word)
{
    bool is_hit;

    at[HOST_OLD_ADDRESS] = old_address_put(e, at[HOST_OLD_ADDRESS], word[1], &is_hit);
    return MT_RECORD_host_free + is_hit * MT_HIT_OLD_ADDRESS;
}

enum { POOL_ALLOC_WORDS = 6, POOL_FREE_WORDS = 3, ONE_BYTE_NUMBERS = 128 };

/* In the dictionary of a column that is open; 0: it has none, or one that takes two bytes. */
static __attribute__((noinline)) unsigned number_find(const struct chunk_encoder *e,
                                                      unsigned column, uint64_t value)
{
    const struct dictionary *dictionary = &e->dictionaries[e->dictionary_of_column[column]];
    uint32_t slot = hash_slot(value, ENCODER_DICTIONARY_SLOTS);
    unsigned number;

    if (!e->columns[column].at)
        return 0;
    while ((number = dictionary->slot[slot]) && dictionary->value[number] != value)
        slot = (slot + 1) % ENCODER_DICTIONARY_SLOTS;
    return number < ONE_BYTE_NUMBERS ? number : 0;
}

/* The same of the value that the column had last, which is nearly always this one. */
static inline unsigned number_of(struct chunk_encoder *e, enum known_column which, unsigned column,
                                 uint64_t value)
{
    struct known_number *known = &e->known_numbers[which];

    if (!(known->number && known->value == value))
        *known = (struct known_number){value, number_find(e, column, value)};
    return known->number;
}

static inline void number_put(struct chunk_encoder *e, unsigned column, unsigned number)
{
    *column_with_room(e, column, MT_VARINT_MAX_BYTES)->at++ = (uint8_t)number;
}

/* 0: it is put as any other. */
static __attribute__((noinline)) unsigned put_pool_alloc(struct chunk_encoder *e,
                                                         const uint64_t *word)
{
    unsigned pool = number_of(e, KNOWN_POOL_OF_ALLOC, MT_COLUMN_POOL_OF_ALLOC, word[4]);
    unsigned place = number_of(e, KNOWN_PLACE_OF_ALLOC, MT_COLUMN_PLACE_OF_ALLOC, word[5]);
    bool is_site_hit, is_size_hit, is_address_hit;
    struct column *column;
    uint32_t number;

    if (!pool || !place)
        return 0;
    column = column_with_room(e, MT_COLUMN_POOL_SITE, SITE_BYTES_MAX);
    column->at = site_put(e, column->at, word[1], &number, &is_site_hit);
    column = column_with_room(e, MT_COLUMN_POOL_SIZE, MT_VARINT_MAX_BYTES);
    column->at = size_put(e, column->at, word[2], number, &is_size_hit);
    column = column_with_room(e, MT_COLUMN_POOL_NEW_ADDRESS, MT_VARINT_MAX_BYTES);
    column->at = new_address_put(e, column->at, word[3], word[2], &is_address_hit);
    number_put(e, MT_COLUMN_POOL_OF_ALLOC, pool);
    number_put(e, MT_COLUMN_PLACE_OF_ALLOC, place);
    return MT_RECORD_alloc + is_site_hit * MT_HIT_SITE + is_size_hit * MT_HIT_SIZE +
           is_address_hit * MT_HIT_NEW_ADDRESS;
}

static __attribute__((noinline)) unsigned put_pool_free(struct chunk_encoder *e,
                                                        const uint64_t *word)
{
    unsigned pool = number_of(e, KNOWN_POOL_OF_FREE, MT_COLUMN_POOL_OF_FREE, word[2]);
    struct column *column;
    bool is_hit;

    if (!pool)
        return 0;
    column = column_with_room(e, MT_COLUMN_POOL_OLD_ADDRESS, MT_VARINT_MAX_BYTES);
    column->at = old_address_put(e, column->at, word[1], &is_hit);
    number_put(e, MT_COLUMN_POOL_OF_FREE, pool);
    return MT_RECORD_free + is_hit * MT_HIT_OLD_ADDRESS;
}

/* Takes records from run->word on, at most event_limit. Returns how many. */
static unsigned put_host_run(struct chunk_encoder *e, struct host_run *run, unsigned event_limit)
{
    const uint64_t *word = run->word;
    const uint64_t *last = run->end - HOST_RECORD_WORDS_MAX;
    const unsigned time_shift = e->time_shift;
    const uint64_t start_ticks = e->start_ticks;
    uint64_t last_time = run->last_time;
    uint8_t *at[HOST_COLUMNS];
    uint8_t *code_limit;

    memcpy(at, e->host_at, sizeof(at));
    code_limit = at[HOST_CODE] + event_limit;
    while (word <= last && at[HOST_CODE] < code_limit) {
        uint64_t time = time_units(start_ticks, time_shift, *word);
        unsigned code = (unsigned)(*word & 0xff);

        if (code == MT_RECORD_host_free) {
            code = put_host_free(e, at, word);
            word += 2;
        } else if ((code & ~(unsigned)MT_RING_SITE_IS_STACK) == MT_RECORD_host_alloc) {
            code = put_host_alloc(e, at, word);
            word += 3;
        } else if (code == MT_RECORD_alloc && run->end - word >= POOL_ALLOC_WORDS &&
                   (code = put_pool_alloc(e, word)) != 0) {
            word += POOL_ALLOC_WORDS;
        } else if (code == MT_RECORD_free && (code = put_pool_free(e, word)) != 0) {
            word += POOL_FREE_WORDS;
        } else {
            break;
        }
        time = time < last_time ? last_time : time;
        at[HOST_TIME] = mt_varint_put(at[HOST_TIME], time - last_time);
        last_time = time;
        *at[HOST_CODE]++ = (uint8_t)code;
    }
    event_limit -= (unsigned)(code_limit - at[HOST_CODE]);
    memcpy(e->host_at, at, sizeof(at));
    run->last_time = last_time;
    run->word = word;
    return event_limit;
}

/* A record of the host heap that may go on at the start of the ring, or end with its words. */
static unsigned put_host_record(struct chunk_encoder *e, const struct ring_view *ring,
                                struct chunk_raw *raw)
{
    uint64_t left = ring->end_position - raw->end_position;
    uint64_t words[HOST_RECORD_WORDS_MAX] = {0};
    struct host_run run = {words, words + HOST_RECORD_WORDS_MAX, raw->last_time};
    unsigned events;

    for (unsigned i = 0; i < HOST_RECORD_WORDS_MAX && i < left; i++)
        words[i] = word_at(ring, raw->end_position + i);
    if (left < 2 || (left < 3 && (words[0] & 0xff) != MT_RECORD_host_free))
        return 0;
    events = put_host_run(e, &run, 1);
    raw->end_position += (uint64_t)(run.word - words);
    raw->last_time = run.last_time;
    return events;
}

static unsigned put_host_records(struct chunk_encoder *e, const struct ring_view *ring,
                                 unsigned event_limit, struct chunk_raw *raw)
{
    const uint64_t *word = ring->words + (raw->end_position & ring->mask);
    uint64_t left = ring->end_position - raw->end_position;
    uint64_t straight = (uint64_t)(ring->words + ring->mask + 1 - word);
    struct host_run run = {word, word + (left < straight ? left : straight), raw->last_time};
    unsigned events;

    if (run.end - run.word < HOST_RECORD_WORDS_MAX)
        return put_host_record(e, ring, raw);
    events = put_host_run(e, &run, event_limit);
    raw->end_position += (uint64_t)(run.word - word);
    raw->last_time = run.last_time;
    return events;
}

static unsigned put_wide_record(struct chunk_encoder *e, const struct ring_view *ring,
                                struct chunk_raw *raw)
{
    uint64_t time = time_units(e->start_ticks, e->time_shift, word_at(ring, raw->end_position));
    struct wide_record record;
    unsigned code, hits;

    if (!read_wide_record(ring, raw->end_position, &record))
        return 0;
    hits = put_fields(e, ring, record.code, record.fields);
    code = record.code;
    if (code >= MT_CODE_LONG) {
        column_put(e, MT_COLUMN_LONG_CODE, code);
        code = MT_CODE_LONG;
    }
    if (time < raw->last_time)
        time = raw->last_time;
    *e->host_at[HOST_CODE]++ = (uint8_t)(code | hits << MT_CODE_BITS);
    e->host_at[HOST_TIME] = mt_varint_put(e->host_at[HOST_TIME], time - raw->last_time);
    raw->last_time = time;
    raw->end_position += record.words;
    return 1;
}

/* Returns how many events were taken; 0 when the words are no record. */
static unsigned put_records(struct chunk_encoder *e, const struct ring_view *ring,
                            unsigned event_limit, struct chunk_raw *raw)
{
    unsigned events;

    if (!raw->event_count)
        raw->first_time = raw->last_time =
            time_units(e->start_ticks, e->time_shift, word_at(ring, raw->end_position));
    events = put_host_records(e, ring, event_limit, raw);
    if (!events)
        events = put_wide_record(e, ring, raw);
    raw->event_count += events;
    if (!raw->event_count)
        raw->first_time = raw->last_time = 0; /* words that are no record have no time */
    return events;
}

/* --- chunks -------------------------------------------------------------------------------- */

static void begin_chunk(struct chunk_encoder *e)
{
    for (unsigned i = 0; i < HOST_COLUMNS; i++)
        e->host_at[i] = e->host_bytes[i];
    for (unsigned i = 0; i < e->column_count; i++)
        memset(&e->columns[e->columns_used[i]], 0, sizeof(e->columns[0]));
    e->column_count = 0;
    e->blocks_used = 0;
    memset(e->known_numbers, 0, sizeof(e->known_numbers));
    mt_predictor_reset(&e->predictor);
    memset(e->site_slot, 0, sizeof(e->site_slot));
    memset(e->block_slot, 0, sizeof(e->block_slot));
}

static uint8_t *put_table(struct chunk_encoder *e, uint8_t *out)
{
    static const uint8_t host_numbers[HOST_COLUMNS] = {
        [HOST_CODE] = MT_COLUMN_CODE,
        [HOST_TIME] = MT_COLUMN_TIME,
        [HOST_SITE] = MT_COLUMN_HOST_SITE,
        [HOST_SIZE] = MT_COLUMN_HOST_SIZE,
        [HOST_NEW_ADDRESS] = MT_COLUMN_HOST_NEW_ADDRESS,
        [HOST_OLD_ADDRESS] = MT_COLUMN_HOST_OLD_ADDRESS,
    };

    out = mt_varint_put(out, HOST_COLUMNS + e->column_count);
    for (unsigned i = 0; i < HOST_COLUMNS; i++) {
        out = mt_varint_put(out, host_numbers[i]);
        out = mt_varint_put(out, host_column_bytes(e, i));
    }
    for (unsigned i = 0; i < e->column_count; i++) {
        unsigned number = e->columns_used[i];
        const struct column *column = &e->columns[number];
        size_t last_bytes = (size_t)(column->at - e->blocks[column->last_block]);

        e->block_bytes[column->last_block] = (uint16_t)last_bytes;
        out = mt_varint_put(out, number);
        out = mt_varint_put(out, column->full_bytes + last_bytes);
    }
    return out;
}

/* Joins the columns after their table. */
static size_t finish_chunk(struct chunk_encoder *e)
{
    uint8_t *out = put_table(e, e->raw);

    for (unsigned i = 0; i < HOST_COLUMNS; i++) {
        memcpy(out, e->host_bytes[i], host_column_bytes(e, i));
        out += host_column_bytes(e, i);
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

void chunk_encoder_check(const struct chunk_encoder *e)
{
    MT_ASSERT(e->blocks_used <= COLUMN_BLOCKS);
    MT_ASSERT(e->column_count <= MT_COLUMN_END);
    MT_ASSERT(e->predictor.site_count < MT_SITE_END);
    MT_ASSERT(e->predictor.made_count <= MT_CHUNK_EVENTS_MAX);
    for (unsigned i = 0; i < HOST_COLUMNS; i++) {
        MT_ASSERT(e->host_at[i] >= e->host_bytes[i]);
        MT_ASSERT(host_column_bytes(e, i) <= HOST_COLUMN_BYTES);
    }
    for (unsigned i = 0; i < e->column_count; i++) {
        const struct column *column = &e->columns[e->columns_used[i]];

        uint8_t dictionary = e->dictionary_of_column[e->columns_used[i] % MT_COLUMN_END];

        MT_ASSERT(e->columns_used[i] < MT_COLUMN_END);
        MT_ASSERT(dictionary == NO_DICTIONARY ||
                  e->dictionaries[dictionary].count <= MT_DICTIONARY_END);
        MT_ASSERT(column->full_bytes <= e->blocks_used * COLUMN_BLOCK_BYTES);
        MT_ASSERT(column->last_block < e->blocks_used);
        MT_ASSERT(column->first_block <= column->last_block);
        MT_ASSERT(column->end == e->blocks[column->last_block] + COLUMN_BLOCK_BYTES);
        MT_ASSERT(column->at >= e->blocks[column->last_block]);
        MT_ASSERT(column->at <= column->end);
    }
}

static void raw_check(const struct chunk_raw *raw)
{
    MT_ASSERT(raw->size_bytes <= MT_CHUNK_RAW_MAX);
    MT_ASSERT(raw->event_count <= MT_CHUNK_EVENTS_MAX);
    MT_ASSERT(raw->first_time <= raw->last_time);
}

size_t chunk_encode(struct chunk_encoder *e, const uint64_t *ring_words, uint64_t capacity_words,
                    uint64_t begin_position, uint64_t end_position, struct chunk_raw *out)
{
    const struct ring_view ring = {ring_words, capacity_words - 1, end_position};
    struct chunk_raw raw = {.end_position = begin_position};
    bool is_damaged = false;

    MT_ASSERT(capacity_words && !(capacity_words & (capacity_words - 1)));
    begin_chunk(e);
    while (raw.end_position != end_position && raw.event_count < MT_CHUNK_EVENTS_MAX &&
           has_room(e)) {
        unsigned event_limit = MT_CHUNK_EVENTS_MAX - raw.event_count;
        uint64_t first_word = word_at(&ring, raw.end_position);

        if (event_limit > ENCODER_RUN_EVENTS)
            event_limit = ENCODER_RUN_EVENTS;
        if (is_damaged && is_plausible_after_damage(e, first_word, raw.last_time))
            is_damaged = !put_records(e, &ring, 1, &raw);
        else if (!is_damaged && !put_records(e, &ring, event_limit, &raw)) {
            is_damaged = true;
            raw.malformed_count++;
        }
        if (is_damaged)
            raw.end_position++;
    }
    raw.bytes = e->raw;
    if (MT_ASSERTS)
        chunk_encoder_check(e);
    raw.size_bytes = finish_chunk(e);
    raw_check(&raw);
    *out = raw;
    return raw.event_count;
}
