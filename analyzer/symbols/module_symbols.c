/* SPDX-License-Identifier: Apache-2.0 */
/*
 * From an address of a process to symbols.
 */
#include "module_symbols.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "hash.h"
#include "list.h"
#include "looked_for.h"
#include "readable_name.h"
#include "symbol_cache.h"
#include "text_builder.h"

enum {
    sources_most = 3,
    FINDERS = 1 /* another number when the same files give other names: caches are made anew */
};

/* The symbols of one file, by path and build-id; the same for all processes. */
struct symbol_file {
    uint32_t path; /* text */
    const uint8_t *build_id;
    size_t build_id_bytes;
    struct opened {
        const struct symbol_source *source;
        void *state;
    } opened[sources_most]; /* best first */
    size_t opened_count;
    bool is_asked;   /* for a name */
    bool is_opened;  /* that is put off as long as the cache knows all that is asked */
    bool is_damaged; /* its debug data cannot be read: nothing is kept */
    struct debug_files found;
    struct symbol_cache *cache; /* NULL: none */
    struct symbol_cache *told;  /* names that stayed with the recording: all there is; else NULL */
    struct symbol_cache *kept;  /* that are to stay with it; NULL: not asked for */
    uint64_t *expected;         /* link addresses */
    size_t expected_count, expected_capacity;
};

void module_symbols_init(struct module_symbols *modules, struct model *model)
{
    *modules = (struct module_symbols){.model = model};
    arena_init(&modules->arena);
    table_init(&modules->files, &modules->arena, sizeof(struct symbol_file));
    module_places_init(&modules->modules, model);
}

void module_symbols_release(struct module_symbols *modules)
{
    for (size_t i = 0; i < modules->files.count; i++) {
        struct symbol_file *file = table_at(&modules->files, i);

        symbol_cache_close(file->told);
        symbol_cache_close(file->kept);
        symbol_cache_close(file->cache); /* before the texts that it still has to write */
        while (file->opened_count-- > 0)
            file->opened[file->opened_count].source->close(file->opened[file->opened_count].state);
        debug_files_release(&file->found);
        free(file->expected);
    }
    debug_server_close(modules->server);
    module_places_release(&modules->modules);
    arena_release(&modules->arena);
}

/* The call is before the address it returns to, which may already be another function. */
static const struct model_module *module_of(struct module_symbols *modules,
                                            const struct return_place *place)
{
    if (place->module)
        return place->module;
    return module_places_at(&modules->modules, place->process,
                            place->address ? place->address - 1 : 0, place->time_ns);
}

static bool source_open(struct symbol_file *file, const struct symbol_source *source,
                        const char *path)
{
    struct build_id recorded = {file->build_id, file->build_id_bytes};
    struct opened *opened = &file->opened[file->opened_count];

    if (!path ||
        source->open(path, recorded, file->expected_count, &opened->state) != SYMBOLS_OPENED)
        return false;
    opened->source = source;
    file->opened_count++;
    return true;
}

/* "2ef1c0de (build-id)"; what a user has to find. */
static void note_missing(struct module_symbols *modules, const struct symbol_file *file,
                         bool is_changed)
{
    const char *path = model_text_at(modules->model, file->path);
    struct text_builder id;

    text_init(&id);
    for (size_t i = 0; i < file->build_id_bytes; i++)
        text_add_format(&id, "%02x", file->build_id[i]);
    if (!id.size_bytes)
        text_add(&id, "not known");
    if (is_changed)
        model_note(modules->model, 0,
                   "%s is not the file that was recorded: no function names of it (build-id %s); "
                   "that may lie in a sysroot or a folder with debug data",
                   path, text_get(&id));
    else
        model_note(modules->model, 0,
                   "%s is not here: no function names of it (build-id %s); it may lie in a "
                   "sysroot or a folder with debug data",
                   path, text_get(&id));
    text_release(&id);
}

/* Another number when the file is another one: other debug data was installed, or built. */
static uint64_t origin_of(const char *path, uint64_t origin)
{
    struct stat status;

    if (!path || stat(path, &status) != 0)
        return hash_pair(origin, 0);
    origin = hash_pair(origin, hash_bytes(path, strlen(path)));
    origin = hash_pair(origin, (uint64_t)status.st_size);
    return hash_pair(origin, (uint64_t)status.st_mtim.tv_sec * 1000000000 +
                                 (uint64_t)status.st_mtim.tv_nsec);
}

/* False: none of the recordings has names of it. */
static bool file_told(struct module_symbols *modules, struct symbol_file *file)
{
    struct build_id recorded = {file->build_id, file->build_id_bytes};

    for (size_t i = 0; i < modules->name_folder_count && !file->told; i++) {
        file->told = symbol_cache_open_in(modules->name_folders[i], recorded);
        if (!symbol_cache_is_filled(file->told)) {
            symbol_cache_close(file->told);
            file->told = NULL;
        }
    }
    return file->told != NULL;
}

/* There is something better. */
static void file_forget_told(struct symbol_file *file)
{
    symbol_cache_close(file->told);
    file->told = NULL;
}

static void note_server(struct module_symbols *modules, enum debug_server_answer answer)
{
    switch (answer) {
    case DEBUG_SERVER_HAS_IT:
        model_note(modules->model, 1, "modules whose debug data came from debuginfod");
        break;
    case DEBUG_SERVER_HAS_NONE:
        break;
    case DEBUG_SERVER_SILENT:
        model_note(modules->model, 0,
                   "no server of DEBUGINFOD_URLS answers: names and lines are those that are here");
        break;
    case DEBUG_SERVER_NO_CLIENT:
        model_note(modules->model, 0,
                   "DEBUGINFOD_URLS is set, and nobody was asked: libdebuginfod.so.1 is not "
                   "installed (Debian: libdebuginfod1)");
        break;
    }
}

static void file_ask_server(struct module_symbols *modules, struct symbol_file *file)
{
    struct build_id recorded = {file->build_id, file->build_id_bytes};

    if (modules->server && recorded.size_bytes)
        note_server(modules, debug_server_find(modules->server, recorded, &file->found.debug));
}

static void file_find(struct module_symbols *modules, struct symbol_file *file)
{
    const char *path = model_text_at(modules->model, file->path);
    struct build_id recorded = {file->build_id, file->build_id_bytes};

    debug_files_find(&file->found, &modules->places, path, recorded);
    if (path[0] == '/' && !file->found.debug &&
        (file->found.module || !file_told(modules, file) || !symbol_cache_has_lines(file->told)))
        file_ask_server(modules, file);
    if (file->found.debug)
        file_forget_told(file);
    if (file->found.debug || file->found.module)
        file->cache = symbol_cache_open(
            recorded, origin_of(file->found.debug, origin_of(file->found.module, FINDERS)));
    if (path[0] == '/' && !file->found.debug && !file->found.module && !file->told)
        note_missing(modules, file, file->found.is_changed);
}

static void note_no_debug_data(struct module_symbols *modules)
{
    model_note(modules->model, 1,
               "modules without debug data: their functions have no lines, and static ones no "
               "names; packages with debug data, DEBUGINFOD_URLS or --debug-dir help");
}

/* A file with debug data has more symbols than the module, which may be stripped. */
static void file_open(struct module_symbols *modules, struct symbol_file *file)
{
    if (file->is_opened)
        return;
    file->is_opened = true;
    file->is_damaged =
        file->found.debug && !source_open(file, &isolated_dwarf_source, file->found.debug);
    if (file->is_damaged && file->found.module)
        note_no_debug_data(modules);
    if (source_open(file, &elf_symbol_source, file->found.debug))
        return;
    source_open(file, &elf_symbol_source, file->found.module);
    source_open(file, &interpreter_symbol_source, file->found.module);
}

static int address_compare(const void *left, const void *right)
{
    const uint64_t *a = left, *b = right;

    return (*a > *b) - (*a < *b);
}

/* Leaves of what is expected what the cache does not know, each once, neighbours together. */
static void expected_sort(struct symbol_file *file)
{
    struct symbol found[INLINED_MOST];
    size_t kept = 0, count;

    if (file->expected_count)
        qsort(file->expected, file->expected_count, sizeof(*file->expected), address_compare);
    for (size_t i = 0; i < file->expected_count; i++)
        if ((!kept || file->expected[kept - 1] != file->expected[i]) &&
            !symbol_cache_find(file->cache, file->expected[i], found, INLINED_MOST, &count))
            file->expected[kept++] = file->expected[i];
    file->expected_count = kept;
}

/* Tells the best source what will be asked. */
static void ask_expected(struct symbol_file *file)
{
    if (file->expected_count && file->opened_count && file->opened[0].source->expect)
        file->opened[0].source->expect(file->opened[0].state, file->expected, file->expected_count);
    file->expected_count = 0;
}

static void expect(struct symbol_file *file, uint64_t address)
{
    if (!list_has_room(&file->expected, &file->expected_capacity, file->expected_count,
                       sizeof(*file->expected)))
        return;
    file->expected[file->expected_count++] = address;
}

static struct symbol_file *file_of(struct module_symbols *modules,
                                   const struct model_module *module)
{
    struct symbol_file *file;

    for (size_t i = 0; i < modules->files.count; i++) {
        file = table_at(&modules->files, i);
        if (file->path == module->path && file->build_id_bytes == module->build_id_bytes &&
            memcmp(file->build_id, module->build_id, module->build_id_bytes) == 0)
            return file;
    }
    file = table_add(&modules->files);
    if (!file)
        return NULL;
    file->path = module->path;
    file->build_id = module->build_id; /* rows of the model never move */
    file->build_id_bytes = module->build_id_bytes;
    if (file->build_id_bytes > sizeof(module->build_id))
        file->build_id_bytes = 0;
    file_find(modules, file);
    return file;
}

/* Functions of it have no lines, but there is a file, or what was known of one. */
static bool lacks_debug_data(const struct symbol_file *file)
{
    return !file->found.debug &&
           (file->told ? !symbol_cache_has_lines(file->told) : file->found.module != NULL);
}

/* The best source that knows the address; what it cannot name, the next ones may. */
static size_t find_in(struct module_symbols *modules, struct symbol_file *file, uint64_t address,
                      struct symbol *symbols)
{
    size_t count = 0;

    if (!file->is_asked && lacks_debug_data(file))
        note_no_debug_data(modules);
    file->is_asked = true;
    if (symbol_cache_find(file->told ? file->told : file->cache, address, symbols, INLINED_MOST,
                          &count) ||
        file->told)
        return count;
    expected_sort(file);
    file_open(modules, file);
    ask_expected(file);
    for (size_t i = 0; i < file->opened_count; i++) {
        const struct opened *opened = &file->opened[i];
        struct symbol named;

        if (!count)
            count = opened->source->find(opened->state, address, symbols, INLINED_MOST);
        else if (opened->source->find(opened->state, address, &named, 1))
            symbols[count - 1].name = named.name;
        if (count && symbols[count - 1].name)
            break;
    }
    if (!file->is_damaged)
        symbol_cache_add(file->cache, address, symbols, count);
    return count;
}

void module_symbols_expect(struct module_symbols *modules, const struct return_place *place)
{
    const struct model_module *module = module_of(modules, place);
    struct symbol_file *file = module ? file_of(modules, module) : NULL;

    if (file && file->found.debug && place->address > module->bias)
        expect(file, place->address - module->bias - 1);
}

void module_symbols_find(struct module_symbols *modules, const struct return_place *place,
                         struct address_names *found)
{
    const struct model_module *module = module_of(modules, place);
    struct symbol_file *file;

    found->module_path = "";
    found->link_address = place->address;
    found->count = 0;
    if (!module)
        return;
    found->module_path = model_text_at(modules->model, module->path);
    found->link_address = place->address - module->bias;
    file = file_of(modules, module);
    if (file && found->link_address)
        found->count = find_in(modules, file, found->link_address - 1, found->symbols);
}

/* The first of the sources that knows. */
static enum evidence_value file_knows(struct module_symbols *modules, struct symbol_file *file,
                                      const char *name, uint64_t *address)
{
    enum evidence_value known = EVIDENCE_NOT_KNOWABLE;

    file_open(modules, file);
    for (size_t i = 0; known == EVIDENCE_NOT_KNOWABLE && i < file->opened_count; i++)
        if (file->opened[i].source->knows)
            known = file->opened[i].source->knows(file->opened[i].state, name, address);
    return known;
}

enum evidence_value module_symbols_knows(struct module_symbols *modules,
                                         const struct return_place *place, const char *name)
{
    const struct model_module *module = module_of(modules, place);
    struct symbol_file *file = module ? file_of(modules, module) : NULL;
    uint64_t address;

    if (!file)
        return EVIDENCE_NOT_KNOWABLE;
    if (!file->told)
        return file_knows(modules, file, name, &address);
    if (symbol_cache_has_name(file->told, name))
        return EVIDENCE_YES;
    return symbol_cache_has_lines(file->told) ? EVIDENCE_NO : EVIDENCE_NOT_KNOWABLE;
}

/* So that it stays known, also of what made no block in this recording. */
static void keep_looked_for(struct module_symbols *modules, struct symbol_file *file)
{
    for (size_t i = 0; i < looked_for_count; i++) {
        struct symbol symbol = {.name = names_looked_for[i]};
        uint64_t address;

        if (file_knows(modules, file, symbol.name, &address) == EVIDENCE_YES)
            symbol_cache_add(file->kept, address, &symbol, 1);
    }
}

void module_symbols_keep(struct module_symbols *modules, const struct return_place *place,
                         const char *folder)
{
    const struct model_module *module = module_of(modules, place);
    struct symbol_file *file = module ? file_of(modules, module) : NULL;
    struct symbol symbols[INLINED_MOST];
    uint64_t address;
    size_t count;

    if (!file || file->told || place->address <= module->bias)
        return;
    if (!file->kept) {
        file->kept =
            symbol_cache_open_in(folder, (struct build_id){file->build_id, file->build_id_bytes});
        keep_looked_for(modules, file);
    }
    address = place->address - module->bias - 1;
    count = find_in(modules, file, address, symbols);
    if (count)
        symbol_cache_add(file->kept, address, symbols, count);
}
