/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Call stacks of a picture as a tree: each frame is written once, and each node is a frame and the
 * node of its caller.
 */
#ifndef LEAKTIDE_ANALYSES_PAGE_STACKS_H
#define LEAKTIDE_ANALYSES_PAGE_STACKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analysis.h"
#include "arena.h"
#include "hash_index.h"
#include "name_list.h"
#include "table.h"

struct page_stacks {
    const struct question *question;
    struct name_list *names;
    struct arena arena;
    struct table frames, nodes; /* struct page_frame, struct page_node; node 0 is none */
    struct hash_index frame_index, node_index;
    uint32_t *node_of; /* by stack of the model; 0: not yet */
    bool has_failed;   /* no memory: stacks are cut */
};

struct page_frame {
    uint32_t function, file, module; /* names */
    uint32_t line;
    uint32_t flags; /* 1 inlined, 2 plumbing, 4 Python */
};

struct page_node {
    uint32_t frame, outer;
};

void page_stacks_init(struct page_stacks *stacks, const struct question *question,
                      struct name_list *names);
void page_stacks_release(struct page_stacks *stacks);

/* The node of a stack of the model; 0 for none. */
uint32_t page_stacks_put(struct page_stacks *stacks, uint32_t stack);
/* The node of a site that has no stack, only a place or a label. */
uint32_t page_stacks_put_site(struct page_stacks *stacks, uint32_t site);

#endif
