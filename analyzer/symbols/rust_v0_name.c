/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A name is read from left to right and written as it is read; a back reference reads an earlier
 * part once more. So few bytes can ask for very much: parts that are read are counted, how deep
 * they lie, and what is written. Past a bound the whole name is given up. What the parts say is not
 * needed where nothing is shown (the place of an impl): no back reference is followed there.
 */
#include "rust_v0_name.h"

#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "json_text.h"
#include "leaktide/invariant.h"
#include "punycode.h"

enum {
    depth_most = 200,
    parts_most = 20000,
    written_most_bytes = 16384,
    lifetimes_most = 64, /* of one binder */
    hex_most = 32        /* of a number: 128 bits */
};

struct reader {
    const char *name; /* after _R: back references count from here */
    size_t at;
    struct text_builder written;
    unsigned depth, parts;
    uint64_t lifetimes; /* that the binders around this part name */
    bool is_silent, has_failed;
};

static void read_path(struct reader *reader, bool is_value);
static void read_type(struct reader *reader);
static void read_const(struct reader *reader, bool is_value);

/* --- what is read and written ---------------------------------------------------------------- */

static void fail(struct reader *reader)
{
    reader->has_failed = true;
}

/* 0 at the end, and after a failure: no loop goes on then. */
static char peek(const struct reader *reader)
{
    return reader->has_failed ? 0 : reader->name[reader->at];
}

static bool accept(struct reader *reader, char wanted)
{
    if (peek(reader) != wanted)
        return false;
    reader->at++;
    return true;
}

static char next(struct reader *reader)
{
    char c = peek(reader);

    if (c)
        reader->at++;
    else
        fail(reader);
    return c;
}

static void write_bytes(struct reader *reader, const char *bytes, size_t size_bytes)
{
    MT_ASSERT(reader->written.size_bytes <= written_most_bytes);
    if (reader->has_failed || reader->is_silent)
        return;
    if (size_bytes > written_most_bytes - reader->written.size_bytes)
        fail(reader);
    else
        text_add_bytes(&reader->written, bytes, size_bytes);
}

static void write_text(struct reader *reader, const char *text)
{
    write_bytes(reader, text, strlen(text));
}

static void write_number(struct reader *reader, uint64_t number)
{
    char digits[24];
    size_t at = sizeof(digits);

    do
        digits[--at] = (char)('0' + number % 10);
    while (number /= 10);
    write_bytes(reader, digits + at, sizeof(digits) - at);
}

static void write_point(struct reader *reader, uint32_t point)
{
    struct text_builder text;

    text_init(&text);
    text_add_code_point(&text, point);
    write_text(reader, text_get(&text));
    text_release(&text);
}

/* Each part of parts is entered once. */
static bool enter(struct reader *reader)
{
    if (reader->depth == depth_most || reader->parts == parts_most)
        fail(reader);
    if (reader->has_failed)
        return false;
    reader->depth++;
    reader->parts++;
    return true;
}

static void leave(struct reader *reader)
{
    MT_ASSERT(reader->depth);
    reader->depth--;
}

/* --- numbers and identifiers ------------------------------------------------------------------ */

/* 62 and more: it is no digit. */
static unsigned digit_62(char c)
{
    if (c >= '0' && c <= '9')
        return (unsigned)(c - '0');
    if (c >= 'a' && c <= 'z')
        return (unsigned)(c - 'a') + 10;
    return c >= 'A' && c <= 'Z' ? (unsigned)(c - 'A') + 36 : 62;
}

/* "_" is 0, "0_" is 1. */
static uint64_t read_base_62(struct reader *reader)
{
    uint64_t number = 0;

    if (accept(reader, '_'))
        return 0;
    while (!reader->has_failed && !accept(reader, '_')) {
        unsigned digit = digit_62(next(reader));

        if (digit == 62 || number > (UINT64_MAX - 62) / 62)
            fail(reader);
        else
            number = number * 62 + digit;
    }
    return number + 1;
}

/* 0 without the letter; what the letter announces is 1 and more. */
static uint64_t read_announced(struct reader *reader, char letter)
{
    return accept(reader, letter) ? read_base_62(reader) + 1 : 0;
}

static size_t read_decimal(struct reader *reader)
{
    size_t number = 0;

    if (peek(reader) < '0' || peek(reader) > '9')
        fail(reader);
    if (accept(reader, '0'))
        return 0;
    while (peek(reader) >= '0' && peek(reader) <= '9') {
        number = number * 10 + (size_t)(next(reader) - '0');
        if (number > written_most_bytes)
            fail(reader);
    }
    return number;
}

struct identifier {
    uint64_t number; /* tells those of one name apart */
    const char *bytes;
    size_t size_bytes;
    bool is_punycode;
};

static struct identifier read_plain_identifier(struct reader *reader)
{
    struct identifier read = {.is_punycode = accept(reader, 'u')};

    read.size_bytes = read_decimal(reader);
    accept(reader, '_');
    read.bytes = reader->name + reader->at;
    if (reader->has_failed || strnlen(read.bytes, read.size_bytes) < read.size_bytes) {
        fail(reader);
        read.size_bytes = 0;
    }
    reader->at += read.size_bytes;
    return read;
}

static struct identifier read_identifier(struct reader *reader)
{
    uint64_t number = read_announced(reader, 's');
    struct identifier read = read_plain_identifier(reader);

    read.number = number;
    return read;
}

static void write_identifier(struct reader *reader, const struct identifier *identifier)
{
    struct punycode_text text;

    if (!identifier->is_punycode) {
        write_bytes(reader, identifier->bytes, identifier->size_bytes);
        return;
    }
    if (!punycode_read(identifier->bytes, identifier->size_bytes, &text)) {
        fail(reader);
        return;
    }
    for (size_t i = 0; i < text.count; i++)
        write_point(reader, text.points[i]);
}

/* Reads an earlier part once more. */
struct resumption {
    size_t at;
    bool is_followed;
};

static struct resumption back_begin(struct reader *reader)
{
    size_t here = reader->at - 1; /* of the B */
    uint64_t target = read_base_62(reader);
    struct resumption after = {reader->at, false};

    MT_ASSERT(reader->name[here] == 'B');
    if (target >= here)
        fail(reader);
    if (reader->has_failed || reader->is_silent)
        return after;
    reader->at = (size_t)target;
    after.is_followed = true;
    return after;
}

static void back_end(struct reader *reader, const struct resumption *after)
{
    reader->at = after->at;
}

/* --- lifetimes -------------------------------------------------------------------------------- */

/* 0 has no name; 1 is of the innermost binder. */
static void write_lifetime(struct reader *reader, uint64_t index)
{
    uint64_t level = reader->lifetimes - index;

    if (index > reader->lifetimes) {
        fail(reader);
        return;
    }
    write_text(reader, "'");
    if (!index) {
        write_text(reader, "_");
    } else if (level < 26) {
        write_bytes(reader, &"abcdefghijklmnopqrstuvwxyz"[level], 1);
    } else {
        write_text(reader, "_");
        write_number(reader, level);
    }
}

/* "for<'a, 'b> "; how many lifetimes it names. */
static uint64_t binder_begin(struct reader *reader)
{
    uint64_t count = read_announced(reader, 'G');

    if (count > lifetimes_most)
        fail(reader);
    if (reader->has_failed || !count)
        return 0;
    write_text(reader, "for<");
    for (uint64_t i = 0; i < count; i++) {
        reader->lifetimes++;
        write_text(reader, i ? ", " : "");
        write_lifetime(reader, 1);
    }
    write_text(reader, "> ");
    return count;
}

static void binder_end(struct reader *reader, uint64_t count)
{
    MT_ASSERT(count <= reader->lifetimes);
    reader->lifetimes -= count;
}

/* --- paths ------------------------------------------------------------------------------------ */

static bool is_upper(char c)
{
    return c >= 'A' && c <= 'Z';
}

/* "::name", or "::{closure#0}" of what has no name in the source. */
static void read_nested(struct reader *reader, bool is_value)
{
    char space = next(reader);
    struct identifier name;

    if (digit_62(space) < 10 || digit_62(space) == 62)
        fail(reader);
    read_path(reader, is_value);
    name = read_identifier(reader);
    if (!is_upper(space)) {
        write_text(reader, name.size_bytes ? "::" : "");
        write_identifier(reader, &name);
        return;
    }
    write_text(reader, "::{");
    if (space == 'C')
        write_text(reader, "closure");
    else if (space == 'S')
        write_text(reader, "shim");
    else
        write_bytes(reader, &space, 1);
    write_text(reader, name.size_bytes ? ":" : "");
    write_identifier(reader, &name);
    write_text(reader, "#");
    write_number(reader, name.number);
    write_text(reader, "}");
}

/* Where an impl stands is not shown. */
static void read_place(struct reader *reader)
{
    bool was_silent = reader->is_silent;

    reader->is_silent = true;
    read_announced(reader, 's');
    read_path(reader, false);
    reader->is_silent = was_silent;
}

static void read_generic_arguments(struct reader *reader)
{
    for (bool is_first = true; !reader->has_failed && !accept(reader, 'E'); is_first = false) {
        write_text(reader, is_first ? "" : ", ");
        if (accept(reader, 'L'))
            write_lifetime(reader, read_base_62(reader));
        else if (accept(reader, 'K'))
            read_const(reader, false);
        else
            read_type(reader);
    }
}

static void read_impl(struct reader *reader, char kind)
{
    if (kind != 'Y')
        read_place(reader);
    write_text(reader, "<");
    read_type(reader);
    if (kind != 'M') {
        write_text(reader, " as ");
        read_path(reader, false);
    }
    write_text(reader, ">");
}

static void read_path_of(struct reader *reader, char kind, bool is_value)
{
    struct identifier crate;
    struct resumption after;

    switch (kind) {
    case 'C':
        crate = read_identifier(reader);
        write_identifier(reader, &crate);
        break;
    case 'N':
        read_nested(reader, is_value);
        break;
    case 'M':
    case 'X':
    case 'Y':
        read_impl(reader, kind);
        break;
    case 'I':
        read_path(reader, is_value);
        write_text(reader, is_value ? "::<" : "<");
        read_generic_arguments(reader);
        write_text(reader, ">");
        break;
    case 'B':
        after = back_begin(reader);
        if (after.is_followed)
            read_path(reader, is_value);
        back_end(reader, &after);
        break;
    default:
        fail(reader);
    }
}

/* A value's generic arguments come after "::". */
static void read_path(struct reader *reader, bool is_value)
{
    if (!enter(reader))
        return;
    read_path_of(reader, next(reader), is_value);
    leave(reader);
}

/* --- types ------------------------------------------------------------------------------------ */

static const char *basic_type(char tag)
{
    static const char tags[] = "abcdefhijlmnopstuvxyz";
    static const char *const names[] = {"i8",    "bool",  "char", "f64", "str",  "f32",  "u8",
                                        "isize", "usize", "i32",  "u32", "i128", "u128", "_",
                                        "i16",   "u16",   "()",   "...", "i64",  "u64",  "!"};
    const char *found = tag ? strchr(tags, tag) : NULL;

    return found ? names[found - tags] : NULL;
}

/* The name of an ABI has - where the identifier has _. */
static void read_abi(struct reader *reader)
{
    struct identifier abi;

    write_text(reader, "extern \"");
    if (accept(reader, 'C')) {
        write_text(reader, "C");
    } else {
        abi = read_plain_identifier(reader);
        for (size_t i = 0; i < abi.size_bytes; i++)
            write_bytes(reader, abi.bytes[i] == '_' ? "-" : abi.bytes + i, 1);
    }
    write_text(reader, "\" ");
}

static void read_function_type(struct reader *reader)
{
    uint64_t bound = binder_begin(reader);

    if (accept(reader, 'U'))
        write_text(reader, "unsafe ");
    if (accept(reader, 'K'))
        read_abi(reader);
    write_text(reader, "fn(");
    for (bool is_first = true; !reader->has_failed && !accept(reader, 'E'); is_first = false) {
        write_text(reader, is_first ? "" : ", ");
        read_type(reader);
    }
    write_text(reader, ")");
    if (!accept(reader, 'u')) { /* -> () is not written */
        write_text(reader, " -> ");
        read_type(reader);
    }
    binder_end(reader, bound);
}

/* A path whose generic arguments may get more; whether they are still open. */
static bool read_open_path(struct reader *reader)
{
    struct resumption after;
    bool is_open = false;

    if (!enter(reader))
        return false;
    if (accept(reader, 'B')) {
        after = back_begin(reader);
        if (after.is_followed)
            is_open = read_open_path(reader);
        back_end(reader, &after);
    } else if (accept(reader, 'I')) {
        read_path(reader, false);
        write_text(reader, "<");
        read_generic_arguments(reader);
        is_open = true;
    } else {
        read_path(reader, false);
    }
    leave(reader);
    return is_open;
}

/* Iterator<Item = u8> */
static void read_bound(struct reader *reader)
{
    bool is_open = read_open_path(reader);

    while (accept(reader, 'p')) {
        struct identifier name;

        write_text(reader, is_open ? ", " : "<");
        is_open = true;
        name = read_plain_identifier(reader);
        write_identifier(reader, &name);
        write_text(reader, " = ");
        if (accept(reader, 'K'))
            read_const(reader, false);
        else
            read_type(reader);
    }
    write_text(reader, is_open ? ">" : "");
}

static void read_dynamic_type(struct reader *reader)
{
    uint64_t bound, lifetime;

    write_text(reader, "dyn ");
    bound = binder_begin(reader);
    for (bool is_first = true; !reader->has_failed && !accept(reader, 'E'); is_first = false) {
        write_text(reader, is_first ? "" : " + ");
        read_bound(reader);
    }
    binder_end(reader, bound);
    if (!accept(reader, 'L'))
        fail(reader);
    lifetime = read_base_62(reader);
    if (lifetime) {
        write_text(reader, " + ");
        write_lifetime(reader, lifetime);
    }
}

static void read_pattern(struct reader *reader)
{
    if (!enter(reader))
        return;
    switch (next(reader)) {
    case 'R':
        read_const(reader, false);
        write_text(reader, "..=");
        read_const(reader, false);
        break;
    case 'O':
        for (bool is_first = true; !reader->has_failed && !accept(reader, 'E'); is_first = false) {
            write_text(reader, is_first ? "" : " | ");
            read_pattern(reader);
        }
        break;
    case 'N':
        write_text(reader, "!null");
        break;
    default:
        fail(reader);
    }
    leave(reader);
}

static void read_reference(struct reader *reader, const char *sign)
{
    uint64_t lifetime;

    write_text(reader, "&");
    if (accept(reader, 'L')) {
        lifetime = read_base_62(reader);
        if (lifetime) {
            write_lifetime(reader, lifetime);
            write_text(reader, " ");
        }
    }
    write_text(reader, sign);
    read_type(reader);
}

static void read_tuple(struct reader *reader)
{
    size_t count = 0;

    write_text(reader, "(");
    for (; !reader->has_failed && !accept(reader, 'E'); count++) {
        write_text(reader, count ? ", " : "");
        read_type(reader);
    }
    write_text(reader, count == 1 ? ",)" : ")");
}

static void read_type_of(struct reader *reader, char tag)
{
    struct resumption after;

    switch (tag) {
    case 'R':
        read_reference(reader, "");
        break;
    case 'Q':
        read_reference(reader, "mut ");
        break;
    case 'P':
    case 'O':
        write_text(reader, tag == 'P' ? "*const " : "*mut ");
        read_type(reader);
        break;
    case 'A':
        write_text(reader, "[");
        read_type(reader);
        write_text(reader, "; ");
        read_const(reader, true);
        write_text(reader, "]");
        break;
    case 'S':
        write_text(reader, "[");
        read_type(reader);
        write_text(reader, "]");
        break;
    case 'T':
        read_tuple(reader);
        break;
    case 'F':
        read_function_type(reader);
        break;
    case 'D':
        read_dynamic_type(reader);
        break;
    case 'W':
        read_type(reader);
        write_text(reader, " is ");
        read_pattern(reader);
        break;
    case 'B':
        after = back_begin(reader);
        if (after.is_followed)
            read_type(reader);
        back_end(reader, &after);
        break;
    default:
        MT_ASSERT(reader->at);
        reader->at--; /* it is a path, or nothing */
        read_path(reader, false);
    }
}

static void read_type(struct reader *reader)
{
    const char *basic;
    char tag;

    if (!enter(reader))
        return;
    tag = next(reader);
    basic = basic_type(tag);
    if (basic)
        write_text(reader, basic);
    else if (tag)
        read_type_of(reader, tag);
    leave(reader);
}

/* --- constants -------------------------------------------------------------------------------- */

struct digits {
    const char *hex; /* without zeros before */
    size_t count;
};

static bool is_hex(char c)
{
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f');
}

static unsigned hex_of(char c)
{
    MT_ASSERT(is_hex(c));
    return (unsigned)(c <= '9' ? c - '0' : c - 'a' + 10);
}

static struct digits read_hex(struct reader *reader)
{
    struct digits read = {reader->name + reader->at, 0};

    while (is_hex(peek(reader))) {
        reader->at++;
        read.count++;
    }
    if (!accept(reader, '_'))
        fail(reader);
    return read;
}

/* Up to 64 bits; false: more. */
static bool number_of(struct digits digits, uint64_t *number)
{
    if (digits.count > hex_most)
        return false;
    while (digits.count && *digits.hex == '0') {
        digits.hex++;
        digits.count--;
    }
    if (digits.count > 16)
        return false;
    *number = 0;
    for (size_t i = 0; i < digits.count; i++)
        *number = *number << 4 | hex_of(digits.hex[i]);
    return true;
}

static void read_integer(struct reader *reader)
{
    struct digits digits = read_hex(reader);
    uint64_t number;

    if (!digits.count || digits.count > hex_most)
        fail(reader);
    if (number_of(digits, &number)) {
        write_number(reader, number);
    } else {
        write_text(reader, "0x");
        write_bytes(reader, digits.hex, digits.count);
    }
}

static void write_quoted_point(struct reader *reader, uint32_t point, char quote)
{
    char code[32];

    if (point == (uint32_t)quote || point == '\\') {
        write_text(reader, "\\");
        write_point(reader, point);
    } else if (point == '\n' || point == '\r' || point == '\t') {
        write_text(reader, point == '\n' ? "\\n" : point == '\r' ? "\\r" : "\\t");
    } else if (point < ' ' || (point >= 0x7f && point < 0xa0)) {
        snprintf(code, sizeof(code), "\\u{%" PRIx32 "}", point);
        write_text(reader, code);
    } else {
        write_point(reader, point);
    }
}

static void read_character(struct reader *reader)
{
    uint64_t point = 0;

    if (!number_of(read_hex(reader), &point) || point > 0x10ffff || point >> 11 == 0x1b)
        fail(reader);
    write_text(reader, "'");
    if (!reader->has_failed)
        write_quoted_point(reader, (uint32_t)point, '\'');
    write_text(reader, "'");
}

static void read_bool(struct reader *reader)
{
    uint64_t number = 2;

    if (!number_of(read_hex(reader), &number) || number > 1)
        fail(reader);
    write_text(reader, number ? "true" : "false");
}

/* The bytes of a text, as UTF-8. */
static void read_text(struct reader *reader)
{
    struct digits digits = read_hex(reader);

    if (digits.count % 2)
        fail(reader);
    write_text(reader, "\"");
    for (size_t i = 0; i + 1 < digits.count && !reader->has_failed;) {
        unsigned char bytes[5] = {0};
        size_t length;
        uint32_t point;

        for (size_t b = 0; b < 4 && i + 2 * b + 1 < digits.count; b++)
            bytes[b] = (unsigned char)(hex_of(digits.hex[i + 2 * b]) << 4 |
                                       hex_of(digits.hex[i + 2 * b + 1]));
        length = utf8_length(bytes);
        if (!length)
            fail(reader);
        point = bytes[0] & (length > 1 ? 0x7fu >> length : 0x7fu);
        for (size_t b = 1; b < length; b++)
            point = point << 6 | (bytes[b] & 0x3fu);
        write_quoted_point(reader, point, '"');
        i += 2 * length;
    }
    write_text(reader, "\"");
}

static size_t read_const_list(struct reader *reader)
{
    size_t count = 0;

    for (; !reader->has_failed && !accept(reader, 'E'); count++) {
        write_text(reader, count ? ", " : "");
        read_const(reader, true);
    }
    return count;
}

static void read_fields(struct reader *reader)
{
    write_text(reader, " { ");
    for (size_t i = 0; !reader->has_failed && !accept(reader, 'E'); i++) {
        struct identifier name = read_identifier(reader);

        write_text(reader, i ? ", " : "");
        write_identifier(reader, &name);
        write_text(reader, ": ");
        read_const(reader, true);
    }
    write_text(reader, " }");
}

/* A value of a structure or of an enumeration. */
static void read_structure(struct reader *reader)
{
    read_path(reader, true);
    switch (next(reader)) {
    case 'U':
        break;
    case 'T':
        write_text(reader, "(");
        read_const_list(reader);
        write_text(reader, ")");
        break;
    case 'S':
        read_fields(reader);
        break;
    default:
        fail(reader);
    }
}

static void read_compound(struct reader *reader, char tag)
{
    switch (tag) {
    case 'e':
        write_text(reader, "*"); /* the text itself, not a reference to it */
        read_text(reader);
        break;
    case 'R':
        if (accept(reader, 'e')) {
            read_text(reader);
            break;
        }
        write_text(reader, "&");
        read_const(reader, true);
        break;
    case 'Q':
        write_text(reader, "&mut ");
        read_const(reader, true);
        break;
    case 'A':
        write_text(reader, "[");
        read_const_list(reader);
        write_text(reader, "]");
        break;
    case 'T':
        write_text(reader, "(");
        write_text(reader, read_const_list(reader) == 1 ? ",)" : ")");
        break;
    case 'V':
        read_structure(reader);
        break;
    default:
        fail(reader);
    }
}

static void read_const_of(struct reader *reader, char tag, bool is_value)
{
    struct resumption after;
    bool has_braces;

    switch (tag) {
    case 'p':
        write_text(reader, "_");
        break;
    case 'a':
    case 'i':
    case 'l':
    case 'n':
    case 's':
    case 'x':
        write_text(reader, accept(reader, 'n') ? "-" : "");
        read_integer(reader);
        break;
    case 'h':
    case 'j':
    case 'm':
    case 'o':
    case 't':
    case 'y':
        read_integer(reader);
        break;
    case 'b':
        read_bool(reader);
        break;
    case 'c':
        read_character(reader);
        break;
    case 'B':
        after = back_begin(reader);
        if (after.is_followed)
            read_const(reader, is_value);
        back_end(reader, &after);
        break;
    default:
        has_braces = !is_value && !(tag == 'R' && peek(reader) == 'e');
        write_text(reader, has_braces ? "{" : "");
        read_compound(reader, tag);
        write_text(reader, has_braces ? "}" : "");
    }
}

/* Among generic arguments, what is more than a literal has braces. */
static void read_const(struct reader *reader, bool is_value)
{
    if (!enter(reader))
        return;
    read_const_of(reader, next(reader), is_value);
    leave(reader);
}

/* --- the whole -------------------------------------------------------------------------------- */

/* What follows a dot or a dollar is the compiler's. */
static bool is_end(char c)
{
    return !c || c == '.' || c == '$';
}

static void read_name(struct reader *reader)
{
    read_path(reader, true);
    if (is_upper(peek(reader))) { /* the crate that this copy was made for */
        reader->is_silent = true;
        read_path(reader, false);
    }
    if (!reader->has_failed && !is_end(peek(reader)))
        fail(reader);
}

bool add_rust_v0_name(struct text_builder *text, const char *name)
{
    struct reader reader = {.name = name + 2};
    bool is_read;

    /* A path begins with a capital letter; a digit would be another version of the format. */
    if (name[0] != '_' || name[1] != 'R' || !is_upper(name[2]))
        return false;
    text_init(&reader.written);
    read_name(&reader);
    is_read = !reader.has_failed;
    if (is_read)
        text_add_bytes(text, text_get(&reader.written), reader.written.size_bytes);
    text_release(&reader.written);
    return is_read;
}
