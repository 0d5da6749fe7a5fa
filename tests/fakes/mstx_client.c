/* SPDX-License-Identifier: Apache-2.0 */
/* Implements mstx_client.h. */
#define _GNU_SOURCE
#include "mstx_client.h"

#include <dlfcn.h>
#include <stdlib.h>

struct mstx_api mstx;

static mstx_function *core[] = {
    NULL,
    (mstx_function *)&mstx.mark,
    (mstx_function *)&mstx.range_start,
    (mstx_function *)&mstx.range_end,
    (mstx_function *)&mstx.tool_id,
};

static mstx_function *domain[] = {
    NULL,
    (mstx_function *)&mstx.domain_create,
    (mstx_function *)&mstx.domain_destroy,
    (mstx_function *)&mstx.domain_mark,
    (mstx_function *)&mstx.domain_range_start,
    (mstx_function *)&mstx.domain_range_end,
};

static mstx_function *memory[] = {
    NULL,
    (mstx_function *)&mstx.heap_register,
    (mstx_function *)&mstx.heap_unregister,
    (mstx_function *)&mstx.regions_register,
    (mstx_function *)&mstx.regions_unregister,
};

int mstx_table_get(int module, mstx_function ***table, unsigned *last_index)
{
    switch (module) {
    case MSTX_MODULE_CORE:
        *table = core;
        *last_index = sizeof(core) / sizeof(core[0]) - 1;
        return 0;
    case MSTX_MODULE_DOMAIN:
        *table = domain;
        *last_index = sizeof(domain) / sizeof(domain[0]) - 1;
        return 0;
    case MSTX_MODULE_MEMORY:
        *table = memory;
        *last_index = sizeof(memory) / sizeof(memory[0]) - 1;
        return 0;
    default:
        return 1;
    }
}

bool mstx_start(void)
{
    const char *path = getenv("MSTX_INJECTION_PATH");
    void *library = path ? dlopen(path, RTLD_LAZY | RTLD_LOCAL) : NULL;
    int (*initialise)(mstx_table_getter);

    if (path && !library)
        return false;
    /* Without a path the handle is NULL, which is RTLD_DEFAULT. */
    *(void **)&initialise = dlsym(library, "InitInjectionMstx");
    return initialise && initialise(mstx_table_get) == 0;
}
