/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Integers and bytes in and out of bounded buffers.
 *
 * Varints are LEB128: seven bits a byte, low bits first, at most ten bytes. Signed differences
 * are zigzag-coded: 0, -1, 1, -2 become 0, 1, 2, 3. Everything is little-endian.
 * A getter never reads at or behind `end`; it returns NULL when the value is cut short or does
 * not fit 64 bits. Putters need room: MT_VARINT_MAX_BYTES.
 */
#ifndef MEMTIDE_CODEC_H
#define MEMTIDE_CODEC_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
#error "memtide traces are little-endian; this machine is not"
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

/* Returns the byte behind the varint. */
static inline uint8_t *mt_varint_put(uint8_t *out, uint64_t value)
{
    while (value >= 0x80) {
        *out++ = (uint8_t)(value | 0x80);
        value >>= 7;
    }
    *out++ = (uint8_t)value;
    return out;
}

/* Returns the byte behind the varint, or NULL. */
static inline const uint8_t *mt_varint_get(const uint8_t *in, const uint8_t *end, uint64_t *value)
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
