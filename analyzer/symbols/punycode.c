/* SPDX-License-Identifier: Apache-2.0 */
#include "punycode.h"

#include <string.h>

/* RFC 3492, section 5 */
enum {
    base = 36,
    threshold_least = 1,
    threshold_most = 26,
    skew = 38,
    damp = 700,
    bias_first = 72,
    point_first = 0x80,
    point_most = 0x10ffff,
    delta_most = (point_most + 1) * (PUNYCODE_MOST + 1) /* beyond it nothing is a character */
};

struct reader {
    const char *bytes;
    size_t size_bytes, at;
};

/* base and more: it is no digit. */
static uint32_t digit_of(char c)
{
    if (c >= 'a' && c <= 'z')
        return (uint32_t)(c - 'a');
    return c >= '0' && c <= '9' ? (uint32_t)(c - '0') + 26 : base;
}

static uint32_t threshold_at(uint32_t digits_base, uint32_t bias)
{
    if (digits_base <= bias)
        return threshold_least;
    return digits_base - bias < threshold_most ? digits_base - bias : threshold_most;
}

/* A number of digits whose weights depend on those before. */
static bool delta_read(struct reader *reader, uint32_t bias, uint64_t *delta)
{
    uint64_t weight = 1;

    *delta = 0;
    for (uint32_t k = base; reader->at < reader->size_bytes; k += base) {
        uint32_t digit = digit_of(reader->bytes[reader->at++]);
        uint32_t threshold = threshold_at(k, bias);

        *delta += digit * weight;
        if (digit >= base || *delta > delta_most)
            return false;
        if (digit < threshold)
            return true;
        weight *= base - threshold;
        if (weight > delta_most) /* then only the digit 0 may come */
            weight = delta_most + 1;
    }
    return false;
}

static uint32_t bias_after(uint64_t delta, size_t count, bool is_first)
{
    uint32_t k = 0;

    delta = is_first ? delta / damp : delta / 2;
    delta += delta / count;
    for (; delta > (base - threshold_least) * threshold_most / 2; k += base)
        delta /= base - threshold_least;
    return k + (uint32_t)((base - threshold_least + 1) * delta / (delta + skew));
}

static bool plain_read(struct reader *reader, struct punycode_text *out)
{
    size_t count = reader->size_bytes;

    while (count && reader->bytes[count - 1] != '_')
        count--;
    if (count > PUNYCODE_MOST)
        return false;
    for (size_t i = 0; i + 1 < count; i++) {
        unsigned char point = (unsigned char)reader->bytes[i];

        if (point >= point_first)
            return false;
        out->points[out->count++] = point;
    }
    reader->at = count;
    return true;
}

static bool insert(struct punycode_text *out, size_t at, uint64_t point)
{
    if (out->count == PUNYCODE_MOST || point > point_most || point >> 11 == 0x1b)
        return false;
    memmove(out->points + at + 1, out->points + at, (out->count - at) * sizeof(*out->points));
    out->points[at] = (uint32_t)point;
    out->count++;
    return true;
}

bool punycode_read(const char *bytes, size_t size_bytes, struct punycode_text *out)
{
    struct reader reader = {bytes, size_bytes, 0};
    uint64_t point = point_first, at = 0, delta;
    uint32_t bias = bias_first;

    out->count = 0;
    if (!plain_read(&reader, out))
        return false;
    for (bool is_first = true; reader.at < size_bytes; is_first = false) {
        if (!delta_read(&reader, bias, &delta))
            return false;
        at += delta;
        point += at / (out->count + 1);
        at %= out->count + 1;
        if (!insert(out, (size_t)at, point))
            return false;
        bias = bias_after(delta, out->count, is_first);
        at++;
    }
    return out->count > 0;
}
