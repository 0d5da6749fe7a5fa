/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A text on its way out. None goes out of which a part may be missing, because memory ran out.
 */
#define _GNU_SOURCE /* memrchr */
#include "outlet.h"

#include <assert.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "leaktide/invariant.h"
#include "memory_failures.h"
#include "sentence.h"

enum { FLUSH_BYTES = 1 << 16, conversion_most = 32, number_most = 400, base64_piece = 3 * 1024 };

struct outlet {
    enum audience audience;
    FILE *file; /* NULL: stays here */
    bool has_failed;
    struct terminal_look look;
    bool is_filling;
    size_t fill_start;      /* in text */
    size_t memory_failures; /* before it: what is written while there are more is not whole */
    struct text_builder text, scratch;
};

struct outlet *outlet_create(enum audience audience, FILE *file)
{
    struct outlet *outlet = calloc(1, sizeof(*outlet));

    if (outlet) {
        outlet->audience = audience;
        outlet->file = file;
        outlet->memory_failures = memory_failure_count();
    }
    return outlet;
}

static void write_out(struct outlet *outlet, size_t size_bytes)
{
    struct text_builder *text = &outlet->text;

    if (!size_bytes)
        return;
    if (memory_failure_count() != outlet->memory_failures || outlet->has_failed)
        outlet->has_failed = true;
    else if (fwrite(text->bytes, 1, size_bytes, outlet->file) != size_bytes)
        outlet->has_failed = true;
    text->size_bytes -= size_bytes;
    memmove(text->bytes, text->bytes + size_bytes, text->size_bytes + 1);
}

/* Whole lines, as the blanks at the end of one may be taken back. */
static void write_lines(struct outlet *outlet)
{
    const struct text_builder *text = &outlet->text;
    const char *end = memrchr(text->bytes, '\n', text->size_bytes);

    write_out(outlet, end ? (size_t)(end + 1 - text->bytes) : text->size_bytes);
}

static inline void write_when_full(struct outlet *outlet)
{
    if (outlet->text.size_bytes >= FLUSH_BYTES && outlet->file && !outlet->is_filling)
        write_lines(outlet);
}

bool outlet_has_failed(const struct outlet *outlet)
{
    return !outlet || outlet->has_failed || outlet->text.has_failed || outlet->scratch.has_failed;
}

void outlet_fail(struct outlet *outlet)
{
    if (outlet)
        outlet->has_failed = true;
}

bool outlet_flush(struct outlet *outlet)
{
    MT_ASSERT(!outlet || !outlet->is_filling); /* it would be written as it is */
    if (outlet && outlet->file)
        write_out(outlet, outlet->text.size_bytes);
    return !outlet_has_failed(outlet);
}

bool outlet_destroy(struct outlet *outlet)
{
    bool is_ok = outlet_flush(outlet);

    if (!outlet)
        return false;
    text_release(&outlet->text);
    text_release(&outlet->scratch);
    free(outlet);
    return is_ok;
}

/* --- words and numbers ------------------------------------------------------------------------ */

void outlet_add_literal(struct outlet *outlet, const char *literal, size_t size_bytes)
{
    if (!outlet)
        return;
    text_add_bytes(&outlet->text, literal, size_bytes);
    write_when_full(outlet);
}

void outlet_words_for(struct outlet *outlet, enum audience audience, const char *words)
{
    if (!outlet)
        return;
    text_add_harmless(&outlet->text, audience, words);
    write_when_full(outlet);
}

void outlet_words(struct outlet *outlet, const char *words)
{
    if (outlet)
        outlet_words_for(outlet, outlet->audience, words);
}

void outlet_number(struct outlet *outlet, uint64_t number)
{
    if (!outlet)
        return;
    text_add_number(&outlet->text, number);
    write_when_full(outlet);
}

void outlet_amount(struct outlet *outlet, void (*add)(struct text_builder *text, uint64_t number),
                   uint64_t number)
{
    if (!outlet)
        return;
    add(&outlet->text, number); /* of a number comes no name */
    write_when_full(outlet);
}

void outlet_blanks(struct outlet *outlet, size_t count)
{
    if (outlet)
        text_add_char(&outlet->text, ' ', count);
}

void outlet_end_line(struct outlet *outlet)
{
    struct text_builder *text = outlet ? &outlet->text : NULL;

    while (text && text->size_bytes && text->bytes[text->size_bytes - 1] == ' ')
        text->bytes[--text->size_bytes] = 0;
    outlet_add(outlet, "\n");
}

void outlet_page(struct outlet *outlet, const unsigned char *bytes, size_t size_bytes)
{
    if (!outlet)
        return;
    text_add_bytes(&outlet->text, (const char *)bytes, size_bytes);
    write_when_full(outlet);
}

static size_t encode_groups(const unsigned char *bytes, size_t size_bytes, char *text)
{
    static const char letters[] =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    size_t used = 0;

    for (size_t i = 0; i < size_bytes; i += 3) {
        uint32_t bits = (uint32_t)bytes[i] << 16;

        bits |= i + 1 < size_bytes ? (uint32_t)bytes[i + 1] << 8 : 0;
        bits |= i + 2 < size_bytes ? bytes[i + 2] : 0;
        text[used++] = letters[bits >> 18];
        text[used++] = letters[bits >> 12 & 63];
        text[used++] = i + 1 < size_bytes ? letters[bits >> 6 & 63] : '=';
        text[used++] = i + 2 < size_bytes ? letters[bits & 63] : '=';
    }
    return used;
}

void outlet_base64(struct outlet *outlet, const unsigned char *bytes, size_t size_bytes)
{
    char text[base64_piece / 3 * 4];

    while (outlet && size_bytes) {
        size_t piece = size_bytes < base64_piece ? size_bytes : base64_piece;

        text_add_bytes(&outlet->text, text, encode_groups(bytes, piece, text));
        write_when_full(outlet);
        bytes += piece;
        size_bytes -= piece;
    }
}

/* --- what a terminal shows ----------------------------------------------------------------------
 */

void outlet_show(struct outlet *outlet, const struct terminal_look *look)
{
    if (!outlet || !look)
        return;
    MT_ASSERT(!outlet->is_filling);
    outlet->look = *look;
}

size_t outlet_columns(const struct outlet *outlet)
{
    return outlet ? outlet->look.columns : 0;
}

void outlet_style(struct outlet *outlet, enum style style)
{
    if (outlet)
        text_add_style(&outlet->text, &outlet->look, style);
}

void outlet_headline(struct outlet *outlet, const char *words)
{
    enum style style = STYLE_PLAIN;
    /* In one piece where nothing stands out: a string of JSON is one. */
    size_t length = outlet && outlet->look.has_colours ? headline_style(words, &style) : 0;

    if (length) {
        outlet_style(outlet, style);
        outlet_format(outlet, "%.*s", (int)length, words);
        outlet_style(outlet, STYLE_PLAIN);
    }
    outlet_words(outlet, words + length);
}

/* The byte where a column of a text without escape sequences begins, or the character that is
 * there. */
static size_t column_start(const char *text, size_t column)
{
    size_t at = 0;

    for (; text[at]; at++) {
        size_t width = text_character_width(text + at);

        if (width > column || (width && !column))
            break;
        column -= width;
    }
    return at;
}

void outlet_place(struct outlet *outlet, const char *file, uint32_t line, size_t room)
{
    bool is_link = outlet && text_begin_link(&outlet->text, &outlet->look, file, line);
    size_t width = text_width(file);
    bool is_short = room > 1 && width > room;

    outlet_add_either(outlet, is_short, "…", "");
    outlet_words(outlet, is_short ? file + column_start(file, width - room + 1) : file);
    if (line)
        outlet_format(outlet, ":%" PRIu32, line);
    if (is_link)
        text_end_link(&outlet->text);
}

void outlet_fill_begin(struct outlet *outlet)
{
    if (!outlet)
        return;
    MT_ASSERT(!outlet->is_filling);
    outlet->is_filling = true;
    outlet->fill_start = outlet->text.size_bytes;
}

void outlet_fill_end(struct outlet *outlet, size_t indent)
{
    if (!outlet)
        return;
    MT_ASSERT(outlet->is_filling);
    text_fill(&outlet->text, &outlet->look, outlet->fill_start, indent);
    outlet->is_filling = false;
    write_when_full(outlet);
}

/* --- formats ---------------------------------------------------------------------------------- */

/* %[flags][width][.precision][length]letter */
struct conversion {
    char flags[8];
    int width, precision; /* -1: not given */
    char length;          /* 'l', 'z', 'j', 'q' for two l; 0: int and shorter */
    char letter;
};

/* A va_list that a function can take from. */
struct arguments {
    va_list list;
};

static int size_take(const char **at, struct arguments *arguments)
{
    int size = 0;

    if (**at == '*') {
        ++*at;
        return va_arg(arguments->list, int);
    }
    while (**at >= '0' && **at <= '9')
        size = size * 10 + (*(*at)++ - '0');
    return size;
}

/* After the %; returns what is after it all. */
static const char *conversion_read(const char *at, struct conversion *out,
                                   struct arguments *arguments)
{
    size_t flag_count = strspn(at, "-+ #0");

    assert(flag_count < sizeof(out->flags));
    *out = (struct conversion){.precision = -1};
    memcpy(out->flags, at, flag_count);
    at += flag_count;
    out->width = size_take(&at, arguments);
    if (*at == '.') {
        at++;
        out->precision = size_take(&at, arguments);
    }
    for (; strchr("hlzjt", *at); at++)
        out->length = *at == 'h' ? 0 : *at == 'l' && out->length == 'l' ? 'q' : *at;
    out->letter = *at;
    return at + 1;
}

static uintmax_t unsigned_take(char length, struct arguments *arguments)
{
    switch (length) {
    case 'l':
        return va_arg(arguments->list, unsigned long);
    case 'q':
        return va_arg(arguments->list, unsigned long long);
    case 'z':
        return va_arg(arguments->list, size_t);
    case 'j':
        return va_arg(arguments->list, uintmax_t);
    default:
        return va_arg(arguments->list, unsigned);
    }
}

static intmax_t signed_take(char length, struct arguments *arguments)
{
    switch (length) {
    case 'l':
        return va_arg(arguments->list, long);
    case 'q':
        return va_arg(arguments->list, long long);
    case 'z':
    case 't':
        return va_arg(arguments->list, ptrdiff_t);
    case 'j':
        return va_arg(arguments->list, intmax_t);
    default:
        return va_arg(arguments->list, int);
    }
}

/* The standard library knows numbers; they come here in their widest type. */
static void add_number(struct outlet *outlet, const struct conversion *how,
                       struct arguments *arguments)
{
    bool is_signed = strchr("di", how->letter) != NULL, is_float = strchr("fFeEgG", how->letter);
    char format[conversion_most], digits[number_most];

    if (how->letter == 'u' && !how->flags[0] && !how->width && how->precision < 0) {
        text_add_number(&outlet->text, unsigned_take(how->length, arguments));
        return;
    }
    snprintf(format, sizeof(format), "%%%s*.*%s%c", how->flags, is_float ? "" : "j", how->letter);
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
    if (is_float)
        snprintf(digits, sizeof(digits), format, how->width, how->precision,
                 va_arg(arguments->list, double));
    else if (is_signed)
        snprintf(digits, sizeof(digits), format, how->width, how->precision,
                 signed_take(how->length, arguments));
    else
        snprintf(digits, sizeof(digits), format, how->width, how->precision,
                 unsigned_take(how->length, arguments));
#pragma GCC diagnostic pop
    text_add(&outlet->text, digits);
}

/* Widths count what is shown. */
static void add_string(struct outlet *outlet, const struct conversion *how, const char *words)
{
    struct text_builder *text = &outlet->text;
    size_t start = text->size_bytes, width;
    char blank[] = " ";

    if (how->precision >= 0) {
        text_clear(&outlet->scratch);
        text_add_bytes(&outlet->scratch, words, strnlen(words, (size_t)how->precision));
        words = text_get(&outlet->scratch);
    }
    text_add_harmless(text, outlet->audience, words);
    width = text->size_bytes > start ? text_width(text->bytes + start) : 0;
    if (how->width <= 0 || width >= (size_t)how->width)
        return;
    text_add_char(text, *blank, (size_t)how->width - width);
    if (strchr(how->flags, '-') || text->has_failed)
        return;
    memmove(text->bytes + start + (size_t)how->width - width, text->bytes + start,
            text->size_bytes - start - ((size_t)how->width - width));
    memset(text->bytes + start, ' ', (size_t)how->width - width);
}

static void add_conversion(struct outlet *outlet, const struct conversion *how,
                           struct arguments *arguments)
{
    char letter[2] = "";

    switch (how->letter) {
    case 's':
        add_string(outlet, how, va_arg(arguments->list, const char *));
        break;
    case 'c':
        letter[0] = (char)va_arg(arguments->list, int);
        add_string(outlet, how, letter);
        break;
    case '%':
        text_add(&outlet->text, "%");
        break;
    default:
        assert(strchr("diuxXofFeEgG", how->letter));
        add_number(outlet, how, arguments);
        break;
    }
}

void outlet_add_arguments(struct outlet *outlet, const char *format, va_list list)
{
    struct arguments arguments;
    struct conversion how;

    if (!outlet)
        return;
    va_copy(arguments.list, list);
    while (*format) {
        size_t length = strcspn(format, "%");

        text_add_bytes(&outlet->text, format, length);
        format += length;
        if (!*format)
            break;
        format = conversion_read(format + 1, &how, &arguments);
        add_conversion(outlet, &how, &arguments);
    }
    va_end(arguments.list);
    write_when_full(outlet);
}

void outlet_add_format(struct outlet *outlet, const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    outlet_add_arguments(outlet, format, arguments);
    va_end(arguments);
}

void outlet_add_sentence(struct outlet *outlet, const char *english, ...)
{
    va_list arguments;

    va_start(arguments, english);
    outlet_add_arguments(outlet, translated(english), arguments);
    va_end(arguments);
}

bool outlet_print_format(FILE *file, const char *format, ...)
{
    struct outlet *outlet = outlet_create(FOR_TERMINAL, file);
    va_list arguments;

    va_start(arguments, format);
    outlet_add_arguments(outlet, format, arguments);
    va_end(arguments);
    return outlet_destroy(outlet);
}

bool outlet_print_lines(FILE *file, const char *lines)
{
    struct outlet *outlet = outlet_create(FOR_TERMINAL_LINES, file);

    outlet_words(outlet, lines);
    return outlet_destroy(outlet);
}

/* --- outlets without a file ------------------------------------------------------------------- */

size_t outlet_width(const struct outlet *outlet)
{
    return outlet ? text_shown_width(text_get(&outlet->text)) : 0;
}

const char *outlet_text(const struct outlet *outlet, size_t *size_bytes)
{
    *size_bytes = outlet ? outlet->text.size_bytes : 0;
    return outlet ? text_get(&outlet->text) : "";
}

void outlet_append(struct outlet *outlet, const struct outlet *other)
{
    if (!outlet || !other)
        return;
    assert(outlet->audience == other->audience);
    text_add_bytes(&outlet->text, text_get(&other->text), other->text.size_bytes);
    outlet->has_failed |= outlet_has_failed(other);
    write_when_full(outlet);
}

void outlet_append_short(struct outlet *outlet, const struct outlet *other, size_t width)
{
    const char *text = other ? text_get(&other->text) : "";
    size_t shown = text_width(text), head = width / 2, tail = width - head - 1;

    if (!outlet || !other || shown <= width || !width) {
        outlet_append(outlet, other);
        return;
    }
    MT_ASSERT(outlet->audience == other->audience);
    MT_ASSERT(!other->look.has_colours && !other->look.has_links); /* a sequence would be cut */
    text_add_bytes(&outlet->text, text, column_start(text, head));
    text_add(&outlet->text, "…");
    text_add(&outlet->text, text + column_start(text, shown - tail));
    outlet->has_failed |= outlet_has_failed(other);
}

void outlet_append_lines(struct outlet *outlet, const struct outlet *other, size_t count)
{
    const char *text = other ? text_get(&other->text) : "", *end = text;

    if (!outlet || !other)
        return;
    MT_ASSERT(outlet != other && outlet->audience == other->audience);
    while (count && (end = strchr(end, '\n'))) {
        end++;
        count--;
    }
    text_add_bytes(&outlet->text, text, end ? (size_t)(end - text) : other->text.size_bytes);
    outlet->has_failed |= outlet_has_failed(other);
    write_when_full(outlet);
}

void outlet_clear(struct outlet *outlet)
{
    if (!outlet)
        return;
    MT_ASSERT(!outlet->file); /* of what went out, nothing comes back */
    MT_ASSERT(!outlet->is_filling);
    text_clear(&outlet->text);
}
