/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Colours, links and line breaks of a terminal.
 */
#include "terminal_look.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "leaktide/invariant.h"
#include "sentence.h"

enum { HOST_NAME_BYTES = 256 };

#define ESCAPE "\033"

void text_add_style(struct text_builder *text, const struct terminal_look *look, enum style style)
{
    static const char *const sequences[STYLE_COUNT] = {
        [STYLE_PLAIN] = ESCAPE "[0m",   [STYLE_STRONG] = ESCAPE "[1m",
        [STYLE_BAD] = ESCAPE "[1;31m",  [STYLE_UNSURE] = ESCAPE "[1;33m",
        [STYLE_GOOD] = ESCAPE "[1;32m", [STYLE_FAINT] = ESCAPE "[2m",
    };

    MT_ASSERT(style < STYLE_COUNT);
    if (look->has_colours)
        text_add(text, sequences[style]);
}

/* A path in a URI: what is no letter, digit or one of a few signs is %XX. */
static void add_uri_path(struct text_builder *text, const char *path)
{
    static const char digits[] = "0123456789ABCDEF", plain[] = "-._~/";

    for (; *path; path++) {
        unsigned char byte = (unsigned char)*path;
        bool is_plain = (byte >= 'a' && byte <= 'z') || (byte >= 'A' && byte <= 'Z') ||
                        (byte >= '0' && byte <= '9') || strchr(plain, byte);

        if (!is_plain)
            text_add_char(text, '%', 1);
        text_add_char(text, is_plain ? (char)byte : digits[byte >> 4], 1);
        if (!is_plain)
            text_add_char(text, digits[byte & 15], 1);
    }
}

bool text_begin_link(struct text_builder *text, const struct terminal_look *look, const char *file,
                     uint32_t line)
{
    char host[HOST_NAME_BYTES] = "", *path;

    if (!look->has_links || !*file)
        return false;
    path = realpath(file, NULL);
    if (!path)
        return false;
    if (gethostname(host, sizeof(host) - 1) != 0)
        host[0] = 0;
    text_add(text, ESCAPE "]8;;file://");
    add_uri_path(text, host);
    add_uri_path(text, path);
    if (line) {
        text_add_char(text, '#', 1);
        text_add_number(text, line);
    }
    text_add(text, ESCAPE "\\");
    free(path);
    return true;
}

void text_end_link(struct text_builder *text)
{
    text_add(text, ESCAPE "]8;;" ESCAPE "\\");
}

/* Bytes of the escape sequence that begins here; 0: none does. */
static size_t sequence_bytes(const char *at)
{
    const char *end = at + 2;

    if (at[0] != *ESCAPE)
        return 0;
    if (at[1] == ']') {
        end = strstr(at, ESCAPE "\\");
        return end ? (size_t)(end + 2 - at) : 1;
    }
    while (*end && !(*end >= '@' && *end <= '~'))
        end++;
    return (size_t)(end - at) + (*end != 0);
}

/* Up to a blank, a line feed or the end: its bytes, and the columns it takes. */
static size_t word_bytes(const char *at, size_t *width)
{
    const char *from = at;

    *width = 0;
    while (*at && *at != ' ' && *at != '\n') {
        size_t skipped = sequence_bytes(at);

        *width += skipped ? 0 : text_character_width(at);
        at += skipped ? skipped : 1;
    }
    return (size_t)(at - from);
}

size_t text_shown_width(const char *terminated)
{
    size_t width, all = 0;

    while (*terminated) {
        terminated += word_bytes(terminated, &width);
        all += width + (*terminated != 0);
        terminated += *terminated != 0;
    }
    return all;
}

/* "16.0 KiB", "5 %": a line does not end between the two. */
static bool is_unit_after(const char *word, size_t bytes, const char *next)
{
    static const char *const units[] = {"B", "KiB", "MiB", "GiB", "TiB",
                                        "%", "s",   "ms",  "us",  "ns"};
    size_t length = strcspn(next, " ,.;:)\n");

    if (!bytes || word[bytes - 1] < '0' || word[bytes - 1] > '9')
        return false;
    for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++)
        if (strlen(units[i]) == length && memcmp(units[i], next, length) == 0)
            return true;
    return false;
}

/* The same with a unit after it. */
static size_t unit_bytes(const char *at, size_t *width)
{
    size_t bytes = word_bytes(at, width), more_width;

    if (at[bytes] == ' ' && is_unit_after(at, bytes, at + bytes + 1)) {
        bytes += 1 + word_bytes(at + bytes + 1, &more_width);
        *width += 1 + more_width;
    }
    return bytes;
}

/* A comma, a full stop and their like in Chinese, or a closing bracket: no line begins with one. */
static bool is_closing(const char *at)
{
    static const char *const signs[] = {"，", "。", "、", "：", "；", "！", "？", "）", "”", "》"};

    for (size_t i = 0; i < sizeof(signs) / sizeof(signs[0]); i++)
        if (strncmp(at, signs[i], strlen(signs[i])) == 0)
            return true;
    return false;
}

/* Of a word with signs of Chinese, which has no blanks: as far as no line may end. */
static size_t piece_bytes(const char *at, size_t *width)
{
    size_t bytes = unit_bytes(at, width), shown = 0;
    bool was_wide = false;

    for (size_t i = 0; i < bytes; i++) {
        size_t character = text_character_width(at + i);

        if (sequence_bytes(at + i))
            return bytes; /* names in colours stay whole */
        if (i && character && (character > 1 || was_wide) && !is_closing(at + i)) {
            *width = shown;
            return i;
        }
        was_wide = character ? character > 1 : was_wide;
        shown += character;
    }
    return bytes;
}

static void fill(struct text_builder *out, const char *at, size_t columns, size_t column,
                 size_t indent)
{
    size_t blanks = 0, width;

    while (*at) {
        size_t bytes;

        if (*at == '\n')
            column = blanks = 0;
        if (*at == '\n' || *at == ' ') {
            blanks += *at == ' ';
            if (*at++ == '\n')
                text_add_char(out, '\n', 1);
            continue;
        }
        bytes = piece_bytes(at, &width);
        if (column + blanks + width > columns && column > indent) {
            text_add_char(out, '\n', 1);
            text_add_char(out, ' ', indent);
            column = indent;
        } else {
            text_add_char(out, ' ', blanks);
            column += blanks;
        }
        text_add_bytes(out, at, bytes);
        column += width;
        blanks = 0;
        at += bytes;
    }
}

void text_fill(struct text_builder *text, const struct terminal_look *look, size_t start,
               size_t indent)
{
    size_t line = start, column;
    struct text_builder filled;

    MT_ASSERT(start <= text->size_bytes);
    if (!look->columns || start >= text->size_bytes)
        return;
    while (line && text->bytes[line - 1] != '\n')
        line--;
    column = text_shown_width(text->bytes + line) - text_shown_width(text->bytes + start);
    text_init(&filled);
    fill(&filled, text->bytes + start, look->columns, column, indent);
    text->size_bytes = start;
    text->bytes[start] = 0;
    text_add_bytes(text, text_get(&filled), filled.size_bytes);
    text->has_failed |= filled.has_failed;
    text_release(&filled);
}

size_t headline_style(const char *sentence, enum style *style)
{
    static const struct {
        const char *words;
        enum style style;
    } headlines[] = {
        {"LEAK", STYLE_BAD},
        {"LEAKS", STYLE_BAD},
        {"NEW LEAK", STYLE_BAD},
        {"STILL LEAKS", STYLE_BAD},
        {"OUT OF MEMORY", STYLE_BAD},
        {"REFUSED", STYLE_BAD},
        {"OVER THE LIMIT", STYLE_BAD},
        {"Memory gate FAILED", STYLE_BAD},
        {"INCOMPLETE", STYLE_UNSURE},
        {"IMPOSSIBLE NUMBERS", STYLE_UNSURE},
        {"CANNOT SAY", STYLE_UNSURE},
        {"MAY BE ONE CAUSE", STYLE_UNSURE},
        {"MAY BE ANOTHER LINE", STYLE_UNSURE},
        {"MAY BE A CACHE", STYLE_UNSURE},
        {"No leak verdict", STYLE_UNSURE},
        {"No steps", STYLE_UNSURE},
        {"Memory gate CANNOT JUDGE", STYLE_UNSURE},
        {"Memory gate INCOMPLETE", STYLE_UNSURE},
        {"No leak", STYLE_GOOD},
        {"FIXED", STYLE_GOOD},
        {"NO CHANGE", STYLE_GOOD},
        {"Memory gate passed", STYLE_GOOD},
    };
    size_t capitals = strspn(sentence, "ABCDEFGHIJKLMNOPQRSTUVWXYZ "), longest = 0;

    if (capitals > 2 && sentence[capitals] == ':') {
        *style = STYLE_STRONG;
        longest = capitals;
    }
    for (size_t i = 0; i < sizeof(headlines) / sizeof(headlines[0]); i++) {
        const char *words = translated(headlines[i].words);
        size_t length = strlen(words);

        if (length >= longest && strncmp(sentence, words, length) == 0 &&
            (!sentence[length] || strchr(" :;,.", sentence[length]) || sentence[length] & 0x80)) {
            *style = headlines[i].style;
            longest = length;
        }
    }
    return longest ? longest + (sentence[longest] == ':') : 0;
}
