/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Functions of CPython that rules look for, in a file that is stripped of their names.
 *
 * Distributions strip theirs. What is left: names that are exported, tables with names of Python's
 * methods and types beside their functions, strings, and what each function calls. A function is
 * named only where all of that leaves one. CPython 3.8 to 3.14.
 *
 *   Py_FinalizeEx:  ... flush_std_files ... finalize_modules ... flush_std_files ...
 */
#define _GNU_SOURCE /* memmem */
#include <stdlib.h>
#include <string.h>

#include "code_references.h"
#include "elf_image.h"
#include "symbol_source.h"

enum { NAMED_MAX = 32, CALLS_MAX = 128, STRING_PLACES_MAX = 8, POINTER_BYTES = 8 };

struct named_function {
    const char *name;
    struct image_function code;
};

struct interpreter_symbols {
    struct named_function rows[NAMED_MAX];
    size_t count;
};

/* What is being found out. */
struct naming {
    const struct elf_image *image;
    struct interpreter_symbols *symbols;
};

/* --- names ----------------------------------------------------------------------------------- */

/* A part of several functions is of the first. */
static void name_code(struct naming *naming, const char *name, const struct image_function *code)
{
    struct interpreter_symbols *symbols = naming->symbols;

    for (size_t i = 0; i < symbols->count; i++)
        if (symbols->rows[i].code.address == code->address)
            return;
    if (symbols->count < NAMED_MAX)
        symbols->rows[symbols->count++] = (struct named_function){name, *code};
}

/* The compiler moves what seldom runs away from its function. */
static void name_parts(struct naming *naming, const char *name, const struct image_function *code)
{
    struct reference_scan scan;
    struct reference found;

    reference_scan_begin(&scan, naming->image, code);
    while (reference_scan_next(&scan, &found)) {
        const struct image_function *part =
            found.kind == REFERENCE_PART ? elf_image_function_around(naming->image, found.address)
                                         : NULL;

        if (part && part->address != code->address &&
            !elf_image_is_exported(naming->image, part->address))
            name_code(naming, name, part);
    }
}

static void name_function(struct naming *naming, const char *name, uint64_t address)
{
    const struct image_function *code = elf_image_function(naming->image, address);

    if (!code)
        return;
    name_code(naming, name, code);
    name_parts(naming, name, code);
}

/* A function that is there and has no name yet. */
static bool is_unnamed(const struct elf_image *image, uint64_t address)
{
    return elf_image_function(image, address) && !elf_image_is_exported(image, address);
}

/* --- what a function calls ------------------------------------------------------------------- */

/* Its unnamed functions, in the order of its code. */
struct calls {
    uint64_t targets[CALLS_MAX];
    size_t count;
};

static void calls_of(const struct elf_image *image, uint64_t caller, struct calls *calls)
{
    const struct image_function *code = elf_image_function(image, caller);
    struct reference_scan scan;
    struct reference found;

    calls->count = 0;
    if (!code)
        return;
    reference_scan_begin(&scan, image, code);
    while (reference_scan_next(&scan, &found))
        if ((found.kind == REFERENCE_CALL || found.kind == REFERENCE_JUMP) &&
            found.address != caller && calls->count < CALLS_MAX && is_unnamed(image, found.address))
            calls->targets[calls->count++] = found.address;
}

static size_t times_called(const struct calls *calls, uint64_t target)
{
    size_t count = 0;

    for (size_t i = 0; i < calls->count; i++)
        count += calls->targets[i] == target;
    return count;
}

static size_t next_call(const struct calls *calls, uint64_t target, size_t from)
{
    while (from < calls->count && calls->targets[from] != target)
        from++;
    return from;
}

/* --- the end of the interpreter -------------------------------------------------------------- */

struct end_functions {
    uint64_t flush, modules;
    size_t pair_count; /* which may be these two: they are where it is 1 */
};

/* The last between two calls that whoever ends a single interpreter calls as well; 0: none. */
static uint64_t last_common(const struct calls *calls, size_t from, size_t until,
                            const struct calls *of_one)
{
    while (until-- > from + 1)
        if (times_called(of_one, calls->targets[until]))
            return calls->targets[until];
    return 0;
}

/* Before 3.9, that is exported. */
static uint64_t exported_cleanup(const struct elf_image *image)
{
    uint64_t address = elf_image_exported(image, "PyImport_Cleanup");

    return address ? address : elf_image_exported(image, "_PyImport_Cleanup");
}

static struct end_functions end_in(const struct elf_image *image, const struct calls *calls)
{
    struct end_functions found = {0};
    uint64_t cleanup = exported_cleanup(image);
    struct calls of_one;

    calls_of(image, elf_image_exported(image, "Py_EndInterpreter"), &of_one);
    for (size_t i = 0; i < calls->count; i++) {
        size_t second = next_call(calls, calls->targets[i], i + 1);
        uint64_t modules;

        if (second == calls->count || times_called(calls, calls->targets[i]) != 2)
            continue;
        modules = cleanup ? cleanup : last_common(calls, i, second, &of_one);
        if (!modules)
            continue;
        found.flush = calls->targets[i];
        found.modules = modules;
        found.pair_count++;
    }
    return found;
}

/* Since 3.13 Py_FinalizeEx only goes on to it. */
static uint64_t end_goes_on_to(const struct elf_image *image, const struct calls *calls)
{
    enum { SMALL_BYTES = 64 };
    const struct image_function *code =
        elf_image_function(image, elf_image_exported(image, "Py_FinalizeEx"));

    return code && code->size_bytes <= SMALL_BYTES && calls->count == 1 ? calls->targets[0] : 0;
}

static void name_end(struct naming *naming)
{
    struct calls calls;
    struct end_functions found;
    uint64_t goes_on;

    calls_of(naming->image, elf_image_exported(naming->image, "Py_FinalizeEx"), &calls);
    goes_on = end_goes_on_to(naming->image, &calls);
    if (goes_on) {
        name_function(naming, "_Py_Finalize", goes_on);
        calls_of(naming->image, goes_on, &calls);
    }
    found = end_in(naming->image, &calls);
    if (found.pair_count != 1)
        return;
    name_function(naming, "flush_std_files", found.flush);
    name_function(naming, "finalize_modules", found.modules);
}

/* --- tables ---------------------------------------------------------------------------------- */

struct places {
    uint64_t addresses[STRING_PLACES_MAX];
    size_t count;
};

static void add_place(struct places *places, uint64_t address)
{
    if (places->count < STRING_PLACES_MAX)
        places->addresses[places->count++] = address;
}

static bool is_place(const struct places *places, uint64_t address)
{
    for (size_t i = 0; i < places->count; i++)
        if (places->addresses[i] == address)
            return true;
    return false;
}

/* Where a string is, also as the end of a longer one. */
static struct places places_of_string(const struct elf_image *image, const char *text)
{
    struct places places = {.count = 0};
    size_t size_bytes = strlen(text) + 1;

    for (size_t i = 0; i < image->part_count; i++) {
        const struct image_part *part = &image->parts[i];
        const unsigned char *at = part->bytes, *end = part->bytes + part->size_bytes;

        while (!part->is_code && (size_t)(end - at) >= size_bytes &&
               (at = memmem(at, (size_t)(end - at), text, size_bytes))) {
            add_place(&places, part->address + (uint64_t)(at - part->bytes));
            at++;
        }
    }
    return places;
}

/* Where a table has a pointer to one of these. */
static struct places pointers_to(const struct elf_image *image, const struct places *wanted)
{
    struct places places = {.count = 0};

    for (size_t i = 0; i < image->pointer_count; i++)
        if (is_place(wanted, image->pointers[i].value))
            add_place(&places, image->pointers[i].address);
    for (size_t i = 0; i < image->part_count; i++) {
        const struct image_part *part = &image->parts[i];

        for (uint64_t at = -part->address % POINTER_BYTES;
             part->is_written && at + POINTER_BYTES <= part->size_bytes; at += POINTER_BYTES) {
            uint64_t value;

            memcpy(&value, part->bytes + at, sizeof(value));
            if (value && is_place(wanted, value) && !is_place(&places, part->address + at))
                add_place(&places, part->address + at);
        }
    }
    return places;
}

static struct places pointers_to_string(const struct elf_image *image, const char *text)
{
    struct places strings = places_of_string(image, text);

    return pointers_to(image, &strings);
}

/* PyMethodDef: name, function, flags, documentation. */
static void name_collect(struct naming *naming)
{
    struct places places = pointers_to_string(naming->image, "collect");
    uint64_t found = 0;

    for (size_t i = 0; i < places.count; i++) {
        uint64_t function = elf_image_pointer(naming->image, places.addresses[i] + POINTER_BYTES);

        if (!is_unnamed(naming->image, function))
            continue;
        if (found && found != function)
            return;
        found = function;
    }
    name_function(naming, "gc_collect", found);
}

/* --- caches ---------------------------------------------------------------------------------- */

enum {
    /* PyType_Spec: where its slots are. Of one: a number, a pointer; 0 ends them. */
    SPEC_SLOTS = 24,
    SLOT_BYTES = 16,
    SLOTS_MAX = 100,
    SLOT_OF_NEW = 65,
    /* PyTypeObject, before 3.10. */
    TYPE_NAME = 24,
    TYPE_NEW = 312
};

static uint64_t slot_of(const struct elf_image *image, uint64_t slots, uint32_t wanted)
{
    for (unsigned i = 0; i < SLOTS_MAX; i++, slots += SLOT_BYTES) {
        const unsigned char *bytes = elf_image_at(image, slots, SLOT_BYTES);
        uint32_t number = 0;

        if (bytes)
            memcpy(&number, bytes, sizeof(number));
        if (!number)
            return 0;
        if (number == wanted)
            return elf_image_pointer(image, slots + POINTER_BYTES);
    }
    return 0;
}

/* What makes one of the type with this name; 0: not found. */
static uint64_t maker_of(const struct elf_image *image, const char *type)
{
    struct places places = pointers_to_string(image, type);

    for (size_t i = 0; i < places.count; i++) {
        uint64_t at = places.addresses[i];
        uint64_t maker = slot_of(image, elf_image_pointer(image, at + SPEC_SLOTS), SLOT_OF_NEW);

        if (!maker)
            maker = elf_image_pointer(image, at - TYPE_NAME + TYPE_NEW);
        if (is_unnamed(image, maker))
            return maker;
    }
    return 0;
}

/* Functions whose address is taken, here and where the rest of this function lies. */
static void add_taken(const struct elf_image *image, const struct image_function *code,
                      struct places *taken, bool is_whole)
{
    struct reference_scan scan;
    struct reference found;

    reference_scan_begin(&scan, image, code);
    while (reference_scan_next(&scan, &found)) {
        const struct image_function *part;

        if (found.kind == REFERENCE_TAKEN && is_unnamed(image, found.address) &&
            !is_place(taken, found.address))
            add_place(taken, found.address);
        part = is_whole && found.kind == REFERENCE_PART
                   ? elf_image_function_around(image, found.address)
                   : NULL;
        if (part && part->address != code->address)
            add_taken(image, part, taken, false);
    }
}

/* Of three ways to answer, that without a cache, with one, with one that is bounded: the last does
 * what both others do, and keeps the list of what was used last. */
static void name_bounded(struct naming *naming)
{
    enum { WAYS = 3 };
    const struct image_function *maker =
        elf_image_function(naming->image, maker_of(naming->image, "functools._lru_cache_wrapper"));
    struct places taken = {.count = 0};
    uint64_t sum = 0, most = 0, bounded = 0;

    if (maker)
        add_taken(naming->image, maker, &taken, true);
    for (size_t i = 0; i < taken.count; i++) {
        uint64_t size_bytes = elf_image_function(naming->image, taken.addresses[i])->size_bytes;

        sum += size_bytes;
        if (size_bytes > most) {
            most = size_bytes;
            bounded = taken.addresses[i];
        }
    }
    if (taken.count == WAYS && most > sum / 2)
        name_function(naming, "bounded_lru_cache_wrapper", bounded);
}

/* --- collections ----------------------------------------------------------------------------- */

/* Who takes the address of what is told to those that want to hear of collections. */
static void name_callback(struct naming *naming)
{
    struct places strings = places_of_string(naming->image, "{sisnsn}");

    for (size_t i = 0; strings.count && i < naming->image->function_count; i++) {
        struct reference_scan scan;
        struct reference found;

        reference_scan_begin(&scan, naming->image, &naming->image->functions[i]);
        while (reference_scan_next(&scan, &found))
            if (found.kind == REFERENCE_TAKEN && is_place(&strings, found.address)) {
                name_code(naming, "invoke_gc_callback", &naming->image->functions[i]);
                break;
            }
    }
}

/* --- allocators ------------------------------------------------------------------------------ */

/* PyMemAllocatorEx: whose, malloc, calloc, realloc, free. */
enum { ALLOCATOR_POINTERS = 5, ALLOCATORS_MAX = 32 };

struct allocator {
    uint64_t pointers[ALLOCATOR_POINTERS];
};

static bool allocator_at(const struct elf_image *image, uint64_t address, struct allocator *found)
{
    for (unsigned i = 0; i < ALLOCATOR_POINTERS; i++) {
        found->pointers[i] = elf_image_pointer(image, address + (uint64_t)i * POINTER_BYTES);
        if (i ? !is_unnamed(image, found->pointers[i]) : found->pointers[i] != 0)
            return false;
        for (unsigned k = 1; k < i; k++)
            if (found->pointers[k] == found->pointers[i])
                return false;
    }
    return true;
}

static size_t allocators_of(const struct elf_image *image, struct allocator *rows)
{
    size_t count = 0;

    for (size_t i = 0; i < image->part_count; i++) {
        const struct image_part *part = &image->parts[i];

        for (uint64_t at = -part->address % POINTER_BYTES;
             part->is_written && count < ALLOCATORS_MAX && at < part->size_bytes;
             at += POINTER_BYTES)
            count += allocator_at(image, part->address + at, &rows[count]);
    }
    return count;
}

static size_t times_there(const struct allocator *rows, size_t count, const struct allocator *row)
{
    size_t found = 0;

    for (size_t i = 0; i < count; i++)
        found += memcmp(&rows[i], row, sizeof(*row)) == 0;
    return found;
}

/* Objects and other memory have the same allocator; a third, for what needs no lock, has another.
 */
static void name_allocators(struct naming *naming)
{
    static const char *const names[] = {NULL, "_PyObject_Malloc", "_PyObject_Calloc",
                                        "_PyObject_Realloc"};
    struct allocator rows[ALLOCATORS_MAX];
    size_t count = allocators_of(naming->image, rows), most = 0, most_times = 0;

    for (size_t i = 0; i < count; i++) {
        size_t times = times_there(rows, count, &rows[i]);

        if (times > most_times) {
            most_times = times;
            most = i;
        }
    }
    if (most_times < 2 || most_times == count)
        return;
    for (unsigned i = 1; i < sizeof(names) / sizeof(names[0]); i++)
        name_function(naming, names[i], rows[most].pointers[i]);
}

/* --- the whole ------------------------------------------------------------------------------- */

static struct interpreter_symbols *symbols_make(const struct elf_image *image)
{
    struct interpreter_symbols *symbols = calloc(1, sizeof(*symbols));
    struct naming naming = {image, symbols};

    if (!symbols)
        return NULL;
    name_end(&naming);
    name_collect(&naming);
    name_bounded(&naming);
    name_callback(&naming);
    name_allocators(&naming);
    return symbols;
}

/* One that has its names needs nothing of this. */
static bool is_stripped(const struct elf_file *file)
{
    for (size_t i = 0; i < file->section_count; i++)
        if (file->sections[i].sh_type == SHT_SYMTAB)
            return false;
    return true;
}

static enum symbol_open_result interpreter_open(const char *path, struct build_id recorded,
                                                size_t expected_count, void **state)
{
    struct elf_file file;
    struct elf_image image = {0};
    struct interpreter_symbols *symbols = NULL;

    (void)expected_count;
    if (!elf_file_open(&file, path))
        return SYMBOLS_MISSING;
    if (is_stripped(&file) && elf_file_is(&file, recorded) && elf_image_read(&image, &file) &&
        elf_image_exported(&image, "Py_FinalizeEx"))
        symbols = symbols_make(&image);
    elf_image_release(&image);
    elf_file_close(&file);
    if (!symbols)
        return SYMBOLS_MISSING;
    *state = symbols;
    return SYMBOLS_OPENED;
}

static void interpreter_close(void *state)
{
    free(state);
}

static size_t interpreter_find(void *state, uint64_t address, struct symbol *found, size_t most)
{
    const struct interpreter_symbols *symbols = state;

    for (size_t i = 0; most && i < symbols->count; i++) {
        const struct named_function *row = &symbols->rows[i];

        if (address - row->code.address >= row->code.size_bytes)
            continue;
        found[0] = (struct symbol){.name = row->name, .offset_bytes = address - row->code.address};
        return 1;
    }
    return 0;
}

static enum evidence_value interpreter_knows(void *state, const char *name, uint64_t *address)
{
    const struct interpreter_symbols *symbols = state;

    for (size_t i = 0; i < symbols->count; i++)
        if (strcmp(symbols->rows[i].name, name) == 0) {
            *address = symbols->rows[i].code.address;
            return EVIDENCE_YES;
        }
    return EVIDENCE_NOT_KNOWABLE;
}

const struct symbol_source interpreter_symbol_source = {
    "interpreter", interpreter_open, interpreter_find, interpreter_close, NULL, interpreter_knows};
