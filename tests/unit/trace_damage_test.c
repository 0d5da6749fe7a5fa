/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Whatever happens to a trace, reading it gives a clear error or a shorter trace.
 *
 * The damage comes from fixed seeds. The sanitizer presets run this too, and see each byte that is
 * read where none should be.
 */
#define _GNU_SOURCE
#include <malloc.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>
#include <zstd.h>

#include "chunk_encoder.h"
#include "chunk_pack.h"
#include "leaktide/frames.h"
#include "temporary_folder.h"
#include "trace_builder.h"
#include "trace_reading.h"

enum {
    CUT_BYTES = 65536, /* from the end: every length is tried */
    BIT_FLIPS = 4000,
    RAW_DAMAGES = 4000,
    RING_DAMAGES = 1000
};

static const struct trace_builder_setup defaults = {.ring_words = 8192};

static uint32_t random_next(uint64_t *state)
{
    *state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (uint32_t)(*state >> 33);
}

/* One stream with a bit of everything; texts of random bytes make it large with few events. */
static void push_everything(struct trace_builder *b, unsigned rounds)
{
    uint64_t seed = 42, time = 0;
    uint8_t noise[2048];

    static const uint64_t frames[] = {0x401000, 0x402000, 0x7f0000001234, MT_FRAME_IS_CODE | 77};

    trace_builder_thread(b, 0, 0, 1, "main");
    for (unsigned round = 0; round < rounds; round++) {
        uint64_t id = round + 1;

        for (size_t i = 0; i < sizeof(noise); i++)
            noise[i] = (uint8_t)random_next(&seed);
        trace_builder_push_bytes(b, 0, MT_RECORD_text, time, &id, noise, sizeof(noise));
        trace_builder_push(b, 0, MT_RECORD_operator_begin, time, &id);
        for (unsigned i = 0; i < 20; i++) {
            uint64_t address = (random_next(&seed) % 64 + 1) * 64;

            time += random_next(&seed) % 5000;
            trace_builder_host_alloc(b, 0, time,
                                     (struct built_block){.address = address,
                                                          .size = random_next(&seed) % 100,
                                                          .site = random_next(&seed) % 64});
            if (i % 2)
                trace_builder_host_free(b, 0, time, address);
            if (i % 5 == 0)
                trace_builder_alloc(b, 0, time,
                                    (struct built_block){.address = address, .pool = "acl"});
        }
        trace_builder_stack(b, 0, time,
                            &(struct built_stack){.id = id,
                                                  .shared_count = round ? 2 : 0,
                                                  .before = round ? frames[1] : 0,
                                                  .flags = round % 3,
                                                  .frames = frames + (round ? 2 : 0),
                                                  .count = round ? 2 : 4});
        trace_builder_push(b, 0, MT_RECORD_free_site, time, (uint64_t[]){id | MT_SITE_IS_STACK});
        trace_builder_host_free(b, 0, time, 64);
        trace_builder_host_alloc(
            b, 0, time, (struct built_block){.address = 128, .site = id | MT_SITE_IS_STACK});
        trace_builder_push(b, 0, MT_RECORD_operator_end, time, &id);
        trace_builder_push(b, 0, MT_RECORD_sample, time, (uint64_t[]){id, 0, time});
        if (round % 4 == 3)
            trace_builder_drain(b, 0);
    }
}

/* A file in memory with a path. */
struct memory_file {
    int descriptor;
    char path[64];
};

static struct memory_file memory_file_create(const uint8_t *bytes, size_t size_bytes)
{
    struct memory_file file = {.descriptor = memfd_create("trace", MFD_CLOEXEC)};

    assert_true(file.descriptor >= 0);
    assert_int_equal(pwrite(file.descriptor, bytes, size_bytes, 0), size_bytes);
    snprintf(file.path, sizeof(file.path), "/proc/self/fd/%d", file.descriptor);
    return file;
}

static void assert_in_order(const struct trace_reading *r)
{
    for (size_t i = 1; i < r->count; i++)
        if (r->events[i].time_ns < r->events[i - 1].time_ns)
            fail_msg("event %zu is earlier than the one before", i);
}

/* An error with a sentence, or events in order. */
static void assert_sane(const struct trace_reading *r)
{
    if (r->result != MT_OK) {
        assert_true(strlen(r->error.message) > 10);
        assert_int_not_equal(r->result, MT_NO_MEMORY);
    }
    assert_in_order(r);
}

static void a_trace_cut_anywhere_is_a_shorter_trace(void **state)
{
    struct trace_builder *b = trace_builder_create(&defaults);
    struct memory_file file;
    struct trace_reading whole;
    const uint8_t *bytes;
    size_t size_bytes, last_count;

    (void)state;
    push_everything(b, 40);
    trace_builder_close(b);
    bytes = trace_builder_bytes(b, &size_bytes);
    assert_true(size_bytes > CUT_BYTES + MT_FILE_HEADER_BYTES);
    file = memory_file_create(bytes, size_bytes);
    whole = trace_reading_of(file.path, 0);
    assert_int_equal(whole.result, MT_OK);
    last_count = whole.count;
    for (size_t cut = 1; cut <= CUT_BYTES; cut++) {
        struct trace_reading r;

        assert_int_equal(ftruncate(file.descriptor, (off_t)(size_bytes - cut)), 0);
        r = trace_reading_of(file.path, 4096);
        assert_int_equal(r.result, MT_OK);
        assert_true(r.count <= last_count);
        for (size_t i = 0; i < r.count; i++)
            assert_int_equal(r.events[i].address, whole.events[i].address);
        last_count = r.count;
        trace_reading_release(&r);
    }
    assert_true(last_count < whole.count / 4);
    trace_reading_release(&whole);
    close(file.descriptor);
    trace_builder_destroy(b);
}

static void a_trace_cut_in_its_header_is_an_error(void **state)
{
    struct trace_builder *b = trace_builder_create(&defaults);
    struct memory_file file;
    const uint8_t *bytes;
    size_t size_bytes;

    (void)state;
    push_everything(b, 1);
    trace_builder_close(b);
    bytes = trace_builder_bytes(b, &size_bytes);
    file = memory_file_create(bytes, size_bytes);
    for (size_t left = 0; left < MT_FILE_HEADER_BYTES; left++) {
        struct trace_reading r;

        assert_int_equal(ftruncate(file.descriptor, (off_t)left), 0);
        assert_int_equal(pwrite(file.descriptor, bytes, left, 0), left);
        r = trace_reading_of(file.path, 0);
        assert_int_not_equal(r.result, MT_OK);
        assert_sane(&r);
        trace_reading_release(&r);
    }
    close(file.descriptor);
    trace_builder_destroy(b);
}

static void flipped_bits_never_make_more_of_a_trace(void **state)
{
    struct trace_builder *b = trace_builder_create(&defaults);
    struct trace_reading whole;
    struct memory_file file;
    uint64_t seed = 1;
    const uint8_t *bytes;
    size_t size_bytes, shorter = 0;

    (void)state;
    push_everything(b, 8);
    trace_builder_close(b);
    bytes = trace_builder_bytes(b, &size_bytes);
    file = memory_file_create(bytes, size_bytes);
    whole = trace_reading_of(file.path, 0);
    for (unsigned i = 0; i < BIT_FLIPS; i++) {
        /* Every second one where the structure is: headers of file and chunks. */
        size_t at = random_next(&seed) % (i % 2 ? size_bytes : MT_FILE_HEADER_BYTES + 256);
        uint8_t flipped = bytes[at] ^ (uint8_t)(1 << random_next(&seed) % 8);
        struct trace_reading r;

        assert_int_equal(pwrite(file.descriptor, &flipped, 1, (off_t)at), 1);
        r = trace_reading_of(file.path, 4096);
        assert_sane(&r);
        assert_true(r.count <= whole.count);
        shorter += r.count < whole.count;
        trace_reading_release(&r);
        assert_int_equal(pwrite(file.descriptor, &bytes[at], 1, (off_t)at), 1);
    }
    assert_true(shorter > BIT_FLIPS / 4);
    trace_reading_release(&whole);
    close(file.descriptor);
    trace_builder_destroy(b);
}

/* --- damage that no checksum sees ------------------------------------------------------------ */

struct raw_chunk {
    struct mt_chunk_header header;
    uint8_t raw[MT_CHUNK_RAW_MAX];
    size_t raw_bytes;
};

/* The payload of the first chunk of a trace, unpacked. */
static void unpack_first_chunk(const uint8_t *bytes, struct raw_chunk *chunk)
{
    memcpy(&chunk->header, bytes + MT_FILE_HEADER_BYTES, sizeof(chunk->header));
    chunk->raw_bytes = ZSTD_decompress(chunk->raw, sizeof(chunk->raw),
                                       bytes + MT_FILE_HEADER_BYTES + sizeof(chunk->header),
                                       chunk->header.payload_bytes);
    assert_int_equal(chunk->raw_bytes, chunk->header.raw_bytes);
}

static void damage(uint8_t *bytes, size_t size_bytes, uint64_t *seed)
{
    unsigned count = 1 + random_next(seed) % 3;

    while (count--) {
        size_t at = random_next(seed) % (random_next(seed) % 2 ? size_bytes : 64);

        if (random_next(seed) % 2)
            bytes[at % size_bytes] = (uint8_t)random_next(seed);
        else
            bytes[at % size_bytes] ^= (uint8_t)(1 << random_next(seed) % 8);
    }
}

static void a_payload_that_lies_is_decoded_within_its_bounds(void **state)
{
    static struct raw_chunk chunk, damaged;
    static uint8_t packed[CHUNK_PACKED_BYTES(MT_CHUNK_RAW_MAX)];
    struct trace_builder *b = trace_builder_create(&defaults);
    ZSTD_CCtx *zstd = ZSTD_createCCtx();
    struct memory_file file;
    uint64_t seed = 5;
    const uint8_t *bytes;
    size_t size_bytes, shorter = 0;

    (void)state;
    for (uint64_t i = 0; i < 300; i++)
        trace_builder_host_free(b, 0, i * 300, i % 7 * 64);
    push_everything(b, 3);
    trace_builder_drain(b, 0);
    trace_builder_header(b)->state = MT_FILE_CLOSED; /* so that a second reading may know more */
    bytes = trace_builder_bytes(b, &size_bytes);
    unpack_first_chunk(bytes, &chunk);
    file = memory_file_create(bytes, MT_FILE_HEADER_BYTES);
    for (unsigned i = 0; i < RAW_DAMAGES; i++) {
        struct trace_reading r;

        damaged = chunk;
        damage(damaged.raw, damaged.raw_bytes, &seed);
        if (i % 16 == 0)
            damage((uint8_t *)&damaged.header.event_count, 44, &seed);
        size_bytes = chunk_pack(&damaged.header, damaged.raw, damaged.raw_bytes, CHUNK_SMALL, zstd,
                                packed, sizeof(packed));
        assert_int_equal(ftruncate(file.descriptor, MT_FILE_HEADER_BYTES), 0);
        assert_int_equal(pwrite(file.descriptor, packed, size_bytes, MT_FILE_HEADER_BYTES),
                         size_bytes);
        r = trace_reading_of(file.path, 1 + i % 500);
        assert_sane(&r);
        assert_true(r.count <= MT_CHUNK_EVENTS_MAX);
        assert_true(trace_reading_repeats(&r, file.path));
        shorter += r.count < chunk.header.event_count / 2;
        trace_reading_release(&r);
    }
    assert_true(shorter > RAW_DAMAGES / 100);
    close(file.descriptor);
    ZSTD_freeCCtx(zstd);
    trace_builder_destroy(b);
}

static char *rings_of(const char *path)
{
    char *rings = strdup(path);

    assert_non_null(rings);
    rings = realloc(rings, strlen(path) + 8);
    assert_non_null(rings);
    strcpy(strrchr(rings, '.'), ".rings");
    return rings;
}

static void damaged_rings_are_read_as_far_as_they_make_sense(void **state)
{
    struct trace_builder *b =
        trace_builder_create(&(struct trace_builder_setup){.ring_words = 4096});
    char *folder = temporary_folder_create();
    uint8_t *bytes = malloc(200000), *copy = malloc(200000);
    uint64_t seed = 9;
    size_t size_bytes;
    char *path;

    (void)state;
    assert_true(bytes && copy);
    push_everything(b, 3);
    trace_builder_host_alloc(b, 1, 5, (struct built_block){.address = 16});
    path = rings_of(trace_builder_write(b, folder));
    {
        FILE *file = fopen(path, "rb");

        size_bytes = fread(bytes, 1, 200000, file);
        fclose(file);
    }
    assert_int_equal(size_bytes, 2 * (MT_RING_HEADER_BYTES + 4096 * 8));
    for (unsigned i = 0; i < RING_DAMAGES; i++) {
        struct trace_reading r;

        memcpy(copy, bytes, size_bytes);
        if (i % 2)
            damage(copy + MT_RING_HEADER_BYTES, 4096 * 8, &seed);
        else
            damage(copy + i / 2 % 2 * (MT_RING_HEADER_BYTES + 4096 * 8), 128, &seed);
        free(temporary_file_write(folder, strrchr(path, '/') + 1, copy,
                                  i % 5 ? size_bytes : random_next(&seed) % size_bytes));
        r = trace_reading_of(folder, 0);
        assert_sane(&r);
        assert_true(r.count <= 4096);
        trace_reading_release(&r);
    }
    free(path);
    free(bytes);
    free(copy);
    temporary_folder_remove(folder);
    trace_builder_destroy(b);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_trace_cut_anywhere_is_a_shorter_trace),
        cmocka_unit_test(a_trace_cut_in_its_header_is_an_error),
        cmocka_unit_test(flipped_bits_never_make_more_of_a_trace),
        cmocka_unit_test(a_payload_that_lies_is_decoded_within_its_bounds),
        cmocka_unit_test(damaged_rings_are_read_as_far_as_they_make_sense),
    };

    /* Tens of thousands of readers one after the other: memory fresh from the kernel is slow. */
    mallopt(M_MMAP_THRESHOLD, 32 << 20);
    mallopt(M_TRIM_THRESHOLD, 256 << 20);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
