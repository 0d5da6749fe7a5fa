/* SPDX-License-Identifier: Apache-2.0 */
/*
 * From an address of a process to symbols.
 */
#include "module_symbols.h"

#include <string.h>

#include "readable_name.h"

static const struct symbol_source *const sources[] = {&elf_symbol_source};

/* The symbols of one file, by path and build-id; the same for all processes. */
struct symbol_file {
    uint32_t path; /* text */
    const uint8_t *build_id;
    size_t build_id_bytes;
    const struct symbol_source *source; /* NULL: no symbols */
    void *state;
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

        if (file->source)
            file->source->close(file->state);
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

static void file_open(struct module_symbols *modules, struct symbol_file *file)
{
    const char *path = model_text_at(modules->model, file->path);
    struct build_id recorded = {file->build_id, file->build_id_bytes};

    for (size_t i = 0; i < sizeof(sources) / sizeof(sources[0]); i++) {
        enum symbol_open_result result = sources[i]->open(path, recorded, &file->state);

        if (result == SYMBOLS_OPENED) {
            file->source = sources[i];
            return;
        }
        if (result == SYMBOLS_CHANGED) {
            model_note(modules->model, 0,
                       "%s is not the file that was recorded: no function names of it", path);
            return;
        }
    }
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
    if (file && file->source && found->link_address)
        found->count =
            file->source->find(file->state, found->link_address - 1, found->symbols, INLINED_MOST);
}
