/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The part of mstx that has ranges and marks. mstx is a header in each program: it asks the tool
 * that is loaded, if any, to fill in its table of functions.
 */
#include "steps.h"

#include <stdio.h>
#include <stdlib.h>

#include "leaktide/tracer.h"

enum { MSTX_CORE = 1, MSTX_CORE_LAST = 4 };

typedef void (*mstx_function)(void);

static mstx_function tool_id;
static void (*mark)(const char *message, void *stream);
static uint64_t (*range_start)(const char *message, void *stream);
static void (*range_end)(uint64_t range);
static uint64_t open_range;
static bool steps_are_hidden;

static int mstx_table(int module, mstx_function ***table, unsigned *last_index)
{
    static mstx_function *core[] = {NULL, (mstx_function *)&mark, (mstx_function *)&range_start,
                                    (mstx_function *)&range_end, &tool_id};

    if (module != MSTX_CORE)
        return 1;
    *table = core;
    *last_index = MSTX_CORE_LAST;
    return 0;
}

void steps_open(bool are_hidden)
{
    const char *path = getenv("MSTX_INJECTION_PATH");
    void *library = path ? dlopen(path, RTLD_LAZY | RTLD_LOCAL) : RTLD_DEFAULT;
    int (*start)(int (*table)(int module, mstx_function ***table, unsigned *last_index));

    steps_are_hidden = are_hidden;
    if (path && !library)
        return;
    *(void **)&start = dlsym(library, "InitInjectionMstx");
    if (start)
        start(mstx_table);
}

void step_begin(void)
{
    if (steps_are_hidden)
        return;
    if (range_start && range_end)
        open_range = range_start("step start", NULL);
    else
        mt_step_begin();
}

void step_end(void)
{
    if (steps_are_hidden)
        return;
    if (range_start && range_end)
        range_end(open_range);
    else
        mt_step_end();
}

static void operator_mark(const char *way, const char *name)
{
    char message[128];

    if (!mark)
        return;
    snprintf(message, sizeof(message), "memscope-aten-%s: name=%s", way, name);
    mark(message, NULL);
}

void operator_begin(const char *name)
{
    operator_mark("b", name);
}

void operator_end(const char *name)
{
    operator_mark("e", name);
}
