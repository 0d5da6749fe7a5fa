/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which frames are of the program, which load modules, and which are of what is loaded: what a
 * model asks while it is filled (model_set_frame_rule()), before native frames have names.
 *
 * Of the thread that reads. It sees the rules, which are complete by then, and rows of the model.
 */
#ifndef LEAKTIDE_FRAME_PARTS_H
#define LEAKTIDE_FRAME_PARTS_H

#include "arena.h"
#include "keyed_table.h"
#include "model.h"
#include "site_rules.h"

struct frame_parts {
    const struct site_rules *rules;
    struct arena arena;
    struct keyed_table places; /* struct place_part: of one function and file, or of one object */
};

void frame_parts_init(struct frame_parts *parts, const struct site_rules *rules);
void frame_parts_release(struct frame_parts *parts);

/* A frame_rule; context: struct frame_parts. */
enum frame_part frame_part_by_rules(void *context, const struct model *model, uint32_t frame);

#endif
