/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Strings of JSON. Source: RFC 8259, section 7; for UTF-8 RFC 3629.
 */
#include "json_text.h"

#include <stdint.h>

#include "harmless.h"

size_t utf8_length(const unsigned char *bytes)
{
    static const struct {
        unsigned char mask, lead;
        uint32_t least;
    } forms[] = {{0x80, 0, 0}, {0xe0, 0xc0, 0x80}, {0xf0, 0xe0, 0x800}, {0xf8, 0xf0, 0x10000}};

    for (size_t length = 1; length <= 4; length++) {
        uint32_t point = bytes[0] & (unsigned char)~forms[length - 1].mask;

        if ((bytes[0] & forms[length - 1].mask) != forms[length - 1].lead)
            continue;
        for (size_t i = 1; i < length; i++) {
            if ((bytes[i] & 0xc0) != 0x80)
                return 0;
            point = point << 6 | (bytes[i] & 0x3f);
        }
        return point < forms[length - 1].least || point > 0x10ffff || point >> 11 == 0x1b ? 0
                                                                                          : length;
    }
    return 0;
}

void text_add_code_point(struct text_builder *text, uint32_t code)
{
    if (code < 0x80) {
        text_add_char(text, (char)code, 1);
    } else if (code < 0x800) {
        text_add_char(text, (char)(0xc0 | code >> 6), 1);
        text_add_char(text, (char)(0x80 | (code & 0x3f)), 1);
    } else if (code < 0x10000) {
        text_add_char(text, (char)(0xe0 | code >> 12), 1);
        text_add_char(text, (char)(0x80 | (code >> 6 & 0x3f)), 1);
        text_add_char(text, (char)(0x80 | (code & 0x3f)), 1);
    } else {
        text_add_char(text, (char)(0xf0 | code >> 18), 1);
        text_add_char(text, (char)(0x80 | (code >> 12 & 0x3f)), 1);
        text_add_char(text, (char)(0x80 | (code >> 6 & 0x3f)), 1);
        text_add_char(text, (char)(0x80 | (code & 0x3f)), 1);
    }
}

void text_add_utf8(struct text_builder *text, const char *string)
{
    while (*string) {
        size_t length = utf8_length((const unsigned char *)string);

        if (length)
            text_add_bytes(text, string, length);
        else
            text_add(text, "\xef\xbf\xbd");
        string += length ? length : 1;
    }
}

void text_add_json(struct text_builder *text, const char *string)
{
    text_add_harmless(text, FOR_JSON, string);
}
