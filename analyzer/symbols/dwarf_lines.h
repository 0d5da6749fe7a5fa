/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The line table of one unit, as sorted rows.
 */
#ifndef LEAKTIDE_DWARF_LINES_H
#define LEAKTIDE_DWARF_LINES_H

#include "arena.h"
#include "dwarf_file.h"

/* As file of a row: it is after the last address of its stretch of code. */
#define LINE_END UINT32_MAX

struct line_row {
    uint64_t address;
    uint32_t line;
    uint32_t file;            /* as the unit counts its files, or LINE_END */
    uint32_t sequence, order; /* which stretch; which row of the table as written */
};

struct line_file {
    const char *name, *folder; /* as written; folder may be NULL */
    const char *path;          /* put together when it is asked for first */
};

struct dwarf_lines {
    struct line_row *rows; /* by address */
    size_t count;
    struct line_file *files;
    size_t file_count;
    const char *unit_folder; /* where the compiler was run; may be NULL */
};

/* An empty table when there is none. Rows and texts are in the arena. */
void dwarf_lines_read(struct dwarf_lines *lines, struct dwarf_file *file, Dwarf_Die unit,
                      struct arena *arena);

/* The row that covers an address, or NULL. */
const struct line_row *dwarf_lines_find(const struct dwarf_lines *lines, uint64_t address);

/* The path of a file of the unit; NULL when it is not known. Lives in the arena. */
const char *dwarf_lines_path(struct dwarf_lines *lines, uint64_t file, struct arena *arena);

#endif
