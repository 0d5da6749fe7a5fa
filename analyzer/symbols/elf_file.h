/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An ELF file: its sections, its build-id, and where its debug data is.
 *
 * Every offset and length in the file is a stranger's and is checked against its size. What is
 * needed is read, not mapped: a file that shrinks while it is mapped would kill us with SIGBUS.
 */
#ifndef LEAKTIDE_ELF_FILE_H
#define LEAKTIDE_ELF_FILE_H

#include <elf.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>

enum { BUILD_ID_MOST = 64 };

struct elf_file {
    int descriptor;
    uint64_t size_bytes;
    struct timespec modified;
    Elf64_Ehdr header;
    Elf64_Shdr *sections;
    size_t section_count;
    char *names; /* of the sections; may be NULL */
    size_t names_bytes;
};

struct build_id {
    const uint8_t *bytes;
    size_t size_bytes; /* 0: not known */
};

/* False: no such file, or no ELF file of 64 bits and this byte order. */
bool elf_file_open(struct elf_file *file, const char *path);
void elf_file_close(struct elf_file *file);

/* A terminated copy of part of the file, for free(); NULL when it is not there or out of reason. */
void *elf_file_read(const struct elf_file *file, uint64_t offset, uint64_t size_bytes);

/* NULL when there is none. */
const Elf64_Shdr *elf_file_section(const struct elf_file *file, const char *name);

/* A file without a build-id cannot be told from another: it is taken as the one recorded. */
bool elf_file_is(const struct elf_file *file, struct build_id recorded);
/* Its length; 0 when there is none. */
size_t elf_file_build_id(const struct elf_file *file, uint8_t out[BUILD_ID_MOST]);

/* The name of the file with its debug data, for free(); NULL when it names none. */
char *elf_file_debuglink(const struct elf_file *file);

#endif
