/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the trace format costs: encoding, compressing and decoding an event, and its bytes on disk.
 *
 *     bench_codec [--quick] [run...]
 *
 * Two streams are made here with the C library's own malloc: blocks at random, as many programs
 * would rather not, and rows of a table, as most programs do. The host events of recorded runs
 * given as arguments are measured the same way.
 */
#define _GNU_SOURCE
#include <sys/mman.h>
#include <unistd.h>

#include "bench.h"
#include "chunk_encoder.h"
#include "chunk_pack.h"
#include "input.h"
#include "trace_builder.h"

#include <zstd.h>

enum { RUNS = 7, SLOTS = 1024, TIME_SHIFT = 6, BATCH_EVENTS = 1024 };

/* Ring words of a stream, and what becomes of them. */
struct stream {
    uint64_t *words;
    size_t count, capacity;
    size_t events;
    uint64_t ticks;
    uint64_t raw_bytes, packed_bytes;
};

static void must(bool is_true, const char *what)
{
    if (!is_true) {
        perror(what);
        exit(1);
    }
}

static uint32_t random_next(uint64_t *state)
{
    *state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (uint32_t)(*state >> 33);
}

/* --- streams ------------------------------------------------------------------------------- */

static void push(struct stream *s, const uint64_t *words, size_t count)
{
    if (s->count + count > s->capacity) {
        s->capacity = s->capacity ? 2 * s->capacity : 1 << 20;
        s->words = realloc(s->words, s->capacity * sizeof(*s->words));
        must(s->words != NULL, "stream");
    }
    memcpy(s->words + s->count, words, count * sizeof(*words));
    s->count += count;
    s->events++;
}

static void push_alloc(struct stream *s, uint64_t address, uint64_t size, uint64_t site)
{
    uint64_t words[] = {s->ticks << MT_RING_TIME_SHIFT | MT_RECORD_host_alloc,
                        address | (size & 0xffff) << MT_RING_PACKED_BITS,
                        site | size >> 16 << MT_RING_PACKED_BITS};

    push(s, words, 3);
}

static void push_free(struct stream *s, uint64_t address)
{
    uint64_t words[] = {s->ticks << MT_RING_TIME_SHIFT | MT_RECORD_host_free, address};

    push(s, words, 2);
}

static void random_blocks(struct stream *s, size_t events)
{
    static const uint16_t sizes[] = {16, 24,  32,  40,  48,  64,   80,
                                     96, 128, 200, 256, 512, 1024, 4096};
    void *slots[SLOTS] = {0};
    uint64_t seed = 1;

    while (s->events < events) {
        uint32_t dice = random_next(&seed);
        void **slot = &slots[dice % SLOTS];

        s->ticks += 100 + (dice >> 10) % 600;
        if (*slot) {
            push_free(s, (uintptr_t)*slot);
            free(*slot);
            *slot = NULL;
        } else {
            size_t size = sizes[(dice >> 20) % (sizeof(sizes) / sizeof(sizes[0]))];

            *slot = malloc(size);
            push_alloc(s, (uintptr_t)*slot, size, 0x400000 + dice % 256 * 5);
        }
    }
    for (size_t i = 0; i < SLOTS; i++)
        free(slots[i]);
}

/* A row that stays, and what it takes to make it. */
static void rows(struct stream *s, size_t events)
{
    void **kept = calloc(events, sizeof(*kept));
    size_t count = 0;
    uint64_t seed = 2;

    must(kept != NULL, "rows");
    while (s->events < events) {
        void *temporary[3];

        for (unsigned i = 0; i < 3; i++) {
            s->ticks += 150 + random_next(&seed) % 60;
            temporary[i] = malloc(40 + 64 * i);
            push_alloc(s, (uintptr_t)temporary[i], 40 + 64 * i, 0x400000 + i * 32);
        }
        kept[count] = malloc(100);
        push_alloc(s, (uintptr_t)kept[count++], 100, 0x400400);
        for (unsigned i = 3; i-- > 0;) {
            s->ticks += 150 + random_next(&seed) % 60;
            push_free(s, (uintptr_t)temporary[i]);
            free(temporary[i]);
        }
    }
    while (count)
        free(kept[--count]);
    free(kept);
}

/* The host events of a recorded run, as one stream. */
static void recorded(struct stream *s, const char *path)
{
    static struct event batch[BATCH_EVENTS];
    struct mt_error error = {.message = ""};
    struct model *model;
    struct input *input;
    size_t count = 1;

    must(model_create(&model, &error) == MT_OK, "model");
    if (input_open(path, model, &input, &error) != MT_OK) {
        fprintf(stderr, "%s\n", error.message);
        exit(3);
    }
    while (count) {
        must(input_next(input, batch, BATCH_EVENTS, &count, &error) == MT_OK, path);
        for (size_t i = 0; i < count; i++) {
            const struct event *event = &batch[i];

            s->ticks = event->time_ns * 13 / 5; /* 2.6 GHz */
            if (event->kind == EVENT_ALLOC && event->value <= UINT32_MAX)
                push_alloc(s, event->address, event->value,
                           model_site_at(model, event->site)->address);
            else if (event->kind == EVENT_FREE)
                push_free(s, event->address);
        }
    }
    input_close(input);
    model_destroy(model);
}

/* --- measuring ----------------------------------------------------------------------------- */

struct costs {
    double encode[RUNS], compress[RUNS], compress_quickly[RUNS], decode[RUNS];
};

static uint64_t ring_capacity(const struct stream *s)
{
    uint64_t capacity = 1;

    while (capacity < s->count)
        capacity *= 2;
    return capacity;
}

/* Encodes all, into the file after its header. The costs are in ns an event. */
static void measure_writing(struct stream *s, int file, enum chunk_effort effort,
                            double *encode_cost, double *compress_cost)
{
    static uint8_t packed[CHUNK_PACKED_BYTES(MT_CHUNK_RAW_MAX)];
    struct chunk_encoder *encoder = malloc(sizeof(*encoder));
    ZSTD_CCtx *zstd = ZSTD_createCCtx();
    uint64_t position = 0, encode_ns = 0, compress_ns = 0;

    must(encoder && zstd, "encoder");
    chunk_encoder_init(encoder, TIME_SHIFT, 0);
    s->raw_bytes = s->packed_bytes = 0;
    while (position < s->count) {
        struct mt_chunk_header header = {.kind = MT_CHUNK_EVENTS, .begin_position = position};
        struct chunk_raw raw;
        uint64_t start_ns = bench_now_ns(), encoded_ns;
        size_t packed_bytes;

        chunk_encode(encoder, s->words, ring_capacity(s), position, s->count, &raw);
        encoded_ns = bench_now_ns();
        header.event_count = raw.event_count;
        header.end_position = position = raw.end_position;
        header.first_time = raw.first_time;
        header.last_time = raw.last_time;
        packed_bytes =
            chunk_pack(&header, raw.bytes, raw.size_bytes, effort, zstd, packed, sizeof(packed));
        compress_ns += bench_now_ns() - encoded_ns;
        encode_ns += encoded_ns - start_ns;
        must(pwrite(file, packed, packed_bytes, (off_t)(MT_FILE_HEADER_BYTES + s->packed_bytes)) ==
                 (ssize_t)packed_bytes,
             "memory file");
        s->raw_bytes += raw.size_bytes;
        s->packed_bytes += packed_bytes;
    }
    *encode_cost = (double)encode_ns / (double)s->events;
    *compress_cost = (double)compress_ns / (double)s->events;
    ZSTD_freeCCtx(zstd);
    free(encoder);
}

/* From the bytes of the file to batches of events. */
static void measure_reading(const struct stream *s, const char *path, struct costs *costs,
                            size_t run)
{
    static struct event batch[BATCH_EVENTS];
    struct mt_error error = {.message = ""};
    uint64_t start_ns = bench_now_ns();
    struct model *model;
    struct input *input;
    size_t total = 0, count = 1;

    must(model_create(&model, &error) == MT_OK, "model");
    must(input_open(path, model, &input, &error) == MT_OK, error.message);
    while (count) {
        must(input_next(input, batch, BATCH_EVENTS, &count, &error) == MT_OK, error.message);
        total += count;
    }
    input_close(input);
    model_destroy(model);
    costs->decode[run] = (double)(bench_now_ns() - start_ns) / (double)total;
    must(total == s->events, "events are missing");
}

static int create_file(char *path, size_t path_bytes)
{
    struct trace_builder *builder = trace_builder_create(&(struct trace_builder_setup){
        .time_shift = TIME_SHIFT, .ticks_per_second = UINT64_C(2600000000)});
    int file = memfd_create("trace", MFD_CLOEXEC);
    size_t size_bytes;
    const uint8_t *bytes = trace_builder_bytes(builder, &size_bytes);

    must(file >= 0 && pwrite(file, bytes, size_bytes, 0) == (ssize_t)size_bytes, "memory file");
    snprintf(path, path_bytes, "/proc/self/fd/%d", file);
    trace_builder_destroy(builder);
    return file;
}

static void report(const char *name, const char *what, const char *unit, const double *values,
                   size_t count)
{
    char full_name[256];

    snprintf(full_name, sizeof(full_name), "codec %s: %s", name, what);
    bench_report(full_name, unit, values, count);
}

static void measure(const char *name, struct stream *s, size_t runs)
{
    struct costs costs;
    char path[64];
    int file = create_file(path, sizeof(path));
    double bytes, quick_bytes = 0;

    for (size_t run = 0; run < runs; run++) {
        measure_writing(s, file, CHUNK_QUICK, &costs.encode[run], &costs.compress_quickly[run]);
        quick_bytes = (double)s->packed_bytes / (double)s->events;
        measure_writing(s, file, CHUNK_SMALL, &costs.encode[run], &costs.compress[run]);
        measure_reading(s, path, &costs, run);
    }
    close(file);
    report(name, "encode", "ns/event", costs.encode, runs);
    report(name, "compress and checksum", "ns/event", costs.compress, runs);
    report(name, "compress and checksum, behind", "ns/event", costs.compress_quickly, runs);
    report(name, "read", "ns/event", costs.decode, runs);
    bytes = (double)s->packed_bytes / (double)s->events;
    report(name, "on disk", "B/event", &bytes, 1);
    report(name, "on disk, behind", "B/event", &quick_bytes, 1);
    bytes = (double)s->raw_bytes / (double)s->events;
    report(name, "before compression", "B/event", &bytes, 1);
    free(s->words);
    *s = (struct stream){0};
}

int main(int argc, char **argv)
{
    bool is_quick = bench_is_quick(argc, argv);
    size_t runs = is_quick ? 1 : RUNS;
    size_t events = is_quick ? 20000 : 2000000;
    struct stream stream = {0};

    random_blocks(&stream, events);
    measure("random blocks", &stream, runs);
    rows(&stream, events);
    measure("rows", &stream, runs);
    for (int i = is_quick ? 2 : 1; i < argc; i++) {
        recorded(&stream, argv[i]);
        measure(argv[i], &stream, runs);
    }
    return 0;
}
