/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sites as people know them.
 */
#include "symbols.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "demangle.h"
#include "hash.h"
#include "hash_index.h"
#include "symbol_source.h"
#include "table.h"
#include "text_builder.h"

enum { name_most_bytes = 64 };

static const struct symbol_source *const sources[] = {&elf_symbol_source};

/* The symbols of one file, by path and build-id; the same for all processes. */
struct symbol_file {
    uint32_t path; /* text */
    const uint8_t *build_id;
    size_t build_id_bytes;
    const struct symbol_source *source; /* NULL: no symbols */
    void *state;
};

struct label_row {
    uint32_t site;
    const char *label;
};

struct symbols {
    struct model *model;
    struct arena arena;
    struct table files, labels;
    struct hash_index label_index;
    struct symbol_frame only_frame;
};

enum mt_result symbols_create(struct model *model, struct symbols **out, struct mt_error *error)
{
    struct symbols *symbols = calloc(1, sizeof(*symbols));

    if (!symbols)
        return mt_error_set(error, MT_NO_MEMORY, "no memory for symbols");
    symbols->model = model;
    arena_init(&symbols->arena);
    table_init(&symbols->files, &symbols->arena, sizeof(struct symbol_file));
    table_init(&symbols->labels, &symbols->arena, sizeof(struct label_row));
    *out = symbols;
    return MT_OK;
}

void symbols_destroy(struct symbols *symbols)
{
    if (!symbols)
        return;
    for (size_t i = 0; i < symbols->files.count; i++) {
        struct symbol_file *file = table_at(&symbols->files, i);

        if (file->source)
            file->source->close(file->state);
    }
    hash_index_release(&symbols->label_index);
    arena_release(&symbols->arena);
    free(symbols);
}

/* The module at the site when it was seen; if none was then, the last that ever was there. */
static const struct model_module *module_of(const struct model *model,
                                            const struct model_site *site)
{
    const struct model_module *any = NULL;

    for (size_t i = model_module_count(model); i-- > 0;) {
        const struct model_module *module = model_module_at(model, i);

        if (module->process != site->process || site->address - module->base >= module->size_bytes)
            continue;
        if (module->loaded_ns <= site->time_ns && site->time_ns <= module->unloaded_ns)
            return module;
        if (!any)
            any = module;
    }
    return any;
}

static void file_open(struct symbols *symbols, struct symbol_file *file)
{
    const char *path = model_text_at(symbols->model, file->path);
    struct build_id recorded = {file->build_id, file->build_id_bytes};

    for (size_t i = 0; i < sizeof(sources) / sizeof(sources[0]); i++) {
        enum symbol_open_result result = sources[i]->open(path, recorded, &file->state);

        if (result == SYMBOLS_OPENED) {
            file->source = sources[i];
            return;
        }
        if (result == SYMBOLS_CHANGED) {
            model_note(symbols->model, 0,
                       "%s is not the file that was recorded: no function names of it", path);
            return;
        }
    }
}

static struct symbol_file *file_of(struct symbols *symbols, const struct model_module *module)
{
    struct symbol_file *file;

    for (size_t i = 0; i < symbols->files.count; i++) {
        file = table_at(&symbols->files, i);
        if (file->path == module->path && file->build_id_bytes == module->build_id_bytes &&
            memcmp(file->build_id, module->build_id, module->build_id_bytes) == 0)
            return file;
    }
    file = table_add(&symbols->files);
    if (!file)
        return NULL;
    file->path = module->path;
    file->build_id = module->build_id; /* rows of the model never move */
    file->build_id_bytes = module->build_id_bytes;
    if (file->build_id_bytes > sizeof(module->build_id))
        file->build_id_bytes = 0;
    file_open(symbols, file);
    return file;
}

static const char *base_name(const char *path)
{
    const char *slash = strrchr(path, '/');

    return slash && slash[1] ? slash + 1 : path;
}

/* Where the parameters of a C++ name start; its length when it has none. */
static size_t parameters_of(const char *name)
{
    static const char unnamed[] = "(anonymous namespace)";
    int templates = 0;

    for (size_t i = 0; name[i]; i++) {
        if (strncmp(name + i, unnamed, sizeof(unnamed) - 1) == 0)
            i += sizeof(unnamed) - 2;
        else if (strncmp(name + i, "operator", 8) == 0)
            i += 8 + strspn(name + i + 8, "<>=()-") - 1;
        else if (name[i] == '(' && templates == 0 && i)
            return i;
        else
            templates += (name[i] == '<') - (name[i] == '>');
    }
    return strlen(name);
}

/* Names of C++ fill pages: a long one goes without parameters, a very long one is cut. */
static void add_name(struct text_builder *text, const char *name)
{
    char *readable = demangle(name);
    const char *shown = readable ? readable : name;
    size_t length = strlen(shown), whole;

    if (readable && length > name_most_bytes)
        length = parameters_of(shown);
    whole = length;
    if (length > name_most_bytes) {
        length = name_most_bytes;
        while (length && ((unsigned char)shown[length] & 0xc0) == 0x80)
            length--;
    }
    text_add_bytes(text, shown, length);
    text_add(text, length < whole ? "..." : "");
    free(readable);
}

static void add_site(struct symbols *symbols, struct text_builder *text,
                     const struct model_site *site)
{
    const struct model_module *module;
    const struct symbol_file *file;
    const char *module_name;
    struct symbol symbol;
    uint64_t address;

    if (site->label) {
        text_add(text, model_text_at(symbols->model, site->label));
        return;
    }
    module = module_of(symbols->model, site);
    if (!module) {
        text_add_format(text, "0x%" PRIx64, site->address);
        return;
    }
    module_name = base_name(model_text_at(symbols->model, module->path));
    address = site->address - module->bias;
    file = file_of(symbols, module);
    /* The call is before the address it returns to, which may already be another function. */
    if (file && file->source && address && file->source->find(file->state, address - 1, &symbol)) {
        add_name(text, symbol.name);
        text_add_format(text, "+0x%" PRIx64 " (%s)", symbol.offset_bytes + 1, module_name);
    } else {
        text_add_format(text, "%s+0x%" PRIx64, module_name, address);
    }
}

static const char *label_make(struct symbols *symbols, uint32_t site)
{
    struct text_builder text;
    const char *label;

    text_init(&text);
    add_site(symbols, &text, model_site_at(symbols->model, site));
    label = arena_text(&symbols->arena, text_get(&text), text.size_bytes);
    text_release(&text);
    return label;
}

const char *symbols_label(struct symbols *symbols, uint32_t site)
{
    uint64_t hash = hash_u64(site);
    size_t probe = 0;
    uint32_t found;
    struct label_row *row;
    const char *label;

    if (!site)
        return "(unknown)";
    while (hash_index_next(&symbols->label_index, hash, &probe, &found)) {
        row = table_at(&symbols->labels, found);
        if (row->site == site)
            return row->label;
    }
    label = label_make(symbols, site);
    row = label ? table_add(&symbols->labels) : NULL;
    if (!row)
        return label ? label : "(no memory)";
    *row = (struct label_row){site, label};
    hash_index_add(&symbols->label_index, hash, (uint32_t)(symbols->labels.count - 1));
    return label;
}

/* "train+0x40 (a.out)" and "forward (net.py:88)" without what moves: offset and line. */
static size_t steady_length(const char *label)
{
    const char *end = strpbrk(label, "+(");

    while (end && end > label && end[-1] == ' ')
        end--;
    return end && end > label ? (size_t)(end - label) : strlen(label);
}

const struct symbol_frame *symbols_frames(struct symbols *symbols, uint32_t site, size_t *count)
{
    struct symbol_frame *frame = &symbols->only_frame;

    *frame =
        (struct symbol_frame){.function = symbols_label(symbols, site), .file = "", .module = ""};
    *count = site ? 1 : 0;
    return frame;
}

uint64_t symbols_site_id(struct symbols *symbols, uint32_t site)
{
    const char *label = symbols_label(symbols, site);

    return site ? hash_bytes(label, steady_length(label)) | 1 : 0;
}
