/* SPDX-License-Identifier: Apache-2.0 */
/*
 * libleaktide as another program has it: linked as a shared library, by its headers alone.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "leaktide/analyzer.h"
#include "temporary_folder.h"
#include "trace_builder.h"

/* Long enough that progress is told more than once in a reading. */
enum { step_count = 12, pairs_in_step = 3500, kept_count = 700, leaked_bytes = 8000 };

struct fixture {
    char *folder;
    char path[4096];
};

/* Each step replaces blocks, and keeps one more. */
static void make_step(struct trace_builder *builder, uint64_t step, uint64_t *ticks)
{
    const uint64_t begin[] = {step, 0};

    trace_builder_push(builder, 0, MT_RECORD_step_begin, *ticks += 50, begin);
    for (uint64_t i = 0; i < pairs_in_step; i++) {
        uint64_t address = 0x10000000 + i % kept_count * 4096;

        if (step > 1 || i >= kept_count)
            trace_builder_host_free(builder, 0, *ticks += 50, address);
        trace_builder_host_alloc(
            builder, 0, *ticks += 50,
            (struct built_block){.address = address, .size = 64, .site = 0x400000});
    }
    trace_builder_host_alloc(builder, 0, *ticks += 50,
                             (struct built_block){.address = 0x7f0000000000 + step * 8192,
                                                  .size = leaked_bytes,
                                                  .site = 0x500000});
    trace_builder_push(builder, 0, MT_RECORD_step_end, *ticks += 50, &step);
}

static int set_up(void **state)
{
    struct trace_builder *builder = trace_builder_create(&(struct trace_builder_setup){0});
    struct fixture *f = calloc(1, sizeof(*f));
    uint64_t ticks = 1000;

    assert_non_null(f);
    f->folder = temporary_folder_create();
    snprintf(f->path, sizeof(f->path), "%s", f->folder);
    for (unsigned stream = 0; stream < 1; stream++)
        trace_builder_thread(builder, stream, 100, 4711, "main");
    for (uint64_t step = 1; step <= step_count; step++)
        make_step(builder, step, &ticks);
    trace_builder_close(builder);
    trace_builder_write(builder, f->folder);
    trace_builder_destroy(builder);
    *state = f;
    return 0;
}

static int tear_down(void **state)
{
    struct fixture *f = *state;

    temporary_folder_remove(f->folder);
    free(f);
    return 0;
}
