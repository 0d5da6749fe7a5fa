/* SPDX-License-Identifier: Apache-2.0 */
#include "python_code.h"

#include <stdbool.h>

#include "python_interpreter.h"
#include "python_objects.h"

enum { SHORT_TABLE_BYTES = 512, HASH_BLOCK_BYTES = 32 };

/* --- texts ------------------------------------------------------------------------------ */

/* A compact str: how wide its characters are, and where. */
struct characters {
    const char *first;
    uint64_t count;
    uint32_t width_bytes; /* 1, 2, 4; 0: none that can be read */
    bool is_ascii;
};

static struct characters characters_of(const char *text)
{
    const struct python_layout *layout = &python_interpreter.layout;
    uint32_t state = (uint32_t)number_at(text, layout->text_state) >> layout->text_width_bit;
    uint32_t width = state & 7;
    bool is_compact = state >> 3 & 1, is_ascii = state >> 4 & 1;

    if (!is_compact || (width != 1 && width != 2 && width != 4))
        return (struct characters){.first = NULL};
    return (struct characters){
        .first = text + (is_ascii ? layout->ascii : layout->compact),
        .count = (uint64_t)(uintptr_t)pointer_at(text, layout->text_length),
        .width_bytes = width,
        .is_ascii = is_ascii,
    };
}

static READS_OBJECTS uint32_t character_at(const struct characters *text, uint64_t index)
{
    switch (text->width_bytes) {
    case 1:
        return ((const uint8_t *)text->first)[index];
    case 2:
        return ((const uint16_t *)text->first)[index];
    default:
        return ((const uint32_t *)text->first)[index];
    }
}

/* Returns how many bytes, at most 4. */
static size_t utf8_put(char *out, uint32_t character)
{
    static const uint8_t heads[] = {0, 0, 0xc0, 0xe0, 0xf0};
    size_t count = character < 0x80 ? 1 : character < 0x800 ? 2 : character < 0x10000 ? 3 : 4;

    if (count == 1) {
        *out = (char)character;
        return 1;
    }
    for (size_t i = count; i-- > 1; character >>= 6)
        out[i] = (char)(0x80 | (character & 0x3f));
    *out = (char)(heads[count] | character);
    return count;
}

static size_t text_copy(const char *object, char *text, size_t size_bytes)
{
    struct characters from = characters_of(object);
    size_t length = 0;

    for (uint64_t i = 0; i < from.count && length + 4 <= size_bytes; i++)
        length += utf8_put(text + length, character_at(&from, i));
    return length;
}

size_t python_function(const char *code, char *text, size_t size_bytes)
{
    return text_copy(pointer_at(code, python_interpreter.layout.name), text, size_bytes);
}

size_t python_file(const char *code, char *text, size_t size_bytes)
{
    return text_copy(pointer_at(code, python_interpreter.layout.file), text, size_bytes);
}

/* --- hashes ---------------------------------------------------------------------------------- */

static uint64_t mixed(uint64_t hash, uint64_t value)
{
    return (hash ^ value) * UINT64_C(0xd6e8feb86659fd93);
}

static READS_OBJECTS uint64_t object_word(const char *bytes)
{
    return *(const uint64_t *)(const void *)bytes;
}

/* Four sums side by side: one multiplication need not wait for the one before. */
static uint64_t blocks_hash(uint64_t hash, const char *bytes, uint64_t count)
{
    uint64_t first = hash, second = hash + 1, third = hash + 2, fourth = hash + 3;

    for (; count; count--, bytes += HASH_BLOCK_BYTES) {
        first = mixed(first ^ first >> 32, object_word(bytes));
        second = mixed(second ^ second >> 32, object_word(bytes + 8));
        third = mixed(third ^ third >> 32, object_word(bytes + 16));
        fourth = mixed(fourth ^ fourth >> 32, object_word(bytes + 24));
    }
    first = mixed(first ^ first >> 32, second);
    third = mixed(third ^ third >> 32, fourth);
    return mixed(first ^ first >> 32, third);
}

/* Looks at every stride-th word, and at all bytes after the last whole one. */
static READS_OBJECTS uint64_t bytes_hash(uint64_t hash, const char *bytes, uint64_t size_bytes,
                                         uint64_t stride)
{
    uint64_t word = 0, rest = size_bytes % 8, at = 0;

    hash = mixed(hash, size_bytes);
    if (stride == 1 && size_bytes >= HASH_BLOCK_BYTES) {
        hash = blocks_hash(hash, bytes, size_bytes / HASH_BLOCK_BYTES);
        at = size_bytes / HASH_BLOCK_BYTES * HASH_BLOCK_BYTES;
    }
    for (; at + 8 <= size_bytes; at += 8 * stride)
        hash = mixed(hash ^ hash >> 32, object_word(bytes + at));
    for (; rest; rest--)
        word = word << 8 | (uint8_t)bytes[size_bytes - rest];
    return mixed(hash ^ hash >> 32, word);
}

/* Every character counts: names are short, and this is what tells two codes apart. */
static uint64_t text_hash(uint64_t hash, const char *object)
{
    struct characters text = characters_of(object);

    return bytes_hash(hash, text.first, text.count * text.width_bytes, 1);
}

struct python_identity python_identify(const char *code)
{
    const struct python_layout *layout = &python_interpreter.layout;
    uint64_t hash = text_hash(1, pointer_at(code, layout->name));

    return (struct python_identity){
        .names = text_hash(hash, pointer_at(code, layout->file)),
        .line = (uint64_t)number_at(code, layout->line),
    };
}

/* --- lines ----------------------------------------------------------------------------------- */

uint32_t python_line(const char *code, int32_t offset_bytes, struct python_line_place *place)
{
    const struct python_layout *layout = &python_interpreter.layout;
    const char *table;
    int line;

    if (!layout->lasti_bytes) {
        table = pointer_at(code, layout->lines);
        return python_lines_find((const uint8_t *)table + layout->bytes_first,
                                 (uintptr_t)pointer_at(table, layout->bytes_length),
                                 number_at(code, layout->line), offset_bytes, place);
    }
    line = python_interpreter.line_of((void *)(uintptr_t)code, offset_bytes);
    return line > 0 ? (uint32_t)line : 0;
}

uint64_t python_line_key(const char *code, int32_t offset_bytes)
{
    const struct python_layout *layout = &python_interpreter.layout;
    const char *table = pointer_at(code, layout->lines);
    uint64_t size_bytes = (uint64_t)(uintptr_t)pointer_at(table, layout->bytes_length);
    uint64_t hash =
        mixed((uint64_t)number_at(code, layout->line), (uint64_t)(uint32_t)offset_bytes);

    if (size_bytes <= SHORT_TABLE_BYTES)
        return bytes_hash(hash, table + layout->bytes_first, size_bytes, 1);
    hash = mixed(hash, (uintptr_t)code);
    return bytes_hash(hash, table + layout->bytes_first, size_bytes,
                      1 + size_bytes / SHORT_TABLE_BYTES);
}
