/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which frames are of the program, which load modules, and which are of what is loaded.
 */
#include "frame_parts.h"

#include "readable_name.h"
#include "stack_traits.h"

#define IS_OBJECT (UINT64_C(1) << 63)

struct place_part {
    uint64_t place; /* the texts of a function and of its file; or IS_OBJECT and that of its path */
    enum frame_part part;
};

void frame_parts_init(struct frame_parts *parts, const struct site_rules *rules)
{
    *parts = (struct frame_parts){.rules = rules};
    arena_init(&parts->arena);
    keyed_table_init(&parts->places, &parts->arena, sizeof(struct place_part));
}

void frame_parts_release(struct frame_parts *parts)
{
    keyed_table_release(&parts->places);
    arena_release(&parts->arena);
}

static enum frame_part part_of_python(const struct site_rules *rules,
                                      const struct frame_words *words)
{
    enum frame_class class;

    if (is_file_of_loader(words->file))
        return FRAME_OF_LOADER;
    class = site_rules_class(rules, words);
    if (class == CLASS_PROGRAM)
        return FRAME_OF_PROGRAM;
    return is_code_of_module(words->function) || !frame_classes[class].is_plumbing ? FRAME_LOADED
                                                                                   : FRAME_OTHER;
}

static enum frame_part part_of_native(const struct site_rules *rules,
                                      const struct frame_words *words)
{
    if (!*words->module)
        return FRAME_UNKNOWN;
    return frame_classes[site_rules_class(rules, words)].is_plumbing ? FRAME_OTHER : FRAME_LOADED;
}

/* Of one that names nothing but its object: its path; 0: not known. */
static uint32_t object_of(const struct model *model, uint32_t frame)
{
    const struct model_module *module = model_frame_module(model, frame);

    return module ? module->path : 0;
}

enum frame_part frame_part_by_rules(void *context, const struct model *model, uint32_t frame)
{
    struct frame_parts *parts = context;
    const struct model_frame *row = model_frame_at(model, frame);
    bool is_python = row->kind == FRAME_PYTHON;
    uint32_t object = is_python ? 0 : object_of(model, frame);
    uint64_t place = is_python ? (uint64_t)row->function << 32 | row->file : IS_OBJECT | object;
    struct place_part *known = keyed_table_find(&parts->places, place);
    const struct frame_words words = {
        .function = model_text_at(model, is_python ? row->function : 0),
        .file = model_text_at(model, is_python ? row->file : 0),
        .module = base_of_path(model_text_at(model, object)),
        .is_python = is_python,
    };
    enum frame_part part;

    if (known)
        return known->part;
    part = is_python ? part_of_python(parts->rules, &words) : part_of_native(parts->rules, &words);
    known = keyed_table_add(&parts->places, place);
    if (known)
        known->part = part;
    return part;
}
