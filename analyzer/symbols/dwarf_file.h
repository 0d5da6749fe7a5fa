/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A file with DWARF data, through libdwarf: what is not the same in all its versions, and reading
 * of attributes. Only the files dwarf_*.c of this folder see libdwarf.
 *
 * libdwarf 20210528 (Debian 12) to 2.x are served. Which of the two interfaces it has is found when
 * leaktide is configured, and asked again when it runs: both go by the same name, libdwarf.so.1.
 *
 * A call that fails leaves an error behind that has to be given back, and one without a place for
 * it ends the program: so each goes through got().
 */
#ifndef LEAKTIDE_DWARF_FILE_H
#define LEAKTIDE_DWARF_FILE_H

#include <stdbool.h>
#include <stdint.h>

#include <dwarf.h>
#include <libdwarf.h>

struct dwarf_file {
    Dwarf_Debug debug;
    Dwarf_Error error;
    bool loses_first_file; /* before 0.5.0, rows of gcc that mean file 1 say file 0 */
};

/* False: a libdwarf that does not fit, or no DWARF data in there. */
bool dwarf_file_open(struct dwarf_file *file, const char *path);
void dwarf_file_close(struct dwarf_file *file);

/*
 * For a process that ends before it runs out of memory: libdwarf keeps no account of what it takes,
 * which is a seventh of its work, and closing a file gives less of it back.
 */
void dwarf_file_forget_memory(void);

/* True when a call gave what it was asked for; an error is given back. */
bool got(struct dwarf_file *file, int result);

/* Of a DIE. What is not there, or not of that kind, leaves *value alone and is false. */
bool dwarf_file_number(struct dwarf_file *file, Dwarf_Die die, Dwarf_Half attribute,
                       uint64_t *value);
/* The offset in .debug_info of the DIE that is referred to. */
bool dwarf_file_reference(struct dwarf_file *file, Dwarf_Die die, Dwarf_Half attribute,
                          uint64_t *offset);
/* Borrowed until the file is closed; NULL when there is none. */
const char *dwarf_file_text(struct dwarf_file *file, Dwarf_Die die, Dwarf_Half attribute);

/* The addresses of a DIE: each stretch from low to before high. */
struct dwarf_range {
    uint64_t low, high;
};
typedef void (*dwarf_range_visitor)(void *context, struct dwarf_range range);

/* base: where the unit starts, for ranges that count from there. */
void dwarf_file_ranges(struct dwarf_file *file, Dwarf_Die die, uint64_t base,
                       dwarf_range_visitor visit, void *context);

#endif
