/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Stacks added up into a tree, from the outermost frame inward, or from the telling one outward.
 *
 * Only frames that are not plumbing have nodes; a stack of nothing else has its telling frame.
 */
#ifndef LEAKTIDE_ANALYSES_CALL_TREE_H
#define LEAKTIDE_ANALYSES_CALL_TREE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "arena.h"
#include "hash_index.h"
#include "symbols.h"
#include "table.h"

struct call_bytes {
    uint64_t at_peak, at_end;
};

struct call_node {
    uint32_t parent, first_child, next_sibling; /* 0: none; node 0 is the root */
    struct symbol_frame frame;                  /* its line: of the stack that held most */
    struct call_bytes bytes;                    /* with all below it */
    struct call_bytes largest;                  /* single stack */
};

struct call_tree {
    struct arena arena;
    struct table nodes; /* struct call_node */
    struct hash_index index;
    bool is_bottom_up;
    bool has_failed; /* no memory */
};

void call_tree_init(struct call_tree *tree, bool is_bottom_up);
void call_tree_release(struct call_tree *tree);

/* The frames' texts must outlive the tree. */
void call_tree_add(struct call_tree *tree, const struct symbol_frame *frames, size_t count,
                   struct call_bytes bytes);

/* The children of a node, largest first, for free(); NULL without memory or without children. */
uint32_t *call_tree_children(const struct call_tree *tree, uint32_t node, size_t *count);

static inline const struct call_node *call_tree_at(const struct call_tree *tree, uint32_t node)
{
    return table_at(&tree->nodes, node);
}

#endif
