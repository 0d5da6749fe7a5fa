/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the JSON inside of a page leaves to the page: call stacks, each frame written once, and rows
 * beyond what a person looks at.
 *
 * A stack is a tree's node: a frame and the node of its caller, so that ten thousand rows of deep
 * stacks cost little more than one. Node 0 is no stack.
 */
#ifndef LEAKTIDE_REPORT_JSON_PAGE_H
#define LEAKTIDE_REPORT_JSON_PAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "arena.h"
#include "hash_index.h"
#include "report.h"
#include "table.h"

struct json_page {
    struct arena arena;
    struct table frames; /* const struct report_frame *, of the report */
    struct table nodes;  /* struct json_page_node */
    struct hash_index frame_index, node_index;
    const struct report_stack **path; /* scratch */
    size_t path_capacity;
    size_t rows_left; /* of all tables together */
    bool has_failed;  /* no memory: stacks are cut */
};

struct json_page_node {
    const struct report_stack *stack;
    uint32_t frame, outer;
};

/* The report outlives the page. */
void json_page_init(struct json_page *page);
void json_page_release(struct json_page *page);

/* Asserts that a caller stands before those it calls, and that all frames are there. */
void json_page_check(const struct json_page *page);

/* The node of frames, innermost first; 0 for none. */
uint32_t json_page_put_stack(struct json_page *page, const struct report_stack *stack);
/* index < page->frames.count */
static inline const struct report_frame *json_page_frame_at(const struct json_page *page,
                                                            size_t index)
{
    return *(const struct report_frame **)table_at(&page->frames, index);
}

/* How many rows of a table the page has; the next table gets what these leave. */
size_t json_page_take_rows(struct json_page *page, const struct report *report, size_t table);

#endif
