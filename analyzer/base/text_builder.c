/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A text that grows at its end, and numbers as people read them.
 */
#include "text_builder.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "arena.h"
#include "leaktide/invariant.h"
#include "sentence.h"

enum { first_capacity_bytes = 128, digits_most = 20 };

void text_init(struct text_builder *text)
{
    memset(text, 0, sizeof(*text));
}

void text_release(struct text_builder *text)
{
    free(text->bytes);
    text_init(text);
}

void text_clear(struct text_builder *text)
{
    text->size_bytes = 0;
    if (text->bytes)
        text->bytes[0] = 0;
}

const char *text_get(const struct text_builder *text)
{
    return text->bytes ? text->bytes : "";
}

const char *text_keep(struct text_builder *text, struct arena *arena)
{
    const char *copy =
        text->has_failed ? NULL : arena_text(arena, text_get(text), text->size_bytes);

    arena->has_failed |= !copy;
    text_release(text);
    return copy ? copy : "";
}

char *text_make_room(struct text_builder *text, size_t more_bytes)
{
    size_t capacity_bytes = text->capacity_bytes ? text->capacity_bytes : first_capacity_bytes;
    char *larger;

    MT_ASSERT(!text->bytes == !text->capacity_bytes);
    MT_ASSERT(text->bytes ? text->size_bytes < text->capacity_bytes : !text->size_bytes);
    MT_ASSERT(!text->bytes || !text->bytes[text->size_bytes]);
    if (more_bytes >= SIZE_MAX / 4 - text->size_bytes) {
        text->has_failed = true;
        return NULL;
    }
    while (capacity_bytes < text->size_bytes + more_bytes + 1)
        capacity_bytes *= 2;
    if (capacity_bytes == text->capacity_bytes)
        return text->bytes + text->size_bytes;
    larger = realloc(text->bytes, capacity_bytes);
    if (!larger) {
        text->has_failed = true;
        return NULL;
    }
    text->bytes = larger;
    text->capacity_bytes = capacity_bytes;
    return text->bytes + text->size_bytes;
}

void text_add_char(struct text_builder *text, char character, size_t count)
{
    if (!text_make_room(text, count))
        return;
    memset(text->bytes + text->size_bytes, character, count);
    text->size_bytes += count;
    text->bytes[text->size_bytes] = 0;
}

/* Two digits at a time, from the end. */
void text_add_number(struct text_builder *text, uint64_t number)
{
    static const char pairs[] = "00010203040506070809101112131415161718192021222324"
                                "25262728293031323334353637383940414243444546474849"
                                "50515253545556575859606162636465666768697071727374"
                                "75767778798081828384858687888990919293949596979899";
    char digits[digits_most];
    size_t i = sizeof(digits);

    for (; number >= 10; number /= 100)
        memcpy(digits + (i -= 2), pairs + number % 100 * 2, 2);
    if (number || i == sizeof(digits))
        digits[--i] = (char)('0' + number);
    text_add_bytes(text, digits + i, sizeof(digits) - i);
}

static void add_arguments(struct text_builder *text, const char *format, va_list arguments)
{
    va_list again;
    int length;

    va_copy(again, arguments);
    length = vsnprintf(NULL, 0, format, again);
    va_end(again);
    if (length < 0 || !text_make_room(text, (size_t)length))
        return;
    vsnprintf(text->bytes + text->size_bytes, (size_t)length + 1, format, arguments);
    text->size_bytes += (size_t)length;
}

void text_add_format(struct text_builder *text, const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    add_arguments(text, format, arguments);
    va_end(arguments);
}

void text_add_sentence(struct text_builder *text, const char *english, ...)
{
    va_list arguments;

    va_start(arguments, english);
    add_arguments(text, translated(english), arguments);
    va_end(arguments);
}

void text_add_count(struct text_builder *text, uint64_t count)
{
    char digits[32];
    int length = snprintf(digits, sizeof(digits), "%" PRIu64, count);

    for (int i = 0; i < length; i++) {
        if (i && (length - i) % 3 == 0)
            text_add_char(text, ',', 1);
        text_add_char(text, digits[i], 1);
    }
}

/* value / unit with three digits, rounded to nearest, in integers. */
static void add_scaled(struct text_builder *text, uint64_t value, uint64_t unit)
{
    static const struct {
        uint64_t below, parts;
        int digits;
    } forms[] = {{10, 100, 2}, {100, 10, 1}, {UINT64_MAX, 1, 0}};

    for (size_t i = 0; i < sizeof(forms) / sizeof(forms[0]); i++) {
        unsigned __int128 scaled = (unsigned __int128)value * forms[i].parts + unit / 2;
        uint64_t parts = (uint64_t)(scaled / unit);
        uint64_t whole = parts / forms[i].parts;

        if (whole >= forms[i].below)
            continue;
        if (forms[i].digits)
            text_add_format(text, "%" PRIu64 ".%0*" PRIu64, whole, forms[i].digits,
                            parts % forms[i].parts);
        else
            text_add_format(text, "%" PRIu64, whole);
        return;
    }
}

/* bytes / 2^bits, to nearest */
static uint64_t rounded(uint64_t bytes, unsigned bits)
{
    return (bytes >> bits) + (bytes >> (bits - 1) & 1);
}

void text_add_size(struct text_builder *text, uint64_t bytes)
{
    static const char *const units[] = {"KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
    unsigned unit = 0;

    if (bytes < 1024) {
        text_add_format(text, "%" PRIu64 " B", bytes);
        return;
    }
    /* 1023.6 KiB reads as 1.00 MiB */
    while (unit < 5 && rounded(bytes, 10 * (unit + 1)) >= 1024)
        unit++;
    add_scaled(text, bytes, UINT64_C(1) << (10 * (unit + 1)));
    text_add_format(text, " %s", units[unit]);
}

void text_add_size_exact(struct text_builder *text, uint64_t bytes)
{
    text_add_size(text, bytes);
    if (bytes < 1024)
        return;
    text_add(text, " (");
    text_add_count(text, bytes);
    text_add(text, " B)");
}

void text_add_duration(struct text_builder *text, uint64_t ns)
{
    static const struct {
        uint64_t ns;
        const char *name;
    } units[] = {{UINT64_C(1000000000), "s"}, {1000000, "ms"}, {1000, "us"}};

    for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++) {
        if (ns < units[i].ns)
            continue;
        add_scaled(text, ns, units[i].ns);
        text_add_format(text, " %s", units[i].name);
        return;
    }
    text_add_format(text, "%" PRIu64 " ns", ns);
}

void text_add_time(struct text_builder *text, uint64_t ns)
{
    text_add_format(text, "%" PRIu64 ".%06" PRIu64 " s", ns / UINT64_C(1000000000),
                    ns % UINT64_C(1000000000) / 1000);
}

/*
 * Of a character of three bytes or four: signs of Chinese, Japanese and Korean, their punctuation
 * and full-width forms. Source: Unicode, East Asian Width.
 */
static bool is_wide(const unsigned char *at)
{
    static const struct {
        uint32_t first, last;
    } wide[] = {{0x1100, 0x115f}, {0x2e80, 0x303e}, {0x3041, 0xa4cf}, {0xac00, 0xd7a3},
                {0xf900, 0xfaff}, {0xfe30, 0xfe6f}, {0xff00, 0xff60}};
    uint32_t character;

    if (*at < 0xe0 || !at[1] || !at[2])
        return false;
    if (*at >= 0xf0)
        return *at == 0xf0 && at[1] >= 0xa0;
    character = (uint32_t)(*at & 0xf) << 12 | (uint32_t)(at[1] & 0x3f) << 6 | (at[2] & 0x3f);
    for (size_t i = 0; i < sizeof(wide) / sizeof(wide[0]); i++)
        if (character >= wide[i].first && character <= wide[i].last)
            return true;
    return false;
}

size_t text_character_width(const char *at)
{
    const unsigned char *bytes = (const unsigned char *)at;

    if (!*bytes || (*bytes & 0xc0) == 0x80)
        return 0;
    return is_wide(bytes) ? 2 : 1;
}

size_t text_width(const char *terminated)
{
    size_t width = 0;

    for (; *terminated; terminated++)
        width += text_character_width(terminated);
    return width;
}
