/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the JSON inside of a page leaves to the page.
 */
#include "json_page.h"

#include "hash.h"
#include "leaktide/invariant.h"

enum {
    rows_with_stacks_most = 1000, /* of a table */
    rows_together_most = 150000,
};

void json_page_init(struct json_page *page)
{
    *page = (struct json_page){.rows_left = rows_together_most};
    arena_init(&page->arena);
    table_init(&page->frames, &page->arena, sizeof(const struct report_frame *));
    table_init(&page->nodes, &page->arena, sizeof(struct json_page_node));
    hash_index_init(&page->frame_index);
    hash_index_init(&page->node_index);
    page->has_failed = !table_add(&page->nodes);
}

void json_page_release(struct json_page *page)
{
    hash_index_release(&page->frame_index);
    hash_index_release(&page->node_index);
    arena_release(&page->arena);
}

void json_page_check(const struct json_page *page)
{
    MT_ASSERT(page->rows_left <= rows_together_most);
    MT_ASSERT(page->has_failed || page->nodes.count);
    MT_ASSERT(page->frame_index.count <= page->frames.count);
    MT_ASSERT(page->node_index.count <= page->nodes.count);
    for (size_t i = 1; i < page->nodes.count; i++) {
        const struct json_page_node *node = table_at(&page->nodes, i);

        MT_ASSERT(node->outer < i);
        MT_ASSERT(node->frame < page->frames.count);
    }
    for (size_t i = 0; i < page->frames.count; i++) {
        const struct report_frame **frame = table_at(&page->frames, i);

        MT_ASSERT(*frame);
    }
    if (page->nodes.count) {
        const struct json_page_node *none = table_at(&page->nodes, 0);

        MT_ASSERT(!none->stack && !none->frame && !none->outer);
    }
}

/* Of a report, equal frames have the same address. */
static uint32_t frame_put(struct json_page *page, const struct report_frame *frame)
{
    uint64_t hash = hash_u64((uintptr_t)frame);
    const struct report_frame **row;
    size_t probe = 0;
    uint32_t found;

    while (hash_index_next(&page->frame_index, hash, &probe, &found)) {
        row = table_at(&page->frames, found);
        if (*row == frame)
            return found;
    }
    row = hash_index_add_row(&page->frame_index, hash, &page->frames);
    if (!row) {
        page->has_failed = true;
        return 0;
    }
    *row = frame;
    return (uint32_t)(page->frames.count - 1);
}

/* 0: it is not there yet. */
static uint32_t node_of(const struct json_page *page, const struct report_stack *stack)
{
    size_t probe = 0;
    uint32_t found;

    while (hash_index_next(&page->node_index, hash_u64((uintptr_t)stack), &probe, &found)) {
        const struct json_page_node *node = table_at(&page->nodes, found);

        if (node->stack == stack)
            return found;
    }
    return 0;
}

static void node_add(struct json_page *page, const struct report_stack *stack)
{
    const struct json_page_node node = {stack, frame_put(page, stack->frame),
                                        node_of(page, stack->caller)};
    struct json_page_node *row =
        page->has_failed
            ? NULL
            : hash_index_add_row(&page->node_index, hash_u64((uintptr_t)stack), &page->nodes);

    if (row)
        *row = node;
    else
        page->has_failed = true;
}

/* The outermost callers that are not there yet come first. */
static bool path_make(struct json_page *page, const struct report_stack *stack, size_t *count)
{
    if (page->path_capacity < stack->depth) {
        page->path_capacity = 2 * (size_t)stack->depth;
        page->path = arena_alloc(&page->arena, page->path_capacity * sizeof(*page->path));
    }
    page->has_failed |= !page->path;
    for (*count = 0; !page->has_failed && stack && !node_of(page, stack); stack = stack->caller)
        page->path[(*count)++] = stack;
    return !page->has_failed;
}

uint32_t json_page_put_stack(struct json_page *page, const struct report_stack *stack)
{
    size_t count;

    if (page->has_failed || !path_make(page, stack, &count))
        return 0;
    while (count-- && !page->has_failed)
        node_add(page, page->path[count]);
    return node_of(page, stack);
}

static bool has_stacks(const struct report *report, size_t table, size_t column_count)
{
    const struct value *row = report_row_at(report, table, 0);

    for (size_t i = 0; i < column_count; i++)
        if (row[i].kind == VALUE_STACK)
            return true;
    return false;
}

size_t json_page_take_rows(struct json_page *page, const struct report *report, size_t table)
{
    struct report_table_view view = report_table_at(report, table);
    size_t count = view.row_count;

    if (count && count > rows_with_stacks_most && has_stacks(report, table, view.column_count))
        count = rows_with_stacks_most;
    if (count > REPORT_PAGE_ROWS)
        count = REPORT_PAGE_ROWS;
    if (count > page->rows_left)
        count = page->rows_left;
    page->rows_left -= count;
    return count;
}
