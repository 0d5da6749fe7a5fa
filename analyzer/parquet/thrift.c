/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The compact protocol: a field is the distance of its id from the one before and its type in one
 * byte, an integer is zigzag and seven bits a byte.
 */
#include "thrift.h"

#include "leaktide/invariant.h"

/* --- writing --------------------------------------------------------------------------------- */

static void put_varint(struct thrift_writer *writer, uint64_t value)
{
    for (; value >= 0x80; value >>= 7)
        text_add_char(writer->text, (char)(value | 0x80), 1);
    text_add_char(writer->text, (char)value, 1);
}

static void put_zigzag(struct thrift_writer *writer, int64_t value)
{
    put_varint(writer, ((uint64_t)value << 1) ^ (value < 0 ? UINT64_MAX : 0));
}

static void put_field(struct thrift_writer *writer, int id, enum thrift_type type)
{
    int *last = &writer->last_ids[writer->depth];

    MT_ASSERT(id > *last && id - *last < 16);
    text_add_char(writer->text, (char)((id - *last) << 4 | (int)type), 1);
    *last = id;
}

void thrift_writer_init(struct thrift_writer *writer, struct text_builder *text)
{
    *writer = (struct thrift_writer){.text = text};
}

void thrift_put_integer(struct thrift_writer *writer, int id, enum thrift_type type, int64_t value)
{
    put_field(writer, id, type);
    put_zigzag(writer, value);
}

void thrift_put_element_integer(struct thrift_writer *writer, int64_t value)
{
    put_zigzag(writer, value);
}

void thrift_put_element_text(struct thrift_writer *writer, const char *terminated)
{
    put_varint(writer, strlen(terminated));
    text_add(writer->text, terminated);
}

void thrift_put_text(struct thrift_writer *writer, int id, const char *terminated)
{
    put_field(writer, id, THRIFT_BINARY);
    thrift_put_element_text(writer, terminated);
}

void thrift_put_list(struct thrift_writer *writer, int id, enum thrift_type type, size_t count)
{
    put_field(writer, id, THRIFT_LIST);
    if (count < 15) {
        text_add_char(writer->text, (char)(count << 4 | (size_t)type), 1);
        return;
    }
    text_add_char(writer->text, (char)(0xf0 | (int)type), 1);
    put_varint(writer, count);
}

void thrift_begin_struct(struct thrift_writer *writer, int id)
{
    MT_ASSERT(writer->depth + 1 < THRIFT_DEPTH_MOST);
    if (id)
        put_field(writer, id, THRIFT_STRUCT);
    writer->last_ids[++writer->depth] = 0;
}

void thrift_put_stop(struct thrift_writer *writer)
{
    text_add_char(writer->text, THRIFT_STOP, 1);
}

void thrift_end_struct(struct thrift_writer *writer)
{
    MT_ASSERT(writer->depth > 0);
    thrift_put_stop(writer);
    writer->depth--;
}

/* --- reading --------------------------------------------------------------------------------- */

static void set_broken(struct thrift_reader *reader)
{
    reader->is_broken = true;
    reader->at = reader->end;
}

static unsigned char get_byte(struct thrift_reader *reader)
{
    if (reader->at < reader->end)
        return *reader->at++;
    set_broken(reader);
    return 0;
}

static uint64_t get_varint(struct thrift_reader *reader)
{
    uint64_t value = 0;

    for (unsigned shift = 0; shift < 64; shift += 7) {
        unsigned char byte = get_byte(reader);

        value |= (uint64_t)(byte & 0x7f) << shift;
        if (!(byte & 0x80))
            return value;
    }
    set_broken(reader);
    return 0;
}

int64_t thrift_get_integer(struct thrift_reader *reader)
{
    uint64_t value = get_varint(reader);

    return (int64_t)(value >> 1 ^ (0 - (value & 1)));
}

struct thrift_bytes thrift_get_bytes(struct thrift_reader *reader)
{
    uint64_t size_bytes = get_varint(reader);
    struct thrift_bytes bytes = {(const char *)reader->at, (size_t)size_bytes};

    if (size_bytes > (size_t)(reader->end - reader->at)) {
        set_broken(reader);
        return (struct thrift_bytes){"", 0};
    }
    reader->at += size_bytes;
    return bytes;
}

struct thrift_list thrift_get_list(struct thrift_reader *reader)
{
    unsigned char head = get_byte(reader);
    uint64_t count = head >> 4;

    if (count == 15)
        count = get_varint(reader);
    if (count > (size_t)(reader->end - reader->at))
        set_broken(reader);
    return (struct thrift_list){(enum thrift_type)(head & 15),
                                reader->is_broken ? 0 : (size_t)count};
}

bool thrift_next_field(struct thrift_reader *reader, struct thrift_field *field)
{
    unsigned char head = get_byte(reader);

    if (reader->is_broken || head == THRIFT_STOP)
        return false;
    field->type = (enum thrift_type)(head & 15);
    if (head >> 4) {
        field->id += head >> 4;
    } else {
        int64_t id = thrift_get_integer(reader);

        field->id = id > 0 && id < INT16_MAX ? (int)id : INT16_MAX;
    }
    return !reader->is_broken;
}

static void skip_nested(struct thrift_reader *reader, enum thrift_type type, int depth);

static void skip_list(struct thrift_reader *reader, int depth)
{
    struct thrift_list list = thrift_get_list(reader);

    /* In a list a truth is a byte of its own. */
    for (size_t i = 0; i < list.count && !reader->is_broken; i++)
        skip_nested(reader,
                    list.type == THRIFT_TRUE || list.type == THRIFT_FALSE ? THRIFT_BYTE : list.type,
                    depth);
}

static void skip_nested(struct thrift_reader *reader, enum thrift_type type, int depth)
{
    struct thrift_field field = {0};

    if (depth == THRIFT_DEPTH_MOST) {
        set_broken(reader);
        return;
    }
    switch (type) {
    case THRIFT_TRUE:
    case THRIFT_FALSE:
        return;
    case THRIFT_BYTE:
        get_byte(reader);
        return;
    case THRIFT_I16:
    case THRIFT_I32:
    case THRIFT_I64:
        get_varint(reader);
        return;
    case THRIFT_DOUBLE:
        for (int i = 0; i < 8; i++)
            get_byte(reader);
        return;
    case THRIFT_BINARY:
        thrift_get_bytes(reader);
        return;
    case THRIFT_LIST:
    case THRIFT_SET:
        skip_list(reader, depth + 1);
        return;
    case THRIFT_STRUCT:
        while (thrift_next_field(reader, &field))
            skip_nested(reader, field.type, depth + 1);
        return;
    case THRIFT_MAP: /* Parquet has none */
    case THRIFT_STOP:
        break;
    }
    set_broken(reader);
}

void thrift_skip(struct thrift_reader *reader, enum thrift_type type)
{
    skip_nested(reader, type, 0);
}
