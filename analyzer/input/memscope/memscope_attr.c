/* SPDX-License-Identifier: Apache-2.0 */
#include "memscope_attr.h"

#include <endian.h>
#include <string.h>

#include "eight_digits.h"

// clang-format off
#define ATTR_KEYS(X)                                                                               \
    X(allocation_id) X(addr) X(size) X(used) X(total) X(process_used) X(device_used) X(owner)      \
    X(inefficient_type) X(page_type) X(alloc_type) X(pinned) X(shadow) X(type) X(dtype) X(shape)   \
    X(format) X(func) X(req_size) X(flag) X(pool) X(ptr) X(timestamp) X(MID) X(path) X(streamId)   \
    X(taskId) X(reserved) X(max_reserved) X(allocated) X(max_allocated) X(free) X(device_rate)     \
    X(reserved_rate) X(workspace_ptr) X(workspace_size) X(kernel_index) X(ret) X(step) X(kernel)   \
    X(client) X(total_mem) X(modid) X(device)
// clang-format on

#define ATTR_ID(key) ATTR_##key,
enum attr_key { ATTR_NONE, ATTR_KEYS(ATTR_ID) };
#undef ATTR_ID

#define ATTR_NAME(key) {sizeof(#key) - 1, #key[0], #key},
static const struct {
    unsigned char length;
    char first;
    char text[18];
} names[] = {{0, 0, ""}, ATTR_KEYS(ATTR_NAME)};
#undef ATTR_NAME

/* Those of nearly every row come first; first letter and length tell nearly all apart. */
static enum attr_key key_of(const char *bytes, size_t length)
{
    for (size_t i = 1; i < sizeof(names) / sizeof(names[0]); i++)
        if (names[i].first == bytes[0] && names[i].length == length &&
            memcmp(names[i].text, bytes, length) == 0)
            return (enum attr_key)i;
    return ATTR_NONE;
}

static inline bool is_key_character(char character)
{
    return ((unsigned char)(character | 32) - (unsigned)'a') < 26 || character == '_' ||
           ((unsigned char)character - (unsigned)'0') < 10;
}

static inline bool is_blank(char character)
{
    return character == ' ' || character == '\t' || character == '\n' || character == '\r';
}

static inline const char *skip_blanks(const char *bytes, const char *end)
{
    while (bytes < end && is_blank(*bytes))
        bytes++;
    return bytes;
}

/* The end without the blanks before it. */
static inline const char *before_blanks(const char *bytes, const char *end)
{
    while (end > bytes && is_blank(end[-1]))
        end--;
    return end;
}

/* The key at bytes, with its colon; *value is where its value begins, behind the colon if there is
 * one. */
static enum attr_key key_at(const char *bytes, const char *end, const char **value)
{
    const char *first, *last, *colon;

    bytes = skip_blanks(bytes, end);
    first = last = bytes < end && *bytes == '"' ? bytes + 1 : bytes;
    while (last < end && is_key_character(*last))
        last++;
    colon = skip_blanks(last < end && *last == '"' ? last + 1 : last, end);
    *value = bytes;
    if (last == first || (*first >= '0' && *first <= '9') || colon >= end || *colon != ':')
        return ATTR_NONE;
    *value = skip_blanks(colon + 1, end);
    return key_of(first, (size_t)(last - first));
}

#define EACH_BYTE UINT64_C(0x0101010101010101)

/*
 * The value of eight hexadecimal digits, first digit first; false where one is none: what the
 * digits would have to look like is compared with what they are.
 */
static inline bool eight_hex_digits(const char *bytes, uint64_t *value)
{
    uint64_t word, letters, digits, looks;

    memcpy(&word, bytes, sizeof(word));
    word = le64toh(word);
    letters = word >> 6 & EACH_BYTE;
    digits = (word & EACH_BYTE * 15) + letters * 9;
    looks = digits + EACH_BYTE * '0' + (((digits + EACH_BYTE * 6) >> 4) & EACH_BYTE) * 39;
    if (looks != (word | letters << 5) || (digits & EACH_BYTE * 16))
        return false;
    digits = __builtin_bswap64(digits);
    digits = (digits | digits >> 4) & UINT64_C(0x00ff00ff00ff00ff);
    digits = (digits | digits >> 8) & UINT64_C(0x0000ffff0000ffff);
    *value = (digits | digits >> 16) & UINT64_C(0xffffffff);
    return true;
}

enum { decimal_digits = 19, hex_digits = 16 }; /* as many as always fit */

static bool decimal_number(const char *bytes, const char *end, uint64_t *number)
{
    bool may_overflow = end - bytes > decimal_digits;
    uint64_t sum = 0, eight;

    for (; !may_overflow && end - bytes >= 8; bytes += 8) {
        if (!eight_digits(bytes, &eight))
            return false;
        sum = sum * 100000000 + eight;
    }
    for (; bytes < end; bytes++) {
        unsigned digit = (unsigned char)*bytes - (unsigned)'0';

        if (digit > 9 || (may_overflow && sum > (UINT64_MAX - digit) / 10))
            return false;
        sum = sum * 10 + digit;
    }
    *number = sum;
    return true;
}

static bool hex_number(const char *bytes, const char *end, uint64_t *number)
{
    uint64_t sum = 0, eight;

    while (end - bytes > hex_digits && *bytes == '0')
        bytes++;
    if (end - bytes > hex_digits)
        return false;
    for (; end - bytes >= 8; bytes += 8) {
        if (!eight_hex_digits(bytes, &eight))
            return false;
        sum = sum << 32 | eight;
    }
    for (; bytes < end; bytes++) {
        unsigned digit = (unsigned char)*bytes - (unsigned)'0';
        unsigned letter = ((unsigned char)*bytes | 32u) - (unsigned)'a';

        if (digit > 9 && letter > 5)
            return false;
        sum = sum << 4 | (digit > 9 ? letter + 10 : digit);
    }
    *number = sum;
    return true;
}

bool memscope_number(const char *bytes, size_t size_bytes, uint64_t *number)
{
    const char *end = bytes + size_bytes;

    *number = 0;
    if (bytes < end && *bytes == '-')
        bytes++;
    if (bytes == end)
        return false;
    if (end - bytes > 2 && bytes[0] == '0' && (bytes[1] | 32) == 'x')
        return hex_number(bytes + 2, end, number);
    return decimal_number(bytes, end, number);
}

/* Where a value begins, and of which key it is. */
struct attr_at {
    enum attr_key key;
    const char *value;
};

/* The value of that key, if it is the one which stands at bytes; else NULL. */
static inline const char *value_of(const char *bytes, const char *end, enum attr_key key)
{
    size_t length = names[key].length;
    bool is_quoted = bytes < end && *bytes == '"';

    bytes += is_quoted;
    if (key == ATTR_NONE || (size_t)(end - bytes) < length + 1 + is_quoted ||
        memcmp(bytes, names[key].text, length) != 0)
        return NULL;
    bytes += length;
    if (is_quoted && *bytes++ != '"')
        return NULL;
    return *bytes == ':' ? skip_blanks(bytes + 1, end) : NULL;
}

/* The key at bytes. Rows of a kind have their keys in one order, so the guess is often right. */
static struct attr_at attr_at(const char *bytes, const char *end, uint8_t *guess)
{
    struct attr_at at = {(enum attr_key) * guess, value_of(bytes, end, (enum attr_key) * guess)};

    if (at.value)
        return at;
    at.key = key_at(bytes, end, &at.value);
    if (at.key != ATTR_NONE)
        *guess = (uint8_t)at.key;
    return at;
}

/* Whether more brackets are opened than closed. */
static bool is_within_brackets(const char *bytes, const char *end)
{
    int depth = 0;

    for (; bytes < end; bytes++)
        depth += strchr("([{<", *bytes) ? 1 : strchr(")]}>", *bytes) ? -1 : 0;
    return depth > 0;
}

/* Something like a key follows: its value is there, and is no part of a name ("std::"). */
static inline bool is_unknown_key(const char *bytes, const char *end, const char *value)
{
    return value > bytes && value[-1] == ':' && value < end && *value != ':';
}

/*
 * A value ends before a comma and a known key, which comes next, or before the brace at the end.
 * The tool gets a new key every few months: outside of brackets those end a value, too.
 */
static const char *value_end(const char *bytes, const char *end, struct attr_at *next_attr,
                             uint8_t *guess)
{
    const char *next = bytes;

    while ((next = memchr(next, ',', (size_t)(end - next)))) {
        *next_attr = attr_at(next + 1, end, guess);
        if (next_attr->key != ATTR_NONE ||
            (is_unknown_key(next + 1, end, next_attr->value) && !is_within_brackets(bytes, next)))
            return next;
        next++;
    }
    *next_attr = (struct attr_at){ATTR_NONE, end};
    return end;
}

static void keep(struct memscope_attr *attr, enum attr_key key, const char *bytes,
                 size_t size_bytes)
{
    struct attr_text text = {bytes, size_bytes};
    uint64_t number;

    switch (key) {
    case ATTR_addr:
        attr->has_address = memscope_number(bytes, size_bytes, &attr->address);
        break;
    case ATTR_size:
        attr->has_size = memscope_number(bytes, size_bytes, &attr->size_bytes);
        break;
    case ATTR_total:
        attr->has_total = memscope_number(bytes, size_bytes, &attr->total_bytes);
        break;
    case ATTR_req_size:
        memscope_number(bytes, size_bytes, &attr->requested_bytes);
        break;
    case ATTR_MID:
        if (memscope_number(bytes, size_bytes, &number) && number < 1 << 15)
            attr->module = (int32_t)number;
        break;
    case ATTR_shadow:
        attr->is_shadow = size_bytes == 4;
        break;
    case ATTR_pinned:
        attr->is_pinned = size_bytes == 4;
        break;
    case ATTR_owner:
        attr->owner = text;
        break;
    case ATTR_page_type:
        attr->page = text;
        break;
    case ATTR_type:
    case ATTR_pool:
        attr->pool = text;
        break;
    default:
        break;
    }
}

void memscope_attr_read(struct memscope_attr *attr, const char *bytes, size_t size_bytes,
                        struct memscope_attr_guess *guess)
{
    const char *end = bytes + size_bytes;
    struct memscope_attr_guess none = {{0}};
    struct attr_at at;
    size_t count = 0;

    if (!guess)
        guess = &none;
    *attr = (struct memscope_attr){.module = -1};
    bytes = skip_blanks(bytes, end);
    end = before_blanks(bytes, end);
    if (bytes < end && *bytes == '{')
        bytes++;
    if (bytes < end && end[-1] == '}')
        end--;
    at = attr_at(bytes, end, &guess->keys[0]);
    while (at.value < end) {
        struct attr_at next;
        const char *value = at.value, *last;

        count += count + 1 < MEMSCOPE_GUESSES;
        last = value_end(value, end, &next, &guess->keys[count]);
        last = before_blanks(value, last);
        if (last > value && *value == '"' && last[-1] == '"' && last - value > 1) {
            value++;
            last--;
        }
        keep(attr, at.key, value, (size_t)(last - value));
        at = next;
    }
}
