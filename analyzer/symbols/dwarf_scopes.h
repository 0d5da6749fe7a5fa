/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The functions of one unit, and what is inlined in them, as a flat tree.
 *
 *   train            depth 0, end 4
 *     forward        inlined; end 3
 *       reserve      inlined in forward; end 3
 *     backward       inlined; end 4
 *
 * A row's subtree is the rows after it up to `end`.
 */
#ifndef LEAKTIDE_DWARF_SCOPES_H
#define LEAKTIDE_DWARF_SCOPES_H

#include "arena.h"
#include "dwarf_file.h"
#include "table.h"

struct scope {
    uint64_t die; /* offset in .debug_info */
    uint32_t end; /* row after its subtree */
    uint32_t first_range, range_count;
    uint32_t call_line; /* where it is inlined: of its caller */
    uint64_t call_file;
    const char *name; /* when has_name; may be NULL */
    bool has_name;
};

/* Where a function that is not inlined lies. */
struct scope_place {
    struct dwarf_range range;
    uint32_t scope;
};

struct dwarf_scopes {
    struct table rows;          /* struct scope */
    struct table ranges;        /* struct dwarf_range */
    struct scope_place *places; /* by range.low */
    size_t place_count;
};

/* base: as for dwarf_file_ranges(). Everything is in the arena. */
void dwarf_scopes_read(struct dwarf_scopes *scopes, struct dwarf_file *file, Dwarf_Die unit,
                       uint64_t base, struct arena *arena);

/* The scopes around an address, outermost first; returns how many, at most `most`. */
size_t dwarf_scopes_find(const struct dwarf_scopes *scopes, uint64_t address, struct scope **found,
                         size_t most);

/* As the linker knows it, else as it was written; NULL when it has none. */
const char *dwarf_scope_name(struct dwarf_file *file, struct scope *scope);

#endif
