/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which frames of Python are of the program, and which load modules.
 */
#include "frame_parts.h"

#include "stack_traits.h"

struct function_part {
    uint64_t function; /* its text, and that of its file */
    enum frame_part part;
};

void frame_parts_init(struct frame_parts *parts, const struct site_rules *rules)
{
    *parts = (struct frame_parts){.rules = rules};
    arena_init(&parts->arena);
    keyed_table_init(&parts->functions, &parts->arena, sizeof(struct function_part));
}

void frame_parts_release(struct frame_parts *parts)
{
    keyed_table_release(&parts->functions);
    arena_release(&parts->arena);
}

static enum frame_part part_of(const struct frame_parts *parts, const struct model *model,
                               const struct model_frame *frame)
{
    const struct frame_words words = {
        .function = model_text_at(model, frame->function),
        .file = model_text_at(model, frame->file),
        .module = "", /* no source tells one of a frame of Python */
        .is_python = true,
    };

    if (is_file_of_loader(words.file))
        return FRAME_OF_LOADER;
    if (site_rules_class(parts->rules, &words) == CLASS_PROGRAM)
        return FRAME_OF_PROGRAM;
    return is_code_of_module(words.function) ? FRAME_OF_MODULE : FRAME_OTHER;
}

enum frame_part frame_part_by_rules(void *context, const struct model *model,
                                    const struct model_frame *frame)
{
    struct frame_parts *parts = context;
    uint64_t function = (uint64_t)frame->function << 32 | frame->file;
    struct function_part *known = keyed_table_find(&parts->functions, function);
    enum frame_part part;

    if (known)
        return known->part;
    part = part_of(parts, model, frame);
    known = keyed_table_add(&parts->functions, function);
    if (known)
        known->part = part;
    return part;
}
