/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Implements mstx_text.h.
 *
 * Invariant: no byte outside the text is read; each byte is looked at a fixed number of times.
 */
#include "mstx_text.h"

struct text mstx_text(const char *message)
{
    return (struct text){message, message ? strnlen(message, MT_TEXT_MAX) : 0};
}

static bool is_equal(struct text text, const char *word)
{
    return text.size_bytes == strlen(word) && memcmp(text.bytes, word, text.size_bytes) == 0;
}

static struct text text_behind(struct text text, size_t count)
{
    return (struct text){text.bytes + count, text.size_bytes - count};
}

static bool prefix_take(struct text *text, const char *prefix)
{
    size_t size = strlen(prefix);

    if (text->size_bytes < size || memcmp(text->bytes, prefix, size) != 0)
        return false;
    *text = text_behind(*text, size);
    return true;
}

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

static struct text text_trimmed(struct text text)
{
    while (text.size_bytes && is_blank(text.bytes[0]))
        text = text_behind(text, 1);
    while (text.size_bytes && is_blank(text.bytes[text.size_bytes - 1]))
        text.size_bytes--;
    return text;
}

/* Takes everything up to the separator off the list, and the separator. */
static bool part_take(struct text *list, char separator, struct text *part)
{
    const char *end;

    if (!list->size_bytes)
        return false;
    end = memchr(list->bytes, separator, list->size_bytes);
    *part = *list;
    if (end) {
        part->size_bytes = (size_t)(end - list->bytes);
        *list = text_behind(*list, part->size_bytes + 1);
    } else {
        *list = text_behind(*list, list->size_bytes);
    }
    return true;
}

static int digit_of(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    if (c >= 'a' && c <= 'f')
        return c - 'a' + 10;
    if (c >= 'A' && c <= 'F')
        return c - 'A' + 10;
    return 16;
}

/* The whole text is one number, decimal or 0x, of at most 64 bits. */
static bool number_read(struct text text, uint64_t *number)
{
    unsigned base = prefix_take(&text, "0x") || prefix_take(&text, "0X") ? 16 : 10;
    uint64_t value = 0;

    if (!text.size_bytes)
        return false;
    for (size_t i = 0; i < text.size_bytes; i++) {
        unsigned digit = (unsigned)digit_of(text.bytes[i]);

        if (digit >= base || __builtin_mul_overflow(value, (uint64_t)base, &value) ||
            __builtin_add_overflow(value, (uint64_t)digit, &value))
            return false;
    }
    *number = value;
    return true;
}

static bool access_read(struct text fields, struct mstx_mark *mark)
{
    bool has_address = false;
    struct text field;

    while (part_take(&fields, ';', &field)) {
        field = text_trimmed(field);
        if (prefix_take(&field, "ptr="))
            has_address = number_read(field, &mark->address);
        else if (prefix_take(&field, "tensor_size="))
            number_read(field, &mark->size_bytes);
        else if (prefix_take(&field, "is_read="))
            mark->access |= is_equal(field, "True") ? MSTX_READ : 0;
        else if (prefix_take(&field, "is_write="))
            mark->access |= is_equal(field, "True") ? MSTX_WRITE : 0;
        else if (prefix_take(&field, "is_output="))
            mark->access |= is_equal(field, "True") ? MSTX_WRITE | MSTX_OUTPUT : 0;
        else if (prefix_take(&field, "name="))
            mark->name = field;
        else if (prefix_take(&field, "dtype="))
            mark->dtype = field;
        else if (prefix_take(&field, "shape="))
            mark->shape = field;
    }
    return has_address && mark->address;
}

static bool accesses_read(struct text fields, struct mstx_mark *mark)
{
    struct text field;

    while (part_take(&fields, ';', &field)) {
        field = text_trimmed(field);
        if (prefix_take(&field, "name="))
            mark->name = field;
        else if (prefix_take(&field, "read="))
            mark->reads = field;
        else if (prefix_take(&field, "write="))
            mark->writes = field;
    }
    return mark->name.size_bytes > 0;
}

static bool operator_read(struct text rest, struct mstx_mark *mark)
{
    rest = text_trimmed(rest);
    prefix_take(&rest, "name=");
    mark->name = text_trimmed(rest);
    return mark->name.size_bytes > 0;
}

struct mstx_mark mstx_mark_read(struct text message)
{
    static const struct {
        const char *prefix;
        enum mstx_mark_kind kind;
        bool (*read)(struct text rest, struct mstx_mark *mark);
    } grammar[] = {
        {"memscope-aten-b:", MSTX_MARK_OPERATOR_BEGIN, operator_read},
        {"memscope-aten-e:", MSTX_MARK_OPERATOR_END, operator_read},
        {"memscope-aten-ac:", MSTX_MARK_ACCESS, access_read},
        {"leaks-aten-b:", MSTX_MARK_OPERATOR_BEGIN, operator_read},
        {"leaks-aten-e:", MSTX_MARK_OPERATOR_END, operator_read},
        {"leaks-aten-ac:", MSTX_MARK_ACCESS, access_read},
        {"sanitizer-op:", MSTX_MARK_ACCESSES, accesses_read},
    };

    for (size_t i = 0; i < sizeof(grammar) / sizeof(grammar[0]); i++) {
        struct mstx_mark mark = {.kind = grammar[i].kind};
        struct text rest = message;

        if (prefix_take(&rest, grammar[i].prefix) && grammar[i].read(rest, &mark))
            return mark;
    }
    return (struct mstx_mark){.kind = MSTX_MARK_PLAIN, .name = message};
}

bool mstx_access_next(struct text *list, uint64_t *address, uint64_t *size_bytes)
{
    struct text item, alias, number;

    return part_take(list, ',', &item) && part_take(&item, ':', &alias) &&
           part_take(&item, ':', &number) && number_read(text_trimmed(number), address) &&
           number_read(text_trimmed(item), size_bytes);
}

bool mstx_is_step(struct text message)
{
    return is_equal(message, "step start") || is_equal(message, "\"step start\"");
}
