/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Hashes of integers and of bytes.
 */
#ifndef LEAKTIDE_BASE_HASH_H
#define LEAKTIDE_BASE_HASH_H

#include <stddef.h>
#include <stdint.h>

/* Every bit of the value reaches every bit of the answer. Source: murmur3's finaliser. */
static inline uint64_t hash_u64(uint64_t value)
{
    value ^= value >> 33;
    value *= UINT64_C(0xff51afd7ed558ccd);
    value ^= value >> 33;
    value *= UINT64_C(0xc4ceb9fe1a85ec53);
    return value ^ value >> 33;
}

static inline uint64_t hash_pair(uint64_t first, uint64_t second)
{
    return hash_u64(first ^ hash_u64(second + UINT64_C(0x9e3779b97f4a7c15)));
}

uint64_t hash_bytes(const void *bytes, size_t size_bytes);

#endif
