/* SPDX-License-Identifier: Apache-2.0 */
/*
 * LD_PRELOAD for a program that may bring a sanitizer's runtime along.
 *
 * Such a runtime refuses to work, or crashes, unless it is the first library of all. The command
 * looks at the program that it starts, the tracer at those that the program starts in turn, and
 * both hand on what mt_preload_for() says:
 *
 *     /lib/libascend_kernel_hook.so:rest               most programs
 *     libasan.so.8::/lib/libascend_kernel_hook.so:rest  one with AddressSanitizer
 *
 * The loader skips the empty name in between; it tells what was put there here, and is taken away
 * for the next program, from what the user preloads.
 *
 * Files are read through functions of the caller's. No heap, no lock, little stack: fit for the
 * child of a vfork.
 */
#ifndef LEAKTIDE_PRELOAD_H
#define LEAKTIDE_PRELOAD_H

#include <elf.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#ifdef __cplusplus
extern "C" {
#endif

#define MT_TRACER_FILE_NAME "libascend_kernel_hook.so" /* frameworks look for this very name */

enum {
    MT_RUNTIME_NAME_MAX = 64,
    MT_PROGRAM_PATH_MAX = 4096,
    MT_SCRIPT_LINE_MAX = 256, /* of "#!": as much as the kernel reads */
    MT_SCRIPT_DEPTH_MAX = 5
};

/* open: a regular file that may be run and read, or -1. read: as pread(). */
struct mt_program_files {
    int (*open)(const char *path);
    long (*read)(int file, void *bytes, size_t size_bytes, uint64_t offset_bytes);
    void (*close)(int file);
};

/* Sonames begin so. Some are found by the program's own search path only: nobody can preload them
 * by name. */
struct mt_sanitizer_runtime {
    const char *begin;
    bool can_be_preloaded;
};

static const struct mt_sanitizer_runtime mt_sanitizer_runtimes[] = {
    {"libasan.so", true},        {"libtsan.so", true},          {"liblsan.so", true},
    {"libhwasan.so", true},      {"libmsan.so", true},          {"libclang_rt.asan", false},
    {"libclang_rt.tsan", false}, {"libclang_rt.hwasan", false},
};

/* NULL: no runtime of a sanitizer. */
static inline const struct mt_sanitizer_runtime *mt_sanitizer_runtime_find(const char *soname)
{
    const size_t count = sizeof(mt_sanitizer_runtimes) / sizeof(mt_sanitizer_runtimes[0]);

    for (size_t i = 0; i < count; i++)
        if (strncmp(soname, mt_sanitizer_runtimes[i].begin,
                    strlen(mt_sanitizer_runtimes[i].begin)) == 0)
            return &mt_sanitizer_runtimes[i];
    return NULL;
}

/* --- what a program needs ---------------------------------------------------------------- */

/* An open file, and the part of it that was read last. */
struct mt_program {
    const struct mt_program_files *files;
    int file;
    uint64_t offset_bytes;
    size_t size_bytes;
    unsigned char bytes[1024];
};

/* All of it, or nothing; no more than fits `bytes`. */
static inline bool mt_program_read(struct mt_program *program, uint64_t offset_bytes, void *out,
                                   size_t size_bytes)
{
    uint64_t skipped = offset_bytes - program->offset_bytes;

    if (skipped > program->size_bytes || size_bytes > program->size_bytes - skipped) {
        long got = program->files->read(program->file, program->bytes, sizeof(program->bytes),
                                        offset_bytes);

        program->offset_bytes = offset_bytes;
        program->size_bytes = got > 0 ? (size_t)got : 0;
        skipped = 0;
    }
    if (size_bytes > program->size_bytes - skipped)
        return false;
    memcpy(out, program->bytes + skipped, size_bytes);
    return true;
}

/* The index-th segment of an ELF file of this machine. */
static inline bool mt_program_segment(struct mt_program *program, unsigned index,
                                      Elf64_Phdr *segment)
{
    Elf64_Ehdr header;

    return mt_program_read(program, 0, &header, sizeof(header)) &&
           memcmp(header.e_ident, ELFMAG, SELFMAG) == 0 && header.e_ident[EI_CLASS] == ELFCLASS64 &&
           header.e_ident[EI_DATA] == ELFDATA2LSB && header.e_phentsize == sizeof(*segment) &&
           index < header.e_phnum &&
           mt_program_read(program, header.e_phoff + index * sizeof(*segment), segment,
                           sizeof(*segment));
}

/* Where a loaded address is in the file. */
static inline bool mt_program_offset(struct mt_program *program, uint64_t address, uint64_t *offset)
{
    Elf64_Phdr segment;

    for (unsigned i = 0; mt_program_segment(program, i, &segment); i++)
        if (segment.p_type == PT_LOAD && address - segment.p_vaddr < segment.p_filesz) {
            *offset = segment.p_offset + (address - segment.p_vaddr);
            return true;
        }
    return false;
}

/* The next entry of the dynamic section with this tag, from *index on. */
static inline bool mt_program_dynamic(struct mt_program *program, const Elf64_Phdr *section,
                                      int64_t tag, uint64_t *index, uint64_t *value)
{
    Elf64_Dyn entry;

    while (*index < section->p_filesz / sizeof(entry) &&
           mt_program_read(program, section->p_offset + *index * sizeof(entry), &entry,
                           sizeof(entry)) &&
           entry.d_tag != DT_NULL) {
        (*index)++;
        if (entry.d_tag == tag) {
            *value = entry.d_un.d_val;
            return true;
        }
    }
    return false;
}

/* Among the libraries that the open file names as needed. */
static inline bool mt_program_runtime_in(struct mt_program *program,
                                         char soname[MT_RUNTIME_NAME_MAX])
{
    Elf64_Phdr section;
    uint64_t index = 0, value = 0, names = 0;
    unsigned i = 0;

    do {
        if (!mt_program_segment(program, i++, &section))
            return false;
    } while (section.p_type != PT_DYNAMIC);
    if (!mt_program_dynamic(program, &section, DT_STRTAB, &index, &value) ||
        !mt_program_offset(program, value, &names))
        return false;
    index = 0;
    while (mt_program_dynamic(program, &section, DT_NEEDED, &index, &value)) {
        long got = program->files->read(program->file, soname, MT_RUNTIME_NAME_MAX, names + value);

        if (got > 0 && memchr(soname, '\0', (size_t)got) && mt_sanitizer_runtime_find(soname))
            return true;
    }
    return false;
}

/* Of a file that begins with "#!": the program that the kernel starts for it. */
static inline bool mt_program_interpreter(const struct mt_program *program,
                                          char path[MT_SCRIPT_LINE_MAX])
{
    char line[MT_SCRIPT_LINE_MAX];
    long got = program->files->read(program->file, line, sizeof(line) - 1, 0);
    const char *begin = line + 2;
    size_t length;

    if (got < 3 || line[0] != '#' || line[1] != '!')
        return false;
    line[got] = '\0';
    begin += strspn(begin, " \t");
    length = strcspn(begin, " \t\n");
    memcpy(path, begin, length);
    path[length] = '\0';
    return length > 0;
}

/* Not inlined: its path is larger than all else here, and exec is called on small stacks, too. */
static __attribute__((noinline, unused)) int
mt_program_search(const struct mt_program_files *files, const char *name, const char *folders)
{
    char path[MT_PROGRAM_PATH_MAX];
    size_t name_length = strlen(name);

    while (name_length) {
        size_t length = strcspn(folders, ":");
        int file = -1;

        if (length + 1 + name_length < sizeof(path)) {
            memcpy(path, folders, length);
            strcpy(path + length, length ? "/" : "");
            strcat(path + length, name);
            file = files->open(path);
        }
        if (file >= 0 || !folders[length])
            return file;
        folders += length + 1;
    }
    return -1;
}

/*
 * Opens what exec would run. folders: as in PATH, where a name without a slash is looked for, or
 * NULL: nowhere. -1: nothing, or nothing that can be read.
 */
static inline int mt_program_open(const struct mt_program_files *files, const char *name,
                                  const char *folders)
{
    if (!folders || strchr(name, '/'))
        return files->open(name);
    return mt_program_search(files, name, folders);
}

/*
 * Does this program need a sanitizer's runtime?
 *
 * name     as given to exec; of a script, its interpreter is looked at
 * folders  PATH, where exec would look there; else NULL
 * soname   gets the runtime, "libasan.so.8"; "" if the program needs none or cannot be read
 */
static inline bool mt_program_runtime(const struct mt_program_files *files, const char *name,
                                      const char *folders, char soname[MT_RUNTIME_NAME_MAX])
{
    char interpreter[MT_SCRIPT_LINE_MAX];
    bool is_script = true, is_found = false;

    for (int depth = 0; is_script && depth < MT_SCRIPT_DEPTH_MAX; depth++) {
        struct mt_program program;

        program.files = files;
        program.file = mt_program_open(files, name, folders);
        program.offset_bytes = program.size_bytes = 0;
        if (program.file < 0)
            break;
        is_found = mt_program_runtime_in(&program, soname);
        is_script = !is_found && mt_program_interpreter(&program, interpreter);
        files->close(program.file);
        name = interpreter;
        folders = NULL;
    }
    if (!is_found)
        soname[0] = '\0';
    return is_found;
}

/* --- LD_PRELOAD -------------------------------------------------------------------------- */

/* The tracer's entry in a list; NULL: it is not there. */
static inline const char *mt_preload_tracer(const char *list, size_t *length)
{
    const char *name = strstr(list, MT_TRACER_FILE_NAME);
    const char *begin = name;

    if (!name)
        return NULL;
    while (begin > list && begin[-1] != ':' && begin[-1] != ' ')
        begin--;
    *length = (size_t)(name - begin) + strcspn(name, ": ");
    return begin;
}

/* A list without the runtime that was put in front of it. */
static inline const char *mt_preload_rest(const char *list)
{
    size_t length = strcspn(list, ":/ ");

    if (strncmp(list + length, "::", 2) == 0 && mt_sanitizer_runtime_find(list))
        return list + length + 2;
    return list;
}

/*
 * What a program gets in the place of `list`.
 *
 * runtime  of mt_program_runtime(), or ""
 * out      size_bytes long
 *
 * False, when it does not fit, or when the tracer is not in the list.
 */
static inline bool mt_preload_for(const char *list, const char *runtime, char *out,
                                  size_t size_bytes)
{
    const struct mt_sanitizer_runtime *known = mt_sanitizer_runtime_find(runtime);
    const char *rest = mt_preload_rest(list), *tracer;
    size_t length = 0;

    if (strlen(rest) + strlen(runtime) + sizeof("::") > size_bytes)
        return false;
    out[0] = '\0';
    if (known && known->can_be_preloaded)
        strcat(strcat(out, runtime), "::");
    strcat(out, rest);
    tracer = mt_preload_tracer(out, &length);
    if (tracer && known && !known->can_be_preloaded) {
        length += tracer[length] != '\0';
        memmove(out + (tracer - out), tracer + length, strlen(tracer + length) + 1);
    }
    return tracer != NULL;
}

#ifdef __cplusplus
}
#endif

#endif
