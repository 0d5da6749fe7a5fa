/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Functions, files and lines from DWARF data, with what is inlined.
 *
 * Opening reads where each unit's code lies. The lines and functions of a unit are read when the
 * first of its addresses is asked for; after that, an address is two binary searches.
 */
#include <stdlib.h>
#include <string.h>

#include "dwarf_lines.h"
#include "dwarf_scopes.h"
#include "elf_file.h"
#include "sorted_rows.h"
#include "symbol_source.h"
#include "text_builder.h"

enum { inlined_most = 64, units_most = 1 << 20 };

/* Another file that holds functions of units: a .dwo of one, a .dwp of many. */
struct split {
    struct dwarf_file file;
    struct table units; /* struct split_unit */
};

struct split_unit {
    uint64_t id, die;
};

struct unit {
    uint64_t die;  /* offset in .debug_info */
    uint64_t base; /* ranges of DWARF 4 count from here */
    uint64_t id;   /* that it shares with its half in another file */
    bool is_read;
    struct split *split; /* its functions are there; NULL: in this file */
    struct dwarf_lines lines;
    struct dwarf_scopes scopes;
};

struct unit_place {
    struct dwarf_range range;
    uint32_t unit;
};

struct dwarf_symbols {
    struct dwarf_file file;
    struct arena arena;
    char *path;
    struct table units;    /* struct unit */
    struct table splits;   /* struct split */
    struct split *package; /* path.dwp; NULL: none, or not looked for */
    bool is_package_known;
    struct table found_places;
    struct unit_place *places; /* by range.low */
    size_t place_count;
};

/* --- units --------------------------------------------------------------------------------- */

static void keep_place(void *context, struct dwarf_range range)
{
    struct dwarf_symbols *symbols = context;
    struct unit_place *place = table_add(&symbols->found_places);

    if (place)
        *place = (struct unit_place){range, (uint32_t)(symbols->units.count - 1)};
}

/* In the header of a unit since DWARF 5, before that an attribute. */
static uint64_t unit_id(struct dwarf_file *file, Dwarf_Die die, uint64_t signature)
{
    uint64_t id = signature;

    dwarf_file_number(file, die, DW_AT_GNU_dwo_id, &id);
    return id;
}

static void unit_add(struct dwarf_symbols *symbols, Dwarf_Die die, uint64_t signature)
{
    struct dwarf_file *file = &symbols->file;
    struct unit *unit;
    Dwarf_Half tag;
    Dwarf_Off offset;
    Dwarf_Addr base;

    if (!got(file, dwarf_tag(die, &tag, &file->error)) ||
        (tag != DW_TAG_compile_unit && tag != DW_TAG_skeleton_unit) ||
        !got(file, dwarf_dieoffset(die, &offset, &file->error)))
        return;
    unit = table_add(&symbols->units);
    if (!unit)
        return;
    unit->die = offset;
    unit->id = unit_id(file, die, signature);
    if (got(file, dwarf_lowpc(die, &base, &file->error)))
        unit->base = base;
    dwarf_file_ranges(file, die, unit->base, keep_place, symbols);
}

/* The next unit's first DIE; false after the last. */
static bool next_unit(struct dwarf_file *file, Dwarf_Die *die, uint64_t *signature)
{
    Dwarf_Unsigned length, type_offset, next;
    Dwarf_Half version, address_bytes, length_bytes, extension_bytes, kind;
    Dwarf_Off abbreviations;
    Dwarf_Sig8 id;

    memset(&id, 0, sizeof(id));
    if (!got(file, dwarf_next_cu_header_d(file->debug, true, &length, &version, &abbreviations,
                                          &address_bytes, &length_bytes, &extension_bytes, &id,
                                          &type_offset, &next, &kind, &file->error)))
        return false;
    memcpy(signature, &id, sizeof(*signature));
    if (!got(file, dwarf_siblingof_b(file->debug, NULL, true, die, &file->error)))
        *die = NULL;
    return true;
}

static int place_compare(const void *left, const void *right)
{
    const struct unit_place *a = left, *b = right;

    if (a->range.low != b->range.low)
        return a->range.low < b->range.low ? -1 : 1;
    return (a->unit > b->unit) - (a->unit < b->unit);
}

static void read_units(struct dwarf_symbols *symbols)
{
    uint64_t signature;
    Dwarf_Die die;

    while (symbols->units.count < units_most && next_unit(&symbols->file, &die, &signature)) {
        if (!die)
            continue;
        unit_add(symbols, die, signature);
        dwarf_dealloc_die(die);
    }
    symbols->place_count = symbols->found_places.count;
    symbols->places =
        arena_alloc(&symbols->arena, (symbols->place_count + 1) * sizeof(*symbols->places));
    if (!symbols->places)
        symbols->place_count = 0;
    for (size_t i = 0; i < symbols->place_count; i++)
        symbols->places[i] = *(struct unit_place *)table_at(&symbols->found_places, i);
    qsort(symbols->places, symbols->place_count, sizeof(*symbols->places), place_compare);
}

/* --- split DWARF --------------------------------------------------------------------------- */

static void split_read_units(struct split *split, struct arena *arena)
{
    uint64_t signature;
    Dwarf_Die die;

    table_init(&split->units, arena, sizeof(struct split_unit));
    while (split->units.count < units_most && next_unit(&split->file, &die, &signature)) {
        struct split_unit *unit = die ? table_add(&split->units) : NULL;
        Dwarf_Off offset = 0;

        if (unit && got(&split->file, dwarf_dieoffset(die, &offset, &split->file.error)))
            *unit = (struct split_unit){unit_id(&split->file, die, signature), offset};
        if (die)
            dwarf_dealloc_die(die);
    }
}

static struct split *split_open(struct dwarf_symbols *symbols, const char *path)
{
    struct split *split = table_add(&symbols->splits);

    if (!split || !dwarf_file_open(&split->file, path))
        return NULL;
    if (!got(&split->file,
             dwarf_set_tied_dbg(split->file.debug, symbols->file.debug, &split->file.error))) {
        dwarf_file_close(&split->file);
        return NULL;
    }
    split_read_units(split, &symbols->arena);
    return split;
}

/* "net.dwo" is told relative to where the compiler ran; it may also lie beside the program. */
static struct split *split_find(struct dwarf_symbols *symbols, const char *folder, const char *name)
{
    const char *slash = strrchr(symbols->path, '/');
    struct split *split;
    struct text_builder path;

    text_init(&path);
    if (name[0] != '/' && folder)
        text_add_format(&path, "%s/", folder);
    text_add(&path, name);
    split = split_open(symbols, text_get(&path));
    if (!split) {
        text_clear(&path);
        if (slash)
            text_add_bytes(&path, symbols->path, (size_t)(slash - symbols->path) + 1);
        slash = strrchr(name, '/');
        text_add(&path, slash ? slash + 1 : name);
        split = split_open(symbols, text_get(&path));
    }
    text_release(&path);
    return split;
}

static struct split *package_of(struct dwarf_symbols *symbols)
{
    struct text_builder path;

    if (symbols->is_package_known)
        return symbols->package;
    symbols->is_package_known = true;
    text_init(&path);
    text_add_format(&path, "%s.dwp", symbols->path);
    symbols->package = split_open(symbols, text_get(&path));
    text_release(&path);
    return symbols->package;
}

static bool split_has(struct split *split, uint64_t id, uint64_t *die)
{
    for (size_t i = 0; i < split->units.count; i++) {
        const struct split_unit *unit = table_at(&split->units, i);

        if (unit->id == id) {
            *die = unit->die;
            return true;
        }
    }
    return false;
}

/* Where the functions of a skeleton's unit are; false when they are not elsewhere, or lost. */
static bool find_half(struct dwarf_symbols *symbols, struct unit *unit, Dwarf_Die skeleton,
                      uint64_t *die)
{
    const char *name = dwarf_file_text(&symbols->file, skeleton, DW_AT_dwo_name);
    const char *folder = dwarf_file_text(&symbols->file, skeleton, DW_AT_comp_dir);

    if (!name)
        name = dwarf_file_text(&symbols->file, skeleton, DW_AT_GNU_dwo_name);
    if (!name)
        return false;
    unit->split = package_of(symbols);
    if (!unit->split || !split_has(unit->split, unit->id, die))
        unit->split = split_find(symbols, folder, name);
    return unit->split && split_has(unit->split, unit->id, die);
}

/* --- addresses ----------------------------------------------------------------------------- */

static struct dwarf_file *functions_file(struct dwarf_symbols *symbols, const struct unit *unit)
{
    return unit->split ? &unit->split->file : &symbols->file;
}

static void unit_read(struct dwarf_symbols *symbols, struct unit *unit)
{
    struct dwarf_file *file = &symbols->file;
    uint64_t half = unit->die;
    Dwarf_Die die;

    unit->is_read = true;
    if (!got(file, dwarf_offdie_b(file->debug, unit->die, true, &die, &file->error)))
        return;
    dwarf_lines_read(&unit->lines, file, die, &symbols->arena);
    if (!find_half(symbols, unit, die, &half)) {
        unit->split = NULL;
        half = unit->die;
    }
    dwarf_dealloc_die(die);
    file = functions_file(symbols, unit);
    if (!got(file, dwarf_offdie_b(file->debug, half, true, &die, &file->error)))
        return;
    dwarf_scopes_read(&unit->scopes, file, die, unit->base, &symbols->arena);
    dwarf_dealloc_die(die);
}

static struct unit *unit_of(struct dwarf_symbols *symbols, uint64_t address)
{
    size_t count =
        rows_up_to(symbols->places, symbols->place_count, sizeof(*symbols->places), address);
    struct unit *unit;

    if (!count || address >= symbols->places[count - 1].range.high)
        return NULL;
    unit = table_at(&symbols->units, symbols->places[count - 1].unit);
    if (!unit->is_read)
        unit_read(symbols, unit);
    return unit;
}

/* From the innermost scope outward: the place in each is where the one before it was inlined. */
static size_t name_scopes(struct dwarf_symbols *symbols, struct unit *unit, uint64_t address,
                          struct scope *const *scopes, size_t depth, struct symbol *found,
                          size_t most)
{
    const struct line_row *row = dwarf_lines_find(&unit->lines, address);
    uint64_t file = row ? row->file : UINT64_MAX;
    uint32_t line = row ? row->line : 0;
    size_t count = 0;

    for (size_t i = depth; i-- > 0 && count < most;) {
        found[count++] = (struct symbol){
            .name = dwarf_scope_name(functions_file(symbols, unit), scopes[i]),
            .file = dwarf_lines_path(&unit->lines, file, &symbols->arena),
            .line = line,
        };
        file = scopes[i]->call_file;
        line = scopes[i]->call_line;
    }
    if (!count && row && most)
        found[count++] = (struct symbol){
            .file = dwarf_lines_path(&unit->lines, file, &symbols->arena), .line = line};
    return count;
}

static size_t dwarf_find(void *state, uint64_t address, struct symbol *found, size_t most)
{
    struct dwarf_symbols *symbols = state;
    struct unit *unit = unit_of(symbols, address);
    struct scope *scopes[inlined_most];
    size_t depth;

    if (!unit)
        return 0;
    depth = dwarf_scopes_find(&unit->scopes, address, scopes, inlined_most);
    return name_scopes(symbols, unit, address, scopes, depth, found, most);
}

/* --- opening ------------------------------------------------------------------------------- */

static void dwarf_close(void *state)
{
    struct dwarf_symbols *symbols = state;

    if (!symbols)
        return;
    for (size_t i = 0; i < symbols->splits.count; i++)
        dwarf_file_close(&((struct split *)table_at(&symbols->splits, i))->file);
    dwarf_file_close(&symbols->file);
    arena_release(&symbols->arena);
    free(symbols->path);
    free(symbols);
}

static enum symbol_open_result check(const char *path, struct build_id recorded)
{
    struct elf_file file;
    enum symbol_open_result result = SYMBOLS_OPENED;

    if (!elf_file_open(&file, path))
        return SYMBOLS_MISSING;
    if (!elf_file_is(&file, recorded))
        result = SYMBOLS_CHANGED;
    else if (!elf_file_section(&file, ".debug_info") && !elf_file_section(&file, ".zdebug_info"))
        result = SYMBOLS_MISSING;
    elf_file_close(&file);
    return result;
}

static enum symbol_open_result dwarf_open(const char *path, struct build_id recorded,
                                          size_t expected_count, void **state)
{
    enum symbol_open_result result = check(path, recorded);
    struct dwarf_symbols *symbols = result == SYMBOLS_OPENED ? calloc(1, sizeof(*symbols)) : NULL;

    (void)expected_count;
    if (!symbols)
        return result == SYMBOLS_OPENED ? SYMBOLS_MISSING : result;
    arena_init(&symbols->arena);
    table_init(&symbols->units, &symbols->arena, sizeof(struct unit));
    table_init(&symbols->splits, &symbols->arena, sizeof(struct split));
    table_init(&symbols->found_places, &symbols->arena, sizeof(struct unit_place));
    symbols->path = strdup(path);
    if (!symbols->path || !dwarf_file_open(&symbols->file, path)) {
        dwarf_close(symbols);
        return SYMBOLS_MISSING;
    }
    read_units(symbols);
    *state = symbols;
    return SYMBOLS_OPENED;
}

const struct symbol_source dwarf_symbol_source = {"dwarf",     dwarf_open, dwarf_find,
                                                  dwarf_close, NULL,       NULL};
