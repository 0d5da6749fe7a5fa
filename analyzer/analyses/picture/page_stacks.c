/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Call stacks of a picture.
 */
#include "page_stacks.h"

#include <stdlib.h>
#include <string.h>

#include "hash.h"

enum { FRAME_IS_INLINED = 1, FRAME_IS_PLUMBING = 2, FRAME_IS_PYTHON = 4, path_most = 1024 };

void page_stacks_init(struct page_stacks *stacks, const struct question *question,
                      struct name_list *names)
{
    *stacks = (struct page_stacks){.question = question, .names = names};
    arena_init(&stacks->arena);
    table_init(&stacks->frames, &stacks->arena, sizeof(struct page_frame));
    table_init(&stacks->nodes, &stacks->arena, sizeof(struct page_node));
    hash_index_init(&stacks->frame_index);
    hash_index_init(&stacks->node_index);
    stacks->node_of = calloc(model_stack_count(question->model) + 1, sizeof(*stacks->node_of));
    stacks->has_failed = !stacks->node_of || !table_add(&stacks->nodes);
}

void page_stacks_release(struct page_stacks *stacks)
{
    free(stacks->node_of);
    hash_index_release(&stacks->frame_index);
    hash_index_release(&stacks->node_index);
    arena_release(&stacks->arena);
}

/* The row that is alike, or a new one; UINT32_MAX: no memory. */
static uint32_t row_of(struct page_stacks *stacks, struct table *table, struct hash_index *index,
                       uint64_t hash, const void *wanted)
{
    size_t probe = 0;
    uint32_t found;
    void *row;

    while (hash_index_next(index, hash, &probe, &found))
        if (memcmp(table_at(table, found), wanted, table->row_bytes) == 0)
            return found;
    row = hash_index_add_row(index, hash, table);
    if (!row) {
        stacks->has_failed = true;
        return UINT32_MAX;
    }
    memcpy(row, wanted, table->row_bytes);
    return (uint32_t)(table->count - 1);
}

static uint32_t frame_put(struct page_stacks *stacks, const struct symbol_frame *frame)
{
    const struct page_frame row = {
        .function = names_put(stacks->names, frame->function),
        .file = names_put(stacks->names, frame->file),
        .module = names_put(stacks->names, frame->module),
        .line = frame->line,
        .flags = (frame->is_inlined ? FRAME_IS_INLINED : 0) |
                 (frame->is_plumbing ? FRAME_IS_PLUMBING : 0) |
                 (frame->is_python ? FRAME_IS_PYTHON : 0),
    };

    return row_of(stacks, &stacks->frames, &stacks->frame_index, hash_bytes(&row, sizeof(row)),
                  &row);
}

/* The node of frames, innermost first, that are called from `outer`. */
static uint32_t nodes_put(struct page_stacks *stacks, uint32_t outer,
                          const struct symbol_frame *frames, size_t count)
{
    while (count-- && !stacks->has_failed) {
        struct page_node node = {frame_put(stacks, &frames[count]), outer};
        uint32_t row = row_of(stacks, &stacks->nodes, &stacks->node_index,
                              hash_pair(node.frame, node.outer), &node);

        if (!stacks->has_failed)
            outer = row;
    }
    return outer;
}

uint32_t page_stacks_put(struct page_stacks *stacks, uint32_t stack)
{
    const struct question *question = stacks->question;
    uint32_t path[path_most];

    while (stack && !stacks->has_failed && !stacks->node_of[stack]) {
        size_t count = 0;

        /* Of a very long way, the outermost part first. */
        for (uint32_t at = stack; at && !stacks->node_of[at];
             at = model_stack_at(question->model, at)->outer)
            path[count++ % path_most] = at;
        for (size_t i = 0; i < count && i < path_most; i++) {
            uint32_t at = path[(count - 1 - i) % path_most];
            uint32_t outer = model_stack_at(question->model, at)->outer;
            size_t frame_count;
            const struct symbol_frame *frames =
                symbols_stack_frames(question->symbols, at, &frame_count);

            if (!frame_count)
                stacks->has_failed = true;
            stacks->node_of[at] = nodes_put(stacks, stacks->node_of[outer], frames, frame_count);
        }
    }
    return stack && stacks->node_of ? stacks->node_of[stack] : 0;
}

uint32_t page_stacks_put_site(struct page_stacks *stacks, uint32_t site)
{
    size_t count;
    const struct symbol_frame *frames = symbols_frames(stacks->question->symbols, site, &count);

    return nodes_put(stacks, 0, frames, count);
}
