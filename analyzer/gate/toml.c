/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A recursive-descent reader for the part of TOML that a policy needs.
 *
 * Invariant: `at` never passes `end`; every function that reads a value moves `at` past it.
 */
#include "toml.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "json_text.h"
#include "sentence.h"
#include "text_builder.h"

enum { DEPTH_MAX = 32, NUMBER_MAX = 64 };

struct reader {
    const char *name;
    const char *at, *end;
    unsigned line;
    unsigned section; /* headers so far, and one; 0 while a header is read */
    unsigned depth;
    struct arena *arena;
    struct mt_error *error;
    enum mt_result result;
};

static bool fail(struct reader *reader, enum mt_result result, const char *what)
{
    if (reader->result == MT_OK)
        reader->result = mt_error_set(reader->error, result, "%s:%u: %s", reader->name,
                                      reader->line, translated(what));
    return false;
}

static bool refuse(struct reader *reader, const char *what)
{
    return fail(reader, MT_USAGE, what);
}

static struct toml_node *node_new(struct reader *reader, enum toml_kind kind)
{
    struct toml_node *node = arena_alloc(reader->arena, sizeof(*node));

    if (!node) {
        fail(reader, MT_NO_MEMORY, "no memory");
        return NULL;
    }
    node->kind = kind;
    node->line = reader->line;
    return node;
}

static void node_append(struct toml_node *parent, struct toml_node *child)
{
    if (parent->last)
        parent->last->next = child;
    else
        parent->first = child;
    parent->last = child;
}

static struct toml_node *child_of(const struct toml_node *table, const char *key)
{
    for (struct toml_node *node = table->first; node; node = node->next)
        if (strcmp(node->key, key) == 0)
            return node;
    return NULL;
}

const struct toml_node *toml_find(const struct toml_node *table, const char *key)
{
    return table && table->kind == TOML_TABLE ? child_of(table, key) : NULL;
}

const char *toml_kind_name(enum toml_kind kind)
{
    static const char *const names[] = {
        [TOML_TABLE] = "a table",     [TOML_ARRAY] = "an array",
        [TOML_STRING] = "a string",   [TOML_INTEGER] = "a whole number",
        [TOML_FRACTION] = "a number", [TOML_BOOLEAN] = "true or false",
    };

    return names[kind];
}

/* --- characters --------------------------------------------------------------------------- */

static int peek(const struct reader *reader)
{
    return reader->at < reader->end ? (unsigned char)*reader->at : -1;
}

static bool accept(struct reader *reader, char character)
{
    if (peek(reader) != (unsigned char)character)
        return false;
    reader->at++;
    return true;
}

static void skip_blanks(struct reader *reader)
{
    while (peek(reader) == ' ' || peek(reader) == '\t')
        reader->at++;
}

static bool is_control(int c)
{
    return (c >= 0 && c < ' ' && c != '\t') || c == 0x7f;
}

static bool is_line_end(const struct reader *reader)
{
    return peek(reader) == '\n' ||
           (peek(reader) == '\r' && reader->at + 1 < reader->end && reader->at[1] == '\n');
}

static void skip_comment(struct reader *reader)
{
    if (peek(reader) != '#')
        return;
    for (; peek(reader) >= 0 && !is_line_end(reader); reader->at++)
        if (is_control(peek(reader)))
            refuse(reader, "a comment has no control characters");
}

static bool accept_newline(struct reader *reader)
{
    if (peek(reader) == '\r' && reader->at + 1 < reader->end && reader->at[1] == '\n')
        reader->at++;
    if (!accept(reader, '\n'))
        return false;
    reader->line++;
    return true;
}

/* Blanks, comments and ends of lines: between the values of an array, and between statements. */
static void skip_all(struct reader *reader)
{
    do {
        skip_blanks(reader);
        skip_comment(reader);
    } while (accept_newline(reader));
}

/* --- strings ------------------------------------------------------------------------------ */

static bool read_code_point(struct reader *reader, unsigned digits, struct text_builder *text)
{
    uint32_t code = 0;

    for (unsigned i = 0; i < digits; i++) {
        int c = peek(reader);

        if (c < 0 || !isxdigit(c))
            return refuse(reader, "\\u needs 4 and \\U needs 8 hexadecimal digits");
        code = code << 4 | (uint32_t)(isdigit(c) ? c - '0' : (c | 0x20) - 'a' + 10);
        reader->at++;
    }
    if (!code || code > 0x10ffff || (code >= 0xd800 && code < 0xe000))
        return refuse(reader, "this is no character of a text");
    text_add_code_point(text, code);
    return true;
}

static bool read_escape(struct reader *reader, struct text_builder *text)
{
    static const char letters[] = "btnfr\"\\", meanings[] = "\b\t\n\f\r\"\\";
    int c = peek(reader);
    const char *found = c > 0 ? strchr(letters, c) : NULL;

    if (c < 0)
        return refuse(reader, "the string does not end");
    reader->at++;
    if (c == 'u' || c == 'U')
        return read_code_point(reader, c == 'u' ? 4 : 8, text);
    if (!found)
        return refuse(reader, "after \\ one of b t n f r \" \\ u U is known; a string in "
                              "'single quotes' has no escapes");
    text_add_char(text, meanings[found - letters], 1);
    return true;
}

static bool read_quoted_into(struct reader *reader, char quote, struct text_builder *text)
{
    for (;;) {
        int c = peek(reader);

        if (c < 0 || is_control(c))
            return refuse(reader, "the string does not end on its line");
        reader->at++;
        if (c == quote)
            return true;
        if (c != '\\' || quote == '\'')
            text_add_char(text, (char)c, 1);
        else if (!read_escape(reader, text))
            return false;
    }
}

static const char *read_quoted(struct reader *reader)
{
    char quote = *reader->at++;
    struct text_builder text;
    const char *copy = NULL;

    if (reader->end - reader->at >= 2 && reader->at[0] == quote && reader->at[1] == quote) {
        refuse(reader, "strings over several lines are not read here");
        return NULL;
    }
    text_init(&text);
    if (read_quoted_into(reader, quote, &text)) {
        copy = text.has_failed ? NULL : arena_text(reader->arena, text_get(&text), text.size_bytes);
        if (!copy)
            fail(reader, MT_NO_MEMORY, "no memory");
    }
    text_release(&text);
    return copy;
}

/* --- keys --------------------------------------------------------------------------------- */

static bool is_plain(int c)
{
    return c >= 0 && (isalnum(c) || c == '_' || c == '-') && c < 0x80;
}

static const char *read_key_part(struct reader *reader)
{
    const char *start = reader->at;
    const char *copy;

    if (peek(reader) == '"' || peek(reader) == '\'')
        return read_quoted(reader);
    while (is_plain(peek(reader)))
        reader->at++;
    if (reader->at == start) {
        refuse(reader, "a key is expected here: letters, digits, - and _, or in quotes");
        return NULL;
    }
    copy = arena_text(reader->arena, start, (size_t)(reader->at - start));
    if (!copy)
        fail(reader, MT_NO_MEMORY, "no memory");
    return copy;
}

/* The table of that name in `table`, made if it is new; of an array of tables, its last one. */
static struct toml_node *enter(struct reader *reader, struct toml_node *table, const char *key)
{
    struct toml_node *node = child_of(table, key);

    if (!node) {
        node = node_new(reader, TOML_TABLE);
        if (!node)
            return NULL;
        node->key = key;
        node->section = reader->section;
        node_append(table, node);
        return node;
    }
    if (node->kind == TOML_ARRAY && node->last && node->last->kind == TOML_TABLE &&
        !node->is_inline)
        node = node->last;
    if (node->kind != TOML_TABLE || node->is_inline) {
        refuse(reader, "this name is a value already: it cannot be a table too");
        return NULL;
    }
    if (reader->section &&
        (node->is_defined || (node->section && node->section != reader->section))) {
        refuse(reader, "this table is defined elsewhere: keys with dots cannot add to it");
        return NULL;
    }
    if (reader->section)
        node->section = reader->section;
    return node;
}

/* a.b.c: enters a and b; *last is c. */
static struct toml_node *read_key(struct reader *reader, struct toml_node *table, const char **last)
{
    *last = read_key_part(reader);
    for (unsigned parts = 1; *last && table; parts++) {
        skip_blanks(reader);
        if (!accept(reader, '.'))
            return table;
        if (parts > DEPTH_MAX) {
            refuse(reader, "tables are nested too deep");
            return NULL;
        }
        skip_blanks(reader);
        table = enter(reader, table, *last);
        *last = table ? read_key_part(reader) : NULL;
    }
    return NULL;
}

/* --- values ------------------------------------------------------------------------------- */

static struct toml_node *read_value(struct reader *reader);
static bool read_pair(struct reader *reader, struct toml_node *table);

static struct toml_node *read_string(struct reader *reader)
{
    struct toml_node *node = node_new(reader, TOML_STRING);

    if (node)
        node->text = read_quoted(reader);
    return node && node->text ? node : NULL;
}

static bool is_number_char(int c)
{
    return c >= 0 && (isalnum(c) || c == '+' || c == '-' || c == '.' || c == '_' || c == ':');
}

/* Underscores stand between digits only; what is left is for strtoll or strtod. */
static bool number_copy(struct reader *reader, const char *start, size_t length, char *plain)
{
    size_t count = 0;

    for (size_t i = 0; i < length; i++) {
        if (start[i] == '_') {
            if (!i || i + 1 == length || !isdigit((unsigned char)start[i - 1]) ||
                !isdigit((unsigned char)start[i + 1]))
                return refuse(reader, "_ stands between two digits of a number");
            continue;
        }
        plain[count++] = start[i];
    }
    plain[count] = '\0';
    return true;
}

/* An optional sign, digits without a leading zero and, in a fraction, a dot and digits. */
static bool is_decimal(const char *plain, bool *is_fraction)
{
    size_t digits, after;

    plain += *plain == '+' || *plain == '-';
    digits = strspn(plain, "0123456789");
    if (!digits || (digits > 1 && *plain == '0'))
        return false;
    *is_fraction = plain[digits] == '.';
    if (!*is_fraction)
        return plain[digits] == '\0';
    after = strspn(plain + digits + 1, "0123456789");
    return after && plain[digits + 1 + after] == '\0';
}

static struct toml_node *read_number(struct reader *reader)
{
    const char *start = reader->at;
    struct toml_node *node = node_new(reader, TOML_INTEGER);
    char plain[NUMBER_MAX];
    bool is_fraction;

    while (is_number_char(peek(reader)))
        reader->at++;
    if (!node)
        return NULL;
    if (reader->at == start || reader->at - start >= NUMBER_MAX) {
        refuse(reader, "a value is expected here: \"text\", a number, true, false, [ ] or { }");
        return NULL;
    }
    if (!number_copy(reader, start, (size_t)(reader->at - start), plain))
        return NULL;
    if (!is_decimal(plain, &is_fraction)) {
        refuse(reader, "this is no number that is read here; a size is a text with its unit, like "
                       "\"28 GiB\"");
        return NULL;
    }
    errno = 0;
    if (is_fraction) {
        node->kind = TOML_FRACTION;
        node->fraction = strtod(plain, NULL);
    } else {
        node->integer = strtoll(plain, NULL, 10);
    }
    if (errno == ERANGE) {
        refuse(reader, "this number is too large");
        return NULL;
    }
    return node;
}

static bool accept_word(struct reader *reader, const char *word)
{
    size_t length = strlen(word);

    if ((size_t)(reader->end - reader->at) < length || memcmp(reader->at, word, length) != 0 ||
        (reader->at + length < reader->end && is_number_char((unsigned char)reader->at[length])))
        return false;
    reader->at += length;
    return true;
}

static struct toml_node *read_array(struct reader *reader)
{
    struct toml_node *array = node_new(reader, TOML_ARRAY);

    reader->at++;
    while (array) {
        struct toml_node *value;

        skip_all(reader);
        if (accept(reader, ']')) {
            array->is_inline = true;
            return array;
        }
        value = read_value(reader);
        if (!value)
            return NULL;
        node_append(array, value);
        skip_all(reader);
        if (!accept(reader, ',') && peek(reader) != ']') {
            refuse(reader, "expected a comma or ] after a value of an array");
            return NULL;
        }
    }
    return NULL;
}

static void close_inline(struct toml_node *node)
{
    node->is_inline = true;
    for (struct toml_node *child = node->first; child; child = child->next)
        if (child->kind == TOML_TABLE)
            close_inline(child);
}

static struct toml_node *read_inline_table(struct reader *reader)
{
    struct toml_node *table = node_new(reader, TOML_TABLE);
    bool is_first = true;

    reader->at++;
    while (table) {
        skip_blanks(reader);
        if (is_first && accept(reader, '}'))
            break;
        if (!read_pair(reader, table))
            return NULL;
        is_first = false;
        skip_blanks(reader);
        if (accept(reader, '}'))
            break;
        if (!accept(reader, ',')) {
            refuse(reader, "expected a comma between the pairs in { }, all on one line");
            return NULL;
        }
    }
    if (table)
        close_inline(table);
    return table;
}

static struct toml_node *read_plain_value(struct reader *reader)
{
    struct toml_node *node;
    bool is_true = accept_word(reader, "true");

    if (!is_true && !accept_word(reader, "false"))
        return read_number(reader);
    node = node_new(reader, TOML_BOOLEAN);
    if (node)
        node->boolean = is_true;
    return node;
}

static struct toml_node *read_value(struct reader *reader)
{
    struct toml_node *node;

    if (reader->depth == DEPTH_MAX) {
        refuse(reader, "values are nested too deep");
        return NULL;
    }
    reader->depth++;
    switch (peek(reader)) {
    case '"':
    case '\'':
        node = read_string(reader);
        break;
    case '[':
        node = read_array(reader);
        break;
    case '{':
        node = read_inline_table(reader);
        break;
    default:
        node = read_plain_value(reader);
        break;
    }
    reader->depth--;
    return node;
}

/* key = value */
static bool read_pair(struct reader *reader, struct toml_node *table)
{
    unsigned line = reader->line;
    const char *key;
    struct toml_node *value;

    table = read_key(reader, table, &key);
    if (!table)
        return false;
    if (child_of(table, key))
        return refuse(reader, "this key is there twice");
    skip_blanks(reader);
    if (!accept(reader, '='))
        return refuse(reader, "expected = and a value after a key");
    skip_blanks(reader);
    value = read_value(reader);
    if (!value)
        return false;
    value->key = key;
    value->line = line;
    node_append(table, value);
    return true;
}

/* --- statements --------------------------------------------------------------------------- */

static struct toml_node *define_table(struct reader *reader, struct toml_node *parent,
                                      const char *key)
{
    struct toml_node *node = child_of(parent, key);

    if (node &&
        (node->kind != TOML_TABLE || node->is_inline || node->is_defined || node->section)) {
        refuse(reader, "this table is there twice, or its name is a value already");
        return NULL;
    }
    if (!node)
        node = enter(reader, parent, key);
    if (node) {
        node->is_defined = true;
        node->line = reader->line;
    }
    return node;
}

static struct toml_node *append_table(struct reader *reader, struct toml_node *parent,
                                      const char *key)
{
    struct toml_node *array = child_of(parent, key);
    struct toml_node *table;

    if (array && (array->kind != TOML_ARRAY || array->is_inline)) {
        refuse(reader, "this name is no array of tables: [[ ]] cannot add to it");
        return NULL;
    }
    if (!array) {
        array = node_new(reader, TOML_ARRAY);
        if (!array)
            return NULL;
        array->key = key;
        node_append(parent, array);
    }
    table = node_new(reader, TOML_TABLE);
    if (table) {
        table->is_defined = true;
        node_append(array, table);
    }
    return table;
}

/* [a.b] or [[a.b]]: the table that the pairs below it belong to. */
static struct toml_node *read_header_name(struct reader *reader, struct toml_node *root)
{
    bool is_array;
    const char *key;
    struct toml_node *parent;

    reader->at++;
    is_array = accept(reader, '[');
    skip_blanks(reader);
    parent = read_key(reader, root, &key);
    if (!parent)
        return NULL;
    if (!accept(reader, ']') || (is_array && !accept(reader, ']'))) {
        refuse(reader, is_array ? "expected ]] after the name" : "expected ] after the name");
        return NULL;
    }
    return is_array ? append_table(reader, parent, key) : define_table(reader, parent, key);
}

static struct toml_node *read_header(struct reader *reader, struct toml_node *root)
{
    unsigned section = reader->section;
    struct toml_node *table;

    reader->section = 0;
    table = read_header_name(reader, root);
    reader->section = section + 1;
    return table;
}

static bool read_line_end(struct reader *reader)
{
    skip_blanks(reader);
    skip_comment(reader);
    if (peek(reader) < 0 || accept_newline(reader))
        return true;
    return refuse(reader, "the line should end here");
}

enum mt_result toml_read(const char *name, const char *text, size_t size_bytes, struct arena *arena,
                         struct toml_node **root, struct mt_error *error)
{
    struct reader reader = {.name = name,
                            .at = text,
                            .end = text + size_bytes,
                            .line = 1,
                            .section = 1,
                            .arena = arena,
                            .error = error};
    struct toml_node *top = node_new(&reader, TOML_TABLE), *table = top;
    static const char mark[] = "\xef\xbb\xbf"; /* an editor's byte order mark */

    if (size_bytes >= 3 && memcmp(text, mark, 3) == 0)
        reader.at += 3;
    for (;;) {
        skip_all(&reader);
        if (!table || peek(&reader) < 0)
            break;
        if (peek(&reader) == '[')
            table = read_header(&reader, top);
        else if (!read_pair(&reader, table))
            table = NULL;
        if (table && !read_line_end(&reader))
            table = NULL;
    }
    if (reader.result == MT_OK)
        *root = top;
    return reader.result;
}
