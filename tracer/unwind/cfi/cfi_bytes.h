/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Numbers out of .eh_frame.
 *
 * A reader that was asked for more than there is has failed: it then gives zeros, and is_good
 * stays false. So a parser may read on and ask once at its end.
 */
#ifndef LEAKTIDE_TRACER_CFI_BYTES_H
#define LEAKTIDE_TRACER_CFI_BYTES_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "leaktide/invariant.h"

struct cfi_bytes {
    const uint8_t *at, *end;
    bool is_good;
};

static inline struct cfi_bytes cfi_bytes_between(const uint8_t *at, const uint8_t *end)
{
    return (struct cfi_bytes){at, end, at <= end};
}

static inline bool cfi_has(struct cfi_bytes *bytes, uint64_t size_bytes)
{
    MT_ASSERT(!bytes->is_good || bytes->at <= bytes->end);
    if (!bytes->is_good || (uint64_t)(bytes->end - bytes->at) < size_bytes)
        bytes->is_good = false;
    return bytes->is_good;
}

/* Little-endian, as both processors are. */
static inline uint64_t cfi_fixed(struct cfi_bytes *bytes, uint32_t size_bytes)
{
    uint64_t value = 0;

    MT_ASSERT(size_bytes && size_bytes <= sizeof(value));
    if (!cfi_has(bytes, size_bytes))
        return 0;
    memcpy(&value, bytes->at, size_bytes);
    bytes->at += size_bytes;
    return value;
}

static inline int64_t cfi_fixed_signed(struct cfi_bytes *bytes, uint32_t size_bytes)
{
    uint32_t unused_bits = 64 - 8 * size_bytes;

    return (int64_t)(cfi_fixed(bytes, size_bytes) << unused_bits) >> unused_bits;
}

static inline uint64_t cfi_uleb(struct cfi_bytes *bytes)
{
    uint64_t value = 0;

    for (uint32_t shift = 0; cfi_has(bytes, 1); shift += 7) {
        uint8_t byte = *bytes->at++;

        if (shift < 64)
            value |= (uint64_t)(byte & 0x7f) << shift;
        if (!(byte & 0x80))
            return value;
    }
    return 0;
}

static inline int64_t cfi_sleb(struct cfi_bytes *bytes)
{
    uint64_t value = 0;

    for (uint32_t shift = 0; cfi_has(bytes, 1);) {
        uint8_t byte = *bytes->at++;

        if (shift < 64)
            value |= (uint64_t)(byte & 0x7f) << shift;
        shift += 7;
        if (byte & 0x80)
            continue;
        if ((byte & 0x40) && shift < 64)
            value |= ~UINT64_C(0) << shift;
        return (int64_t)value;
    }
    return 0;
}

static inline void cfi_skip(struct cfi_bytes *bytes, uint64_t size_bytes)
{
    if (cfi_has(bytes, size_bytes))
        bytes->at += size_bytes;
}

/* The part of the next size_bytes; the reader goes on after it. */
static inline struct cfi_bytes cfi_part(struct cfi_bytes *bytes, uint64_t size_bytes)
{
    struct cfi_bytes part = {bytes->at, bytes->at, false};

    if (cfi_has(bytes, size_bytes)) {
        part = cfi_bytes_between(bytes->at, bytes->at + size_bytes);
        bytes->at += size_bytes;
    }
    return part;
}

/* DW_EH_PE_*: how a pointer is written. */
enum {
    POINTER_ABSOLUTE = 0x00,
    POINTER_ULEB = 0x01,
    POINTER_U2 = 0x02,
    POINTER_U4 = 0x03,
    POINTER_U8 = 0x04,
    POINTER_SLEB = 0x09,
    POINTER_S2 = 0x0a,
    POINTER_S4 = 0x0b,
    POINTER_S8 = 0x0c,
    POINTER_PC_RELATIVE = 0x10,
    POINTER_DATA_RELATIVE = 0x30,
    POINTER_INDIRECT = 0x80,
    POINTER_NONE = 0xff
};

static inline uint64_t cfi_pointer_value(struct cfi_bytes *bytes, uint8_t encoding)
{
    switch (encoding & 0x0f) {
    case POINTER_ULEB:
        return cfi_uleb(bytes);
    case POINTER_SLEB:
        return (uint64_t)cfi_sleb(bytes);
    case POINTER_U2:
        return cfi_fixed(bytes, 2);
    case POINTER_U4:
        return cfi_fixed(bytes, 4);
    case POINTER_S2:
        return (uint64_t)cfi_fixed_signed(bytes, 2);
    case POINTER_S4:
        return (uint64_t)cfi_fixed_signed(bytes, 4);
    case POINTER_ABSOLUTE:
    case POINTER_U8:
    case POINTER_S8:
        return cfi_fixed(bytes, 8);
    default:
        bytes->is_good = false;
        return 0;
    }
}

/* data: what "data relative" is relative to, the start of .eh_frame_hdr. */
static inline uint64_t cfi_pointer(struct cfi_bytes *bytes, uint8_t encoding, const uint8_t *data)
{
    uint64_t place = (uint64_t)(uintptr_t)bytes->at;
    uint64_t value = cfi_pointer_value(bytes, encoding);

    switch (encoding & 0x70) {
    case 0:
        return value;
    case POINTER_PC_RELATIVE:
        return value + place;
    case POINTER_DATA_RELATIVE:
        return value + (uint64_t)(uintptr_t)data;
    default:
        bytes->is_good = false;
        return 0;
    }
}

#endif
