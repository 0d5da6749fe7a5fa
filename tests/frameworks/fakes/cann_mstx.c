/* SPDX-License-Identifier: Apache-2.0 */
/* A fake libms_tools_ext.so: it finds a tool as the real one does, and hands every call on. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

typedef void (*any_function)(void);

enum { MODULES = 3, FUNCTIONS_MAX = 6 };
enum module { CORE, DOMAIN, MEMORY };

static any_function functions[MODULES][FUNCTIONS_MAX];
static any_function *slots[MODULES][FUNCTIONS_MAX];
static const unsigned last_index[MODULES] = {4, 5, 4};

static int table_get(int module, any_function ***table, unsigned *last)
{
    if (module < 1 || module > MODULES)
        return 1;
    for (unsigned i = 0; i <= last_index[module - 1]; i++)
        slots[module - 1][i] = &functions[module - 1][i];
    *table = slots[module - 1];
    *last = last_index[module - 1];
    return 0;
}

static void tool_find(void)
{
    const char *path = getenv("MSTX_INJECTION_PATH");
    void *library = path ? dlopen(path, RTLD_LAZY | RTLD_LOCAL) : RTLD_DEFAULT;
    int (*inject)(int (*)(int, any_function ***, unsigned *)) =
        (int (*)(int (*)(int, any_function ***, unsigned *)))dlsym(library, "InitInjectionMstx");

    if (inject)
        inject(table_get);
}

static any_function function(enum module module, unsigned index)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;

    pthread_once(&once, tool_find);
    return functions[module][index];
}

#define HANDS_ON(name, module, index, parameters, arguments)                                       \
    void name parameters                                                                           \
    {                                                                                              \
        any_function found = function(module, index);                                              \
        if (found)                                                                                 \
            ((void(*) parameters)found) arguments;                                                 \
    }
#define ASKS(type, name, module, index, parameters, arguments)                                     \
    type name parameters                                                                           \
    {                                                                                              \
        any_function found = function(module, index);                                              \
        return found ? ((type(*) parameters)found)arguments : 0;                                   \
    }

HANDS_ON(mstxMarkA, CORE, 1, (const char *message, void *stream), (message, stream))
ASKS(uint64_t, mstxRangeStartA, CORE, 2, (const char *message, void *stream), (message, stream))
HANDS_ON(mstxRangeEnd, CORE, 3, (uint64_t range), (range))
ASKS(void *, mstxDomainCreateA, DOMAIN, 1, (const char *name), (name))
HANDS_ON(mstxDomainDestroy, DOMAIN, 2, (void *domain), (domain))
HANDS_ON(mstxDomainMarkA, DOMAIN, 3, (void *domain, const char *message, void *stream),
         (domain, message, stream))
ASKS(uint64_t, mstxDomainRangeStartA, DOMAIN, 4, (void *domain, const char *message, void *stream),
     (domain, message, stream))
HANDS_ON(mstxDomainRangeEnd, DOMAIN, 5, (void *domain, uint64_t range), (domain, range))
ASKS(void *, mstxMemHeapRegister, MEMORY, 1, (void *domain, const void *heap), (domain, heap))
HANDS_ON(mstxMemHeapUnregister, MEMORY, 2, (void *domain, void *heap), (domain, heap))
HANDS_ON(mstxMemRegionsRegister, MEMORY, 3, (void *domain, const void *regions), (domain, regions))
HANDS_ON(mstxMemRegionsUnregister, MEMORY, 4, (void *domain, const void *regions),
         (domain, regions))
