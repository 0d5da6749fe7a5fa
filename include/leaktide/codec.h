/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Integers and bytes in and out of bounded buffers.
 *
 * Varints are LEB128: seven bits a byte, low bits first, at most ten bytes. Signed differences
 * are zigzag-coded: 0, -1, 1, -2 become 0, 1, 2, 3. Everything is little-endian.
 * A getter never reads at or after `end`; it returns NULL when the value is cut short or does
 * not fit 64 bits. Putters need room: MT_VARINT_MAX_BYTES.
 */
#ifndef LEAKTIDE_CODEC_H
#define LEAKTIDE_CODEC_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
#error "leaktide traces are little-endian; this machine is not"
#endif

enum { MT_VARINT_MAX_BYTES = 10 };

static inline uint64_t mt_zigzag(uint64_t difference)
{
    return (difference << 1) ^ (uint64_t)((int64_t)difference >> 63);
}

static inline uint64_t mt_unzigzag(uint64_t value)
{
    return (value >> 1) ^ (0 - (value & 1));
}

/*
 * Zigzag for addresses: sixteenths in the low 60 bits, what is left over in the high 4. Allocators
 * align to 16, so differences get four bits shorter.
 */
static inline uint64_t mt_zigzag_address(uint64_t difference)
{
    return mt_zigzag((uint64_t)((int64_t)difference >> 4)) | difference << 60;
}

static inline uint64_t mt_unzigzag_address(uint64_t value)
{
    return mt_unzigzag(value & (~UINT64_C(0) >> 4)) << 4 | value >> 60;
}

/* Seven bits a byte, of a value under 2^56, and how they come together again. */
static inline uint64_t mt_septets_spread(uint64_t value)
{
    value = (value & UINT64_C(0x00fffffff0000000)) << 4 | (value & UINT64_C(0x000000000fffffff));
    value = (value & UINT64_C(0x0fffc0000fffc000)) << 2 | (value & UINT64_C(0x00003fff00003fff));
    return (value & UINT64_C(0x3f803f803f803f80)) << 1 | (value & UINT64_C(0x007f007f007f007f));
}

static inline uint64_t mt_septets_gather(uint64_t bytes)
{
    bytes = (bytes & UINT64_C(0x7f007f007f007f00)) >> 1 | (bytes & UINT64_C(0x007f007f007f007f));
    bytes = (bytes & UINT64_C(0x3fff00003fff0000)) >> 2 | (bytes & UINT64_C(0x00003fff00003fff));
    return (bytes & UINT64_C(0x0fffffff00000000)) >> 4 | (bytes & UINT64_C(0x000000000fffffff));
}

static inline uint8_t *mt_varint_put_long(uint8_t *out, uint64_t value)
{
    while (value >= 0x80) {
        *out++ = (uint8_t)(value | 0x80);
        value >>= 7;
    }
    *out++ = (uint8_t)value;
    return out;
}

/* Returns the byte after the varint. May write up to MT_VARINT_MAX_BYTES in any case. */
static inline uint8_t *mt_varint_put(uint8_t *out, uint64_t value)
{
    uint64_t bytes;
    unsigned last_bit;

    if (value < 0x80) {
        *out = (uint8_t)value;
        return out + 1;
    }
    if (value >> 56)
        return mt_varint_put_long(out, value);
    /* Lengths are hard to foresee: arithmetic instead of a branch a byte. */
    bytes = mt_septets_spread(value);
    last_bit = (unsigned)(63 - __builtin_clzll(bytes)) & 0x38;
    bytes |= UINT64_C(0x8080808080808080) & ((UINT64_C(1) << last_bit) - 1);
    memcpy(out, &bytes, sizeof(bytes));
    return out + last_bit / 8 + 1;
}

/* The same, faster where some values take one byte and some two: there is no branch between these.
 */
static inline uint8_t *mt_varint_put_medium(uint8_t *out, uint64_t value)
{
    if (value < 0x4000) {
        unsigned is_long = value >= 0x80;
        uint16_t bytes = (uint16_t)((value & 0x7f) | is_long << 7 | (value >> 7) << 8);

        memcpy(out, &bytes, sizeof(bytes));
        return out + 1 + is_long;
    }
    return mt_varint_put(out, value);
}

/* Returns the byte after the varint, or NULL. */
static inline const uint8_t *mt_varint_get_careful(const uint8_t *in, const uint8_t *end,
                                                   uint64_t *value)
{
    uint64_t result = 0;
    unsigned shift = 0;

    while (in < end && shift < 64) {
        uint8_t byte = *in++;

        if (shift == 63 && byte > 1)
            return NULL;
        result |= (uint64_t)(byte & 0x7f) << shift;
        if (byte < 0x80) {
            *value = result;
            return in;
        }
        shift += 7;
    }
    return NULL;
}

/* The same, faster where eight bytes can be read. */
static inline const uint8_t *mt_varint_get(const uint8_t *in, const uint8_t *end, uint64_t *value)
{
    uint64_t bytes, stops;
    unsigned bits;

    if (end - in < 8)
        return mt_varint_get_careful(in, end, value);
    if (*in < 0x80) {
        *value = *in;
        return in + 1;
    }
    memcpy(&bytes, in, sizeof(bytes));
    stops = ~bytes & UINT64_C(0x8080808080808080);
    if (!stops)
        return mt_varint_get_careful(in, end, value);
    bits = (unsigned)__builtin_ctzll(stops); /* the top bit of the last byte */
    *value = mt_septets_gather(bytes & ((UINT64_C(1) << bits) - 1));
    return in + bits / 8 + 1;
}

/* The same, where the value is not asked for. */
static inline const uint8_t *mt_varint_skip(const uint8_t *in, const uint8_t *end)
{
    uint64_t bytes, stops = 0, value;

    if (end - in >= 8) {
        memcpy(&bytes, in, sizeof(bytes));
        stops = ~bytes & UINT64_C(0x8080808080808080);
    }
    if (!stops)
        return mt_varint_get_careful(in, end, &value);
    return in + (unsigned)__builtin_ctzll(stops) / 8 + 1;
}

static inline uint32_t mt_u32_get(const uint8_t *in)
{
    uint32_t value;

    memcpy(&value, in, sizeof(value));
    return value;
}

static inline uint64_t mt_u64_get(const uint8_t *in)
{
    uint64_t value;

    memcpy(&value, in, sizeof(value));
    return value;
}

#ifdef __cplusplus
}
#endif

#endif
