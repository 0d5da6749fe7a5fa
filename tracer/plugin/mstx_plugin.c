/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What mstx looks for in the library that MSTX_INJECTION_PATH names.
 *
 * A tracer that is preloaded as well takes over: it sees allocations too, and a step and what is
 * allocated in it belong into one trace.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stddef.h>

#include "ascend_mstx.h"
#include "hook.h"
#include "loader_error.h"

typedef int (*mstx_injection)(mstx_table_getter get);

static mstx_injection preloaded_injection(void)
{
    mstx_injection found = NULL;

    if (dlsym(RTLD_DEFAULT, "mt_tracer_functions"))
        *(void **)&found = dlsym(RTLD_DEFAULT, "InitInjectionMstx");
    else
        loader_error_forget(); /* so that the program does not read our question as its own */
    return found;
}

HOOK_EXPORT int InitInjectionMstx(mstx_table_getter get);

HOOK_EXPORT int InitInjectionMstx(mstx_table_getter get)
{
    mstx_injection preloaded = preloaded_injection();

    return preloaded ? preloaded(get) : mstx_inject(get);
}
