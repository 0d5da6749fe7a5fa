/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the instructions of a function refer to: where they call and jump to, and which addresses
 * they take.
 *
 * Nothing is disassembled: every place is looked at as if an instruction began there. A number that
 * is none by chance would have to be the very address that is asked about, one in millions. For
 * x86-64 and aarch64; code of other machines refers to nothing.
 */
#ifndef LEAKTIDE_CODE_REFERENCES_H
#define LEAKTIDE_CODE_REFERENCES_H

#include "elf_image.h"

enum reference_kind {
    REFERENCE_CALL,
    REFERENCE_JUMP, /* for the rest of the work: its caller becomes the other's */
    REFERENCE_PART, /* under a condition: a part of the same function lies there */
    REFERENCE_TAKEN /* the address, as of a string, or of a function for somebody else */
};

struct reference {
    enum reference_kind kind;
    uint64_t address;
};

/* Where the next look is. */
struct reference_scan {
    const struct elf_image *image;
    const struct image_function *function;
    const unsigned char *code;
    uint64_t at;
};

void reference_scan_begin(struct reference_scan *scan, const struct elf_image *image,
                          const struct image_function *function);
/* False: there is no more. In the order of the code; what it refers to need not be there. */
bool reference_scan_next(struct reference_scan *scan, struct reference *found);

#endif
