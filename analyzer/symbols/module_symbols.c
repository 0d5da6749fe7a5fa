/* SPDX-License-Identifier: Apache-2.0 */
/*
 * From an address of a process to symbols.
 */
#include "module_symbols.h"

#include <string.h>

#include "readable_name.h"
#include "text_builder.h"

enum { sources_most = 2 };

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
};

void module_symbols_init(struct module_symbols *modules, struct model *model)
{
    *modules = (struct module_symbols){.model = model};
    arena_init(&modules->arena);
    table_init(&modules->files, &modules->arena, sizeof(struct symbol_file));
}

void module_symbols_release(struct module_symbols *modules)
{
    for (size_t i = 0; i < modules->files.count; i++) {
        struct symbol_file *file = table_at(&modules->files, i);

        while (file->opened_count-- > 0)
            file->opened[file->opened_count].source->close(file->opened[file->opened_count].state);
    }
    arena_release(&modules->arena);
}

static bool is_at(const struct model_module *module, uint16_t process, uint64_t address,
                  uint64_t time_ns)
{
    return module->process == process && address - module->base < module->size_bytes &&
           module->loaded_ns <= time_ns && time_ns <= module->unloaded_ns;
}

/* The module that was there at that time; if none was then, the last that ever was there. */
static const struct model_module *module_of(struct module_symbols *modules, uint16_t process,
                                            uint64_t address, uint64_t time_ns)
{
    const struct model_module *any = NULL;

    if (modules->newest && is_at(modules->newest, process, address, time_ns))
        return modules->newest;
    for (size_t i = model_module_count(modules->model); i-- > 0;) {
        const struct model_module *module = model_module_at(modules->model, i);

        if (is_at(module, process, address, time_ns)) {
            modules->newest = module;
            return module;
        }
        if (!any && module->process == process && address - module->base < module->size_bytes)
            any = module;
    }
    return any;
}

static bool source_open(struct symbol_file *file, const struct symbol_source *source,
                        const char *path)
{
    struct build_id recorded = {file->build_id, file->build_id_bytes};
    struct opened *opened = &file->opened[file->opened_count];

    if (!path || source->open(path, recorded, &opened->state) != SYMBOLS_OPENED)
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
                   "--sysroot or --debug-dir can tell where that is",
                   path, text_get(&id));
    else
        model_note(modules->model, 0,
                   "%s is not here: no function names of it (build-id %s); --sysroot or "
                   "--debug-dir can tell where it is",
                   path, text_get(&id));
    text_release(&id);
}

/* The symbols of a file with debug data are more than those of the module, which may be stripped.
 */
static void file_open(struct module_symbols *modules, struct symbol_file *file)
{
    const char *path = model_text_at(modules->model, file->path);
    struct build_id recorded = {file->build_id, file->build_id_bytes};
    struct debug_files found;

    debug_files_find(&found, &modules->places, path, recorded);
    source_open(file, &dwarf_symbol_source, found.debug);
    if (!source_open(file, &elf_symbol_source, found.debug))
        source_open(file, &elf_symbol_source, found.module);
    if (path[0] == '/' && !found.debug && !found.module)
        note_missing(modules, file, found.is_changed);
    debug_files_release(&found);
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
    file_open(modules, file);
    return file;
}

/* The best source that knows the address; what it cannot name, the next ones may. */
static size_t find_in(const struct symbol_file *file, uint64_t address, struct symbol *symbols)
{
    size_t count = 0;

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
    return count;
}

void module_symbols_find(struct module_symbols *modules, uint16_t process, uint64_t address,
                         uint64_t time_ns, struct address_names *found)
{
    /* The call is before the address it returns to, which may already be another function. */
    const struct model_module *module =
        module_of(modules, process, address ? address - 1 : 0, time_ns);
    const struct symbol_file *file;

    found->module = "";
    found->link_address = address;
    found->count = 0;
    if (!module)
        return;
    found->module = base_of_path(model_text_at(modules->model, module->path));
    found->link_address = address - module->bias;
    file = file_of(modules, module);
    if (file && found->link_address)
        found->count = find_in(file, found->link_address - 1, found->symbols);
}
