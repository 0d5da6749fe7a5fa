/* SPDX-License-Identifier: Apache-2.0 */
#include "ring_reader.h"

#include <string.h>
#include <unistd.h>

enum {
    /* The longest record: first word, fields, a text. */
    RECORD_WORDS_MAX = 1 + MT_FIELDS_MAX + MT_TEXT_MAX / 8,
    PLAUSIBLE_TIME_BITS = 36 /* a word that looks like a record after damage is not this far off */
};

static bool read_all(int descriptor, void *out, size_t size_bytes, uint64_t offset_bytes)
{
    uint8_t *at = out;

    while (size_bytes) {
        ssize_t part = pread(descriptor, at, size_bytes, (off_t)offset_bytes);

        if (part <= 0)
            return false;
        at += part;
        offset_bytes += (uint64_t)part;
        size_bytes -= (size_t)part;
    }
    return true;
}

bool ring_slot_read(int descriptor, uint64_t offset_bytes, uint64_t file_bytes,
                    struct ring_slot *slot, uint64_t *slot_bytes)
{
    struct mt_ring_header header;
    uint64_t room_words;

    if (file_bytes < MT_RING_HEADER_BYTES || offset_bytes > file_bytes - MT_RING_HEADER_BYTES ||
        !read_all(descriptor, &header, sizeof(header), offset_bytes) ||
        header.magic != MT_RING_MAGIC)
        return false;
    room_words = (file_bytes - offset_bytes - MT_RING_HEADER_BYTES) / sizeof(uint64_t);
    if (!header.capacity_words || header.capacity_words & (header.capacity_words - 1) ||
        header.capacity_words > room_words || header.slot_bytes % sizeof(uint64_t) ||
        header.slot_bytes < MT_RING_HEADER_BYTES + header.capacity_words * sizeof(uint64_t) ||
        header.tail > header.head || header.head - header.tail > header.capacity_words)
        return false;
    *slot = (struct ring_slot){
        .offset_bytes = offset_bytes,
        .capacity_words = header.capacity_words,
        .head = header.head,
        .tail = header.tail,
        .stream = header.stream,
        .thread_id = header.thread_id,
    };
    *slot_bytes = header.slot_bytes;
    return true;
}

bool ring_slot_is_unused(int descriptor, uint64_t offset_bytes)
{
    struct mt_ring_header header;

    return read_all(descriptor, &header, sizeof(header), offset_bytes) && header.magic == 0 &&
           header.head == 0 && header.tail == 0;
}

void ring_reader_begin(struct ring_reader *r, int descriptor, const struct ring_slot *slot,
                       uint64_t position, const struct mt_file_header *header)
{
    r->descriptor = descriptor;
    r->slot = *slot;
    r->position = position;
    r->end_position = slot->head;
    r->piece_begin = r->piece_end = position;
    r->start_ticks = header->start_ticks;
    r->time_shift = header->time_shift;
    r->last_time = 0;
    r->is_damaged = false;
    r->overwritten = 0;
}

/* --- words --------------------------------------------------------------------------------- */

/* A process that still runs may have written over what was just read. */
static bool was_overwritten(const struct ring_reader *r)
{
    struct mt_ring_header header;

    if (!read_all(r->descriptor, &header, sizeof(header), r->slot.offset_bytes))
        return true;
    return header.tail > r->position &&
           header.head + RECORD_WORDS_MAX - r->position > r->slot.capacity_words;
}

/* Reads the piece that starts at the position. False: nothing more can be had. */
static bool read_piece(struct ring_reader *r)
{
    uint64_t left = r->end_position - r->position;
    uint64_t index = r->position & (r->slot.capacity_words - 1);
    uint64_t words = left < RING_PIECE_WORDS ? left : RING_PIECE_WORDS;
    uint64_t until_wrap = r->slot.capacity_words - index;
    uint64_t first = words < until_wrap ? words : until_wrap;
    uint64_t base = r->slot.offset_bytes + MT_RING_HEADER_BYTES;

    if (!read_all(r->descriptor, r->piece, first * sizeof(uint64_t),
                  base + index * sizeof(uint64_t)) ||
        !read_all(r->descriptor, r->piece + first, (words - first) * sizeof(uint64_t), base) ||
        was_overwritten(r)) {
        r->overwritten = left;
        r->end_position = r->position;
        return false;
    }
    r->piece_begin = r->position;
    r->piece_end = r->position + words;
    return true;
}

/* The words from the position on, as many as a record can have or as there are. */
static const uint64_t *words_here(struct ring_reader *r, uint64_t *count)
{
    uint64_t left = r->end_position - r->position;

    if (r->piece_end - r->position < RECORD_WORDS_MAX && r->piece_end != r->end_position &&
        !read_piece(r))
        left = 0;
    *count = left < r->piece_end - r->position ? left : r->piece_end - r->position;
    return r->piece + (r->position - r->piece_begin);
}

/* --- records ------------------------------------------------------------------------------- */

/* Ticks since the start from the low 56 bits of the counter; huge for what is before it. */
static uint64_t ticks_since_start(const struct ring_reader *r, uint64_t first_word)
{
    uint64_t ticks = first_word >> MT_RING_TIME_SHIFT;

    return (ticks - r->start_ticks) & (~UINT64_C(0) >> MT_RING_TIME_SHIFT);
}

static bool is_before_start(uint64_t since_start)
{
    return since_start >> (63 - MT_RING_TIME_SHIFT);
}

static uint64_t time_units(const struct ring_reader *r, uint64_t first_word)
{
    uint64_t since_start = ticks_since_start(r, first_word);

    return is_before_start(since_start) ? 0 : since_start >> r->time_shift;
}

/* Words that only look like a record after damage have an unlikely time. */
static bool is_plausible(const struct ring_reader *r, uint64_t first_word)
{
    uint64_t time = time_units(r, first_word);

    return !is_before_start(ticks_since_start(r, first_word)) && time >= r->last_time &&
           (time - r->last_time) >> PLAUSIBLE_TIME_BITS == 0;
}

/* Fills the fields; returns the number of words, 0 if they are no record. */
static size_t read_wide_record(const uint64_t *words, uint64_t count, struct trace_record *record)
{
    size_t fields = 0;
    bool ends_in_bytes = false;

    while (fields < MT_FIELDS_MAX && mt_field_encoding(record->code, (unsigned)fields)) {
        ends_in_bytes = mt_field_encoding(record->code, (unsigned)fields) == MT_ENCODING_BYTES;
        fields++;
    }
    if (!fields || count < 1 + fields)
        return 0;
    for (size_t i = 0; i < fields; i++)
        record->fields[i].value = words[1 + i];
    if (!ends_in_bytes)
        return 1 + fields;
    record->size_bytes = (size_t)words[fields];
    record->bytes = (const uint8_t *)(words + 1 + fields);
    if (words[fields] > MT_TEXT_MAX || (words[fields] + 7) / 8 > count - 1 - fields)
        return 0;
    return 1 + fields + (record->size_bytes + 7) / 8;
}

static size_t read_record(const uint64_t *words, uint64_t count, struct trace_record *record)
{
    uint64_t packed = (UINT64_C(1) << MT_RING_PACKED_BITS) - 1;

    record->code = (unsigned)(words[0] & 0xff);
    if (record->code == MT_RECORD_host_free) {
        record->fields[0].value = count < 2 ? 0 : words[1];
        return count < 2 ? 0 : 2;
    }
    if ((record->code & ~(unsigned)MT_RING_SITE_IS_STACK) == MT_RECORD_host_alloc) {
        uint64_t is_stack = record->code & MT_RING_SITE_IS_STACK;

        if (count < 3)
            return 0;
        record->code = MT_RECORD_host_alloc;
        record->fields[0].value = (words[2] & packed) | is_stack << 56;
        record->fields[1].value = words[1] >> MT_RING_PACKED_BITS | words[2] >> MT_RING_PACKED_BITS
                                                                                    << 16;
        record->fields[2].value = words[1] & packed;
        return 3;
    }
    return record->code < MT_RECORD_CODE_END ? read_wide_record(words, count, record) : 0;
}

bool ring_reader_first_time(struct ring_reader *r, uint64_t *time)
{
    uint64_t count;
    const uint64_t *words = words_here(r, &count);

    if (!count)
        return false;
    *time = time_units(r, words[0]);
    return true;
}

/* Reads the record at the position and goes past it, or one word further. */
static bool take_record(struct ring_reader *r, struct trace_context *context,
                        struct trace_record *record)
{
    uint64_t count, time;
    const uint64_t *words = words_here(r, &count);
    size_t taken;

    if (!count)
        return false;
    taken = read_record(words, count, record);
    time = time_units(r, words[0]);
    if (!taken || (r->is_damaged && !is_plausible(r, words[0]))) {
        context->malformed_words++;
        r->is_damaged = true;
        r->position++;
        return false;
    }
    r->is_damaged = false;
    r->position += taken;
    if (time > r->last_time)
        r->last_time = time;
    record->time_ns = trace_clock_ns(&context->clock, r->last_time);
    return true;
}

size_t ring_reader_next(struct ring_reader *r, struct trace_context *context, uint32_t *thread,
                        struct event *events, size_t capacity)
{
    size_t count = 0;

    while (count < capacity && r->position != r->end_position) {
        struct trace_record record = {0};
        uint32_t indexes[MT_FIELDS_MAX];

        memset(indexes, 0xff, sizeof(indexes)); /* TRACE_UNRESOLVED */
        for (unsigned i = 0; i < MT_FIELDS_MAX; i++)
            record.fields[i].index = &indexes[i];
        if (take_record(r, context, &record) &&
            trace_record_apply(context, thread, &record, &events[count]))
            count++;
    }
    return count;
}
