/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What each reader of our outputs must never see, and what it sees instead.
 */
#include "harmless.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "json_text.h"

/* How a character is written that may not stand as it is. */
enum escape {
    ESCAPE_SHOWN, /* \n, \x1b, \u202e, \xNN for a byte that is no UTF-8 */
    ESCAPE_JSON,  /* the same character to who reads JSON */
    ESCAPE_STAR   /* anything */
};

struct manner {
    const char *quote;     /* around each text */
    const char *quote_for; /* only around a text with one of these, which `as` has; NULL: always */
    const char *as[128];   /* ASCII that means something to the reader, and how it is written */
    enum escape escape;    /* of what is dangerous anywhere */
    bool keeps_lines;      /* line feeds stay */
    bool computes;         /* runs a text that begins like a formula */
    bool is_program;
};

// clang-format off
static const struct manner manners[AUDIENCE_COUNT] = {
    [FOR_TERMINAL] = {.quote = ""},
    [FOR_TERMINAL_LINES] = {.quote = "", .keeps_lines = true},
    [FOR_CSV] = {.is_program = true, .quote = "\"", .quote_for = ",\"", .computes = true,
                 .as = {[','] = ",", ['"'] = "\"\""}},
    [FOR_CSV_LINES] = {.is_program = true, .quote = "\"", .keeps_lines = true, .computes = true,
                       .as = {['"'] = "\"\""}},
    [FOR_CSV_INSIDE] = {.is_program = true, .quote = "", .as = {['"'] = "\"\""}},
    [FOR_JSON] = {.is_program = true, .quote = "\"", .escape = ESCAPE_JSON, .as = {['"'] = "\\\"", ['\\'] = "\\\\"}},
    [FOR_PAGE_JSON] = {.quote = "\"", .as = {['"'] = "\\\"", ['\\'] = "\\\\"}},
    [FOR_HTML] = {.quote = "", .as = {['<'] = "&#60;", ['>'] = "&#62;", ['&'] = "&#38;",
                                      ['"'] = "&#34;", ['\''] = "&#39;"}},
    [FOR_XML] = {.is_program = true, .quote = "", .as = {['<'] = "&lt;", ['>'] = "&gt;", ['&'] = "&amp;",
                                     ['"'] = "&quot;"}},
    [FOR_MARKDOWN] = {.quote = "", .as = {['|'] = "\\|", ['\\'] = "\\\\", ['`'] = "\\`",
                                          ['*'] = "\\*", ['_'] = "\\_", ['['] = "\\[",
                                          [']'] = "\\]", ['<'] = "&lt;", ['>'] = "&gt;",
                                          ['&'] = "&amp;"}},
    [FOR_METRICS] = {.is_program = true, .quote = "", .as = {['"'] = "\\\"", ['\\'] = "\\\\"}},
    [FOR_GITHUB] = {.quote = "", .as = {['%'] = "%25"}},
    [FOR_GITHUB_PROPERTY] = {.quote = "", .as = {['%'] = "%25", [':'] = "%3A", [','] = "%2C"}},
    [FOR_FOLDED] = {.is_program = true, .quote = "", .as = {[';'] = ":"}},
    [FOR_PATTERN] = {.is_program = true, .quote = "\"", .quote_for = " ", .escape = ESCAPE_STAR,
                     .as = {[' '] = " ", ['"'] = "*"}},
};
// clang-format on

/*
 * What no name needs and every reader is misled by: controls, the separators of lines, directions
 * of writing, and what is not seen at all. Source: UAX #9; CVE-2021-42574.
 */
static const struct range {
    uint32_t first, last;
} dangerous[] = {
    {0x0000, 0x001f},   /* C0: the cursor, colours, titles */
    {0x007f, 0x009f},   /* delete, C1: the same in one character */
    {0x061c, 0x061c},   /* Arabic letter mark */
    {0x200e, 0x200f},   /* marks of direction */
    {0x2028, 0x202e},   /* separators of lines; embeddings and overrides */
    {0x2066, 0x206f},   /* isolates, and what came before them */
    {0xfff9, 0xfffb},   /* annotations */
    {0xe0000, 0xe007f}, /* tags */
};

static bool is_dangerous(uint32_t point)
{
    for (size_t i = 0; i < sizeof(dangerous) / sizeof(dangerous[0]); i++)
        if (point >= dangerous[i].first && point <= dangerous[i].last)
            return true;
    return false;
}

static uint32_t point_of(const unsigned char *bytes, size_t length)
{
    static const unsigned char lead_bits[] = {0, 0x7f, 0x1f, 0x0f, 0x07};
    uint32_t point = bytes[0] & lead_bits[length];

    for (size_t i = 1; i < length; i++)
        point = point << 6 | (bytes[i] & 0x3f);
    return point;
}

/* What needs no second look, at the beginning: most texts are nothing else. */
static size_t plain_length(const struct manner *manner, const char *words)
{
    size_t length = 0;

    while (words[length] >= ' ' && words[length] < 0x7f &&
           !manner->as[(unsigned char)words[length]])
        length++;
    return length;
}

/* Backslashes mean something to some readers: then they are written as those have them. */
static void add_backslash(struct text_builder *text, const struct manner *manner)
{
    text_add(text, manner->as['\\'] ? manner->as['\\'] : "\\");
}

static void add_shown(struct text_builder *text, const struct manner *manner, uint32_t point)
{
    static const char *const names[] = {['\t'] = "t", ['\n'] = "n", ['\r'] = "r"};

    add_backslash(text, manner);
    if (point < sizeof(names) / sizeof(names[0]) && names[point])
        text_add(text, names[point]);
    else if (point < 0x80)
        text_add_format(text, "x%02" PRIx32, point);
    else
        text_add_format(text, point < 0x10000 ? "u%04" PRIx32 : "U%08" PRIx32, point);
}

static void add_json_point(struct text_builder *text, uint32_t point)
{
    if (point < 0x10000)
        text_add_format(text, "\\u%04" PRIx32, point);
    else
        text_add_format(text, "\\u%04" PRIx32 "\\u%04" PRIx32, 0xd800 + ((point - 0x10000) >> 10),
                        0xdc00 + (point & 0x3ff));
}

static void add_dangerous(struct text_builder *text, const struct manner *manner, uint32_t point)
{
    switch (manner->escape) {
    case ESCAPE_SHOWN:
        add_shown(text, manner, point);
        break;
    case ESCAPE_JSON:
        add_json_point(text, point);
        break;
    case ESCAPE_STAR:
        text_add(text, "*");
        break;
    }
}

/* A byte that is no UTF-8. */
static void add_stray(struct text_builder *text, const struct manner *manner, unsigned char byte)
{
    switch (manner->escape) {
    case ESCAPE_SHOWN:
        add_backslash(text, manner);
        text_add_format(text, "x%02x", byte);
        break;
    case ESCAPE_JSON:
        text_add(text, "\\ufffd");
        break;
    case ESCAPE_STAR:
        text_add(text, "*");
        break;
    }
}

/* One character, or one byte that is none; returns its length. */
static size_t add_special(struct text_builder *text, const struct manner *manner, const char *words)
{
    const unsigned char *bytes = (const unsigned char *)words;
    size_t length = utf8_length(bytes);
    uint32_t point = length ? point_of(bytes, length) : 0;

    if (!length)
        add_stray(text, manner, *bytes);
    else if (point < 0x80 && manner->as[point])
        text_add(text, manner->as[point]);
    else if (is_dangerous(point) && !(point == '\n' && manner->keeps_lines))
        add_dangerous(text, manner, point);
    else
        text_add_bytes(text, words, length);
    return length ? length : 1;
}

static void add_part(struct text_builder *text, const struct manner *manner, const char *words)
{
    size_t length;

    for (; *words; words += length) {
        length = plain_length(manner, words);
        if (length)
            text_add_bytes(text, words, length);
        else
            length = add_special(text, manner, words);
    }
}

bool is_harmless(enum audience audience, const char *words)
{
    const struct manner *manner = &manners[audience];

    for (words += plain_length(manner, words); *words; words += plain_length(manner, words)) {
        const unsigned char *bytes = (const unsigned char *)words;
        size_t length = utf8_length(bytes);

        if (length < 2 || is_dangerous(point_of(bytes, length)))
            return false;
        words += length;
    }
    return true;
}

/* Spreadsheets run what begins so; a number is one all the same. Source: OWASP, CSV injection. */
static bool is_formula(const char *words)
{
    char *end;

    if (!*words || !strchr("=+-@", *words))
        return false;
    if (strchr("=@", *words) || !words[1] || !strchr("0123456789.", words[1]))
        return true;
    strtod(words, &end);
    return *end != '\0';
}

bool audience_is_people(enum audience audience)
{
    return !manners[audience].is_program;
}

void text_add_harmless(struct text_builder *text, enum audience audience, const char *words)
{
    const struct manner *manner = &manners[audience];
    bool is_computed = manner->computes && is_formula(words);
    size_t length = plain_length(manner, words);
    bool is_quoted = !manner->quote_for || (words[length] && strpbrk(words, manner->quote_for));

    if (is_quoted)
        text_add(text, manner->quote);
    if (is_computed)
        text_add(text, "'");
    text_add_bytes(text, words, length);
    add_part(text, manner, words + length);
    if (is_quoted)
        text_add(text, manner->quote);
}
