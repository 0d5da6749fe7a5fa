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

/* Compares the GNU build-id among these notes; true when it is there, and then *is_same. */
static bool note_compare(const unsigned char *notes, uint64_t size_bytes, struct build_id recorded,
                         bool *is_same)
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
            return false;
        if (note.n_type == NT_GNU_BUILD_ID && note.n_namesz == 4 && memcmp(notes, "GNU", 4) == 0) {
            *is_same = note.n_descsz == recorded.size_bytes &&
                       memcmp(notes + name_bytes, recorded.bytes, recorded.size_bytes) == 0;
            return true;
        }
        notes += name_bytes + content_bytes;
        size_bytes -= name_bytes + content_bytes;
    }
    return false;
}

/* True when it has one, and then *is_same tells whether it is that one. */
static bool build_id_compare(const struct elf_file *file, struct build_id recorded, bool *is_same)
{
    for (size_t i = 0; i < file->section_count; i++) {
        unsigned char *notes;
        bool is_found;

        if (file->sections[i].sh_type != SHT_NOTE)
            continue;
        notes = elf_file_read(file, file->sections[i].sh_offset, file->sections[i].sh_size);
        if (!notes)
            continue;
        is_found = note_compare(notes, file->sections[i].sh_size, recorded, is_same);
        free(notes);
        if (is_found)
            return true;
    }
    return false;
}

bool elf_file_is(const struct elf_file *file, struct build_id recorded)
{
    bool is_same = true;

    return !recorded.size_bytes || !build_id_compare(file, recorded, &is_same) || is_same;
}

bool elf_file_has_build_id(const struct elf_file *file)
{
    static const uint8_t none = 0;
    bool is_same;

    return build_id_compare(file, (struct build_id){&none, 0}, &is_same);
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
