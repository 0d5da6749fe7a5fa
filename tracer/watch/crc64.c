/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Eight bytes a turn, by a table for each of them. Two threads that come first together make the
 * same tables.
 */
#include "crc64.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <string.h>

#define POLYNOMIAL UINT64_C(0xc96c5795d7870f42) /* reflected */

static uint64_t tables[8][256];
static atomic_bool is_ready;

static uint64_t byte_advance(uint64_t value)
{
    for (unsigned bit = 0; bit < 8; bit++)
        value = value >> 1 ^ (value & 1 ? POLYNOMIAL : 0);
    return value;
}

static void tables_make(void)
{
    for (unsigned byte = 0; byte < 256; byte++) {
        uint64_t value = byte;

        for (unsigned place = 0; place < 8; place++) {
            value = byte_advance(value);
            __atomic_store_n(&tables[place][byte], value, __ATOMIC_RELAXED);
        }
    }
    atomic_store_explicit(&is_ready, true, memory_order_release);
}

/* The first byte has the longest way to go. */
static uint64_t eight_advance(uint64_t value, const unsigned char *bytes)
{
    uint64_t sum = 0;

    for (unsigned i = 0; i < 8; i++)
        sum ^= tables[7 - i][(unsigned char)(value >> 8 * i) ^ bytes[i]];
    return sum;
}

uint64_t crc64(uint64_t before, const void *bytes, size_t size_bytes)
{
    const unsigned char *at = bytes;
    uint64_t value = ~before;

    if (!atomic_load_explicit(&is_ready, memory_order_acquire))
        tables_make();
    for (; size_bytes >= 8; size_bytes -= 8, at += 8)
        value = eight_advance(value, at);
    for (; size_bytes; size_bytes--, at++)
        value = value >> 8 ^ tables[0][(unsigned char)value ^ *at];
    return ~value;
}
