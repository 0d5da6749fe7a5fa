/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Records of every kind, in any order and with any values, come back from a chunk as they were.
 * Codes 1 to 5 share what they remember, so a chunk has all of them.
 *
 *     chunk_round_trip_test [ROUNDS [SEED]]      a round is a few ten thousand records
 *
 * The decoder here is written after columns.h and knows nothing of the analyzer's.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "chunk_encoder.h"
#include "leaktide/codec.h"

#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/asan_interface.h>
#else
#define ASAN_POISON_MEMORY_REGION(address, size)   ((void)(address), (void)(size))
#define ASAN_UNPOISON_MEMORY_REGION(address, size) ((void)(address), (void)(size))
#endif

enum { FIELDS_MAX = 7, RECORDS_MAX = 1 << 15, KNOWN_BLOCKS = 256 };

static const uint64_t START_TICKS = UINT64_C(1) << 40;
static uint64_t rounds = 12, first_seed = 1;

struct record {
    unsigned code;
    uint64_t ticks;
    uint64_t fields[FIELDS_MAX]; /* of a BYTES field the length */
    uint32_t bytes_seed;
    uint64_t end_position; /* of its words */
};

/* What is likely for a while: any mixture of records and values comes up in some round. */
struct mood {
    unsigned wide_of_64, host_frees_of_64, odd_of_64;
    bool is_long;
    uint64_t sites, sizes;
    unsigned code;    /* the one wide record, or 0: any */
    unsigned records; /* until it changes */
};

struct fixture {
    struct chunk_encoder encoder;
    uint64_t seed, ticks, next_address;
    struct mood mood;
    uint64_t known[KNOWN_BLOCKS];
    uint64_t *words, capacity, head, tail;
    struct record records[RECORDS_MAX]; /* from the one at tail on */
    size_t count;
};

static uint64_t random_next(struct fixture *f)
{
    f->seed ^= f->seed << 13;
    f->seed ^= f->seed >> 7;
    f->seed ^= f->seed << 17;
    return f->seed * UINT64_C(0x2545f4914f6cdd1d);
}

static bool is_one_of_64(struct fixture *f, unsigned share)
{
    return random_next(f) >> 58 < share;
}

/* Of any length in bits, or of all 64. */
static uint64_t any_number(struct fixture *f)
{
    uint64_t bits = random_next(f) >> 58;

    return f->mood.is_long ? random_next(f) | UINT64_C(1) << 63 : random_next(f) >> bits;
}

/* --- words --------------------------------------------------------------------------------- */

static unsigned field_count(unsigned code)
{
    unsigned count = 0;

    while (count < MT_FIELDS_MAX && mt_field_encoding(code, count))
        count++;
    return count;
}

static bool ends_in_bytes(unsigned code)
{
    return mt_field_encoding(code, field_count(code) - 1) == MT_ENCODING_BYTES;
}

/* Of a record that is not of the host heap. */
static unsigned any_wide_code(struct fixture *f)
{
    unsigned code;

    do
        code =
            (unsigned)(random_next(f) % (MT_RECORD_CODE_END - MT_RECORD_alloc)) + MT_RECORD_alloc;
    while (!field_count(code));
    return code;
}

/* More sites than have numbers, in one chunk. */
static const struct mood many_sites = {
    .wide_of_64 = 1, .odd_of_64 = 1, .sites = 1 << 16, .sizes = 8, .records = 20000};

static void mood_change(struct fixture *f)
{
    f->mood = (struct mood){
        .wide_of_64 = random_next(f) >> 61 ? (unsigned)(random_next(f) >> 58) : 64,
        .host_frees_of_64 = (unsigned)(random_next(f) >> 58),
        .odd_of_64 = random_next(f) >> 62 ? 1 : 64,
        .is_long = random_next(f) >> 63,
        .sites = UINT64_C(1) << (random_next(f) >> 60),
        .sizes = UINT64_C(1) << (random_next(f) >> 60),
        .code = random_next(f) >> 63 ? any_wide_code(f) : 0,
        .records = 16u << (random_next(f) % 12),
    };
    if (is_one_of_64(f, 8))
        f->mood = many_sites;
}

static uint64_t any_site(struct fixture *f)
{
    if (is_one_of_64(f, f->mood.odd_of_64))
        return any_number(f);
    return 0x400000 + random_next(f) % f->mood.sites * 5;
}

static uint64_t any_size(struct fixture *f)
{
    if (is_one_of_64(f, f->mood.odd_of_64))
        return any_number(f);
    return random_next(f) % f->mood.sizes * 8;
}

static uint64_t new_address(struct fixture *f, uint64_t size)
{
    uint64_t *known = &f->known[random_next(f) % KNOWN_BLOCKS];

    if (is_one_of_64(f, f->mood.odd_of_64))
        return *known = any_number(f);
    if (is_one_of_64(f, 32) && *known)
        return *known;
    f->next_address += (size % 4096 + 23) & ~UINT64_C(15);
    return *known = f->next_address;
}

static uint64_t old_address(struct fixture *f)
{
    return is_one_of_64(f, f->mood.odd_of_64) ? any_number(f)
                                              : f->known[random_next(f) % KNOWN_BLOCKS];
}

static void choose_fields(struct fixture *f, struct record *record)
{
    for (unsigned i = 0; i < field_count(record->code); i++) {
        switch (mt_field_encoding(record->code, i)) {
        case MT_ENCODING_SITE:
            record->fields[i] = any_site(f);
            break;
        case MT_ENCODING_SIZE_AT_SITE:
            record->fields[i] = any_size(f);
            break;
        case MT_ENCODING_NEW_ADDRESS:
            record->fields[i] = new_address(f, record->fields[i - 1]);
            break;
        case MT_ENCODING_OLD_ADDRESS:
            record->fields[i] = old_address(f);
            break;
        case MT_ENCODING_BYTES:
            record->fields[i] = random_next(f) % (is_one_of_64(f, 8) ? MT_TEXT_MAX + 1 : 40);
            break;
        default:
            record->fields[i] = is_one_of_64(f, 8) ? any_number(f) : random_next(f) % 700;
        }
    }
}

/* The words of a host_alloc have room for less than those of an alloc. */
static void fit_host_alloc(struct record *record)
{
    const uint64_t packed = (UINT64_C(1) << MT_RING_PACKED_BITS) - 1;

    record->fields[0] &= packed | UINT64_C(1) << 63;
    record->fields[1] &= UINT32_MAX;
    record->fields[2] &= packed;
}

static uint64_t any_time(struct fixture *f)
{
    uint64_t ticks = f->ticks += random_next(f) >> (33 + random_next(f) % 31);

    if (!is_one_of_64(f, 1))
        return ticks;
    return is_one_of_64(f, 32) ? ticks - random_next(f) % 4096 : START_TICKS - any_number(f) % 4096;
}

static struct record any_record(struct fixture *f)
{
    struct record record = {.code = MT_RECORD_host_alloc, .ticks = any_time(f)};

    if (is_one_of_64(f, f->mood.wide_of_64))
        record.code = f->mood.code ? f->mood.code : any_wide_code(f);
    else if (is_one_of_64(f, f->mood.host_frees_of_64))
        record.code = MT_RECORD_host_free;
    choose_fields(f, &record);
    if (record.code == MT_RECORD_host_alloc)
        fit_host_alloc(&record);
    record.bytes_seed = (uint32_t)random_next(f);
    return record;
}

static uint8_t byte_of(const struct record *record, size_t at)
{
    return (uint8_t)((record->bytes_seed + at * 7) * 2654435761u >> 24);
}

static size_t word_count(const struct record *record)
{
    unsigned count = field_count(record->code);

    if (record->code == MT_RECORD_host_alloc)
        return 3;
    return 1 + count +
           (ends_in_bytes(record->code) ? (size_t)(record->fields[count - 1] + 7) / 8 : 0);
}

static void put(struct fixture *f, uint64_t word)
{
    uint64_t *place = &f->words[f->head++ % f->capacity];

    ASAN_UNPOISON_MEMORY_REGION(place, sizeof(*place));
    *place = word;
}

static void put_bytes(struct fixture *f, const struct record *record, uint64_t size_bytes)
{
    for (size_t at = 0; at < size_bytes; at += 8) {
        uint64_t word = 0;

        for (size_t i = 0; i < 8 && at + i < size_bytes; i++)
            word |= (uint64_t)byte_of(record, at + i) << 8 * i;
        put(f, word);
    }
}

static void put_record(struct fixture *f, struct record *record)
{
    const uint64_t *fields = record->fields;
    unsigned count = field_count(record->code);
    uint64_t first = record->ticks << MT_RING_TIME_SHIFT | record->code;

    if (record->code == MT_RECORD_host_alloc) {
        put(f, first | (fields[0] >> 63 ? MT_RING_SITE_IS_STACK : 0));
        put(f, fields[2] | fields[1] << MT_RING_PACKED_BITS);
        put(f, fields[0] << 1 >> 1 | fields[1] >> 16 << MT_RING_PACKED_BITS);
    } else {
        put(f, first);
        for (unsigned i = 0; i < count; i++)
            put(f, fields[i]);
        if (ends_in_bytes(record->code))
            put_bytes(f, record, fields[count - 1]);
    }
    record->end_position = f->head;
}

/* --- a reader ------------------------------------------------------------------------------ */

struct reader {
    const uint8_t *at[MT_COLUMN_END], *end[MT_COLUMN_END];
    struct mt_predictor predictor;
    uint64_t last[MT_COLUMN_END];
    uint64_t dictionary[MT_COLUMN_END][MT_DICTIONARY_END];
    uint32_t dictionary_count[MT_COLUMN_END];
    uint64_t time;
};

static uint64_t get(struct reader *r, unsigned column)
{
    uint64_t value = 0;

    r->at[column] = mt_varint_get_careful(r->at[column], r->end[column], &value);
    assert_non_null(r->at[column]);
    return value;
}

static void reader_begin(struct reader *r, const struct chunk_raw *raw)
{
    const uint8_t *table = raw->bytes, *end = raw->bytes + raw->size_bytes, *column;
    uint64_t count = 0, number = 0, size_bytes = 0;

    memset(r, 0, sizeof(*r));
    mt_predictor_reset(&r->predictor);
    r->time = raw->first_time;
    table = mt_varint_get_careful(table, end, &count);
    column = table;
    for (uint64_t i = 0; i < 2 * count; i++)
        column = mt_varint_get_careful(column, end, &number);
    while (count--) {
        table = mt_varint_get_careful(table, end, &number);
        table = mt_varint_get_careful(table, end, &size_bytes);
        assert_true(number < MT_COLUMN_END && !r->at[number]);
        assert_true(size_bytes <= (size_t)(end - column));
        r->at[number] = column;
        r->end[number] = column += size_bytes;
    }
    assert_ptr_equal(column, end);
}

static uint64_t get_site(struct reader *r, unsigned column, bool is_hit, uint32_t *number)
{
    struct mt_predictor *p = &r->predictor;
    uint16_t *follow = mt_predictor_follow(p);
    bool is_new = false;

    *number = is_hit ? *follow : (uint32_t)get(r, column);
    assert_true(!is_hit || *number);
    if (!*number) {
        is_new = true;
        *number = mt_predictor_site_add(p, p->newest_site + mt_unzigzag(get(r, column)));
    }
    mt_predictor_site_seen(p, follow, *number);
    assert_true(*number || is_new);
    return *number ? p->site[*number] : p->newest_site;
}

static uint64_t get_dictionary(struct reader *r, unsigned column)
{
    uint64_t number = get(r, column);

    assert_true(number <= r->dictionary_count[column]);
    if (number)
        return r->dictionary[column][number];
    number = get(r, column);
    if (r->dictionary_count[column] + 1 < MT_DICTIONARY_END)
        r->dictionary[column][++r->dictionary_count[column]] = number;
    return number;
}

static uint64_t get_old_address(struct reader *r, unsigned column, bool is_hit)
{
    struct mt_predictor *p = &r->predictor;
    uint64_t value = get(r, column);
    uint32_t number;

    if (!is_hit)
        return p->old_address += mt_unzigzag_address(value);
    p->old_age += (uint32_t)mt_unzigzag(value);
    assert_true(p->old_age < p->made_count);
    number = p->made_count - p->old_age;
    mt_predictor_freed(p, number);
    return p->block[number].address;
}

static uint64_t get_new_address(struct reader *r, unsigned column, bool is_hit, uint64_t size)
{
    struct mt_predictor *p = &r->predictor;
    uint32_t size_class = mt_size_class(size);
    uint64_t address = mt_predictor_new_address(p, size_class);

    if (!is_hit)
        address = mt_predictor_fresh_address(p) + mt_unzigzag_address(get(r, column));
    mt_predictor_made(p, size_class, address, size, is_hit);
    return address;
}

static uint64_t get_size(struct reader *r, unsigned column, bool is_hit, uint32_t site_number)
{
    uint64_t *last = &r->predictor.size_at_site[site_number];

    return *last = is_hit ? *last : get(r, column);
}

static void check_bytes(struct reader *r, unsigned column, const struct record *expected,
                        uint64_t size_bytes)
{
    assert_true((uint64_t)(r->end[column] - r->at[column]) >= size_bytes);
    for (size_t i = 0; i < size_bytes; i++)
        assert_int_equal(*r->at[column]++, byte_of(expected, i));
}

static void check_fields(struct reader *r, unsigned byte, const struct record *expected)
{
    uint32_t site_number = 0;
    uint64_t value = 0, size = 0;

    for (unsigned i = 0; i < field_count(expected->code); i++) {
        unsigned column = mt_column_of(expected->code, i);
        bool is_hit = i < 3 && byte >> (MT_CODE_BITS + i) & 1;

        switch (mt_field_encoding(expected->code, i)) {
        case MT_ENCODING_SITE:
            value = get_site(r, column, is_hit, &site_number);
            break;
        case MT_ENCODING_SIZE_AT_SITE:
            value = size = get_size(r, column, is_hit, site_number);
            break;
        case MT_ENCODING_NEW_ADDRESS:
            value = get_new_address(r, column, is_hit, size);
            break;
        case MT_ENCODING_OLD_ADDRESS:
            value = get_old_address(r, column, is_hit);
            break;
        case MT_ENCODING_DICTIONARY:
            value = get_dictionary(r, column);
            break;
        case MT_ENCODING_DELTA:
            value = r->last[column] += mt_unzigzag(get(r, column));
            break;
        default:
            value = get(r, column);
        }
        assert_int_equal(value, expected->fields[i]);
        if (mt_field_encoding(expected->code, i) == MT_ENCODING_BYTES)
            check_bytes(r, column, expected, value);
    }
}

static uint64_t time_of(const struct record *record)
{
    return record->ticks < START_TICKS ? 0 : record->ticks - START_TICKS;
}

static void check_record(struct reader *r, const struct record *expected, bool is_first)
{
    unsigned byte;

    assert_true(r->at[MT_COLUMN_CODE] < r->end[MT_COLUMN_CODE]);
    byte = *r->at[MT_COLUMN_CODE]++;
    if (expected->code < MT_CODE_LONG) {
        assert_int_equal(byte & MT_CODE_MASK, expected->code);
    } else {
        assert_int_equal(byte, MT_CODE_LONG);
        assert_int_equal(get(r, MT_COLUMN_LONG_CODE), expected->code);
    }
    if (is_first)
        assert_int_equal(r->time, time_of(expected));
    if (time_of(expected) > r->time) {
        assert_int_equal(get(r, MT_COLUMN_TIME), time_of(expected) - r->time);
        r->time = time_of(expected);
    } else {
        assert_int_equal(get(r, MT_COLUMN_TIME), 0);
    }
    check_fields(r, byte, expected);
}

/* --- rounds -------------------------------------------------------------------------------- */

static void check_chunk(struct fixture *f, const struct chunk_raw *raw)
{
    static struct reader reader;

    assert_true(raw->event_count > 0 && raw->event_count <= MT_CHUNK_EVENTS_MAX);
    assert_true(raw->event_count <= f->count);
    assert_true(raw->size_bytes <= MT_CHUNK_RAW_MAX);
    assert_int_equal(raw->malformed_count, 0);
    assert_int_equal(raw->end_position, f->records[raw->event_count - 1].end_position);
    if (raw->end_position != f->head && raw->event_count != MT_CHUNK_EVENTS_MAX)
        assert_true(raw->size_bytes > MT_CHUNK_RAW_MAX / 2);
    reader_begin(&reader, raw);
    for (uint32_t i = 0; i < raw->event_count; i++)
        check_record(&reader, &f->records[i], i == 0);
    for (unsigned i = 0; i < MT_COLUMN_END; i++)
        assert_ptr_equal(reader.at[i], reader.end[i]);
    assert_int_equal(reader.time, raw->last_time);
}

/* Nobody may look at the words that are taken. */
static void take_words(struct fixture *f, uint64_t position)
{
    for (; f->tail < position; f->tail++)
        ASAN_POISON_MEMORY_REGION(&f->words[f->tail % f->capacity], sizeof(uint64_t));
}

static void drain(struct fixture *f)
{
    while (f->tail < f->head) {
        struct chunk_raw raw;

        chunk_encode(&f->encoder, f->words, f->capacity, f->tail, f->head, &raw);
        check_chunk(f, &raw);
        f->count -= raw.event_count;
        memmove(f->records, f->records + raw.event_count, f->count * sizeof(f->records[0]));
        take_words(f, raw.end_position);
    }
}

/* One ring, filled and drained many times, and never from its start. */
static void do_round(struct fixture *f)
{
    f->capacity = UINT64_C(1) << (10 + random_next(f) % 8);
    f->words = malloc(f->capacity * sizeof(uint64_t));
    assert_non_null(f->words);
    f->head = f->tail = random_next(f) % f->capacity;
    ASAN_POISON_MEMORY_REGION(f->words, f->capacity * sizeof(uint64_t));
    for (int i = 0; i < 40000; i++) {
        struct record record;

        if (f->mood.records-- == 0)
            mood_change(f);
        record = any_record(f);
        if (f->head + word_count(&record) > f->tail + f->capacity || f->count == RECORDS_MAX ||
            random_next(f) >> 49 == 0)
            drain(f);
        put_record(f, &record);
        f->records[f->count++] = record;
    }
    drain(f);
    ASAN_UNPOISON_MEMORY_REGION(f->words, f->capacity * sizeof(uint64_t));
    free(f->words);
}

static void records_of_every_kind_come_back(void **state)
{
    struct fixture *f = calloc(1, sizeof(*f));

    (void)state;
    assert_non_null(f);
    chunk_encoder_init(&f->encoder, 0, START_TICKS);
    f->ticks = START_TICKS;
    f->next_address = 0x5555000;
    for (uint64_t i = 0; i < rounds; i++) {
        f->seed = (first_seed + i) * UINT64_C(0x9e3779b97f4a7c15);
        mood_change(f);
        do_round(f);
    }
    free(f);
}

int main(int argc, char **argv)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(records_of_every_kind_come_back),
    };

    if (argc > 1)
        rounds = strtoull(argv[1], NULL, 10);
    if (argc > 2)
        first_seed = strtoull(argv[2], NULL, 10);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
