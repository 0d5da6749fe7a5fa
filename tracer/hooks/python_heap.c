/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Implements python_heap.h.
 *
 * The tables of the interpreter may be changed while nobody uses them: before it is initialised.
 * So ours are there before its first object, in the interpreter as a program and as a library that
 * a program opens. Who puts functions above ours (tracemalloc) calls ours, and puts them back.
 *
 * Once they are lost: PYTHONMALLOC and development mode have the interpreter set its tables anew
 * while it starts; so does a second Py_Initialize of 3.12 and newer. Then its allocator asks for
 * an arena, and no function of ours is on the way there: the sign to put them back. That thread
 * holds the interpreter's lock.
 *
 * Invariant: a cover is used again only when none of ours is in use, so no cover lies below itself.
 */
#define _GNU_SOURCE
#include "python_heap.h"

#include <dlfcn.h>
#include <link.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "config.h"
#include "guard.h"
#include "hook.h"
#include "leaktide/invariant.h"
#include "loader_error.h"
#include "recorder.h"

/* PyMemAllocatorEx, since 3.5. */
struct allocator {
    void *context;
    void *(*malloc)(void *context, size_t size);
    void *(*calloc)(void *context, size_t count, size_t size);
    void *(*realloc)(void *context, void *block, size_t size);
    void (*free)(void *context, void *block);
};

/* PyMemAllocatorDomain, without that of malloc. */
static const int domains[] = {1 /* mem */, 2 /* object */};

enum {
    DOMAIN_COUNT = sizeof(domains) / sizeof(domains[0]),
    COVERS_MOST = 8,
    ARENA_MIN_BYTES = 256 << 10,
    OLDEST_MINOR_VERSION = 8
};

/* What stands below our functions; their context. */
struct cover {
    int domain; /* 0: not used yet */
    struct allocator real;
};

static struct cover covers[COVERS_MOST];

static struct {
    void (*get)(int domain, struct allocator *allocator);
    void (*set)(int domain, struct allocator *allocator);
    int (*is_initialized)(void);
    int (*has_lock)(void);
    uint64_t begin, end; /* of the object that has them */
    bool is_free_threaded;
} python;

static _Atomic bool is_found, is_covered;
static _Atomic bool may_have_come = true;

/* --- events ----------------------------------------------------------------------------- */

__thread struct python_call python_call;

static void *made(void *block, size_t size, const struct unwind_registers *from)
{
    MT_ASSERT(!python_call.block); /* what was given back is settled */
    if (block && (uintptr_t)block - (uintptr_t)python_call.made > PYTHON_DEBUG_BYTES)
        record_python_alloc(block, size, from);
    guard_leave(LAYER_PYTHON);
    return block;
}

/* It ended at `ticks`. Recorded after the real call, as only that shows whose block it was. */
static void freed(const void *block, uint64_t ticks, const struct unwind_registers *from)
{
    MT_ASSERT(block && !python_call.block);
    if (python_call.is_of_host)
        return;
    if (config_get()->has_free_stacks)
        record_free_site(recorder_caller(from));
    record_python_free(block, ticks);
}

static void *cover_malloc(void *context, size_t size)
{
    const struct allocator *real = &((struct cover *)context)->real;

    if (!guard_enter(LAYER_PYTHON))
        return real->malloc(real->context, size);
    python_call.made = NULL;
    return made(real->malloc(real->context, size), size, UNWIND_CALLER);
}

static void *cover_calloc(void *context, size_t count, size_t size)
{
    const struct allocator *real = &((struct cover *)context)->real;

    if (!guard_enter(LAYER_PYTHON))
        return real->calloc(real->context, count, size);
    python_call.made = NULL;
    return made(real->calloc(real->context, count, size), count * size, UNWIND_CALLER);
}

static void *cover_realloc(void *context, void *block, size_t size)
{
    const struct allocator *real = &((struct cover *)context)->real;
    uint64_t ticks;
    void *moved_to;

    if (!guard_enter(LAYER_PYTHON))
        return real->realloc(real->context, block, size);
    python_call = (struct python_call){.block = (uintptr_t)block};
    ticks = recorder_ticks();
    moved_to = real->realloc(real->context, block, size);
    python_call.block = 0;
    if (block && moved_to)
        freed(block, ticks, UNWIND_CALLER);
    return made(moved_to, size, UNWIND_CALLER);
}

static void cover_free(void *context, void *block)
{
    const struct allocator *real = &((struct cover *)context)->real;
    uint64_t ticks;

    if (!block || !guard_enter(LAYER_PYTHON)) {
        real->free(real->context, block);
        return;
    }
    python_call = (struct python_call){.block = (uintptr_t)block};
    ticks = recorder_ticks();
    real->free(real->context, block);
    python_call.block = 0;
    freed(block, ticks, UNWIND_CALLER);
    guard_leave(LAYER_PYTHON);
}

/* --- tables of the interpreter ------------------------------------------------------------ */

static bool is_same(const struct allocator *one, const struct allocator *other)
{
    return memcmp(one, other, sizeof(*one)) == 0;
}

/* One that lay above the same before, or a new one; NULL: there were too many. */
static struct cover *cover_for(int domain, const struct allocator *real)
{
    MT_ASSERT(real->malloc != cover_malloc); /* none lies on another */
    for (size_t i = 0; i < COVERS_MOST; i++) {
        if (!covers[i].domain)
            covers[i] = (struct cover){domain, *real};
        if (covers[i].domain == domain && is_same(&covers[i].real, real))
            return &covers[i];
    }
    return NULL;
}

static void domain_cover(int domain)
{
    struct allocator allocator = {NULL, NULL, NULL, NULL, NULL};
    struct cover *cover;

    python.get(domain, &allocator);
    if (!allocator.malloc || allocator.malloc == cover_malloc)
        return;
    cover = cover_for(domain, &allocator);
    if (!cover)
        return;
    allocator = (struct allocator){cover, cover_malloc, cover_calloc, cover_realloc, cover_free};
    python.set(domain, &allocator);
}

static void domains_cover(void)
{
    for (size_t i = 0; i < DOMAIN_COUNT; i++)
        domain_cover(domains[i]);
}

static void *symbol(const char *name)
{
    void *address = hook_symbol_in(RTLD_DEFAULT, name);

    if (!address)
        loader_error_forget(); /* so that the program does not read our failure as its own */
    return address;
}

/* Where the object lies that has PyMem_SetAllocator. */
static int range_find(struct dl_phdr_info *object, size_t size, void *unused)
{
    uint64_t address = (uintptr_t)python.set, begin = UINT64_MAX, end = 0;

    (void)size, (void)unused;
    for (size_t i = 0; i < object->dlpi_phnum; i++) {
        const ElfW(Phdr) *part = &object->dlpi_phdr[i];
        uint64_t part_begin = object->dlpi_addr + part->p_vaddr;

        if (part->p_type != PT_LOAD)
            continue;
        begin = part_begin < begin ? part_begin : begin;
        end = part_begin + part->p_memsz > end ? part_begin + part->p_memsz : end;
    }
    if (address < begin || address >= end)
        return 0;
    python.begin = begin;
    python.end = end;
    return 1;
}

/* "3.13.0 experimental free-threading build (main, ...". */
static bool is_known(const char *version)
{
    return strncmp(version, "3.", 2) == 0 && strtoul(version + 2, NULL, 10) >= OLDEST_MINOR_VERSION;
}

static bool python_heap_find(void)
{
    const char *(*version)(void) = (const char *(*)(void))symbol("Py_GetVersion");

    if (!version || !is_known(version()))
        return false;
    python.get = (void (*)(int, struct allocator *))symbol("PyMem_GetAllocator");
    python.set = (void (*)(int, struct allocator *))symbol("PyMem_SetAllocator");
    python.is_initialized = (int (*)(void))symbol("Py_IsInitialized");
    python.has_lock = (int (*)(void))symbol("PyGILState_Check");
    python.is_free_threaded = strstr(version(), "free-threading") != NULL;
    return python.get && python.set && python.is_initialized && python.has_lock &&
           dl_iterate_phdr(range_find, NULL);
}

/* What the loader allocates for its answers, errors above all, is not the program's. */
static bool python_heap_find_apart(void)
{
    bool is_outermost = guard_enter(LAYER_HOST), is_there = python_heap_find();

    if (is_outermost)
        guard_leave(LAYER_HOST);
    return is_there;
}

void python_heap_look(void)
{
    if (!config_get()->records_host || atomic_load(&is_covered) ||
        !atomic_exchange(&may_have_come, false) || !python_heap_find_apart())
        return;
    atomic_store(&is_found, true);
    if (!config_get()->records_python || python.is_initialized())
        return;
    domains_cover();
    atomic_store(&is_covered, true);
}

void python_heap_may_come(void)
{
    atomic_store(&may_have_come, true);
}

void python_heap_mapped(uint64_t pc, size_t size_bytes)
{
    if (size_bytes < ARENA_MIN_BYTES || !atomic_load(&is_found) ||
        pc - python.begin >= python.end - python.begin)
        return;
    if (!atomic_load(&is_covered)) {
        record_unseen_python();
        return;
    }
    if (python.is_initialized() && (python.is_free_threaded || !python.has_lock()))
        return;
    domains_cover();
}

/* NULL where no interpreter is there when the program starts: asking the loader would allocate. */
extern const char *Py_GetVersion(void) __attribute__((weak));

/* Before the interpreter makes its first object, where it is the program or linked to it. */
__attribute__((constructor)) static void on_load(void)
{
    if (Py_GetVersion)
        python_heap_look();
}
