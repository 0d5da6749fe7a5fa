/* SPDX-License-Identifier: Apache-2.0 */
/*
 * From the frames of the model to names.
 */
#include "frame_names.h"

#include <stdlib.h>
#include <string.h>

#include "hash.h"
#include "list.h"
#include "looked_for.h"
#include "readable_name.h"
#include "site_identity.h"
#include "stack_traits.h"
#include "text_builder.h"

/* Lines of one function are of one class: it is looked up once. Addresses are of those texts. */
struct frame_words_class {
    const char *function, *file, *module;
    bool is_python;
    uint8_t class;
};

/* The addresses of one function have one name, which is made readable once. */
struct readable_row {
    uint64_t name; /* is known by its address */
    const char *readable;
};

void frame_names_init(struct frame_names *names, struct model *model,
                      const struct site_rules *rules, struct module_symbols *modules)
{
    *names = (struct frame_names){.model = model, .rules = rules, .modules = modules};
    arena_init(&names->arena);
    table_init(&names->classes, &names->arena, sizeof(struct frame_words_class));
    hash_index_init(&names->class_index);
    keyed_table_init(&names->readables, &names->arena, sizeof(struct readable_row));
}

void frame_names_release(struct frame_names *names)
{
    hash_index_release(&names->class_index);
    keyed_table_release(&names->readables);
    arena_release(&names->arena);
    free(names->known);
    names->known = NULL;
    names->known_count = 0;
}

/* "" without memory. */
static const char *readable_make(struct frame_names *names, const char *name)
{
    struct text_builder text;
    const char *copy;

    text_init(&text);
    add_readable_name(&text, name);
    copy = arena_text(&names->arena, text_get(&text), text.size_bytes);
    text_release(&text);
    return copy ? copy : "";
}

/* A name as people write it; "" without memory. */
static const char *readable(struct frame_names *names, const char *name)
{
    struct readable_row *row;

    if (name[0] == '(' && strncmp(name, "(anonymous", 10) != 0)
        return name; /* "(more frames were not asked for)": a remark of the source */
    if (is_readable(name))
        return name;
    row = keyed_table_find(&names->readables, (uintptr_t)name);
    if (row)
        return row->readable;
    row = keyed_table_add(&names->readables, (uintptr_t)name);
    if (!row)
        return "";
    row->readable = readable_make(names, name);
    return row->readable;
}

static uint64_t words_hash(const struct named_frame *row)
{
    return hash_pair(hash_pair((uintptr_t)row->function, (uintptr_t)row->file),
                     (uintptr_t)row->module << 1 | row->is_python);
}

static bool are_words_of(const struct frame_words_class *known, const struct named_frame *row)
{
    return known->function == row->function && known->file == row->file &&
           known->module == row->module && known->is_python == row->is_python;
}

static void classify(struct frame_names *names, struct named_frame *row)
{
    const struct frame_words words = {row->function, row->file, row->module, row->is_python};
    uint64_t hash = words_hash(row);
    size_t probe = 0;
    uint32_t found;
    struct frame_words_class *known;

    while (hash_index_next(&names->class_index, hash, &probe, &found)) {
        known = table_at(&names->classes, found);
        if (are_words_of(known, row)) {
            row->class = known->class;
            return;
        }
    }
    row->class = (uint8_t)site_rules_class(names->rules, &words);
    known = hash_index_add_row(&names->class_index, hash, &names->classes);
    if (known)
        *known = (struct frame_words_class){row->function, row->file, row->module, row->is_python,
                                            row->class};
}

/* Sources say "??" for what they do not know. */
static const char *known_text(const char *text)
{
    return strcmp(text, "??") == 0 ? "" : text;
}

/* What follows from the names. */
static struct named_frames complete(struct frame_names *names, struct named_frame *rows,
                                    size_t count)
{
    struct named_frames frames = {
        .rows = rows, .count = (uint16_t)count, .is_python = rows[0].is_python};

    for (size_t i = 0; i < count; i++) {
        classify(names, &rows[i]);
        frame_shape(&rows[i]);
        frame_identity(&rows[i]);
        frames.traits |= (uint16_t)frame_traits(&rows[i]);
        if (rows[i].class > rows[frames.telling].class)
            frames.telling = (uint8_t)i;
    }
    frames.class = rows[frames.telling].class;
    return frames;
}

static struct named_frames name_text(struct frame_names *names, const struct model_frame *frame)
{
    struct named_frame *row = arena_alloc(&names->arena, sizeof(*row));
    const char *function = model_text_at(names->model, frame->function);

    if (!row)
        return (struct named_frames){.rows = NULL};
    *row = (struct named_frame){
        .file = known_text(model_text_at(names->model, frame->file)),
        .module = base_of_path(model_text_at(names->model, frame->module)),
        .module_path = model_text_at(names->model, frame->module),
        .line = frame->line,
        .address = frame->address,
        .is_python = frame->kind == FRAME_PYTHON,
    };
    row->function = row->is_python ? function : readable(names, function);
    return complete(names, row, 1);
}

static struct named_frames name_symbols(struct frame_names *names,
                                        const struct address_names *found)
{
    size_t count = found->count ? found->count : 1;
    struct named_frame *rows = arena_alloc(&names->arena, count * sizeof(*rows));

    if (!rows)
        return (struct named_frames){.rows = NULL};
    for (size_t i = 0; i < count; i++) {
        rows[i] = (struct named_frame){.function = "",
                                       .file = "",
                                       .module = base_of_path(found->module_path),
                                       .module_path = found->module_path,
                                       .address = found->link_address,
                                       .is_linked = *found->module_path != 0};
        if (i < found->count) {
            const struct symbol *symbol = &found->symbols[i];

            rows[i].function = symbol->name ? readable(names, symbol->name) : "";
            rows[i].file = symbol->file ? symbol->file : "";
            rows[i].line = symbol->line;
            rows[i].is_inlined = i + 1 < count;
            rows[i].offset_bytes = symbol->offset_bytes;
            rows[i].has_offset = symbol->name != NULL;
        }
    }
    return complete(names, rows, count);
}

static struct return_place place_of(const struct model_frame *frame,
                                    const struct model_module *module)
{
    return (struct return_place){module, frame->process, frame->address, frame->time_ns};
}

/* An interpreter may have a function there that rules look for. */
static bool is_unknowable(struct frame_names *names, const struct return_place *place,
                          const struct named_frames *frames)
{
    if (!frames->count || *frames->rows[0].function || frames->class != CLASS_INTERPRETER)
        return false;
    for (size_t i = 0; i < looked_for_count; i++)
        if (module_symbols_knows(names->modules, place, names_looked_for[i]) ==
            EVIDENCE_NOT_KNOWABLE)
            return true;
    return false;
}

struct named_frames frame_names_at(struct frame_names *names, const struct model_frame *frame,
                                   const struct model_module *module)
{
    const struct return_place place = place_of(frame, module);
    struct address_names found;
    struct named_frames frames;

    if (frame->function || frame->file || frame->module || !frame->address)
        return name_text(names, frame);
    module_symbols_find(names->modules, &place, &found);
    frames = name_symbols(names, &found);
    if (is_unknowable(names, &place, &frames))
        frames.traits |= STACK_IS_UNNAMED;
    return frames;
}

/* All addresses of all stacks are about to be asked for. */
static void expect_all(struct frame_names *names, size_t first, size_t count)
{
    for (size_t i = first ? first : 1; i < count; i++) {
        const struct model_frame *frame = model_frame_at(names->model, (uint32_t)i);
        const struct return_place place =
            place_of(frame, model_frame_module(names->model, (uint32_t)i));

        if (frame->address && !frame->function && !frame->file && !frame->module)
            module_symbols_expect(names->modules, &place);
    }
}

static bool make_room(struct frame_names *names)
{
    size_t first = names->known_count, count = model_frame_count(names->model);

    if (!list_extend(&names->known, &names->known_count, count, sizeof(*names->known)))
        return false;
    expect_all(names, first, count);
    return true;
}

struct named_frames frame_names_of(struct frame_names *names, uint32_t frame)
{
    if (frame >= names->known_count && !make_room(names))
        return (struct named_frames){.rows = NULL};
    if (!names->known[frame].rows)
        names->known[frame] = frame_names_at(names, model_frame_at(names->model, frame),
                                             model_frame_module(names->model, frame));
    return names->known[frame];
}

void frame_names_keep(struct frame_names *names, const char *folder)
{
    size_t count = model_frame_count(names->model);

    for (size_t i = 1; i < count; i++) {
        const struct model_frame *frame = model_frame_at(names->model, (uint32_t)i);
        const struct return_place place =
            place_of(frame, model_frame_module(names->model, (uint32_t)i));

        if (frame->address && !frame->function && !frame->file && !frame->module)
            module_symbols_keep(names->modules, &place, folder);
    }
}
