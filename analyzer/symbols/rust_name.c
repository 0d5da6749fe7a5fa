/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The older way: C++'s nested names of plain identifiers, the last of which is a hash. Signs that
 * no identifier has are escaped.
 */
#include "rust_name.h"

#include <stdint.h>
#include <string.h>

#include "json_text.h"
#include "rust_v0_name.h"

enum { hash_digits = 16, code_digits_most = 6 };

struct piece {
    const char *bytes;
    size_t size_bytes;
};

static bool is_hash(const char *bytes)
{
    return bytes[0] == 'h' && strspn(bytes + 1, "0123456789abcdef") >= hash_digits;
}

/* Moves past "3foo" and gives foo; false: there is no identifier. */
static bool piece_read(const char **at, struct piece *piece)
{
    size_t size_bytes = 0, digits = strspn(*at, "0123456789");

    if (!digits || **at == '0')
        return false;
    for (size_t i = 0; i < digits; i++) {
        size_bytes = size_bytes * 10 + (size_t)((*at)[i] - '0');
        if (size_bytes > UINT16_MAX)
            return false;
    }
    *at += digits;
    if (strnlen(*at, size_bytes) < size_bytes)
        return false;
    *piece = (struct piece){*at, size_bytes};
    *at += size_bytes;
    return true;
}

/* "u7b": the character of this number. Control characters are none of a name. */
static bool add_code(struct text_builder *text, const char *code, size_t size_bytes)
{
    uint32_t point = 0;

    if (size_bytes < 2 || size_bytes > code_digits_most + 1 || code[0] != 'u' ||
        strspn(code + 1, "0123456789abcdef") < size_bytes - 1)
        return false;
    for (size_t i = 1; i < size_bytes; i++)
        point = point << 4 | (uint32_t)(code[i] <= '9' ? code[i] - '0' : code[i] - 'a' + 10);
    if (point < ' ' || (point >= 0x7f && point < 0xa0) || point > 0x10ffff || point >> 11 == 0x1b)
        return false;
    text_add_code_point(text, point);
    return true;
}

/* "LT" of "$LT$" */
static bool add_escaped(struct text_builder *text, const char *code, size_t size_bytes)
{
    static const struct {
        const char *code, *meaning;
    } signs[] = {{"SP", "@"}, {"BP", "*"}, {"RF", "&"}, {"LT", "<"},
                 {"GT", ">"}, {"LP", "("}, {"RP", ")"}, {"C", ","}};

    for (size_t i = 0; i < sizeof(signs) / sizeof(signs[0]); i++)
        if (strlen(signs[i].code) == size_bytes && memcmp(code, signs[i].code, size_bytes) == 0) {
            text_add(text, signs[i].meaning);
            return true;
        }
    return add_code(text, code, size_bytes);
}

static void add_piece(struct text_builder *text, struct piece piece)
{
    const char *at = piece.bytes, *end = piece.bytes + piece.size_bytes;

    if (piece.size_bytes > 1 && at[0] == '_' && at[1] == '$') /* identifiers begin with a letter */
        at++;
    while (at < end) {
        const char *next = at + 1;
        const char *closing = *at == '$' ? memchr(next, '$', (size_t)(end - next)) : NULL;

        if (closing && add_escaped(text, next, (size_t)(closing - next))) {
            next = closing + 1;
        } else if (next < end && at[0] == '.' && at[1] == '.') {
            text_add(text, "::");
            next = at + 2;
        } else {
            text_add_char(text, *at, 1);
        }
        at = next;
    }
}

/* Whether it is one from beginning to end; what follows a dot is the compiler's. */
static bool is_legacy(const char *first)
{
    struct piece piece = {NULL, 0};
    size_t count = 0;

    for (; *first != 'E'; count++)
        if (!piece_read(&first, &piece))
            return false;
    return count > 1 && piece.size_bytes == hash_digits + 1 && is_hash(piece.bytes) &&
           (!first[1] || first[1] == '.');
}

static bool add_legacy(struct text_builder *text, const char *name)
{
    const char *at = name + strlen("_ZN");
    struct piece piece, next;

    if (strncmp(name, "_ZN", strlen("_ZN")) != 0 || !is_legacy(at))
        return false;
    piece_read(&at, &piece);
    for (size_t count = 0; piece_read(&at, &next); count++) {
        if (count)
            text_add(text, "::");
        add_piece(text, piece);
        piece = next;
    }
    return true;
}

bool add_rust_name(struct text_builder *text, const char *name)
{
    return add_rust_v0_name(text, name) || add_legacy(text, name);
}

size_t length_without_rust_hash(const char *name, size_t length)
{
    size_t hash = strlen("::h") + hash_digits;

    if (length > hash && strncmp(name + length - hash, "::", 2) == 0 &&
        is_hash(name + length - hash + 2))
        return length - hash;
    return length;
}
