/* SPDX-License-Identifier: Apache-2.0 */
/*
 * OpenCL, for programs that call libOpenCL by symbol: the exported hooks. Also what the layer
 * asks for, for programs that call through function pointers (opencl_api.h).
 */
#include <stdatomic.h>
#include <stdbool.h>

#include "hook.h"
#include "opencl_objects.h"

static const char *const opencl_libraries[] = {"libOpenCL.so.1", "libOpenCL.so", NULL};

enum {
#define HOOKED(index, result, name, arguments, ...) SLOT_##name,
#define HOOKED_VOID(index, name, arguments, ...)    SLOT_##name,
#define ASKED(index, result, name, ...)             SLOT_##name,
#include "opencl.def"
#undef HOOKED
#undef HOOKED_VOID
#undef ASKED
    SLOTS
};

static struct hook_slot slots[SLOTS] = {
#define HOOKED(index, result, name, arguments, ...) {#name, opencl_libraries, NULL},
#define HOOKED_VOID(index, name, arguments, ...)    {#name, opencl_libraries, NULL},
#define ASKED(index, result, name, ...)             {#name, opencl_libraries, NULL},
#include "opencl.def"
#undef HOOKED
#undef HOOKED_VOID
#undef ASKED
};

/*
 * The real functions, found once. Threads that race find, and write, the same pointers; a lock
 * here could be met again by an OpenCL library that starts up inside the search.
 */
static const struct opencl_calls *real_calls(void)
{
    static struct opencl_calls calls;
    static atomic_bool are_found;

    if (atomic_load_explicit(&are_found, memory_order_acquire))
        return &calls;
#define FIND(name)                                                                                 \
    __atomic_store_n((void **)&calls.name, hook_real(&slots[SLOT_##name]), __ATOMIC_RELAXED);
#define HOOKED(index, result, name, arguments, ...) FIND(name)
#define HOOKED_VOID(index, name, arguments, ...)    FIND(name)
#define ASKED(index, result, name, ...)             FIND(name)
#include "opencl.def"
#undef HOOKED
#undef HOOKED_VOID
#undef ASKED
#undef FIND
    if (calls.clCreateContext) /* else there is no OpenCL yet */
        atomic_store_explicit(&are_found, true, memory_order_release);
    return &calls;
}

#define UNPACK(...) __VA_ARGS__
#define HOOKED(index, result, name, arguments, ...)                                                \
    HOOK_EXPORT result name(__VA_ARGS__);                                                          \
    result name(__VA_ARGS__)                                                                       \
    {                                                                                              \
        return opencl_objects.name(real_calls(), unwind_caller(), UNPACK arguments);               \
    }
#define HOOKED_VOID(index, name, arguments, ...)                                                   \
    HOOK_EXPORT void name(__VA_ARGS__);                                                            \
    void name(__VA_ARGS__)                                                                         \
    {                                                                                              \
        opencl_objects.name(real_calls(), unwind_caller(), UNPACK arguments);                      \
    }
#define ASKED(index, result, name, ...)
#include "opencl.def"
#undef HOOKED
#undef HOOKED_VOID
#undef ASKED
#undef UNPACK

HOOK_EXPORT const struct opencl_recorder *mt_opencl_recorder(void);
const struct opencl_recorder *mt_opencl_recorder(void)
{
    return &opencl_objects;
}
