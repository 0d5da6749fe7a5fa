/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What an ELF file looks like in memory.
 */
#include "elf_image.h"

#include <stdlib.h>
#include <string.h>

#include "leaktide/invariant.h"
#include "sorted_rows.h"

enum {
    POINTER_BYTES = 8,
    /* Of .eh_frame_hdr, as all linkers write it: how its numbers are written, and the table. */
    HEADER_VERSION = 1,
    COUNT_IS_4_BYTES = 0x03,
    TABLE_IS_RELATIVE = 0x3b,
    TABLE_BEGINS = 12,
    TABLE_ROW_BYTES = 8,
    /* Of a row of .eh_frame: length, number of what is common, where it begins, its length. */
    FRAME_BEGINS = 8,
    FRAME_BYTES = 16
};

/* --- parts ----------------------------------------------------------------------------------- */

static bool has_bytes(const Elf64_Shdr *section)
{
    return section->sh_flags & SHF_ALLOC && section->sh_type != SHT_NOBITS && section->sh_size;
}

/* Sections do not lie over each other: together they are no larger than the file. */
static bool read_parts(struct elf_image *image, const struct elf_file *file)
{
    uint64_t left = file->size_bytes;

    image->parts = calloc(file->section_count + 1, sizeof(*image->parts));
    for (size_t i = 0; image->parts && i < file->section_count; i++) {
        const Elf64_Shdr *section = &file->sections[i];
        struct image_part *part = &image->parts[image->part_count];

        if (!has_bytes(section))
            continue;
        if (section->sh_size > left)
            return false;
        left -= section->sh_size;
        *part =
            (struct image_part){section->sh_addr, section->sh_size,
                                elf_file_read(file, section->sh_offset, section->sh_size),
                                section->sh_flags & SHF_EXECINSTR, section->sh_flags & SHF_WRITE};
        image->part_count += part->bytes != NULL;
    }
    return image->parts != NULL;
}

const unsigned char *elf_image_at(const struct elf_image *image, uint64_t address,
                                  uint64_t size_bytes)
{
    for (size_t i = 0; i < image->part_count; i++) {
        const struct image_part *part = &image->parts[i];

        if (address >= part->address && address - part->address <= part->size_bytes &&
            size_bytes <= part->size_bytes - (address - part->address))
            return part->bytes + (address - part->address);
    }
    return NULL;
}

/* --- pointers -------------------------------------------------------------------------------- */

static int by_address(const void *left, const void *right)
{
    const uint64_t *a = left, *b = right;

    return (*a > *b) - (*a < *b);
}

static bool is_of_file_itself(const struct elf_image *image, const Elf64_Rela *row)
{
    return ELF64_R_TYPE(row->r_info) ==
           (image->machine == EM_AARCH64 ? R_AARCH64_RELATIVE : R_X86_64_RELATIVE);
}

static void add_pointers(struct elf_image *image, const Elf64_Rela *rows, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (is_of_file_itself(image, &rows[i]))
            image->pointers[image->pointer_count++] =
                (struct image_pointer){rows[i].r_offset, (uint64_t)rows[i].r_addend};
}

static bool read_pointers(struct elf_image *image, const struct elf_file *file)
{
    size_t most = 0;

    for (size_t i = 0; i < file->section_count; i++)
        if (file->sections[i].sh_type == SHT_RELA && has_bytes(&file->sections[i]) &&
            file->sections[i].sh_size <= file->size_bytes)
            most += file->sections[i].sh_size / sizeof(Elf64_Rela);
    image->pointers = calloc(most + 1, sizeof(*image->pointers));
    for (size_t i = 0; image->pointers && i < file->section_count; i++) {
        const Elf64_Shdr *section = &file->sections[i];
        Elf64_Rela *rows = section->sh_type == SHT_RELA && has_bytes(section)
                               ? elf_file_read(file, section->sh_offset, section->sh_size)
                               : NULL;

        if (rows)
            add_pointers(image, rows, section->sh_size / sizeof(*rows));
        free(rows);
    }
    if (image->pointers)
        qsort(image->pointers, image->pointer_count, sizeof(*image->pointers), by_address);
    return image->pointers != NULL;
}

uint64_t elf_image_pointer(const struct elf_image *image, uint64_t address)
{
    size_t count =
        rows_up_to(image->pointers, image->pointer_count, sizeof(*image->pointers), address);
    const unsigned char *bytes;
    uint64_t value;

    if (count && image->pointers[count - 1].address == address)
        return image->pointers[count - 1].value;
    bytes = elf_image_at(image, address, POINTER_BYTES);
    if (!bytes)
        return 0;
    memcpy(&value, bytes, sizeof(value));
    return value;
}

/* --- what is exported ------------------------------------------------------------------------ */

static void add_exports(struct elf_image *image, const Elf64_Sym *rows, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (rows[i].st_shndx != SHN_UNDEF && rows[i].st_value &&
            rows[i].st_name < image->names_bytes)
            image->exports[image->export_count++] =
                (struct image_export){rows[i].st_value, rows[i].st_name};
    qsort(image->exports, image->export_count, sizeof(*image->exports), by_address);
}

static bool read_exports(struct elf_image *image, const struct elf_file *file)
{
    const Elf64_Shdr *section = elf_file_section(file, ".dynsym");
    const Elf64_Shdr *names;
    Elf64_Sym *rows;
    size_t count;

    if (!section || section->sh_link >= file->section_count)
        return false;
    names = &file->sections[section->sh_link];
    image->names = elf_file_read(file, names->sh_offset, names->sh_size);
    image->names_bytes = image->names ? names->sh_size : 0;
    count = section->sh_size / sizeof(*rows);
    rows = elf_file_read(file, section->sh_offset, section->sh_size);
    image->exports = rows ? calloc(count + 1, sizeof(*image->exports)) : NULL;
    if (image->exports)
        add_exports(image, rows, count);
    free(rows);
    return image->exports != NULL;
}

uint64_t elf_image_exported(const struct elf_image *image, const char *name)
{
    for (size_t i = 0; i < image->export_count; i++)
        if (strcmp(image->names + image->exports[i].name, name) == 0)
            return image->exports[i].address;
    return 0;
}

bool elf_image_is_exported(const struct elf_image *image, uint64_t address)
{
    size_t count =
        rows_up_to(image->exports, image->export_count, sizeof(*image->exports), address);

    return count && image->exports[count - 1].address == address;
}

/* --- functions ------------------------------------------------------------------------------- */

static uint64_t relative(uint64_t from, const unsigned char *bytes)
{
    int32_t distance;

    memcpy(&distance, bytes, sizeof(distance));
    return from + (uint64_t)(int64_t)distance;
}

/* 0: the row is written in another way, or is of another function. */
static uint64_t size_of_function(const struct elf_image *image, uint64_t frame, uint64_t begins)
{
    const unsigned char *row = elf_image_at(image, frame, FRAME_BYTES);
    uint32_t size_bytes;

    if (!row || relative(frame + FRAME_BEGINS, row + FRAME_BEGINS) != begins)
        return 0;
    memcpy(&size_bytes, row + FRAME_BEGINS + sizeof(size_bytes), sizeof(size_bytes));
    return elf_image_at(image, begins, size_bytes) ? size_bytes : 0;
}

static bool is_understood(const unsigned char *header)
{
    return header[0] == HEADER_VERSION && header[2] == COUNT_IS_4_BYTES &&
           header[3] == TABLE_IS_RELATIVE;
}

/* Nor do functions. */
static void drop_overlapping(struct elf_image *image)
{
    size_t kept = 0;

    for (size_t i = 0; i < image->function_count; i++)
        if (!kept || image->functions[i].address - image->functions[kept - 1].address >=
                         image->functions[kept - 1].size_bytes)
            image->functions[kept++] = image->functions[i];
    image->function_count = kept;
}

static bool read_functions(struct elf_image *image, const struct elf_file *file)
{
    const Elf64_Shdr *section = elf_file_section(file, ".eh_frame_hdr");
    const unsigned char *header =
        section ? elf_image_at(image, section->sh_addr, section->sh_size) : NULL;
    uint32_t count;

    if (!header || section->sh_size < TABLE_BEGINS || !is_understood(header))
        return false;
    memcpy(&count, header + 8, sizeof(count));
    if (count > (section->sh_size - TABLE_BEGINS) / TABLE_ROW_BYTES)
        return false;
    image->functions = calloc((size_t)count + 1, sizeof(*image->functions));
    for (uint32_t i = 0; image->functions && i < count; i++) {
        const unsigned char *row = header + TABLE_BEGINS + (size_t)i * TABLE_ROW_BYTES;
        uint64_t begins = relative(section->sh_addr, row);
        uint64_t size_bytes = size_of_function(image, relative(section->sh_addr, row + 4), begins);

        if (size_bytes)
            image->functions[image->function_count++] = (struct image_function){begins, size_bytes};
    }
    if (image->functions)
        qsort(image->functions, image->function_count, sizeof(*image->functions), by_address);
    drop_overlapping(image);
    return image->function_count > 0;
}

const struct image_function *elf_image_function_around(const struct elf_image *image,
                                                       uint64_t address)
{
    size_t count =
        rows_up_to(image->functions, image->function_count, sizeof(*image->functions), address);
    const struct image_function *function = count ? &image->functions[count - 1] : NULL;

    return function && address - function->address < function->size_bytes ? function : NULL;
}

const struct image_function *elf_image_function(const struct elf_image *image, uint64_t address)
{
    const struct image_function *function = elf_image_function_around(image, address);

    return function && function->address == address ? function : NULL;
}

/* --- the whole ------------------------------------------------------------------------------- */

/* Sorted, so that an address is looked for in halves; functions do not lie over each other. */
static void image_check(const struct elf_image *image)
{
    for (size_t i = 1; i < image->pointer_count; i++)
        MT_ASSERT(image->pointers[i - 1].address <= image->pointers[i].address);
    for (size_t i = 0; i < image->export_count; i++)
        MT_ASSERT(image->exports[i].name < image->names_bytes);
    for (size_t i = 1; i < image->function_count; i++)
        MT_ASSERT(image->functions[i].address - image->functions[i - 1].address >=
                  image->functions[i - 1].size_bytes);
}

bool elf_image_read(struct elf_image *image, const struct elf_file *file)
{
    *image = (struct elf_image){.machine = file->header.e_machine};
    if (!read_parts(image, file) || !read_pointers(image, file) || !read_exports(image, file) ||
        !read_functions(image, file))
        return false;
    if (MT_ASSERTS)
        image_check(image);
    return true;
}

void elf_image_release(struct elf_image *image)
{
    for (size_t i = 0; i < image->part_count; i++)
        free(image->parts[i].bytes);
    free(image->parts);
    free(image->pointers);
    free(image->exports);
    free(image->names);
    free(image->functions);
    *image = (struct elf_image){0};
}
