/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a program is, seen from its file.
 */
#include "program_file.h"

#include <elf.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "sentence.h"

/* As execvp finds it; false when it is nowhere. */
static bool path_of(const char *program, char *path, size_t path_bytes)
{
    const char *folders = getenv("PATH");

    if (strchr(program, '/'))
        return snprintf(path, path_bytes, "%s", program) < (int)path_bytes;
    while (folders && *folders) {
        int length = (int)strcspn(folders, ":");

        if (snprintf(path, path_bytes, "%.*s/%s", length, folders, program) < (int)path_bytes &&
            access(path, X_OK) == 0)
            return true;
        folders += length;
        folders += *folders == ':';
    }
    return false;
}

/* An ELF program without an interpreter has no dynamic linker that could preload anything. */
static bool is_static(const char *path)
{
    FILE *file = fopen(path, "rb");
    Elf64_Ehdr header;
    Elf64_Phdr part;
    bool has_interpreter = true;

    if (!file)
        return false;
    if (fread(&header, sizeof(header), 1, file) == 1 &&
        memcmp(header.e_ident, ELFMAG, SELFMAG) == 0 && header.e_ident[EI_CLASS] == ELFCLASS64 &&
        header.e_phoff <= LONG_MAX && fseek(file, (long)header.e_phoff, SEEK_SET) == 0) {
        has_interpreter = false;
        for (unsigned i = 0; i < header.e_phnum && !has_interpreter; i++)
            has_interpreter = fread(&part, sizeof(part), 1, file) != 1 || part.p_type == PT_INTERP;
    }
    fclose(file);
    return !has_interpreter;
}

void program_file_explain(const char *program, enum mt_program_kind kind, char *out,
                          size_t out_bytes)
{
    char path[PATH_MAX];
    struct stat status;

    if (kind == MT_PROGRAM_OTHER_LIBC) {
        snprintf(out, out_bytes,
                 translated("%s has another C library than glibc, perhaps musl, and the recorder "
                            "works with glibc alone"),
                 program);
        return;
    }
    if (kind == MT_PROGRAM_OTHER_PROCESSOR) {
        snprintf(out, out_bytes,
                 translated("%s is for another processor, or has 32 bits, and the recorder is not"),
                 program);
        return;
    }
    if (kind == MT_PROGRAM_OF_AUDIT) {
        snprintf(out, out_bytes,
                 translated("LD_AUDIT is set, and with it the dynamic linker has no room for the "
                            "recorder in %s"),
                 program);
        return;
    }
    if (kind == MT_PROGRAM_OF_LIMIT) {
        snprintf(out, out_bytes,
                 translated("the recorder would take more than half of the memory that %s may "
                            "have: give it %u MiB of addresses (ulimit -v) and %u MiB of data "
                            "(ulimit -d)"),
                 program, (unsigned)(2 * MT_TRACER_ADDRESS_BYTES >> 20),
                 (unsigned)(2 * MT_TRACER_DATA_BYTES >> 20));
        return;
    }
    if (path_of(program, path, sizeof(path)) && stat(path, &status) == 0) {
        if (status.st_mode & (S_ISUID | S_ISGID)) {
            snprintf(out, out_bytes,
                     translated("%s is setuid, and the system preloads nothing into it"), path);
            return;
        }
        if (is_static(path)) {
            snprintf(out, out_bytes, translated("%s is linked statically, and cannot be preloaded"),
                     path);
            return;
        }
    }
    snprintf(out, out_bytes,
             translated("%s used none of the memory that --device names, or drops LD_PRELOAD"),
             program);
}
