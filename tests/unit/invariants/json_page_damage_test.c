/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Assertions of what the JSON of a page leaves to the page.
 */
#include <stdint.h>
#include <unistd.h>

#include "death.h"
#include "json_page.h"

static struct report *report;
static struct json_page page;

/* Two stacks of one caller. */
static void make(void)
{
    static const struct report_frame frames[] = {
        {.function = "load", .file = "a.c", .module = "", .line = 3},
        {.function = "main", .file = "a.c", .module = "", .line = 9},
        {.function = "save", .file = "a.c", .module = "", .line = 5},
        {.function = "main", .file = "a.c", .module = "", .line = 9},
    };

    if (report_create("leaks", &report, NULL) != MT_OK)
        _exit(1);
    json_page_init(&page);
    for (size_t i = 0; i < 4; i += 2) {
        struct value stack = report_stack(report, &frames[i], 2);

        if (json_page_put_stack(&page, stack.stack) != 2 + i / 2)
            _exit(1);
    }
    json_page_check(&page);
}

static struct json_page_node *node(size_t index)
{
    return table_at(&page.nodes, index);
}

#define LOOK(name, ...) DAMAGE(make, name, __VA_ARGS__; json_page_check(&page))

LOOK(rows_left, page.rows_left = SIZE_MAX)
LOOK(no_node, page.nodes.count = 0)
LOOK(frames_indexed, page.frame_index.count = page.frames.count + 1)
LOOK(nodes_indexed, page.node_index.count = page.nodes.count + 1)
LOOK(caller_behind, node(2)->outer = 3)
LOOK(frame_of_nobody, *(const struct report_frame **)table_at(&page.frames, 1) = NULL)
LOOK(none_called, node(0)->outer = 1)
LOOK(frame_missing, node(1)->frame = (uint32_t)page.frames.count)

int main(void)
{
    return deaths_run();
}
