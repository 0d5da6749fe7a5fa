/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a frame says about the time of its stack, and what it is in the shape.
 */
#include "stack_traits.h"

#include <stdbool.h>
#include <string.h>

#include "hash.h"
#include "looked_for.h"

struct native_trait {
    const char *function;
    unsigned traits;
};

static const struct native_trait native_traits[] = {
    {"Py_FinalizeEx", STACK_IS_ENDING},
    {"Py_Finalize", STACK_IS_ENDING},
    {"_Py_Finalize", STACK_IS_ENDING},
    {"finalize_modules", STACK_IS_ENDING | STACK_IS_CLEARED},
    {"_PyImport_Cleanup", STACK_IS_ENDING | STACK_IS_CLEARED},
    {"PyImport_Cleanup", STACK_IS_ENDING | STACK_IS_CLEARED},
    {"flush_std_files", STACK_IS_ENDING | STACK_IS_FLUSHING},
    {"invoke_gc_callback", STACK_IS_SWEEPING},
    {"gc_collect", STACK_IS_SWEPT},
    {"_PyObject_GC_New", STACK_IS_CONTAINER},
    {"_PyObject_GC_NewVar", STACK_IS_CONTAINER},
    {"_PyObject_GC_Malloc", STACK_IS_CONTAINER},
    {"_PyObject_New", STACK_IS_PLAIN},
    {"PyUnicode_New", STACK_IS_PLAIN},
    {"PyBytes_FromStringAndSize", STACK_IS_PLAIN},
    {"_PyLong_New", STACK_IS_PLAIN},
    {"PyFloat_FromDouble", STACK_IS_PLAIN},
    {"PyThread_allocate_lock", STACK_IS_PLAIN},
    {"exit", STACK_IS_ENDING},
    {"__run_exit_handlers", STACK_IS_ENDING},
    {"_dl_fini", STACK_IS_ENDING},
    {"node::Environment::RunCleanup", STACK_IS_ENDING | STACK_IS_CLEANUP},
    {"PyImport_ImportModuleLevelObject", STACK_IS_IMPORT},
    {"PyImport_ImportFrozenModuleObject", STACK_IS_IMPORT},
    {"bounded_lru_cache_wrapper", STACK_IS_BOUNDED},
    {"_PyObject_Malloc", STACK_IS_POOLED},
    {"_PyObject_Calloc", STACK_IS_POOLED},
    {"_PyObject_Realloc", STACK_IS_POOLED},
    {"new_arena", STACK_IS_POOLED},
};

/* Where one of these is not known, a frame without a name may be of it. */
const char *const names_looked_for[] = {"finalize_modules", "flush_std_files", "gc_collect",
                                        "bounded_lru_cache_wrapper"};
const size_t looked_for_count = sizeof(names_looked_for) / sizeof(names_looked_for[0]);

/* How the names of several begin. */
static const struct native_trait starts[] = {
    {"node::NodeArrayBufferAllocator::", STACK_IS_COLLECTED},
    {"v8::internal::BackingStore::", STACK_IS_COLLECTED},
    {"v8::internal::JSArrayBuffer::", STACK_IS_COLLECTED},
    {"v8::internal::MarkCompactCollector::StartMarking", STACK_IS_COLLECTING},
    {"Unsafe_AllocateMemory", STACK_IS_COLLECTED}, /* of Java: direct buffers */
    {"G1FullCollector::", STACK_IS_COLLECTING},
    {"GenMarkSweep::", STACK_IS_COLLECTING},
    {"PSParallelCompact::invoke", STACK_IS_COLLECTING},
    {"SystemDictionary::", STACK_IS_IMPORT},
    {"c10d::FlightRecorder", STACK_IS_BOUNDED}, /* of PyTorch: the last 2,000 collectives */
};

static const char import_file[] = "<frozen importlib";
/* Each of these is the interpreter's loop. Which copy of it runs, and how it is left and entered
 * again, changes while it learns what a line does. */
static const char loop_prefix[] = "_PyEval_";

static bool starts_with(const char *text, const char *start)
{
    return strncmp(text, start, strlen(start)) == 0;
}

static bool ends_with(const char *text, const char *end)
{
    size_t size = strlen(text), end_size = strlen(end);

    return size >= end_size && strcmp(text + size - end_size, end) == 0;
}

bool is_file_of_loader(const char *file)
{
    return starts_with(file, import_file);
}

bool is_code_of_module(const char *function)
{
    return strcmp(function, "<module>") == 0;
}

static unsigned python_traits(const struct named_frame *frame)
{
    unsigned traits = STACK_IS_PYTHON;

    if (is_file_of_loader(frame->file))
        traits |= STACK_IS_IMPORT;
    if (strcmp(frame->function, "_compile") == 0 &&
        (ends_with(frame->file, "/re.py") || ends_with(frame->file, "/re/__init__.py")))
        traits |= STACK_IS_PATTERN;
    return traits;
}

unsigned frame_traits(const struct named_frame *frame)
{
    size_t count = sizeof(native_traits) / sizeof(native_traits[0]);

    if (frame->is_python)
        return python_traits(frame);
    for (size_t i = 0; i < count; i++)
        if (strcmp(frame->function, native_traits[i].function) == 0)
            return native_traits[i].traits;
    for (size_t i = 0; i < sizeof(starts) / sizeof(starts[0]); i++)
        if (starts_with(frame->function, starts[i].function))
            return starts[i].traits;
    return 0;
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

void frame_shape(struct named_frame *frame)
{
    frame->shape_key = key_of(frame);
    frame->is_loop = !frame->is_python && starts_with(frame->function, loop_prefix);
}
