/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the instructions of a function refer to.
 */
#include "code_references.h"

#include <string.h>

void reference_scan_begin(struct reference_scan *scan, const struct elf_image *image,
                          const struct image_function *function)
{
    *scan = (struct reference_scan){
        image, function, elf_image_at(image, function->address, function->size_bytes), 0};
}

static uint64_t moved(uint64_t from, int64_t distance)
{
    return from + (uint64_t)distance;
}

/* --- x86-64 ---------------------------------------------------------------------------------- */

/* A number of four bytes, and what stands before it. */
static bool x86_at(const unsigned char *code, uint64_t before, struct reference *found,
                   uint64_t next_address)
{
    const unsigned char *number = code;
    int32_t distance;

    memcpy(&distance, number, sizeof(distance));
    found->address = moved(next_address, distance);
    if (number[-1] == 0xe8) {
        found->kind = REFERENCE_CALL;
    } else if (number[-1] == 0xe9) {
        found->kind = REFERENCE_JUMP;
    } else if (before >= 2 && number[-2] == 0x0f && (number[-1] & 0xf0) == 0x80) {
        found->kind = REFERENCE_PART;
    } else if (before >= 3 && (number[-3] & 0xf8) == 0x48 && number[-2] == 0x8d &&
               (number[-1] & 0xc7) == 0x05) { /* lea number(%rip), register */
        found->kind = REFERENCE_TAKEN;
    } else if ((number[-1] & 0xf8) == 0xb8) { /* mov $number, register */
        found->kind = REFERENCE_TAKEN;
        found->address = (uint32_t)distance;
    } else {
        return false;
    }
    return true;
}

static bool x86_next(struct reference_scan *scan, struct reference *found)
{
    const struct image_function *function = scan->function;

    for (scan->at += !scan->at; scan->at + 4 <= function->size_bytes;) {
        uint64_t at = scan->at++;

        if (x86_at(scan->code + at, at, found, function->address + at + 4))
            return true;
    }
    return false;
}

/* --- aarch64 --------------------------------------------------------------------------------- */

enum { WORD_BYTES = 4, PAGE_BITS = 12 };

static uint32_t word_at(const struct reference_scan *scan, uint64_t at)
{
    uint32_t word;

    memcpy(&word, scan->code + at, sizeof(word));
    return word;
}

/* A number of so many bits, with its sign. */
static int64_t signed_bits(uint32_t number, unsigned bits)
{
    uint32_t sign = UINT32_C(1) << (bits - 1);

    return (int64_t)(number ^ sign) - (int64_t)sign;
}

/* adrp register, page; add register, register, offset: the second within a few instructions. */
static bool arm_takes(const struct reference_scan *scan, uint64_t at, struct reference *found)
{
    enum { APART_MAX = 8 };
    uint32_t adrp = word_at(scan, at), from = adrp & 31;
    uint32_t pages = (adrp >> 29 & 3) | (adrp >> 5 & 0x7ffff) << 2;
    uint64_t page = (scan->function->address + at) >> PAGE_BITS << PAGE_BITS;

    for (uint64_t next = at + WORD_BYTES;
         next + WORD_BYTES <= scan->function->size_bytes && next <= at + APART_MAX * WORD_BYTES;
         next += WORD_BYTES) {
        uint32_t add = word_at(scan, next);

        if ((add & 0xffc00000) != 0x91000000 || (add >> 5 & 31) != from)
            continue;
        *found = (struct reference){REFERENCE_TAKEN,
                                    moved(page, signed_bits(pages, 21) * (1 << PAGE_BITS)) +
                                        (add >> 10 & 0xfff)};
        return true;
    }
    return false;
}

static bool arm_at(const struct reference_scan *scan, uint64_t at, struct reference *found)
{
    uint32_t word = word_at(scan, at);
    uint64_t from = scan->function->address + at;

    if ((word & 0x9f000000) == 0x90000000)
        return arm_takes(scan, at, found);
    if ((word & 0x7c000000) == 0x14000000) {
        found->kind = word >> 31 ? REFERENCE_CALL : REFERENCE_JUMP;
        found->address = moved(from, signed_bits(word & 0x3ffffff, 26) * WORD_BYTES);
    } else if ((word & 0xff000010) == 0x54000000) {
        found->kind = REFERENCE_PART;
        found->address = moved(from, signed_bits(word >> 5 & 0x7ffff, 19) * WORD_BYTES);
    } else {
        return false;
    }
    return true;
}

static bool arm_next(struct reference_scan *scan, struct reference *found)
{
    while (scan->at + WORD_BYTES <= scan->function->size_bytes) {
        uint64_t at = scan->at;

        scan->at += WORD_BYTES;
        if (arm_at(scan, at, found))
            return true;
    }
    return false;
}

bool reference_scan_next(struct reference_scan *scan, struct reference *found)
{
    if (!scan->code)
        return false;
    switch (scan->image->machine) {
    case EM_X86_64:
        return x86_next(scan, found);
    case EM_AARCH64:
        return arm_next(scan, found);
    default:
        return false;
    }
}
