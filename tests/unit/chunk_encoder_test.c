/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The chunk encoder keeps to its limits, whatever words it is given.
 *
 * That chunks read back as what went in is told by trace_reader_test.c.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "chunk_encoder.h"

enum { RING_WORDS = 1 << 16, START_TICKS = 1000 };

struct fixture {
    struct chunk_encoder *encoder;
    uint64_t *words; /* RING_WORDS */
    uint64_t head;
};

static int set_up(void **state)
{
    struct fixture *f = calloc(1, sizeof(*f));

    assert_non_null(f);
    /* Neither needs to be cleared. */
    f->encoder = malloc(sizeof(*f->encoder));
    f->words = malloc(RING_WORDS * sizeof(uint64_t));
    assert_true(f->encoder && f->words);
    memset(f->encoder, 0xa5, sizeof(*f->encoder));
    memset(f->words, 0xa5, RING_WORDS * sizeof(uint64_t));
    chunk_encoder_init(f->encoder, 0, START_TICKS);
    *state = f;
    return 0;
}

static int tear_down(void **state)
{
    struct fixture *f = *state;

    free(f->encoder);
    free(f->words);
    free(f);
    return 0;
}

static void put(struct fixture *f, uint64_t word)
{
    f->words[f->head++ % RING_WORDS] = word;
}

static void put_first(struct fixture *f, unsigned code, uint64_t time)
{
    put(f, (START_TICKS + time) << MT_RING_TIME_SHIFT | code);
}

static void put_free(struct fixture *f, uint64_t time, uint64_t address)
{
    put_first(f, MT_RECORD_host_free, time);
    put(f, address);
}

static struct chunk_raw encode(struct fixture *f, uint64_t begin)
{
    struct chunk_raw raw;

    chunk_encode(f->encoder, f->words, RING_WORDS, begin, f->head, &raw);
    assert_true(raw.size_bytes <= MT_CHUNK_RAW_MAX);
    assert_true(raw.event_count <= MT_CHUNK_EVENTS_MAX);
    assert_true(raw.end_position >= begin && raw.end_position <= f->head);
    return raw;
}

static void no_words_make_no_events(void **state)
{
    struct fixture *f = *state;
    struct chunk_raw raw;

    f->head = 77;
    raw = encode(f, 77);
    assert_int_equal(raw.event_count, 0);
    assert_int_equal(raw.end_position, 77);
    assert_int_equal(raw.malformed_count, 0);
}

static void a_chunk_ends_when_it_has_enough_events(void **state)
{
    struct fixture *f = *state;
    struct chunk_raw raw;

    for (uint64_t i = 0; i < MT_CHUNK_EVENTS_MAX + 100; i++)
        put_free(f, 2 * i, i * 16);
    raw = encode(f, 0);
    assert_int_equal(raw.event_count, MT_CHUNK_EVENTS_MAX);
    assert_int_equal(raw.end_position, 2 * MT_CHUNK_EVENTS_MAX);
    assert_int_equal(raw.first_time, 0);
    assert_int_equal(raw.last_time, 2 * (MT_CHUNK_EVENTS_MAX - 1));
    raw = encode(f, raw.end_position);
    assert_int_equal(raw.event_count, 100);
    assert_int_equal(raw.end_position, f->head);
    assert_int_equal(raw.first_time, 2 * MT_CHUNK_EVENTS_MAX);
}

static void a_chunk_ends_before_its_payload_is_too_large(void **state)
{
    struct fixture *f = *state;
    uint64_t position = 0;
    size_t chunks = 0, events = 0;

    for (uint64_t i = 0; i < 120; i++) {
        put_first(f, MT_RECORD_text, i);
        put(f, i + 1);
        put(f, MT_TEXT_MAX);
        for (unsigned k = 0; k < MT_TEXT_MAX / 8; k++)
            put(f, i * k);
    }
    while (position < f->head) {
        struct chunk_raw raw = encode(f, position);

        assert_true(raw.event_count > 0);
        assert_int_equal(raw.malformed_count, 0);
        events += raw.event_count;
        position = raw.end_position;
        chunks++;
    }
    assert_int_equal(events, 120);
    assert_int_equal(chunks, 3);
}

/* Every value at its longest, in every column there is. */
static void records_of_the_largest_values_fit(void **state)
{
    struct fixture *f = *state;
    uint64_t position = 0, seed = 1;

    while (f->head + 64 < RING_WORDS) {
        for (unsigned code = MT_RECORD_alloc; code < MT_RECORD_CODE_END; code++) {
            unsigned fields = 0;

            while (mt_field_encoding(code, fields))
                fields++;
            if (!fields || mt_field_encoding(code, fields - 1) == MT_ENCODING_BYTES)
                continue;
            put_first(f, code, f->head);
            while (fields--)
                put(f, seed = seed * UINT64_C(6364136223846793005) + 1);
            if (f->head + 64 >= RING_WORDS)
                break;
        }
    }
    while (position < f->head) {
        struct chunk_raw raw = encode(f, position);

        assert_true(raw.event_count > 0);
        assert_int_equal(raw.malformed_count, 0);
        position = raw.end_position;
    }
}

/* They are taken in the runs of the host heap. */
static void blocks_of_a_known_pool_fit_at_their_largest(void **state)
{
    struct fixture *f = *state;
    uint64_t position = 0, seed = 1, put_count = 0, taken_count = 0;

    while (f->head + 16 < RING_WORDS) {
        bool is_alloc = put_count++ % 3 != 0;

        put_first(f, is_alloc ? MT_RECORD_alloc : MT_RECORD_free, put_count << 40);
        for (unsigned i = is_alloc ? 3 : 1; i--;)
            put(f, seed = seed * UINT64_C(6364136223846793005) + 1);
        put(f, 7);
        if (is_alloc)
            put(f, 9);
    }
    while (position < f->head) {
        struct chunk_raw raw = encode(f, position);

        assert_true(raw.event_count > 0);
        assert_int_equal(raw.malformed_count, 0);
        taken_count += raw.event_count;
        position = raw.end_position;
    }
    assert_int_equal(taken_count, put_count);
}

static void a_record_that_the_end_cuts_is_not_taken(void **state)
{
    static const unsigned codes[] = {MT_RECORD_host_alloc, MT_RECORD_host_free, MT_RECORD_alloc,
                                     MT_RECORD_text, MT_RECORD_module};

    for (size_t i = 0; i < sizeof(codes) / sizeof(codes[0]); i++) {
        struct fixture *f = *state;
        struct chunk_raw raw;

        f->head = RING_WORDS - 1;
        put_free(f, 0, 16);
        put_first(f, codes[i], 5);
        raw = encode(f, RING_WORDS - 1);
        assert_int_equal(raw.event_count, 1);
        assert_int_equal(raw.malformed_count, 1);
        assert_int_equal(raw.end_position, f->head);
    }
}

static void a_text_longer_than_allowed_is_malformed(void **state)
{
    struct fixture *f = *state;
    struct chunk_raw raw;

    put_first(f, MT_RECORD_text, 1);
    put(f, 1);
    put(f, UINT64_MAX - 3);
    put_free(f, 2, 16);
    raw = encode(f, 0);
    assert_int_equal(raw.malformed_count, 1);
    assert_int_equal(raw.event_count, 1);
}

static void a_run_of_bad_words_counts_once(void **state)
{
    struct fixture *f = *state;
    struct chunk_raw raw;

    put_free(f, 1, 16);
    for (unsigned i = 0; i < 50; i++)
        put(f, UINT64_C(0x7f0000000000) + i * 16); /* some end like a code, none has its time */
    put_free(f, 2, 32);
    put(f, 0);
    put_free(f, 3, 48);
    raw = encode(f, 0);
    assert_int_equal(raw.event_count, 3);
    assert_int_equal(raw.malformed_count, 2);
}

/* The time that bad words seem to have is not the chunk's. */
static void a_chunk_may_start_with_bad_words(void **state)
{
    struct fixture *f = *state;
    struct chunk_raw raw;

    for (unsigned i = 0; i < 50; i++)
        put(f, UINT64_C(0x7f0000000000) + i * 16);
    put_free(f, 2, 16);
    put_free(f, 3, 32);
    raw = encode(f, 0);
    assert_int_equal(raw.event_count, 2);
    assert_int_equal(raw.malformed_count, 1);
    assert_int_equal(raw.first_time, 2);
    assert_int_equal(raw.last_time, 3);
}

static void time_never_goes_back(void **state)
{
    struct fixture *f = *state;
    struct chunk_raw raw;

    put_free(f, 100, 16);
    put_free(f, 90, 32);
    put_free(f, 110, 48);
    raw = encode(f, 0);
    assert_int_equal(raw.first_time, 100);
    assert_int_equal(raw.last_time, 110);
    f->head = 0;
    put(f, (uint64_t)(START_TICKS - 1) << MT_RING_TIME_SHIFT | MT_RECORD_host_free);
    put(f, 16);
    raw = encode(f, 0);
    assert_int_equal(raw.first_time, 0);
}

static void the_counter_may_pass_56_bits(void **state)
{
    struct fixture *f = *state;
    struct chunk_raw raw;

    chunk_encoder_init(f->encoder, 6, UINT64_C(0x12fffffffffffff0));
    put(f, UINT64_C(0x30) << MT_RING_TIME_SHIFT | MT_RECORD_host_free);
    put(f, 16);
    raw = encode(f, 0);
    assert_int_equal(raw.first_time, 1); /* 0x40 ticks later, in units of 64 */
}

static void a_chunk_depends_on_its_words_alone(void **state)
{
    struct fixture *f = *state;
    uint64_t seed = 3;
    struct chunk_raw raw;
    uint8_t *copy;
    size_t size_bytes;

    for (unsigned i = 0; i < 5000; i++) {
        seed = seed * UINT64_C(6364136223846793005) + 1442695040888963407;
        if (seed >> 60 < 8) {
            put_first(f, MT_RECORD_host_alloc, i);
            put(f, (seed >> 40 & 255) << 4 | (seed >> 50 & 63) << MT_RING_PACKED_BITS);
            put(f, seed >> 33 & 31);
        } else if (seed >> 60 < 15) {
            put_free(f, i, (seed >> 40 & 255) << 4);
        } else {
            put_first(f, MT_RECORD_operator_begin, i);
            put(f, seed >> 40 & 7);
        }
    }
    raw = encode(f, 0);
    size_bytes = raw.size_bytes;
    copy = malloc(size_bytes);
    assert_non_null(copy);
    memcpy(copy, raw.bytes, size_bytes);
    encode(f, 3000); /* not between records: that is other words */
    raw = encode(f, 0);
    assert_int_equal(raw.size_bytes, size_bytes);
    assert_memory_equal(raw.bytes, copy, size_bytes);
    free(copy);
}

static void any_words_are_survived(void **state)
{
    struct fixture *f = *state;
    uint64_t seed = 11;

    for (unsigned round = 0; round < 200; round++) {
        uint64_t begin = seed >> 40, position = begin;

        f->head = begin;
        while (f->head < begin + 2000) {
            seed = seed * UINT64_C(6364136223846793005) + 1442695040888963407;
            if (seed >> 62)
                put_first(f, seed >> 50 & 31, f->head);
            else
                put(f, seed >> (seed >> 58));
        }
        while (position < f->head) {
            struct chunk_raw raw = encode(f, position);

            assert_true(raw.end_position > position);
            position = raw.end_position;
        }
    }
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(no_words_make_no_events, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_chunk_ends_when_it_has_enough_events, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_chunk_ends_before_its_payload_is_too_large, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(records_of_the_largest_values_fit, set_up, tear_down),
        cmocka_unit_test_setup_teardown(blocks_of_a_known_pool_fit_at_their_largest, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(a_record_that_the_end_cuts_is_not_taken, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_text_longer_than_allowed_is_malformed, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_run_of_bad_words_counts_once, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_chunk_may_start_with_bad_words, set_up, tear_down),
        cmocka_unit_test_setup_teardown(time_never_goes_back, set_up, tear_down),
        cmocka_unit_test_setup_teardown(the_counter_may_pass_56_bits, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_chunk_depends_on_its_words_alone, set_up, tear_down),
        cmocka_unit_test_setup_teardown(any_words_are_survived, set_up, tear_down),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
