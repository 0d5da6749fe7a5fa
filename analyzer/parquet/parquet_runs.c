/* SPDX-License-Identifier: Apache-2.0 */
#include "parquet_runs.h"

#include "leaktide/invariant.h"

struct bits {
    const unsigned char *at, *end;
};

static bool get_head(struct bits *bits, uint64_t *head)
{
    *head = 0;
    for (unsigned shift = 0; shift < 35 && bits->at < bits->end; shift += 7) {
        unsigned char byte = *bits->at++;

        *head |= (uint64_t)(byte & 0x7f) << shift;
        if (!(byte & 0x80))
            return true;
    }
    return false;
}

static bool get_same(struct bits *bits, unsigned width, uint32_t *value)
{
    unsigned size_bytes = (width + 7) / 8;

    if ((size_t)(bits->end - bits->at) < size_bytes)
        return false;
    *value = 0;
    for (unsigned i = 0; i < size_bytes; i++)
        *value |= (uint32_t)bits->at[i] << 8 * i;
    bits->at += size_bytes;
    return true;
}

/* Of the last group of a page, what follows the values may be missing. */
static bool get_packed(struct bits *bits, unsigned width, uint32_t *values, size_t count)
{
    size_t size_bytes = (count * width + 7) / 8;

    if ((size_t)(bits->end - bits->at) < size_bytes)
        return false;
    for (size_t i = 0; i < count; i++) {
        uint32_t value = 0;

        for (unsigned bit = 0; bit < width; bit++) {
            size_t place = i * width + bit;

            value |= (uint32_t)(bits->at[place / 8] >> place % 8 & 1) << bit;
        }
        values[i] = value;
    }
    return true;
}

bool parquet_runs_get(const unsigned char *bytes, size_t size_bytes, unsigned width,
                      uint32_t *values, size_t count)
{
    struct bits bits = {bytes, bytes + size_bytes};
    size_t filled = 0;

    while (filled < count) {
        uint64_t head, length;
        uint32_t same;

        if (!get_head(&bits, &head) || !(head >> 1))
            return false;
        length = head & 1 ? (head >> 1) * 8 : head >> 1;
        length = length < count - filled ? length : count - filled;
        if (head & 1) {
            size_t whole_bytes = (size_t)(head >> 1) * width;

            if (!get_packed(&bits, width, values + filled, (size_t)length))
                return false;
            bits.at += whole_bytes < (size_t)(bits.end - bits.at) ? whole_bytes
                                                                  : (size_t)(bits.end - bits.at);
        } else {
            if (!get_same(&bits, width, &same))
                return false;
            for (size_t i = 0; i < length; i++)
                values[filled + i] = same;
        }
        filled += (size_t)length;
    }
    return true;
}

static void put_head(struct text_builder *text, uint64_t head)
{
    for (; head >= 0x80; head >>= 7)
        text_add_char(text, (char)(head | 0x80), 1);
    text_add_char(text, (char)head, 1);
}

void parquet_runs_put_flags(struct text_builder *text, const uint8_t *flags, size_t count)
{
    size_t same = flags ? 1 : count;

    MT_ASSERT(count);
    while (same < count && !flags[same] == !flags[0])
        same++;
    if (same == count) {
        put_head(text, (uint64_t)count << 1);
        text_add_char(text, (char)(!flags || flags[0]), 1);
        return;
    }
    put_head(text, (uint64_t)(count + 7) / 8 << 1 | 1);
    for (size_t i = 0; i < count; i += 8) {
        unsigned byte = 0;

        for (size_t bit = 0; bit < 8 && i + bit < count; bit++)
            byte |= (unsigned)(flags[i + bit] != 0) << bit;
        text_add_char(text, (char)byte, 1);
    }
}
