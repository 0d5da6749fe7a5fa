/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The functions of one unit, and what is inlined in them.
 */
#include "dwarf_scopes.h"

#include <stdlib.h>
#include <string.h>

#include "sorted_rows.h"

enum { depth_most = 256, references_most = 16 };

struct walk {
    struct dwarf_scopes *scopes;
    struct dwarf_file *file;
    uint64_t base;
    struct scope *scope; /* whose ranges are visited */
    uint32_t scope_index;
    bool is_inlined;
    struct table places;
};

static void keep_range(void *context, struct dwarf_range range)
{
    struct walk *walk = context;
    struct dwarf_range *row = table_add(&walk->scopes->ranges);
    struct scope_place *place;

    if (!row)
        return;
    *row = range;
    walk->scope->range_count++;
    place = walk->is_inlined ? NULL : table_add(&walk->places);
    if (place)
        *place = (struct scope_place){range, walk->scope_index};
}

/* A row for a function that has code here; NULL when it has none. */
static struct scope *scope_add(struct walk *walk, Dwarf_Die die, bool is_inlined)
{
    struct dwarf_scopes *scopes = walk->scopes;
    struct scope *scope = table_add(&scopes->rows);
    uint64_t line = 0;
    Dwarf_Off offset;

    if (!scope)
        return NULL;
    walk->scope = scope;
    walk->scope_index = (uint32_t)(scopes->rows.count - 1);
    walk->is_inlined = is_inlined;
    scope->first_range = (uint32_t)scopes->ranges.count;
    dwarf_file_ranges(walk->file, die, walk->base, keep_range, walk);
    if (!scope->range_count ||
        !got(walk->file, dwarf_dieoffset(die, &offset, &walk->file->error))) {
        memset(scope, 0, sizeof(*scope));
        scopes->rows.count--;
        return NULL;
    }
    scope->die = offset;
    if (is_inlined) {
        dwarf_file_number(walk->file, die, DW_AT_call_file, &scope->call_file);
        if (dwarf_file_number(walk->file, die, DW_AT_call_line, &line) && line <= UINT32_MAX)
            scope->call_line = (uint32_t)line;
    }
    return scope;
}

static bool holds_functions(Dwarf_Half tag)
{
    static const Dwarf_Half tags[] = {
        DW_TAG_namespace, DW_TAG_lexical_block, DW_TAG_try_block,         DW_TAG_catch_block,
        DW_TAG_module,    DW_TAG_subprogram,    DW_TAG_inlined_subroutine};

    for (size_t i = 0; i < sizeof(tags) / sizeof(tags[0]); i++)
        if (tags[i] == tag)
            return true;
    return false;
}

static void walk_children(struct walk *walk, Dwarf_Die parent, unsigned depth);

static void walk_die(struct walk *walk, Dwarf_Die die, unsigned depth)
{
    Dwarf_Half tag;
    struct scope *scope = NULL;

    if (!got(walk->file, dwarf_tag(die, &tag, &walk->file->error)) || !holds_functions(tag))
        return;
    if (tag == DW_TAG_subprogram || tag == DW_TAG_inlined_subroutine) {
        scope = scope_add(walk, die, tag == DW_TAG_inlined_subroutine);
        if (!scope)
            return; /* without code, nothing in it has code */
    }
    walk_children(walk, die, depth + 1);
    if (scope)
        scope->end = (uint32_t)walk->scopes->rows.count;
}

static void walk_children(struct walk *walk, Dwarf_Die parent, unsigned depth)
{
    struct dwarf_file *file = walk->file;
    Dwarf_Die die, next;

    if (depth > depth_most || !got(file, dwarf_child(parent, &die, &file->error)))
        return;
    for (;;) {
        bool is_more;

        walk_die(walk, die, depth);
        is_more = got(file, dwarf_siblingof_b(file->debug, die, true, &next, &file->error));
        dwarf_dealloc_die(die);
        if (!is_more)
            return;
        die = next;
    }
}

static int place_compare(const void *left, const void *right)
{
    const struct scope_place *a = left, *b = right;

    if (a->range.low != b->range.low)
        return a->range.low < b->range.low ? -1 : 1;
    return (a->scope > b->scope) - (a->scope < b->scope);
}

void dwarf_scopes_read(struct dwarf_scopes *scopes, struct dwarf_file *file, Dwarf_Die unit,
                       uint64_t base, struct arena *arena)
{
    struct walk walk = {.scopes = scopes, .file = file, .base = base};

    memset(scopes, 0, sizeof(*scopes));
    table_init(&scopes->rows, arena, sizeof(struct scope));
    table_init(&scopes->ranges, arena, sizeof(struct dwarf_range));
    table_init(&walk.places, arena, sizeof(struct scope_place));
    walk_children(&walk, unit, 0);
    scopes->places = arena_alloc(arena, (walk.places.count + 1) * sizeof(*scopes->places));
    scopes->place_count = scopes->places ? walk.places.count : 0;
    for (size_t i = 0; i < scopes->place_count; i++)
        scopes->places[i] = *(struct scope_place *)table_at(&walk.places, i);
    qsort(scopes->places, scopes->place_count, sizeof(*scopes->places), place_compare);
}

static bool is_inside(const struct dwarf_scopes *scopes, const struct scope *scope,
                      uint64_t address)
{
    for (uint32_t i = 0; i < scope->range_count; i++) {
        const struct dwarf_range *range = table_at(&scopes->ranges, scope->first_range + i);

        if (address >= range->low && address < range->high)
            return true;
    }
    return false;
}

/* The function that starts last at or before the address, if the address is in it. */
static const struct scope_place *place_of(const struct dwarf_scopes *scopes, uint64_t address)
{
    size_t count =
        rows_up_to(scopes->places, scopes->place_count, sizeof(*scopes->places), address);

    return count && address < scopes->places[count - 1].range.high ? &scopes->places[count - 1]
                                                                   : NULL;
}

size_t dwarf_scopes_find(const struct dwarf_scopes *scopes, uint64_t address, struct scope **found,
                         size_t most)
{
    const struct scope_place *place = place_of(scopes, address);
    size_t count = 0;
    uint32_t end;

    if (!place || !most)
        return 0;
    found[count++] = table_at(&scopes->rows, place->scope);
    end = found[0]->end;
    for (uint32_t i = place->scope + 1; i < end && count < most;) {
        struct scope *scope = table_at(&scopes->rows, i);

        if (is_inside(scopes, scope, address)) {
            found[count++] = scope;
            end = scope->end;
            i++;
        } else {
            i = scope->end;
        }
    }
    return count;
}

/* --- names --------------------------------------------------------------------------------- */

static const char *linkage_name(struct dwarf_file *file, Dwarf_Die die)
{
    const char *name = dwarf_file_text(file, die, DW_AT_linkage_name);

    return name ? name : dwarf_file_text(file, die, DW_AT_MIPS_linkage_name);
}

/* A copy of a function refers to what it is a copy of, and that to its declaration. */
static bool refers_to(struct dwarf_file *file, Dwarf_Die die, uint64_t *offset)
{
    return dwarf_file_reference(file, die, DW_AT_abstract_origin, offset) ||
           dwarf_file_reference(file, die, DW_AT_specification, offset);
}

const char *dwarf_scope_name(struct dwarf_file *file, struct scope *scope)
{
    uint64_t offset = scope->die;
    const char *written = NULL;
    bool is_more = true;

    if (scope->has_name)
        return scope->name;
    scope->has_name = true;
    for (unsigned i = 0; i < references_most && is_more && !scope->name; i++) {
        Dwarf_Die die;

        if (!got(file, dwarf_offdie_b(file->debug, offset, true, &die, &file->error)))
            break;
        scope->name = linkage_name(file, die);
        if (!written)
            written = dwarf_file_text(file, die, DW_AT_name);
        is_more = refers_to(file, die, &offset);
        dwarf_dealloc_die(die);
    }
    if (!scope->name)
        scope->name = written;
    return scope->name;
}
