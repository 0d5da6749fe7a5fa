/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An ELF file: its sections, its build-id, and where its debug data is.
 */
#define _GNU_SOURCE
#include "elf_file.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const uint64_t part_most_bytes = (uint64_t)1 << 30;

/* False unless every byte could be read. */
static bool read_at(const struct elf_file *file, uint64_t offset, void *out, uint64_t size_bytes)
{
    uint64_t done = 0;

    if (offset > file->size_bytes || size_bytes > file->size_bytes - offset)
        return false;
    while (done < size_bytes) {
        ssize_t got =
            pread(file->descriptor, (char *)out + done, size_bytes - done, (off_t)(offset + done));

        if (got <= 0)
            return false;
        done += (uint64_t)got;
    }
    return true;
}

void *elf_file_read(const struct elf_file *file, uint64_t offset, uint64_t size_bytes)
{
    char *copy;

    if (size_bytes > part_most_bytes || offset > file->size_bytes ||
        size_bytes > file->size_bytes - offset)
        return NULL;
    copy = malloc(size_bytes + 1);
    if (copy && !read_at(file, offset, copy, size_bytes)) {
        free(copy);
        return NULL;
    }
    if (copy)
        copy[size_bytes] = 0;
    return copy;
}

void elf_file_close(struct elf_file *file)
{
    free(file->sections);
    free(file->names);
    if (file->descriptor >= 0)
        close(file->descriptor);
}

static bool header_is_good(const Elf64_Ehdr *header)
{
    return memcmp(header->e_ident, ELFMAG, SELFMAG) == 0 &&
           header->e_ident[EI_CLASS] == ELFCLASS64 && header->e_ident[EI_DATA] == ELFDATA2LSB &&
           header->e_shentsize == sizeof(Elf64_Shdr) && header->e_shnum > 0;
}

static void read_section_names(struct elf_file *file)
{
    const Elf64_Shdr *names;

    if (file->header.e_shstrndx >= file->section_count)
        return;
    names = &file->sections[file->header.e_shstrndx];
    file->names = elf_file_read(file, names->sh_offset, names->sh_size);
    file->names_bytes = file->names ? names->sh_size : 0;
}

bool elf_file_open(struct elf_file *file, const char *path)
{
    struct stat status;

    memset(file, 0, sizeof(*file));
    /* Not blocking: the path of a module may by now be a pipe. */
    file->descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (file->descriptor < 0 || fstat(file->descriptor, &status) != 0 || !S_ISREG(status.st_mode) ||
        status.st_size < (off_t)sizeof(Elf64_Ehdr)) {
        elf_file_close(file);
        return false;
    }
    file->size_bytes = (uint64_t)status.st_size;
    file->modified = status.st_mtim;
    if (read_at(file, 0, &file->header, sizeof(file->header)) && header_is_good(&file->header)) {
        file->section_count = file->header.e_shnum;
        file->sections =
            elf_file_read(file, file->header.e_shoff, file->section_count * sizeof(Elf64_Shdr));
    }
    if (!file->sections) {
        elf_file_close(file);
        return false;
    }
    read_section_names(file);
    return true;
}

/* Where the GNU build-id among these notes is; NULL when it is not there. */
static const unsigned char *note_find(const unsigned char *notes, uint64_t size_bytes,
                                      size_t *id_bytes)
{
    while (size_bytes >= sizeof(Elf64_Nhdr)) {
        Elf64_Nhdr note;
        uint64_t name_bytes, content_bytes;

        memcpy(&note, notes, sizeof(note));
        name_bytes = ((uint64_t)note.n_namesz + 3) & ~UINT64_C(3);
        content_bytes = ((uint64_t)note.n_descsz + 3) & ~UINT64_C(3);
        notes += sizeof(note);
        size_bytes -= sizeof(note);
        if (name_bytes + content_bytes > size_bytes)
            return NULL;
        if (note.n_type == NT_GNU_BUILD_ID && note.n_namesz == 4 && memcmp(notes, "GNU", 4) == 0) {
            *id_bytes = note.n_descsz;
            return notes + name_bytes;
        }
        notes += name_bytes + content_bytes;
        size_bytes -= name_bytes + content_bytes;
    }
    return NULL;
}

size_t elf_file_build_id(const struct elf_file *file, uint8_t out[BUILD_ID_MOST])
{
    size_t id_bytes = 0;

    for (size_t i = 0; i < file->section_count && !id_bytes; i++) {
        const Elf64_Shdr *section = &file->sections[i];
        unsigned char *notes = section->sh_type == SHT_NOTE
                                   ? elf_file_read(file, section->sh_offset, section->sh_size)
                                   : NULL;
        const unsigned char *id = notes ? note_find(notes, section->sh_size, &id_bytes) : NULL;

        if (id_bytes > BUILD_ID_MOST)
            id_bytes = 0;
        if (id)
            memcpy(out, id, id_bytes);
        free(notes);
    }
    return id_bytes;
}

bool elf_file_is(const struct elf_file *file, struct build_id recorded)
{
    uint8_t id[BUILD_ID_MOST];
    size_t id_bytes = recorded.size_bytes ? elf_file_build_id(file, id) : 0;

    return !id_bytes ||
           (id_bytes == recorded.size_bytes && memcmp(id, recorded.bytes, id_bytes) == 0);
}

const Elf64_Shdr *elf_file_section(const struct elf_file *file, const char *name)
{
    for (size_t i = 0; i < file->section_count; i++)
        if (file->sections[i].sh_name < file->names_bytes &&
            strcmp(file->names + file->sections[i].sh_name, name) == 0)
            return &file->sections[i];
    return NULL;
}

char *elf_file_debuglink(const struct elf_file *file)
{
    const Elf64_Shdr *section = elf_file_section(file, ".gnu_debuglink");
    char *name = section ? elf_file_read(file, section->sh_offset, section->sh_size) : NULL;

    if (name && (!*name || strchr(name, '/'))) {
        free(name);
        return NULL;
    }
    return name;
}
