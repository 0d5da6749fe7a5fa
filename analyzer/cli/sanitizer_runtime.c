/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include "sanitizer_runtime.h"

#include <elf.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

/* Their sonames begin so. */
static const char *const runtimes[] = {"libasan.so", "libclang_rt.asan",  "libtsan.so",
                                       "liblsan.so", "libclang_rt.tsan",  "libhwasan.so",
                                       "libmsan.so", "libclang_rt.hwasan"};

struct image {
    const uint8_t *bytes;
    size_t size;
};

/* NULL unless [offset, offset + size) is inside the file. */
static const void *image_at(const struct image *image, uint64_t offset, uint64_t size)
{
    if (offset > image->size || size > image->size - offset)
        return NULL;
    return image->bytes + offset;
}

static const Elf64_Phdr *segment_at(const struct image *image, unsigned index)
{
    const Elf64_Ehdr *header = image_at(image, 0, sizeof(*header));

    if (!header || memcmp(header->e_ident, ELFMAG, SELFMAG) != 0 ||
        header->e_ident[EI_CLASS] != ELFCLASS64 || header->e_ident[EI_DATA] != ELFDATA2LSB ||
        header->e_phentsize != sizeof(Elf64_Phdr) || index >= header->e_phnum ||
        header->e_phoff % sizeof(uint64_t))
        return NULL;
    return image_at(image, header->e_phoff + index * sizeof(Elf64_Phdr), sizeof(Elf64_Phdr));
}

/* Where a loaded address is in the file; UINT64_MAX: nowhere. */
static uint64_t offset_of(const struct image *image, uint64_t address)
{
    const Elf64_Phdr *segment;

    for (unsigned i = 0; (segment = segment_at(image, i)); i++)
        if (segment->p_type == PT_LOAD && address - segment->p_vaddr < segment->p_filesz)
            return segment->p_offset + (address - segment->p_vaddr);
    return UINT64_MAX;
}

static const Elf64_Dyn *dynamic_find(const struct image *image, size_t *count)
{
    const Elf64_Phdr *segment;

    for (unsigned i = 0; (segment = segment_at(image, i)); i++)
        if (segment->p_type == PT_DYNAMIC && segment->p_offset % sizeof(uint64_t) == 0) {
            *count = segment->p_filesz / sizeof(Elf64_Dyn);
            return image_at(image, segment->p_offset, segment->p_filesz);
        }
    return NULL;
}

static bool is_runtime(const char *soname)
{
    for (size_t i = 0; i < sizeof(runtimes) / sizeof(runtimes[0]); i++)
        if (strncmp(soname, runtimes[i], strlen(runtimes[i])) == 0)
            return true;
    return false;
}

static bool runtime_find(const struct image *image, char *soname, size_t size_bytes)
{
    size_t count = 0;
    const Elf64_Dyn *dynamic = dynamic_find(image, &count);
    uint64_t names = UINT64_MAX;

    for (size_t i = 0; dynamic && i < count; i++)
        if (dynamic[i].d_tag == DT_STRTAB)
            names = offset_of(image, dynamic[i].d_un.d_ptr);
    for (size_t i = 0; dynamic && names != UINT64_MAX && i < count; i++) {
        uint64_t at = names + dynamic[i].d_un.d_val;
        const char *name;

        if (dynamic[i].d_tag != DT_NEEDED || at < names || at >= image->size)
            continue;
        name = (const char *)image->bytes + at;
        if (strnlen(name, image->size - at) < size_bytes && memchr(name, '\0', image->size - at) &&
            is_runtime(name)) {
            strcpy(soname, name);
            return true;
        }
    }
    return false;
}

/* Opens it where exec would find it; -1 when nobody would. */
static int program_open(const char *program)
{
    const char *folders = getenv("PATH");
    char path[4096];

    if (strchr(program, '/'))
        return open(program, O_RDONLY | O_CLOEXEC);
    while (folders && *folders) {
        size_t length = strcspn(folders, ":");
        int written =
            snprintf(path, sizeof(path), "%.*s/%s", (int)length, length ? folders : ".", program);

        if (written > 0 && (size_t)written < sizeof(path) && access(path, X_OK) == 0)
            return open(path, O_RDONLY | O_CLOEXEC);
        folders += length;
        folders += *folders == ':';
    }
    return -1;
}

bool sanitizer_runtime_of(const char *program, char *soname, size_t size_bytes)
{
    int descriptor = program_open(program);
    struct stat status;
    struct image image;
    bool is_found = false;

    if (descriptor < 0)
        return false;
    if (fstat(descriptor, &status) == 0 && S_ISREG(status.st_mode) && status.st_size > 0) {
        image.size = (size_t)status.st_size;
        image.bytes = mmap(NULL, image.size, PROT_READ, MAP_PRIVATE, descriptor, 0);
        if (image.bytes != MAP_FAILED) {
            is_found = runtime_find(&image, soname, size_bytes);
            munmap((void *)image.bytes, image.size);
        }
    }
    close(descriptor);
    return is_found;
}
