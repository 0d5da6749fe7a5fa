/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Makes trace files for tests, through the tracer's own encoder.
 */
#include "trace_builder.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define XXH_INLINE_ALL
#include <xxhash.h>
#include <zstd.h>

#include "chunk_encoder.h"
#include "chunk_pack.h"
#include "leaktide/frames.h"

enum { STREAMS_MAX = 4096, TEXTS_MAX = 256, PATH_BYTES = 1024 };

struct built_stream {
    uint64_t *words; /* ring_words of them; NULL until used */
    uint64_t head, tail;
    uint64_t thread_id;
    uint64_t texts[TEXTS_MAX];
    size_t text_count;
};

struct trace_builder {
    struct mt_file_header header;
    uint64_t ring_words;
    struct built_stream *streams[STREAMS_MAX];
    struct chunk_encoder *encoder;
    ZSTD_CCtx *zstd;
    uint8_t *bytes;
    size_t size_bytes, capacity_bytes;
    struct mt_index_entry *entries;
    size_t entry_count;
    char path[PATH_BYTES];
};

static void must(int is_true, const char *what)
{
    if (!is_true) {
        fprintf(stderr, "trace builder: %s\n", what);
        abort();
    }
}

static void *must_allocate(void *memory)
{
    must(memory != NULL, "no memory");
    return memory;
}

static uint64_t or_default(uint64_t value, uint64_t fallback)
{
    return value ? value : fallback;
}

static void set_string(char *out, size_t size_bytes, const char *value, const char *fallback)
{
    snprintf(out, size_bytes, "%s", value ? value : fallback);
}

struct trace_builder *trace_builder_create(const struct trace_builder_setup *setup)
{
    struct trace_builder *b = must_allocate(calloc(1, sizeof(*b)));
    struct mt_file_header *h = &b->header;

    memcpy(h->magic, MT_FILE_MAGIC, sizeof(h->magic));
    h->major = MT_FORMAT_MAJOR;
    h->minor = MT_FORMAT_MINOR;
    h->header_bytes = MT_FILE_HEADER_BYTES;
    h->machine = 62;
    h->process_id = (uint32_t)or_default(setup->process_id, 1000);
    h->parent_process_id = setup->parent_process_id;
    h->page_bytes = 4096;
    h->time_shift = setup->time_shift;
    h->ticks_per_second = or_default(setup->ticks_per_second, 1000000000);
    h->start_ticks = or_default(setup->start_ticks, 1000000);
    h->start_monotonic_ns = or_default(setup->start_monotonic_ns, 1000000000);
    h->start_realtime_ns = or_default(setup->start_realtime_ns, UINT64_C(1767225600) * 1000000000);
    h->run_id = or_default(setup->run_id, 1);
    set_string(h->executable, sizeof(h->executable), setup->executable, "/bin/test");
    set_string(h->command_line, sizeof(h->command_line), setup->command_line, "test");
    set_string(h->options, sizeof(h->options), setup->options, "");
    h->state = MT_FILE_RECORDING;
    h->last_ticks = h->start_ticks;
    h->last_monotonic_ns = h->start_monotonic_ns;
    b->ring_words = or_default(setup->ring_words, 65536);
    b->encoder = must_allocate(calloc(1, sizeof(*b->encoder)));
    b->zstd = must_allocate(ZSTD_createCCtx());
    chunk_encoder_init(b->encoder, h->time_shift, h->start_ticks);
    b->size_bytes = b->capacity_bytes = MT_FILE_HEADER_BYTES;
    b->bytes = must_allocate(calloc(1, b->capacity_bytes));
    return b;
}

void trace_builder_destroy(struct trace_builder *b)
{
    if (!b)
        return;
    for (size_t i = 0; i < STREAMS_MAX; i++) {
        if (b->streams[i])
            free(b->streams[i]->words);
        free(b->streams[i]);
    }
    free(b->encoder);
    ZSTD_freeCCtx(b->zstd);
    free(b->bytes);
    free(b->entries);
    free(b);
}

/* --- words --------------------------------------------------------------------------------- */

static struct built_stream *stream_at(struct trace_builder *b, uint32_t number)
{
    must(number < STREAMS_MAX, "too many streams");
    if (!b->streams[number]) {
        b->streams[number] = must_allocate(calloc(1, sizeof(*b->streams[number])));
        b->streams[number]->words = must_allocate(calloc(b->ring_words, sizeof(uint64_t)));
    }
    return b->streams[number];
}

static void make_room(struct trace_builder *b, uint32_t stream, size_t words)
{
    const struct built_stream *s = stream_at(b, stream);

    must(words <= b->ring_words, "a record longer than the ring");
    if (s->head - s->tail + words > b->ring_words)
        trace_builder_drain(b, stream);
}

static void put_word(struct trace_builder *b, struct built_stream *s, uint64_t word)
{
    s->words[s->head++ & (b->ring_words - 1)] = word;
}

static uint64_t first_word(const struct trace_builder *b, enum mt_record_code code, uint64_t time)
{
    return (b->header.start_ticks + time) << MT_RING_TIME_SHIFT | (uint64_t)code;
}

static size_t field_count(enum mt_record_code code)
{
    size_t count = 0;

    while (count < MT_FIELDS_MAX && mt_field_encoding(code, (unsigned)count))
        count++;
    return count;
}

void trace_builder_push_word(struct trace_builder *b, uint32_t stream, uint64_t word)
{
    make_room(b, stream, 1);
    put_word(b, stream_at(b, stream), word);
}

void trace_builder_push(struct trace_builder *b, uint32_t stream, enum mt_record_code code,
                        uint64_t time, const uint64_t *fields)
{
    struct built_stream *s = stream_at(b, stream);
    size_t count = field_count(code);

    must(code > MT_RECORD_host_free, "host records are packed");
    make_room(b, stream, 1 + count);
    put_word(b, s, first_word(b, code, time));
    for (size_t i = 0; i < count; i++)
        put_word(b, s, fields[i]);
}

void trace_builder_push_bytes(struct trace_builder *b, uint32_t stream, enum mt_record_code code,
                              uint64_t time, const uint64_t *fields, const void *bytes,
                              size_t size_bytes)
{
    struct built_stream *s = stream_at(b, stream);
    size_t count = field_count(code);

    make_room(b, stream, 1 + count + (size_bytes + 7) / 8);
    put_word(b, s, first_word(b, code, time));
    for (size_t i = 0; i + 1 < count; i++)
        put_word(b, s, fields[i]);
    put_word(b, s, size_bytes);
    for (size_t at = 0; at < size_bytes; at += sizeof(uint64_t)) {
        uint64_t word = 0;
        size_t left = size_bytes - at;

        memcpy(&word, (const uint8_t *)bytes + at, left < sizeof(word) ? left : sizeof(word));
        put_word(b, s, word);
    }
}

uint64_t trace_builder_text(struct trace_builder *b, uint32_t stream, uint64_t time,
                            const char *text)
{
    struct built_stream *s = stream_at(b, stream);
    size_t size_bytes = strlen(text);
    uint64_t id = or_default(XXH64(text, size_bytes, 0), 1);

    if (!size_bytes)
        return 0;
    for (size_t i = 0; i < s->text_count; i++) {
        if (s->texts[i] == id)
            return id;
    }
    must(s->text_count < TEXTS_MAX, "too many texts");
    s->texts[s->text_count++] = id;
    trace_builder_push_bytes(b, stream, MT_RECORD_text, time, &id, text, size_bytes);
    return id;
}

void trace_builder_thread(struct trace_builder *b, uint32_t stream, uint64_t time,
                          uint64_t thread_id, const char *name)
{
    uint64_t fields[] = {thread_id, trace_builder_text(b, stream, time, name)};

    stream_at(b, stream)->thread_id = thread_id;
    trace_builder_push(b, stream, MT_RECORD_thread, time, fields);
}

void trace_builder_host_alloc(struct trace_builder *b, uint32_t stream, uint64_t time,
                              struct built_block block)
{
    struct built_stream *s = stream_at(b, stream);

    uint64_t site = block.site & ~MT_SITE_IS_STACK;
    uint64_t is_stack = site == block.site ? 0 : MT_RING_SITE_IS_STACK;

    must(block.size >> 32 == 0 && (block.address | site) >> MT_RING_PACKED_BITS == 0,
         "does not fit a packed record");
    make_room(b, stream, 3);
    put_word(b, s, first_word(b, MT_RECORD_host_alloc, time) | is_stack);
    put_word(b, s, block.address | (block.size & 0xffff) << MT_RING_PACKED_BITS);
    put_word(b, s, site | block.size >> 16 << MT_RING_PACKED_BITS);
}

void trace_builder_host_free(struct trace_builder *b, uint32_t stream, uint64_t time,
                             uint64_t address)
{
    struct built_stream *s = stream_at(b, stream);

    make_room(b, stream, 2);
    put_word(b, s, first_word(b, MT_RECORD_host_free, time));
    put_word(b, s, address);
}

void trace_builder_alloc(struct trace_builder *b, uint32_t stream, uint64_t time,
                         struct built_block block)
{
    uint64_t fields[] = {block.site, block.size, block.address,
                         trace_builder_text(b, stream, time, block.pool),
                         mt_place_pack(block.place)};

    trace_builder_push(b, stream, MT_RECORD_alloc, time, fields);
}

void trace_builder_free(struct trace_builder *b, uint32_t stream, uint64_t time, const char *pool,
                        uint64_t address)
{
    uint64_t fields[] = {address, trace_builder_text(b, stream, time, pool)};

    trace_builder_push(b, stream, MT_RECORD_free, time, fields);
}

void trace_builder_stack(struct trace_builder *b, uint32_t stream, uint64_t time,
                         const struct built_stack *stack)
{
    uint64_t fields[] = {stack->id, stack->shared_count, stack->flags};
    uint8_t bytes[MT_TEXT_MAX + MT_VARINT_MAX_BYTES], *end = bytes;
    uint64_t before = stack->before;

    must(stack->count <= MT_STACK_FRAMES_MAX, "too many frames");
    for (size_t i = 0; i < stack->count; before = stack->frames[i++])
        end = mt_frame_put(end, stack->frames[i], before);
    trace_builder_push_bytes(b, stream, MT_RECORD_stack, time, fields, bytes,
                             (size_t)(end - bytes));
}

/* --- chunks -------------------------------------------------------------------------------- */

static void append_chunk(struct trace_builder *b, struct mt_chunk_header *header,
                         const uint8_t *raw, size_t raw_bytes)
{
    size_t room = CHUNK_PACKED_BYTES(raw_bytes);
    size_t packed_bytes;

    if (b->size_bytes + room > b->capacity_bytes) {
        b->capacity_bytes = 2 * (b->size_bytes + room);
        b->bytes = must_allocate(realloc(b->bytes, b->capacity_bytes));
    }
    packed_bytes =
        chunk_pack(header, raw, raw_bytes, CHUNK_SMALL, b->zstd, b->bytes + b->size_bytes, room);
    must(packed_bytes != 0, "a chunk that does not pack");
    if (header->kind != MT_CHUNK_INDEX) {
        b->entries = must_allocate(realloc(b->entries, (b->entry_count + 1) * sizeof(*b->entries)));
        b->entries[b->entry_count++] = (struct mt_index_entry){b->size_bytes, *header};
    }
    b->size_bytes += packed_bytes;
    b->header.end_offset_bytes = b->size_bytes;
}

void trace_builder_drain(struct trace_builder *b, uint32_t stream)
{
    struct built_stream *s = stream_at(b, stream);

    while (s->tail != s->head) {
        struct mt_chunk_header header = {.kind = MT_CHUNK_EVENTS, .stream = stream};
        struct chunk_raw raw;

        chunk_encode(b->encoder, s->words, b->ring_words, s->tail, s->head, &raw);
        header.event_count = raw.event_count;
        header.begin_position = s->tail;
        header.end_position = raw.end_position;
        header.first_time = raw.first_time;
        header.last_time = raw.last_time;
        b->header.event_count += raw.event_count;
        b->header.lost_counts[MT_LOST_MALFORMED] += raw.malformed_count;
        append_chunk(b, &header, raw.bytes, raw.size_bytes);
        s->tail = raw.end_position;
    }
}

void trace_builder_close(struct trace_builder *b)
{
    struct mt_chunk_header header = {.kind = MT_CHUNK_INDEX};

    for (uint32_t i = 0; i < STREAMS_MAX; i++) {
        if (b->streams[i])
            trace_builder_drain(b, i);
    }
    b->header.index_offset_bytes = b->size_bytes;
    append_chunk(b, &header, (const uint8_t *)b->entries, b->entry_count * sizeof(*b->entries));
    b->header.state = MT_FILE_CLOSED;
}

struct mt_file_header *trace_builder_header(struct trace_builder *b)
{
    return &b->header;
}

const uint8_t *trace_builder_bytes(struct trace_builder *b, size_t *size_bytes)
{
    b->header.checksum = XXH64(&b->header, offsetof(struct mt_file_header, checksum), 0);
    memcpy(b->bytes, &b->header, sizeof(b->header));
    *size_bytes = b->size_bytes;
    return b->bytes;
}

/* --- files --------------------------------------------------------------------------------- */

static void write_rings(struct trace_builder *b, FILE *file)
{
    uint64_t ring_bytes = b->ring_words * sizeof(uint64_t);

    for (uint32_t i = 0; i < STREAMS_MAX; i++) {
        struct built_stream *s = b->streams[i];
        struct mt_ring_header *header;

        if (!s)
            continue;
        header = must_allocate(calloc(1, MT_RING_HEADER_BYTES));
        header->magic = MT_RING_MAGIC;
        header->capacity_words = b->ring_words;
        header->stream = i;
        header->thread_id = (uint32_t)s->thread_id;
        header->head = s->head;
        header->tail = s->tail;
        header->slot_bytes = MT_RING_HEADER_BYTES + ring_bytes;
        must(fwrite(header, MT_RING_HEADER_BYTES, 1, file) == 1, "cannot write .rings");
        must(fwrite(s->words, ring_bytes, 1, file) == 1, "cannot write .rings");
        free(header);
    }
}

static FILE *open_file(struct trace_builder *b, const char *folder, const char *suffix)
{
    FILE *file;
    int length = snprintf(b->path, sizeof(b->path), "%s/%u-%llu.%s", folder, b->header.process_id,
                          (unsigned long long)b->header.start_ticks, suffix);

    must(length > 0 && length < PATH_BYTES, "the path is too long");
    file = fopen(b->path, "wb");
    must(file != NULL, "cannot create a file");
    return file;
}

static int has_words_left(const struct trace_builder *b)
{
    for (size_t i = 0; i < STREAMS_MAX; i++) {
        if (b->streams[i] && b->streams[i]->head != b->streams[i]->tail)
            return 1;
    }
    return 0;
}

const char *trace_builder_write(struct trace_builder *b, const char *folder)
{
    size_t size_bytes;
    const uint8_t *bytes = trace_builder_bytes(b, &size_bytes);
    FILE *file;

    if (has_words_left(b)) {
        file = open_file(b, folder, "rings");
        write_rings(b, file);
        must(fclose(file) == 0, "cannot write .rings");
    }
    file = open_file(b, folder, "mtt");
    must(fwrite(bytes, size_bytes, 1, file) == 1, "cannot write .mtt");
    must(fclose(file) == 0, "cannot write .mtt");
    return b->path;
}
