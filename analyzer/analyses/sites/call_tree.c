/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Stacks added up into a tree.
 */
#define _GNU_SOURCE /* qsort_r */
#include "call_tree.h"

#include <stdlib.h>
#include <string.h>

#include "hash.h"

void call_tree_init(struct call_tree *tree, bool is_bottom_up)
{
    memset(tree, 0, sizeof(*tree));
    tree->is_bottom_up = is_bottom_up;
    arena_init(&tree->arena);
    table_init(&tree->nodes, &tree->arena, sizeof(struct call_node));
    hash_index_init(&tree->index);
    tree->has_failed = !table_add(&tree->nodes);
}

void call_tree_release(struct call_tree *tree)
{
    hash_index_release(&tree->index);
    arena_release(&tree->arena);
}

/* Functions of Python often are long: there a line is a place of its own. */
static bool is_frame(const struct symbol_frame *a, const struct symbol_frame *b)
{
    return (!b->is_python || a->line == b->line) && strcmp(a->function, b->function) == 0 &&
           strcmp(a->file, b->file) == 0 && strcmp(a->module, b->module) == 0;
}

/* The node of a frame below a parent; 0 without memory. */
static uint32_t child_of(struct call_tree *tree, uint32_t parent, const struct symbol_frame *frame)
{
    uint64_t hash =
        hash_pair(hash_pair(parent, hash_bytes(frame->function, strlen(frame->function))),
                  hash_bytes(frame->file, strlen(frame->file)));
    struct call_node *node;
    size_t probe = 0;
    uint32_t found;

    while (hash_index_next(&tree->index, hash, &probe, &found)) {
        node = table_at(&tree->nodes, found);
        if (node->parent == parent && is_frame(&node->frame, frame))
            return found;
    }
    node = hash_index_add_row(&tree->index, hash, &tree->nodes);
    if (!node) {
        tree->has_failed = true;
        return 0;
    }
    found = (uint32_t)(tree->nodes.count - 1);
    node->frame = *frame;
    node->parent = parent;
    node->next_sibling = call_tree_at(tree, parent)->first_child;
    ((struct call_node *)table_at(&tree->nodes, parent))->first_child = found;
    return found;
}

static void bytes_add(struct call_node *node, const struct symbol_frame *frame,
                      struct call_bytes bytes)
{
    node->bytes.at_peak += bytes.at_peak;
    node->bytes.at_end += bytes.at_end;
    if (bytes.at_peak < node->largest.at_peak ||
        (bytes.at_peak == node->largest.at_peak && bytes.at_end <= node->largest.at_end))
        return;
    node->largest = bytes;
    if (frame)
        node->frame.line = frame->line;
}

void call_tree_add(struct call_tree *tree, const struct symbol_frame *frames, size_t count,
                   struct call_bytes bytes)
{
    uint32_t node = 0;

    bool is_inside = tree->is_bottom_up; /* of what the one that asked has called */

    if (tree->has_failed)
        return;
    bytes_add(table_at(&tree->nodes, 0), NULL, bytes);
    for (size_t i = 0; i < count && !tree->has_failed; i++) {
        const struct symbol_frame *frame = &frames[tree->is_bottom_up ? i : count - 1 - i];

        is_inside = is_inside && !frame->is_telling;
        if (is_inside || (frame->is_plumbing && !frame->is_telling))
            continue;
        node = child_of(tree, node, frame);
        if (node)
            bytes_add(table_at(&tree->nodes, node), frame, bytes);
    }
}

static int child_compare(const void *left, const void *right, void *context)
{
    const struct call_tree *tree = context;
    uint32_t number_a = *(const uint32_t *)left, number_b = *(const uint32_t *)right;
    const struct call_bytes *a = &call_tree_at(tree, number_a)->bytes;
    const struct call_bytes *b = &call_tree_at(tree, number_b)->bytes;

    if (a->at_peak != b->at_peak)
        return a->at_peak > b->at_peak ? -1 : 1;
    if (a->at_end != b->at_end)
        return a->at_end > b->at_end ? -1 : 1;
    return (number_a > number_b) - (number_a < number_b);
}

uint32_t *call_tree_children(const struct call_tree *tree, uint32_t node, size_t *count)
{
    uint32_t *children;

    *count = 0;
    for (uint32_t i = call_tree_at(tree, node)->first_child; i;
         i = call_tree_at(tree, i)->next_sibling)
        ++*count;
    children = *count ? malloc(*count * sizeof(*children)) : NULL;
    if (!children) {
        *count = 0;
        return NULL;
    }
    *count = 0;
    for (uint32_t i = call_tree_at(tree, node)->first_child; i;
         i = call_tree_at(tree, i)->next_sibling)
        children[(*count)++] = i;
    qsort_r(children, *count, sizeof(*children), child_compare, (void *)(uintptr_t)tree);
    return children;
}
