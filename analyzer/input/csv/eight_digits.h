/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Eight decimal digits at once, in one word: pairs, then fours, then all, by multiplying.
 */
#ifndef LEAKTIDE_CSV_EIGHT_DIGITS_H
#define LEAKTIDE_CSV_EIGHT_DIGITS_H

#include <endian.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

/* Reads 8 bytes, the first digit first. False where one of them is no digit. */
static inline bool eight_digits(const char *bytes, uint64_t *value)
{
    static const uint64_t each_byte = UINT64_C(0x0101010101010101);
    uint64_t word;

    memcpy(&word, bytes, sizeof(word));
    word = le64toh(word);
    if (((word & each_byte * 0xf0) | ((word + each_byte * 6) & each_byte * 0xf0) >> 4) !=
        each_byte * 0x33)
        return false;
    word -= each_byte * '0';
    word = word * 10 + (word >> 8); /* pairs, in every second byte */
    *value = ((word & UINT64_C(0xff000000ff)) * (100 + (UINT64_C(1000000) << 32)) +
              (word >> 16 & UINT64_C(0xff000000ff)) * (1 + (UINT64_C(10000) << 32))) >>
             32;
    return true;
}

#endif
