/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include "own_stream.h"

#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "clock.h"
#include "leaktide/invariant.h"

bool clock_has_counter;

/* Whoever writes looks for room first: there is always some, as ripe streams are drained. */
static bool has_room(const struct own_stream *stream, uint64_t word_count)
{
    return stream->header.head + word_count <= stream->header.tail + OWN_STREAM_WORDS;
}

static void stream_check(const struct own_stream *stream)
{
    MT_ASSERT(stream->header.tail <= stream->header.head);
    MT_ASSERT(stream->header.head - stream->header.tail <= OWN_STREAM_WORDS);
    MT_ASSERT(stream->known_count <= OWN_STREAM_TEXTS);
}

static void put(struct own_stream *stream, uint64_t word)
{
    stream->words[stream->header.head++ % OWN_STREAM_WORDS] = word;
}

static void push(struct own_stream *stream, enum mt_record_code code, const uint64_t *fields,
                 size_t field_count)
{
    if (!has_room(stream, 1 + field_count))
        return;
    put(stream, (uint64_t)code | clock_ticks() << MT_RING_TIME_SHIFT);
    for (size_t i = 0; i < field_count; i++)
        put(stream, fields[i]);
    stream_check(stream);
}

/* False: there is no room for it, and who names it says something that is not known. */
static bool push_text(struct own_stream *stream, uint64_t id, const char *text, size_t size_bytes)
{
    size_t word_count = (size_bytes + 7) / 8;

    if (!has_room(stream, 3 + word_count))
        return false;
    push(stream, MT_RECORD_text, &id, 1);
    put(stream, size_bytes);
    for (size_t i = 0; i < word_count; i++) {
        uint64_t word = 0;
        size_t rest = size_bytes - i * 8;

        memcpy(&word, text + i * 8, rest < 8 ? rest : 8);
        put(stream, word);
    }
    return true;
}

static uint64_t text_id(struct own_stream *stream, const char *text)
{
    size_t size_bytes = strnlen(text, MT_TEXT_MAX);
    uint64_t id = XXH64(text, size_bytes, 0);

    if (!size_bytes)
        return 0;
    id = id ? id : 1;
    for (uint32_t i = 0; i < stream->known_count; i++)
        if (stream->known_texts[i] == id)
            return id;
    if (push_text(stream, id, text, size_bytes) && stream->known_count < OWN_STREAM_TEXTS)
        stream->known_texts[stream->known_count++] = id;
    return id;
}

void own_stream_begin(struct own_stream *stream, uint32_t number)
{
    uint64_t fields[2] = {(uint64_t)syscall(SYS_gettid), 0};

    memset(stream, 0, sizeof(*stream));
    stream->header.stream = number;
    fields[1] = text_id(stream, "leaktide");
    push(stream, MT_RECORD_thread, fields, 2);
    own_stream_clocks(stream);
}

bool own_stream_is_ripe(const struct own_stream *stream)
{
    return stream->header.head - stream->header.tail >= OWN_STREAM_WORDS / 4;
}

void own_stream_sample(struct own_stream *stream, const char *counter, uint64_t value_bytes)
{
    uint64_t place = mt_place_pack((struct mt_place){.device = -1, .module = -1});
    uint64_t fields[] = {text_id(stream, counter), place, value_bytes};

    push(stream, MT_RECORD_sample, fields, 3);
}

void own_stream_note(struct own_stream *stream, const char *subject, const char *text,
                     uint64_t first, uint64_t second)
{
    uint64_t place = mt_place_pack((struct mt_place){.device = -1, .module = -1});
    uint64_t fields[] = {text_id(stream, subject), text_id(stream, text), place, first, second};

    push(stream, MT_RECORD_note, fields, 5);
}

void own_stream_mark(struct own_stream *stream, const char *name, const char *domain)
{
    uint64_t fields[] = {text_id(stream, name), text_id(stream, domain)};

    push(stream, MT_RECORD_mark, fields, 2);
}

void own_stream_clocks(struct own_stream *stream)
{
    uint64_t fields[] = {clock_ticks(), clock_now_ns(CLOCK_MONOTONIC),
                         clock_now_ns(CLOCK_REALTIME)};

    push(stream, MT_RECORD_clock, fields, 3);
}
