/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Values of a snapshot, as a pickle or as JSON.
 *
 *   {"a": [1]}   in a pickle:   } ( X"a" q0 ] ( K1 e u
 *
 * Source: the opcodes of Python's pickletools. The first memos are the keys, so no value's is 0.
 */
#include "snapshot_writer.h"

#include <assert.h>
#include <string.h>

#include "json_text.h"

enum {
    PROTOCOL = 0x80,
    protocol_version = 2,
    LONG1 = 0x8a,
    LONG1_BYTES = 9, /* of 64 bits without a sign */
    NEW_TRUE = 0x88,
    NEW_FALSE = 0x89,
    short_memos = 256,
    batch_items = 1000 /* as Python: a reader has all items of a batch on its stack */
};

static void put_bytes(struct snapshot_writer *writer, const void *bytes, size_t size_bytes)
{
    fwrite(bytes, 1, size_bytes, writer->out);
}

static void put_byte(struct snapshot_writer *writer, int byte)
{
    putc(byte, writer->out);
}

static void put_little(struct snapshot_writer *writer, uint64_t number, unsigned byte_count)
{
    for (unsigned i = 0; i < byte_count; i++)
        put_byte(writer, (int)(number >> (8 * i) & 0xff));
}

void snapshot_writer_init(struct snapshot_writer *writer, FILE *out, struct outlet *json)
{
    *writer = (struct snapshot_writer){.out = out, .json = json};
    text_init(&writer->text);
    if (json)
        return;
    put_byte(writer, PROTOCOL);
    put_byte(writer, protocol_version);
}

bool snapshot_writer_finish(struct snapshot_writer *writer)
{
    bool is_good = !writer->has_failed && !writer->text.has_failed;

    if (writer->json)
        outlet_add(writer->json, "\n");
    else
        put_byte(writer, '.');
    text_release(&writer->text);
    return is_good;
}

/* --- lists and maps ------------------------------------------------------------------------ */

/* Before an item of a list. Values of maps have their key before them. */
static void item_begin(struct snapshot_writer *writer)
{
    struct snapshot_level *level = writer->depth ? &writer->levels[writer->depth - 1] : NULL;

    if (!level || level->is_map)
        return;
    if (writer->json)
        outlet_add_either(writer->json, level->count, ",\n", "");
    else if (level->count && level->count % batch_items == 0)
        put_bytes(writer, "e(", 2);
    level->count++;
}

static void put_begin(struct snapshot_writer *writer, bool is_map)
{
    item_begin(writer);
    assert(writer->depth < SNAPSHOT_DEPTH_MOST);
    writer->levels[writer->depth++] = (struct snapshot_level){.is_map = is_map};
    if (writer->json)
        outlet_add_either(writer->json, is_map, "{", "[");
    else
        put_bytes(writer, is_map ? "}(" : "](", 2);
}

void put_map_begin(struct snapshot_writer *writer)
{
    put_begin(writer, true);
}

void put_list_begin(struct snapshot_writer *writer)
{
    put_begin(writer, false);
}

void put_end(struct snapshot_writer *writer)
{
    bool is_map = writer->levels[--writer->depth].is_map;

    if (writer->json)
        outlet_add_either(writer->json, is_map, "}", "]");
    else
        put_byte(writer, is_map ? 'u' : 'e');
}

/* --- what comes again ---------------------------------------------------------------------- */

bool put_again(struct snapshot_writer *writer, uint32_t memo)
{
    if (writer->json || !memo)
        return false;
    item_begin(writer);
    put_byte(writer, memo < short_memos ? 'h' : 'j');
    put_little(writer, memo, memo < short_memos ? 1 : 4);
    return true;
}

void put_remembered(struct snapshot_writer *writer, uint32_t *memo)
{
    uint32_t number = SNAPSHOT_KEYS_MOST + writer->memo_count++;

    if (writer->json)
        return;
    put_byte(writer, number < short_memos ? 'q' : 'r');
    put_little(writer, number, number < short_memos ? 1 : 4);
    *memo = number;
}

/* --- values -------------------------------------------------------------------------------- */

static void put_pickled_text(struct snapshot_writer *writer, const char *text)
{
    put_byte(writer, 'X');
    put_little(writer, strlen(text), 4);
    put_bytes(writer, text, strlen(text));
}

/* Each key is written once; its place among the keys is its memo, as they are the first. */
static void put_pickled_key(struct snapshot_writer *writer, const char *key)
{
    for (uint32_t i = 0; i < writer->key_count; i++)
        if (writer->keys[i] == key) {
            put_byte(writer, 'h');
            put_little(writer, i, 1);
            return;
        }
    put_pickled_text(writer, key);
    if (writer->key_count == SNAPSHOT_KEYS_MOST)
        return;
    put_byte(writer, 'q');
    put_little(writer, writer->key_count, 1);
    writer->keys[writer->key_count++] = key;
}

void put_key(struct snapshot_writer *writer, const char *key)
{
    struct snapshot_level *level = &writer->levels[writer->depth - 1];

    if (!writer->json) {
        put_pickled_key(writer, key);
        return;
    }
    outlet_add_either(writer->json, level->count++, ",", "");
    outlet_format(writer->json, "%s:", key);
}

static void put_pickled_number(struct snapshot_writer *writer, uint64_t number)
{
    if (number <= UINT8_MAX) {
        put_byte(writer, 'K');
        put_little(writer, number, 1);
    } else if (number <= UINT16_MAX) {
        put_byte(writer, 'M');
        put_little(writer, number, 2);
    } else if (number <= INT32_MAX) {
        put_byte(writer, 'J');
        put_little(writer, number, 4);
    } else {
        unsigned byte_count = number > INT64_MAX ? LONG1_BYTES : 8;

        put_byte(writer, LONG1);
        put_byte(writer, (int)byte_count);
        put_little(writer, number, 8);
        if (byte_count == LONG1_BYTES)
            put_byte(writer, 0);
    }
}

void put_number(struct snapshot_writer *writer, uint64_t number)
{
    item_begin(writer);
    if (writer->json)
        outlet_number(writer->json, number);
    else
        put_pickled_number(writer, number);
}

void put_flag(struct snapshot_writer *writer, bool flag)
{
    item_begin(writer);
    if (writer->json)
        outlet_add_either(writer->json, flag, "true", "false");
    else
        put_byte(writer, flag ? NEW_TRUE : NEW_FALSE);
}

void put_text(struct snapshot_writer *writer, const char *text)
{
    item_begin(writer);
    if (writer->json) {
        outlet_words(writer->json, text);
        return;
    }
    text_clear(&writer->text);
    text_add_utf8(&writer->text, text);
    put_pickled_text(writer, text_get(&writer->text));
}
