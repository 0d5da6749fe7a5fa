/* SPDX-License-Identifier: Apache-2.0 */
/*
 * LD_PRELOAD for a program in which the tracer may not live, or not at the first place.
 *
 * The runtime of a sanitizer refuses to work, or crashes, unless it is the first library of all.
 * The loaders of other C libraries end a program when a function of glibc is missing. The command
 * looks at the program that it starts, the tracer at those that the program starts in turn, and
 * both hand on what mt_preload_for() says:
 *
 *     /lib/libascend_kernel_hook.so:rest               most programs
 *     libasan.so.8::/lib/libascend_kernel_hook.so:rest  one with AddressSanitizer
 *     rest                                              one for musl
 *
 * The loader skips the empty name in between; it tells what was put there here, and is taken away
 * for the next program, from what the user preloads.
 *
 * Files are read through functions of the caller's. No heap, no lock, and less than 1 KiB of stack
 * beside a path: fit for the child of a vfork, and for handlers of signals on small stacks.
 */
#ifndef LEAKTIDE_PRELOAD_H
#define LEAKTIDE_PRELOAD_H

#include <elf.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/resource.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__x86_64__)
#define MT_OWN_MACHINE EM_X86_64
#elif defined(__aarch64__)
#define MT_OWN_MACHINE EM_AARCH64
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

/* Whether the tracer can live in it; index into left_out_count of rings.h. */
enum mt_program_kind {
    MT_PROGRAM_FITS = 0, /* also what cannot be read, and static ones, which preload nothing */
    MT_PROGRAM_OTHER_LIBC = 1,
    MT_PROGRAM_OTHER_PROCESSOR = 2, /* or 32 bits */
    MT_PROGRAM_OF_CONFINED = 3, /* the filter of who starts it may not allow what the tracer does */
    MT_PROGRAM_OF_AUDIT = 4, /* with LD_AUDIT, the loader has no room for the tracer's variables */
    MT_PROGRAM_OF_LIMIT = 5  /* the tracer would take more than half of the memory it may have */
};

/* What the tracer takes of a program that does little: addresses, and data (RLIMIT_DATA). */
#define MT_TRACER_ADDRESS_BYTES (UINT64_C(26) << 20)
#define MT_TRACER_DATA_BYTES    (UINT64_C(14) << 20)

/* What a file says of a program. */
struct mt_program_needs {
    enum mt_program_kind kind;
    char runtime[MT_RUNTIME_NAME_MAX]; /* of a sanitizer, "libasan.so.8"; "": none */
};

/* An open file, and the part of it that was read last. */
struct mt_program {
    const struct mt_program_files *files;
    int file;
    uint64_t offset_bytes;
    size_t size_bytes;
    char bytes[MT_SCRIPT_LINE_MAX];
};

/* What is there, from the offset on, into `bytes`; false: not one byte. */
static inline bool mt_program_fill(struct mt_program *program, uint64_t offset_bytes,
                                   size_t size_bytes)
{
    long got = program->files->read(program->file, program->bytes, size_bytes, offset_bytes);

    program->offset_bytes = offset_bytes;
    program->size_bytes = got > 0 ? (size_t)got : 0;
    return got > 0;
}

/* All of it, or nothing; no more than fits `bytes`. */
static inline bool mt_program_read(struct mt_program *program, uint64_t offset_bytes, void *out,
                                   size_t size_bytes)
{
    uint64_t skipped = offset_bytes - program->offset_bytes;

    if (skipped > program->size_bytes || size_bytes > program->size_bytes - skipped) {
        mt_program_fill(program, offset_bytes, sizeof(program->bytes));
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

/* The segment of this kind. */
static inline bool mt_program_find(struct mt_program *program, uint32_t type, Elf64_Phdr *segment)
{
    for (unsigned i = 0; mt_program_segment(program, i, segment); i++)
        if (segment->p_type == type)
            return true;
    return false;
}

/* Among the libraries that the open file names as needed. */
static inline bool mt_program_runtime_in(struct mt_program *program,
                                         char soname[MT_RUNTIME_NAME_MAX])
{
    Elf64_Phdr section;
    uint64_t index = 0, value = 0, names = 0;

    if (!mt_program_find(program, PT_DYNAMIC, &section) ||
        !mt_program_dynamic(program, &section, DT_STRTAB, &index, &value) ||
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

/* The loader that a program names: glibc's is called so on every processor, wherever it lies. */
static inline bool mt_program_is_of_glibc(struct mt_program *program, const Elf64_Phdr *segment)
{
    const char *path = program->bytes, *name;
    size_t size_bytes = segment->p_filesz < sizeof(program->bytes) ? (size_t)segment->p_filesz : 0;

    if (!size_bytes || !mt_program_fill(program, segment->p_offset, size_bytes) ||
        !memchr(path, '\0', size_bytes))
        return true; /* the kernel refuses it */
    name = strrchr(path, '/');
    name = name ? name + 1 : path;
    return strncmp(name, "ld-linux", 8) == 0 || strncmp(name, "ld-lsb", 6) == 0;
}

static inline enum mt_program_kind mt_program_kind_of(struct mt_program *program)
{
    Elf64_Phdr segment;
    Elf64_Ehdr header;

    if (!mt_program_read(program, 0, &header, sizeof(header)) ||
        memcmp(header.e_ident, ELFMAG, SELFMAG) != 0)
        return MT_PROGRAM_FITS; /* a script, perhaps */
    if (header.e_ident[EI_CLASS] != ELFCLASS64 || header.e_machine != MT_OWN_MACHINE)
        return MT_PROGRAM_OTHER_PROCESSOR;
    if (!mt_program_find(program, PT_INTERP, &segment) || mt_program_is_of_glibc(program, &segment))
        return MT_PROGRAM_FITS;
    return MT_PROGRAM_OTHER_LIBC;
}

/* Of a file that begins with "#!": the program that the kernel starts for it, in program->bytes. */
static inline const char *mt_program_interpreter(struct mt_program *program)
{
    char *line = program->bytes, *end;

    if (!mt_program_fill(program, 0, sizeof(program->bytes) - 1) || line[0] != '#' ||
        line[1] != '!')
        return NULL;
    line[program->size_bytes] = '\0';
    line += 2;
    line += strspn(line, " \t");
    end = line + strcspn(line, " \t\n");
    *end = '\0';
    return end > line ? line : NULL;
}

/* The longest folder of a list. */
static inline size_t mt_longest_of(const char *folders)
{
    size_t longest = 0;

    for (; *folders; folders += *folders == ':') {
        size_t length = strcspn(folders, ":");

        longest = length > longest ? length : longest;
        folders += length;
    }
    return longest;
}

/* Not inlined: its path is as long as the C library's own, and gone when that looks for the
 * program. */
static __attribute__((noinline, unused)) int
mt_program_search(const struct mt_program_files *files, const char *name, const char *folders)
{
    size_t name_length = strlen(name), path_bytes = mt_longest_of(folders) + name_length + 2;
    char *path;

    if (!name_length || path_bytes > MT_PROGRAM_PATH_MAX)
        return -1;
    path = (char *)__builtin_alloca(path_bytes);
    for (;;) {
        size_t length = strcspn(folders, ":");
        int file;

        memcpy(path, folders, length);
        strcpy(path + length, length ? "/" : "");
        strcat(path + length, name);
        file = files->open(path);
        if (file >= 0 || !folders[length])
            return file;
        folders += length + 1;
    }
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
 * What does this program need?
 *
 * name     as given to exec; of a script, its interpreter is looked at
 * folders  PATH, where exec would look there; else NULL
 */
static inline void mt_program_look(const struct mt_program_files *files, const char *name,
                                   const char *folders, struct mt_program_needs *needs)
{
    struct mt_program program;

    needs->kind = MT_PROGRAM_FITS;
    needs->runtime[0] = '\0';
    for (int depth = 0; name && depth < MT_SCRIPT_DEPTH_MAX; depth++) {
        program.files = files;
        program.file = mt_program_open(files, name, folders);
        program.offset_bytes = program.size_bytes = 0;
        if (program.file < 0)
            return;
        name = NULL;
        needs->kind = mt_program_kind_of(&program);
        if (needs->kind == MT_PROGRAM_FITS && !mt_program_runtime_in(&program, needs->runtime)) {
            needs->runtime[0] = '\0';
            name = mt_program_interpreter(&program);
            folders = NULL;
        }
        files->close(program.file);
    }
}

static inline bool mt_limit_is_near(int resource, uint64_t tracer_bytes)
{
    struct rlimit limit;

    return getrlimit(resource, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY &&
           limit.rlim_cur / 2 < tracer_bytes;
}

/* What the file of a program does not say. audit: the LD_AUDIT that it gets, or NULL. */
static inline enum mt_program_kind mt_program_kind_here(const char *audit)
{
    if (audit && *audit)
        return MT_PROGRAM_OF_AUDIT;
    if (mt_limit_is_near(RLIMIT_AS, MT_TRACER_ADDRESS_BYTES) ||
        mt_limit_is_near(RLIMIT_DATA, MT_TRACER_DATA_BYTES))
        return MT_PROGRAM_OF_LIMIT;
    return MT_PROGRAM_FITS;
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

/* Takes an entry out of a list. */
static inline void mt_preload_drop(char *entry, size_t length)
{
    length += entry[length] != '\0';
    memmove(entry, entry + length, strlen(entry + length) + 1);
}

/*
 * What a program gets in the place of `list`.
 *
 * out  size_bytes long
 *
 * False, when it does not fit, or when the tracer is not in the list.
 */
static inline bool mt_preload_for(const char *list, const struct mt_program_needs *needs, char *out,
                                  size_t size_bytes)
{
    const struct mt_sanitizer_runtime *known = mt_sanitizer_runtime_find(needs->runtime);
    const char *rest = mt_preload_rest(list), *tracer;
    size_t length = 0;

    if (strlen(rest) + strlen(needs->runtime) + sizeof("::") > size_bytes)
        return false;
    out[0] = '\0';
    if (known && known->can_be_preloaded)
        strcat(strcat(out, needs->runtime), "::");
    strcat(out, rest);
    tracer = mt_preload_tracer(out, &length);
    if (tracer && (needs->kind != MT_PROGRAM_FITS || (known && !known->can_be_preloaded)))
        mt_preload_drop(out + (tracer - out), length);
    return tracer != NULL;
}

#ifdef __cplusplus
}
#endif

#endif
