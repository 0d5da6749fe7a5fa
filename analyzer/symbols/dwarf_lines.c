/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The line table of one unit.
 */
#include "dwarf_lines.h"

#include <stdlib.h>
#include <string.h>

#include "path_text.h"
#include "sorted_rows.h"
#include "text_builder.h"

static bool is_end(const struct line_row *row)
{
    return row->file == LINE_END;
}

/* A row at which one stretch ends is before one at which another begins. */
static int row_compare(const void *left, const void *right)
{
    const struct line_row *a = left, *b = right;

    if (a->address != b->address)
        return a->address < b->address ? -1 : 1;
    if (a->sequence != b->sequence && is_end(a) != is_end(b))
        return is_end(a) ? -1 : 1;
    return (a->order > b->order) - (a->order < b->order);
}

/* Rows of one stretch are in order already; only stretches may have to be moved. */
static void sort_rows(struct line_row *rows, size_t count)
{
    bool is_sorted = true;

    for (size_t i = 1; i < count && is_sorted; i++)
        is_sorted = rows[i - 1].address <= rows[i].address;
    if (!is_sorted)
        qsort(rows, count, sizeof(*rows), row_compare);
}

/* gcc leaves out that the first row is of file 1. */
static bool is_gcc(struct dwarf_file *file, Dwarf_Die unit)
{
    const char *producer = dwarf_file_text(file, unit, DW_AT_producer);

    return producer && strncmp(producer, "GNU", 3) == 0;
}

static bool row_read(struct dwarf_file *file, Dwarf_Line line, struct line_row *row)
{
    Dwarf_Addr address;
    Dwarf_Unsigned number = 0, source = 0;
    Dwarf_Bool ends = 0;

    if (!got(file, dwarf_lineaddr(line, &address, &file->error)) ||
        !got(file, dwarf_lineendsequence(line, &ends, &file->error)))
        return false;
    if (!ends && (!got(file, dwarf_lineno(line, &number, &file->error)) ||
                  !got(file, dwarf_line_srcfileno(line, &source, &file->error))))
        return false;
    *row = (struct line_row){
        .address = address,
        .line = number <= UINT32_MAX ? (uint32_t)number : 0,
        .file = ends                ? LINE_END
                : source < LINE_END ? (uint32_t)source
                                    : LINE_END - 1,
    };
    return true;
}

static void read_rows(struct dwarf_lines *lines, struct dwarf_file *file,
                      Dwarf_Line_Context context, bool starts_at_one, struct arena *arena)
{
    Dwarf_Line *rows;
    Dwarf_Signed count;
    uint32_t sequence = 0;

    if (!got(file, dwarf_srclines_from_linecontext(context, &rows, &count, &file->error)) ||
        count <= 0)
        return;
    lines->rows = arena_alloc(arena, (size_t)count * sizeof(*lines->rows));
    for (Dwarf_Signed i = 0; lines->rows && i < count; i++) {
        struct line_row *row = &lines->rows[lines->count];

        if (!row_read(file, rows[i], row))
            continue;
        row->sequence = sequence;
        row->order = (uint32_t)i;
        sequence += is_end(row);
        if (starts_at_one && row->file == 0)
            row->file = 1;
        lines->count++;
    }
    sort_rows(lines->rows, lines->count);
}

static void file_read(struct dwarf_file *file, Dwarf_Line_Context context, Dwarf_Signed index,
                      struct line_file *row)
{
    Dwarf_Unsigned folder = 0, modified, size_bytes;
    Dwarf_Form_Data16 *md5;
    const char *name;

    if (!got(file, dwarf_srclines_files_data_b(context, index, &name, &folder, &modified,
                                               &size_bytes, &md5, &file->error)))
        return;
    row->name = name;
    if (!got(file, dwarf_srclines_include_dir_data(context, (Dwarf_Signed)folder, &row->folder,
                                                   &file->error)))
        row->folder = NULL;
}

/* Files count from 0 since DWARF 5, and from 1 before. */
static void read_files(struct dwarf_lines *lines, struct dwarf_file *file,
                       Dwarf_Line_Context context, struct arena *arena)
{
    Dwarf_Signed base, count, end;

    if (!got(file, dwarf_srclines_files_indexes(context, &base, &count, &end, &file->error)) ||
        base < 0 || end <= base)
        return;
    lines->files = arena_alloc(arena, (size_t)end * sizeof(*lines->files));
    lines->file_count = lines->files ? (size_t)end : 0;
    for (Dwarf_Signed i = base; lines->files && i < end; i++)
        file_read(file, context, i, &lines->files[i]);
}

void dwarf_lines_read(struct dwarf_lines *lines, struct dwarf_file *file, Dwarf_Die unit,
                      struct arena *arena)
{
    Dwarf_Unsigned version;
    Dwarf_Small kind;
    Dwarf_Line_Context context;

    memset(lines, 0, sizeof(*lines));
    lines->unit_folder = dwarf_file_text(file, unit, DW_AT_comp_dir);
    if (!got(file, dwarf_srclines_b(unit, &version, &kind, &context, &file->error)))
        return;
    read_files(lines, file, context, arena);
    read_rows(lines, file, context,
              file->loses_first_file && version == 5 && lines->file_count > 1 && is_gcc(file, unit),
              arena);
    dwarf_srclines_dealloc_b(context);
}

const struct line_row *dwarf_lines_find(const struct dwarf_lines *lines, uint64_t address)
{
    size_t count = rows_up_to(lines->rows, lines->count, sizeof(*lines->rows), address);

    return count && !is_end(&lines->rows[count - 1]) ? &lines->rows[count - 1] : NULL;
}

static void add_folder(struct text_builder *text, const char *folder)
{
    if (!folder || !*folder)
        return;
    text_add(text, folder);
    if (folder[strlen(folder) - 1] != '/')
        text_add(text, "/");
}

/* Names are relative to their folder, and that to the unit's. */
const char *dwarf_lines_path(struct dwarf_lines *lines, uint64_t file, struct arena *arena)
{
    struct line_file *row = file < lines->file_count ? &lines->files[file] : NULL;
    struct text_builder text;
    char *path;

    if (!row || !row->name)
        return NULL;
    if (row->path)
        return row->path;
    text_init(&text);
    if (row->name[0] != '/' && (!row->folder || row->folder[0] != '/'))
        add_folder(&text, lines->unit_folder);
    if (row->name[0] != '/')
        add_folder(&text, row->folder);
    text_add(&text, row->name);
    path = arena_text(arena, text_get(&text), text.size_bytes);
    text_release(&text);
    if (path)
        path_shorten(path);
    row->path = path;
    return path;
}
