/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What an ELF file looks like in memory: its bytes by link address, pointers in tables filled in,
 * what it exports, and where its functions begin and end, which also a stripped file tells those
 * who unwind.
 *
 * The file is a stranger's: what makes no sense is as if it were not there.
 */
#ifndef LEAKTIDE_ELF_IMAGE_H
#define LEAKTIDE_ELF_IMAGE_H

#include "elf_file.h"

/* By address. */
struct image_function {
    uint64_t address, size_bytes;
};

/* By address: where the loader puts a pointer into the file itself. */
struct image_pointer {
    uint64_t address, value;
};

struct image_export {
    uint64_t address;
    uint32_t name;
};

/* A section with bytes. */
struct image_part {
    uint64_t address, size_bytes;
    unsigned char *bytes;
    bool is_code, is_written;
};

struct elf_image {
    uint16_t machine; /* EM_... */
    struct image_part *parts;
    size_t part_count;
    struct image_pointer *pointers;
    size_t pointer_count;
    struct image_export *exports; /* by address */
    size_t export_count;
    char *names;
    size_t names_bytes;
    struct image_function *functions;
    size_t function_count;
};

/* False: there is no memory, or the file does not tell where its functions are. To be released
 * either way. */
bool elf_image_read(struct elf_image *image, const struct elf_file *file);
void elf_image_release(struct elf_image *image);

/* NULL: not all of it is in one section of the file. */
const unsigned char *elf_image_at(const struct elf_image *image, uint64_t address,
                                  uint64_t size_bytes);
/* The pointer at this address; 0: there is none. */
uint64_t elf_image_pointer(const struct elf_image *image, uint64_t address);
/* 0: it exports no such thing. */
uint64_t elf_image_exported(const struct elf_image *image, const char *name);
bool elf_image_is_exported(const struct elf_image *image, uint64_t address);
/* The one that begins at the address, or that the address is in; NULL: there is none. */
const struct image_function *elf_image_function(const struct elf_image *image, uint64_t address);
const struct image_function *elf_image_function_around(const struct elf_image *image,
                                                       uint64_t address);

#endif
