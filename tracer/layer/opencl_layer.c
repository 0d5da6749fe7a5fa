/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An OpenCL layer: sees the calls of programs that reach OpenCL through function pointers.
 *
 * The ICD loader loads the libraries named in OPENCL_LAYERS and sends every call through them.
 * This one only passes calls on to the recorder of the preloaded tracer. Where no tracer is
 * preloaded it leaves every call alone. It has no heap and no thread-local storage of its own, so
 * it can be loaded at any time.
 *
 * The loader jumps to us instead of calling: our return address is the program's.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* RTLD_DEFAULT */
#endif
#include <dlfcn.h>
#include <stdbool.h>
#include <string.h>

#include "loader_error.h"
#include "opencl_api.h"

enum {
    LAYER_API_VERSION = 0x4240, /* questions to clGetLayerInfo */
    LAYER_NAME = 0x4241,
    API_VERSION_100 = 100, /* the one answer known so far */
    DISPATCH_ENTRIES = 148 /* those up to the last function of ours */
};

#define LAYER_EXPORT __attribute__((visibility("default")))

LAYER_EXPORT cl_int clGetLayerInfo(cl_uint what, size_t size_bytes, void *value, size_t *got);
LAYER_EXPORT cl_int clInitLayer(cl_uint entry_count, void *const *target, cl_uint *own_count,
                                void *const **own);

static struct opencl_calls calls; /* of the loader or the next layer */
static const struct opencl_recorder *recorder;
static void *dispatch[DISPATCH_ENTRIES]; /* NULL: the loader goes straight on */

// clang-format off
#define UNPACK(...) __VA_ARGS__
#define HOOKED(index, result, name, arguments, ...)                                                \
    static result layer_##name(__VA_ARGS__)                                                        \
    {                                                                                              \
        return recorder->name(&calls, unwind_caller(), UNPACK arguments);              \
    }
#define HOOKED_VOID(index, name, arguments, ...)                                                   \
    static void layer_##name(__VA_ARGS__)                                                          \
    {                                                                                              \
        recorder->name(&calls, unwind_caller(), UNPACK arguments);                     \
    }
#define ASKED(index, result, name, ...)
#include "opencl.def"
#undef HOOKED
#undef HOOKED_VOID
#undef ASKED
#undef UNPACK
// clang-format on

static const struct entry {
    size_t index;
    void *ours;                /* NULL: only called */
    size_t calls_offset_bytes; /* where the real one goes in struct opencl_calls */
} entries[] = {
// clang-format off
#define HOOKED(index, result, name, arguments, ...)                                                \
    {index, (void *)layer_##name, offsetof(struct opencl_calls, name)},
#define HOOKED_VOID(index, name, arguments, ...)                                                   \
    {index, (void *)layer_##name, offsetof(struct opencl_calls, name)},
#define ASKED(index, result, name, ...) {index, NULL, offsetof(struct opencl_calls, name)},
#include "opencl.def"
#undef HOOKED
#undef HOOKED_VOID
#undef ASKED
    // clang-format on
};

static const struct opencl_recorder *recorder_find(void)
{
    opencl_recorder_getter getter;
    const struct opencl_recorder *found;

    *(void **)&getter = dlsym(RTLD_DEFAULT, "mt_opencl_recorder");
    if (!getter)
        loader_error_forget(); /* so that the program does not read our question as its own */
    found = getter ? getter() : NULL;
    return found && found->size_bytes == sizeof(*found) ? found : NULL;
}

static void entries_fill(void *const *target, size_t count)
{
    for (size_t i = 0; i < sizeof(entries) / sizeof(entries[0]); i++) {
        const struct entry *entry = &entries[i];

        if (entry->index >= count || !target[entry->index])
            continue;
        memcpy((char *)&calls + entry->calls_offset_bytes, &target[entry->index], sizeof(void *));
        dispatch[entry->index] = entry->ours;
    }
}

cl_int clGetLayerInfo(cl_uint what, size_t size_bytes, void *value, size_t *got)
{
    static const char name[] = "leaktide";
    static const cl_uint version = API_VERSION_100;
    const void *answer = what == LAYER_API_VERSION ? (const void *)&version : (const void *)name;
    size_t answer_bytes = what == LAYER_API_VERSION ? sizeof(version) : sizeof(name);

    if (what != LAYER_API_VERSION && what != LAYER_NAME)
        return CL_INVALID_VALUE;
    if (value && size_bytes < answer_bytes)
        return CL_INVALID_VALUE;
    if (value)
        memcpy(value, answer, answer_bytes);
    if (got)
        *got = answer_bytes;
    return CL_SUCCESS;
}

cl_int clInitLayer(cl_uint entry_count, void *const *target, cl_uint *own_count, void *const **own)
{
    if (!target || !own_count || !own)
        return CL_INVALID_VALUE;
    recorder = recorder_find();
    if (recorder)
        entries_fill(target, entry_count < DISPATCH_ENTRIES ? entry_count : DISPATCH_ENTRIES);
    *own_count = DISPATCH_ENTRIES;
    *own = dispatch;
    return CL_SUCCESS;
}
