/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a stack says about its time, and its shape.
 */
#include "stack_traits.h"

#include <stdbool.h>
#include <string.h>

#include "hash.h"

/* A frame that is among so many before it is recursion: f calls g calls f. */
enum { recursion_depth = 16 };

static const struct native_trait {
    const char *function;
    unsigned traits;
} native_traits[] = {
    {"Py_FinalizeEx", STACK_IS_ENDING},
    {"Py_Finalize", STACK_IS_ENDING},
    {"_Py_Finalize", STACK_IS_ENDING},
    {"finalize_modules", STACK_IS_ENDING | STACK_IS_CLEARED},
    {"_PyImport_Cleanup", STACK_IS_ENDING | STACK_IS_CLEARED},
    {"PyImport_Cleanup", STACK_IS_ENDING | STACK_IS_CLEARED},
    {"exit", STACK_IS_ENDING},
    {"__run_exit_handlers", STACK_IS_ENDING},
    {"_dl_fini", STACK_IS_ENDING},
    {"bounded_lru_cache_wrapper", STACK_IS_BOUNDED},
    {"_PyObject_Malloc", STACK_IS_POOLED},
    {"_PyObject_Calloc", STACK_IS_POOLED},
    {"_PyObject_Realloc", STACK_IS_POOLED},
    {"_PyMem_ArenaAlloc", STACK_IS_POOLED},
    {"new_arena", STACK_IS_POOLED},
};

static const char import_file[] = "<frozen importlib";
/* Each of these is the interpreter's loop. Which copy of it runs, and how it is left and entered
 * again, changes while it learns what a line does. */
static const char loop_prefix[] = "_PyEval_";

static bool starts_with(const char *text, const char *start)
{
    return strncmp(text, start, strlen(start)) == 0;
}

static unsigned traits_of(const struct named_frame *frame)
{
    size_t count = sizeof(native_traits) / sizeof(native_traits[0]);

    if (frame->is_python)
        return STACK_IS_PYTHON | (starts_with(frame->file, import_file) ? STACK_IS_IMPORT : 0);
    for (size_t i = 0; i < count; i++)
        if (strcmp(frame->function, native_traits[i].function) == 0)
            return native_traits[i].traits;
    return 0;
}

unsigned stack_traits(const struct named_frame *const *frames, size_t count)
{
    unsigned traits = 0;

    for (size_t i = 0; i < count; i++)
        traits |= traits_of(frames[i]);
    return traits;
}

static uint64_t text_hash(const char *text)
{
    return hash_bytes(text, strlen(text));
}

static uint64_t key_of(const struct named_frame *frame)
{
    uint64_t place = text_hash(frame->is_python ? frame->file : frame->module);

    if (frame->is_python)
        place = hash_pair(place, frame->line);
    if (*frame->function)
        return hash_pair(text_hash(frame->function), place);
    return hash_pair(frame->address, place);
}

static bool is_among(const uint64_t *kept, size_t count, uint64_t key)
{
    size_t newest = count < recursion_depth ? count : recursion_depth;

    for (size_t i = 0; i < newest; i++)
        if (kept[i] == key)
            return true;
    return false;
}

uint64_t stack_shape(const struct named_frame *const *frames, size_t count)
{
    bool has_python = stack_traits(frames, count) & STACK_IS_PYTHON, is_below = true;
    uint64_t kept[recursion_depth], hash = 0;
    size_t kept_count = 0;

    for (size_t i = 0; i < count; i++) {
        const struct named_frame *frame = frames[i];
        uint64_t key;

        is_below &= !frame->is_python;
        if (has_python && !frame->is_python &&
            (!is_below || starts_with(frame->function, loop_prefix)))
            continue;
        key = key_of(frame);
        if (is_among(kept, kept_count, key))
            continue;
        kept[kept_count++ % recursion_depth] = key;
        hash = hash_pair(hash, key);
    }
    return hash | 1;
}
